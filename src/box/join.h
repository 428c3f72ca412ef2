/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_JOIN_H
#define HB_BOX_JOIN_H

#include "box/box.h"

#include <stdbool.h>

struct hb_error;
struct hb_listener;

/* How a command that joined a box ended. */
struct join_result {
	int status; /* exit status; 128 + n for signal n */
	struct hb_death death;
	bool has_box_ended; /* before it, and took it with it */
	bool was_last;	    /* the box has ended since, for want of others */
	enum box_clipboard clipboard;
	bool has_missed_network; /* it failed, and looked for it in vain */
};

/*
 * Runs `argv` in the live box whose door `fd` is connected to, and waits for
 * its end.  The box lets some of the variables `envp` in.  The terminal, job
 * control and signals are as in box_run(); we ourselves enter nothing.  The box
 * is not ended by it.  `tty` is "own" or "real" (the value of KEY_TTY), or NULL
 * for what the box was made with.  `listener` hears of a stop of the box for
 * want of room, as it does in box_run().
 *
 * -EAGAIN without words: there is no box any more, or not yet.  -HB_E_BUSY: the
 * supervisor does not answer, because it is stopped.  Any failure means that
 * the command did not start.
 */
int join_run(int fd, char *const *argv, char *const *envp, const char *tty,
	     const struct hb_listener *listener, struct join_result *ret_result,
	     struct hb_error *err);

#endif
