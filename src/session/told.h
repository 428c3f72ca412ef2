/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_TOLD_H
#define HB_SESSION_TOLD_H

#include <stdint.h>

struct hb_error;
struct hb_session;

/*
 * The frame of everything that changes a session or real files, for the log.
 * The beginning is in the log before anything happens: of a process that was
 * killed in between it is the trace.  `what` is the command's name.
 */
void told_begin(const struct hb_session *s, const char *what);

/*
 * The end, by the result: HB_REPORT_DONE, HB_REPORT_REFUSED for conflicts and
 * the gate, or else HB_REPORT_FAILED.  `n` counts operations.  Returns `r`.
 */
int told_end(const struct hb_session *s, const char *what, int r, uint64_t n,
	     const struct hb_error *err);

/*
 * A command of which the end is not known: it was killed with its holdback, or
 * the machine went down.
 */
void told_crash(const struct hb_session *s);

#endif
