/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BASE_REPORT_H
#define HB_BASE_REPORT_H

#include <stddef.h>
#include <stdint.h>

/*
 * How the parts that do the work tell what happens without knowing who listens:
 * a box does not know the audit log and a transaction does not know the
 * terminal.  Errors do not travel here; they are returned.
 */
enum event_kind {
	EVENT_STAGE,	/* a stage of set-up is done; a: the stage */
	EVENT_STARTED,	/* the command runs; path: the program, a: its pid */
	EVENT_STOPPED,	/* the command was stopped; a: the signal */
	EVENT_FULL,	/* the box is stopped for want of room; a: bytes left */
	EVENT_ROOM,	/* and goes on, because there is room again */
	EVENT_ENDED,	/* the command ended; a: status, b: signal or 0 */
	EVENT_WEAKENED, /* isolation asked for or usual is off; text: which */
	EVENT_DENIED,	/* something was refused; path and text: what, why */
	EVENT_FINDING, /* a gate rule applies; path: what, text: rule, reason */
	EVENT_CHANGED, /* a change reached the real tree; path: which */
	EVENT_PROGRESS, /* a of b are done; text: of what */
	EVENT_NOTICE,	/* something the user wants to know; text */
	EVENT_KINDS	/* one past the last */
};

/* Borrowed by the listener for the length of the call; names are raw bytes. */
struct event {
	enum event_kind kind;
	const char *path; /* NULL when there is none */
	const char *text; /* NULL when there is none */
	int64_t a;
	int64_t b;
};

/*
 * The listener may not call back into whoever reports.  It cannot fail: what it
 * cannot record it keeps to itself and returns from its own functions.
 */
struct event_sink {
	void (*report)(void *context, const struct event *event);
	void *context;
};

/* A sink that is NULL or zeroed listens to nothing. */
static inline void event_report(const struct event_sink *sink,
				const struct event *event)
{
	if (sink && sink->report)
		sink->report(sink->context, event);
}

#endif
