/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_AUDIT_AUDIT_H
#define HB_AUDIT_AUDIT_H

#include "holdback/report.h"

#include <stdbool.h>
#include <stddef.h>

struct hb_error;

/*
 * The listener that keeps the log.  It stands in front of the caller's own
 * listener, and hands every report on to it.
 *
 * Records are kept in memory until a block is full, something has to be in the
 * log before it happens, or the listener is freed.  A log that cannot be
 * written stops nothing.  The records are counted as lost.  The listener behind
 * is told that once, and so is the log with its next record.
 *
 * Only the process that made it writes: a copy in a child writes nothing.
 */
struct audit;

/* Ours, of which `next` is NULL or outlives it.  NULL: out of memory. */
struct audit *audit_new(const struct hb_listener *next);

/* Writes what there is.  May be NULL. */
void audit_free(struct audit *audit);

const struct hb_listener *audit_listener(const struct audit *audit);

/* The audit whose listener this is; NULL: it is another's. */
struct audit *audit_of(const struct hb_listener *listener);

/*
 * The state directory, which is borrowed until it is set to -1.  Either way it
 * writes what there is to the one before.  Without one nothing is written, and
 * what is left at the end is forgotten.
 */
void audit_set_state(struct audit *audit, int state);

/* Whether there are records that are not written. */
bool audit_has_kept(const struct audit *audit);

/* What the next records are about; each may be NULL, and is copied.  So may
 * `audit`, of a store that a test made. */
void audit_about(struct audit *audit, const char *session, const char *id,
		 const char *project);

/* The working directory is the project, if none was named. */
void audit_about_here(struct audit *audit);

/* Forgets what is not written: another program goes on, and tells it anew. */
void audit_forget(struct audit *audit);

/*
 * In a copy of the process that made it: this one writes from now on as well.
 * Records from before are the other's.
 */
void audit_take_over(struct audit *audit);

/*
 * In a copy of the process that made it, which tells of single calls and
 * nothing else.  They have a log of their own (log_head.h), so that a command
 * with many calls pushes no other record out.  Fills in the descriptors that it
 * needs, at most two, and returns how many.
 */
size_t audit_take_calls(struct audit *audit, int *ret_fds);

/* The user wants no record of the rest; records so far stay. */
void audit_stop(struct audit *audit);

/*
 * A file that gets the same lines as the log: log_copy.h has the rules.  One
 * that was named before is no longer written.
 */
int audit_copy_to(struct audit *audit, const char *path, struct hb_error *err);

#endif
