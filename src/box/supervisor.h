/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_SUPERVISOR_H
#define HB_BOX_SUPERVISOR_H

#include <sys/types.h>

struct box;
struct box_result;
struct hb_listener;
struct hb_error;
struct terminal;

/*
 * Waits for the end of a box whose first process is `child`.
 *
 * supervise_simply(): the status as soon as it is known, no signal handled:
 * what bubblewrap does.
 *
 * supervise(): one poll loop over a table of sources; terminal, job control and
 * signals as in box/terminal.h; returns after the box is wholly gone.  `pidfd`
 * is the child's, `signals` a signalfd for what the caller has blocked.
 */
int supervise_simply(struct box *box, pid_t child,
		     struct box_result *ret_result, struct hb_error *err);
int supervise(struct box *box, struct terminal *terminal, pid_t child,
	      int pidfd, int signals, const struct hb_listener *listener,
	      struct box_result *ret_result, struct hb_error *err);

/* The exit status for a wait status: 128 + n for signal n. */
int supervise_exit_status(int wait_status);

/* The signal of a wait status; 0: none. */
int supervise_signal(int wait_status);

#endif
