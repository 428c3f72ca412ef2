/* SPDX-License-Identifier: Apache-2.0 */
#include "base/report.h"
#include "holdback/session.h"
#include "session/session.h"
#include "store/record.h"
#include "store/store.h"

#include <inttypes.h>
#include <stdio.h>

/* A run that changes more is told by their number; a commit names all. */
#define PATHS_MAX 1000

static void tell(const struct hb_session *s, const struct hb_change *change)
{
	const char letter[] = { change->kind, '\0' };

	(void)report_send(
		s->store->listener,
		&(struct hb_report){
			.kind = HB_REPORT_HELD,
			.session = s->record.name,
			.source = s->record.resources[change->resource].source,
			.resource = change->resource,
			.path = change->path,
			.text = letter });
}

int hb_changes_record(struct hb_session *session, struct hb_changes *changes,
		      struct hb_error *err)
{
	struct hb_change change;
	char text[64];
	uint64_t n = 0;
	int r;

	if (!record_keeps_log(&session->record))
		return 0;
	while ((r = hb_changes_next(changes, &change, err)) == 1)
		if (!change.is_git && !change.is_directory && n++ < PATHS_MAX)
			tell(session, &change);
	if (r < 0)
		return r;
	(void)snprintf(text, sizeof(text), "and %" PRIu64 " more",
		       n - PATHS_MAX);
	if (n > PATHS_MAX)
		(void)report_send(
			session->store->listener,
			&(struct hb_report){ .kind = HB_REPORT_HELD,
					     .session = session->record.name,
					     .text = text });
	return hb_changes_rewind(changes, err);
}
