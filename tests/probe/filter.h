/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_PROBE_FILTER_H
#define HB_PROBE_FILTER_H

#include "sys/kernel.h"

#include <stddef.h>
#include <sys/types.h>

#define MAX_RULES 32
#define MAX_CODE  (MAX_RULES * 4 + 2)

/*
 * A filter for the calls of a command and all of its children.  Zeroed, it lets
 * everything pass.
 */
struct filter {
	struct k_sock_filter code[MAX_CODE];
	unsigned short n;
	/*
	 * Asked about each call that is watched, while it waits: 1 lets it go
	 * on, else it is not made, and gives that negated errno or 0.  NULL:
	 * none is watched.
	 */
	int (*answer)(struct filter *f, const struct k_seccomp_notif *call);
	pid_t child; /* the command itself, as soon as `answer` is asked */
	/* For the one rule about a text. */
	const char *text;
	size_t text_index;
	int text_errno;
	long value; /* what a call returns that `answer` gives 0 for */
	/* For whoever counts. */
	unsigned left;
};

/*
 * Has that call watched; -1 if there is no such name.  Not write(), which tells
 * us of the filter.
 */
int filter_watch(struct filter *f, const char *call);

/*
 * Runs the command under the filter.  Comes back only if it has calls watched,
 * with the command's status, 128 + n for a signal, or after a failure with 2.
 */
int filter_execute(struct filter *f, char **argv);

#endif
