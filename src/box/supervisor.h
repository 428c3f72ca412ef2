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
 * One poll loop over a table of sources; terminal, job control and
 * signals as in box/terminal.h; returns after the box is wholly gone.  `pidfd`
 * is the child's, `signals` a signalfd for what the caller has blocked.
 */
int supervise(struct box *box, struct terminal *terminal, pid_t child,
	      int pidfd, int signals, const struct hb_listener *listener,
	      struct box_result *ret_result, struct hb_error *err);

#endif
