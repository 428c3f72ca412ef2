/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_STRATEGY_MOVED_H
#define HB_STRATEGY_MOVED_H

struct hb_error;
struct resource;

/*
 * A directory that was being renamed when its box ended: base/move_record.h. In
 * the resource's store there is a record of it then.
 */
#define MOVED_RECORD "moving"

/*
 * Ends in the upper layer what the record says was begun.  Then the directory
 * has its old name and nothing is hidden, or it has its new one and the old is
 * gone.  Nothing that the box wrote is lost.  Can be killed, and called again.
 * No box may be there.
 */
int moved_settle(const struct resource *resource, struct hb_error *err);

#endif
