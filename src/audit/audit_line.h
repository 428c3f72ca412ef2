/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_AUDIT_AUDIT_LINE_H
#define HB_AUDIT_AUDIT_LINE_H

#include <stdbool.h>
#include <time.h>

struct buf;
struct hb_report;

/* What a record says beside its report; strings may be NULL. */
struct line_about {
	const char *session; /* if the report names none */
	const char *id;	     /* of that session */
	const char *project; /* the real directory that it is about */
};

/*
 * Adds the line of a report, from behind its number on, with its end.
 * `answer` is that of a question.  docs/formats/log.md has the members.  0 or
 * the buffer's error; then nothing is added.
 */
int audit_line(const struct hb_report *report, const struct line_about *about,
	       struct timespec when, bool answer, struct buf *out);

#endif
