/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_NOTIFY_RENAME_CALL_H
#define HB_BOX_NOTIFY_RENAME_CALL_H

#include "box/notify/notifier.h"

/*
 * rename(), renameat(), renameat2(): all but those of a directory that lies
 * below the upper layer of an overlay go on.  Those become jobs of a worker,
 * one at a time.
 */
enum notify_answer rename_look(struct notify *n, const struct notify_call *call,
			       int *ret_error);

/*
 * The worker's part, in a child of the notifier: does the job, answers its
 * caller, and ends.  A job that was begun before is recovered.
 */
_Noreturn void rename_work(struct notifier *p, struct notify_call *job);

#endif
