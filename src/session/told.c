/* SPDX-License-Identifier: Apache-2.0 */
#include "session/told.h"

#include "base/error.h"
#include "base/report.h"
#include "session/session.h"
#include "store/store.h"

#include <stdio.h>

void told_begin(const struct hb_session *s, const char *what)
{
	(void)report_send(s->store->listener,
			  &(struct hb_report){ .kind = HB_REPORT_BEGUN,
					       .session = s->record.name,
					       .text = what });
}

int told_end(const struct hb_session *s, const char *what, int r, uint64_t n,
	     const struct hb_error *err)
{
	struct hb_report report = { .kind = HB_REPORT_DONE,
				    .session = s->record.name,
				    .text = what,
				    .n = n };

	if (r < 0) {
		report.kind = r == -HB_E_CONFLICT || r == -HB_E_DENIED
				      ? HB_REPORT_REFUSED
				      : HB_REPORT_FAILED;
		report.text = err && err->text[0] ? err->text : what;
		report.n = (uint64_t)-r;
	}
	(void)report_send(s->store->listener, &report);
	return r;
}

void told_crash(const struct hb_session *s)
{
	char text[HB_TEXT_SIZE];

	(void)snprintf(text, sizeof(text),
		       "the end of the command is not known: %s",
		       s->record.command);
	(void)report_send(s->store->listener,
			  &(struct hb_report){ .kind = HB_REPORT_FAILED,
					       .session = s->record.name,
					       .text = text });
}
