/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TERM_KEYS_LENT_H
#define HB_TERM_KEYS_LENT_H

#include <signal.h>

/*
 * While another program has the terminal, a pager or an editor, its keys are
 * for that program: ^C does not end us.  Blocked and not ignored, so that a
 * child that starts meanwhile does not ignore them.
 */
struct keys_lent {
	sigset_t set, old;
};

/* Also SIGPIPE: a write to a pager that is gone says so itself. */
int keys_lend(struct keys_lent *keys);

/* A key that was pressed meanwhile is forgotten. */
void keys_return(struct keys_lent *keys);

#endif
