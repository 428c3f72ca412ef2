/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_NOTIFY_CALL_LOOK_H
#define HB_BOX_NOTIFY_CALL_LOOK_H

#include "box/notify/notifier.h"

/*
 * Writes a note of the call into the ring of the page, if the log is to have
 * it.  NOTIFY_FORK in the supervisor, else NOTIFY_GO_ON: the call
 * is decided by others.  A note tells what was asked: whether the kernel does
 * it is seen in the changes.
 */
enum notify_answer call_look(struct notify *n, const struct notify_call *call);

/* Wakes the recorder, if there are notes that it was not told of. */
void call_wake(struct notifier *p);

/* How long to wait at most until then: ms, or -1. */
int call_wake_in(const struct notifier *p);

#endif
