/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_RUN_SYNC_CHILD_H
#define HB_RUN_SYNC_CHILD_H

#include <stdint.h>
#include <sys/types.h>

struct hb_session;

/*
 * The process that syncs a session while its command runs: `holdback sync
 * --every`, a child of the supervisor that ends with it.  It has no descriptor
 * of ours and no terminal; the log has what it does.
 */
struct sync_child {
	pid_t pid; /* 0: none */
	int pidfd;
};
#define SYNC_CHILD_NONE     \
	(struct sync_child) \
	{                   \
		.pidfd = -1 \
	}

/*
 * The first sync comes after twice so many seconds.  Does nothing with 0, or if
 * there is one.  A process that cannot be started is a run without syncs until
 * its end.
 */
void sync_child_begin(struct sync_child *s, const struct hb_session *session,
		      uint64_t seconds);

/* In a copy of the supervisor: the child is not its own. */
void sync_child_part(struct sync_child *s);

/* After the box.  What is half done then, the next command finishes. */
void sync_child_end(struct sync_child *s);

#endif
