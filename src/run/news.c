/* SPDX-License-Identifier: Apache-2.0 */
#include "run/news.h"

#include "base/report.h"
#include "holdback/error.h"

#include <stdio.h>

bool news_hear(void *context, const struct hb_report *report)
{
	const struct news *news = context;
	struct hb_report told = *report;
	char text[HB_TEXT_SIZE];

	told.session = news->session;
	if (report->kind == HB_REPORT_STOPPED) {
		(void)snprintf(
			text, sizeof(text),
			"the disk is almost full (%llu MiB are left): the command is stopped, and nothing is lost; it goes on when there is room, or with: holdback resume @%s",
			(unsigned long long)report->n >> 20, news->session);
		told.text = text;
	}
	if (report->kind == HB_REPORT_RESUMED)
		told.text = "there is room again: the command goes on";
	return report_send(news->listener, &told);
}
