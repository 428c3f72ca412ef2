/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_STORE_PROGRESS_H
#define HB_STORE_PROGRESS_H

#include "base/report.h"

#include <stdint.h>
#include <sys/types.h>

struct hb_store;

/*
 * Something that may take long, told to the user of the store.  A process of
 * its own does the telling, because we may be waiting for the disk.  It has
 * nothing of ours open, and ends with us.  Its cost is spent only if there is a
 * listener, and no failure of it is one of the work's.
 */
struct progress {
	int fd; /* -1: no listener */
	pid_t pid;
	/* For the work: takes HB_REPORT_PROGRESS for progress_tell(). */
	struct hb_listener listener;
};

/* `what` is what goes on, in words. */
void progress_begin(struct progress *p, const struct hb_store *store,
		    const char *what);

/* So many are done; never waits. */
void progress_tell(struct progress *p, uint64_t n);

/* Afterwards nothing more is told.  Accepts an object that was not begun. */
void progress_end(struct progress *p);

#define auto_progress __attribute__((cleanup(progress_end)))
#define PROGRESS_NONE    \
	{                \
		.fd = -1 \
	}

#endif
