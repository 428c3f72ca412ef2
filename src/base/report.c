/* SPDX-License-Identifier: Apache-2.0 */
#include "base/report.h"

#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

static const struct {
	const char *name;
	unsigned members;
} kinds[] = {
#define ROW(id, name, members) [HB_REPORT_##id] = { #name, members },
	HB_REPORTS(ROW)
#undef ROW
};

const char *hb_report_name(enum hb_report_kind kind)
{
	return kinds[kind].name;
}

unsigned hb_report_members(enum hb_report_kind kind)
{
	return kinds[kind].members;
}

bool report_send(const struct hb_listener *listener,
		 const struct hb_report *report)
{
	return listener && listener->hear &&
	       listener->hear(listener->context, report);
}

void report_text(const struct hb_listener *listener, enum hb_report_kind kind,
		 const char *fmt, ...)
{
	char text[HB_TEXT_SIZE];
	va_list ap;

	if (!listener || !listener->hear)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	(void)report_send(listener,
			  &(struct hb_report){ .kind = kind, .text = text });
}
