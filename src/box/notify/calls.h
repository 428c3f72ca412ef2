/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_NOTIFY_CALLS_H
#define HB_BOX_NOTIFY_CALLS_H

#include "box/notify/notifier.h"

/*
 * A handler looks at a call and says what becomes of it; *ret_error is for
 * NOTIFY_REFUSED, a positive errno.  It must not wait for the caller, and
 * trusts nothing that it reads of it: sys_seccomp_notif_is_valid() afterwards
 * says whether it was the caller's at all.
 */
typedef enum notify_answer (*call_fn)(struct notify *n,
				      const struct notify_call *call,
				      int *ret_error);

/*
 * The notified calls.  One call may have several rows: they are asked in this
 * order, and the first answer other than NOTIFY_GO_ON counts.  Calls that are
 * only written down are the rows of box/notify/call_look.c.
 */
struct notify_row {
	int nr; /* SYS_*; -1: not on this architecture */
	enum filter_class class;
	call_fn look;
};
extern const struct notify_row notify_rows[];
extern const size_t notify_n_rows;

/* Makes a note for the log, and asks the rows.  Without a row a call goes on.
 */
enum notify_answer notify_look(struct notify *n, const struct notify_call *call,
			       int *ret_error);

#endif
