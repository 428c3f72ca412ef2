/* SPDX-License-Identifier: Apache-2.0 */
#include "run/ending.h"

#include "base/report.h"
#include "box/box.h"
#include "holdback/holdback.h"

#include <inttypes.h>
#include <stdio.h>

/* By enum box_clipboard. */
static const struct {
	enum hb_report_kind kind;
	const char *words;
} clipboards[] = {
	[BOX_CLIPBOARD_REFUSED] = { HB_REPORT_DENIED,
				    "the command wanted to set the clipboard, which was not done (--clipboard write allows up to 100 KB)" },
	[BOX_CLIPBOARD_SET] = { HB_REPORT_SAID,
				"the command has set the clipboard" },
};

/* As --size takes it. */
static const char *size_text(uint64_t bytes, char *out, size_t size)
{
	static const char *const units[] = { "", "K", "M", "G" };
	size_t i = 0;

	for (; i < 3 && bytes > 0 && bytes % 1024 == 0; i++)
		bytes /= 1024;
	(void)snprintf(out, size, "%" PRIu64 "%s", bytes, units[i]);
	return out;
}

void ending_report(const struct hb_listener *listener,
		   const struct box_result *result, bool is_quiet)
{
	struct hb_report report = { .is_quiet = is_quiet };
	char text[160], limit[32];

	report.text = "time is up: the command was ended";
	if (result->has_timed_out)
		(void)report_send(listener, &report);
	report.text = text;
	(void)snprintf(
		text, sizeof(text),
		"the limit of processes was reached: there are at most %" PRIu64
		" at a time (--pids)",
		result->full_pids);
	report.kind = HB_REPORT_DENIED;
	if (result->full_pids > 0)
		(void)report_send(listener, &report);
	(void)snprintf(
		text, sizeof(text),
		"no space was left in memory: each place there has at most %s (--size)",
		size_text(result->full_bytes, limit, sizeof(limit)));
	if (result->full_bytes > 0)
		(void)report_send(listener, &report);
	(void)snprintf(text, sizeof(text),
		       "ended %u process%s that the command left behind",
		       result->n_leftover, result->n_leftover == 1 ? "" : "es");
	report.kind = HB_REPORT_SAID;
	if (result->n_leftover > 0)
		(void)report_send(listener, &report);
	report.kind = HB_REPORT_DENIED;
	report.text =
		"the command failed, and it had no network (--allow HOST, if it needs one)";
	if (result->has_missed_network && !result->has_timed_out)
		(void)report_send(listener, &report);
	report.text =
		"the command wanted a user namespace, as for a sandbox of its own, which was refused (--allow-nested allows it)";
	if (result->n_nested > 0)
		(void)report_send(listener, &report);
	report.kind = clipboards[result->clipboard].kind;
	report.text = clipboards[result->clipboard].words;
	if (report.text)
		(void)report_send(listener, &report);
}

int ending_status(const struct box_result *result)
{
	return result->has_timed_out ? HB_EXIT_TIMEOUT : result->status;
}

struct hb_death ending_death(const struct box_result *result)
{
	/* A limit has a status of its own, however the command took it. */
	const struct hb_death none = { 0 };

	return result->has_timed_out ? none : result->death;
}

int64_t ending_nested(const struct box_result *result)
{
	return result->is_nested_counted ? (int64_t)result->n_nested : -1;
}
