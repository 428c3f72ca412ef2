/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_STATUS_H
#define HB_BOX_STATUS_H

#include <sys/types.h>

struct box;
struct box_result;
struct hb_error;
struct message;

/*
 * Waits for a box whose first process is `child`.  The status as soon as it is
 * known, no signal handled: what bubblewrap does.
 */
int supervise_simply(struct box *box, pid_t child,
		     struct box_result *ret_result, struct hb_error *err);

/* The exit status for a wait status: 128 + n for signal n. */
int supervise_exit_status(int wait_status);

/* The signal of a wait status; 0: none. */
int supervise_signal(int wait_status);

/* init tells that a limit was reached: of processes, or of memory for files. */
void supervise_limit(const struct box *box, const struct message *message,
		     struct box_result *result);

#endif
