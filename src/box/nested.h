/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_NESTED_H
#define HB_BOX_NESTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct box;

/*
 * User namespaces, which a sandbox inside of ours would need: the supervisor
 * refuses and counts them.  The filter hands these calls to its listener.
 */
struct nested {
	int listener; /* -1: there is none, and the filter refuses by itself */
	bool is_counted; /* there was one when the command started */
	uint64_t n;
};

/*
 * Whether a box is to have a listener.  Only where the kernel's limit of user
 * namespaces holds as well: box/nested.c.
 */
bool nested_wants(const struct box *box);

/* Takes the descriptors of a message: one, before the command has started. */
void nested_take(struct nested *n, const int *fds, size_t n_fds);

/* The command starts: what was refused before was a trial of our own. */
void nested_start(struct nested *n);

/*
 * Refuses the call that waits, if one does.  Never waits itself; `revents` is
 * what poll() said of the listener.
 */
void nested_answer(struct nested *n, short revents);

void nested_done(struct nested *n);

#endif
