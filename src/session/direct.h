/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_DIRECT_H
#define HB_SESSION_DIRECT_H

#include <stddef.h>

struct hb_error;
struct run;

/*
 * `run --direct`: what is written in the workspace is real, but for files that
 * make programs of the user run something: those that are there are read-only,
 * and the directories they lie in cannot be renamed; those that appear, or are
 * others than before, are told of.  Nothing is made on the host for that.
 */

/* The most entries that direct_protect() adds. */
#define DIRECT_MAX 400

/* Adds to run->entries, which has room; resources are known. */
int direct_protect(struct run *run, struct hb_error *err);

/*
 * Calls `tell` with each path that was not there before and is now, or is
 * something else.  After the box.
 */
void direct_tell_new(const struct run *run,
		     void (*tell)(void *ctx, const char *path), void *ctx);

#endif
