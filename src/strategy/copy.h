/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_STRATEGY_COPY_H
#define HB_STRATEGY_COPY_H

struct hb_error;
struct strategy_place;

/*
 * copy_on_write: a copy of the view, which boxes write to, and a baseline that
 * says what it was like.  Both are a cache: they can be made again from base
 * and layers at any time, unless a box wrote to the copy since the last
 * copy_distill().
 */
#define COPY_DIR "copy"

/* Things in one resource that cannot be copied and are shown as they are. */
#define COPY_HELD_MAX 64

/* strategy.before_box */
int copy_refresh(const struct strategy_place *place, struct hb_error *err);

/* strategy.after_box */
int copy_distill(const struct strategy_place *place, struct hb_error *err);

/* strategy.drop */
int copy_drop(int dir, struct hb_error *err);

#endif
