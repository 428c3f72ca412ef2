/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_NOTIFY_RECORDER_H
#define HB_BOX_NOTIFY_RECORDER_H

#include <sys/types.h>

struct heard;

/*
 * The recorder: the process that tells the box's listener of the notes that the
 * notifier makes (box/notify/call_ring.h).  It is outside of the box, and
 * touches nothing of it.  Calls do not wait for it as long as there is room.
 *
 * A note is taken from the ring when it has been told.  So a recorder that is
 * killed loses none, and the next one may tell some again.  It says so, by
 * HB_REPORT_GAP.
 *
 * It ends when it is told to, or when supervisor and notifier are gone, and
 * tells first what there is.
 */
_Noreturn void recorder_main(const struct heard *h);

#endif
