/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_DRESS_H
#define HB_TXN_DRESS_H

#include "txn/op.h"
#include "txn/site.h"

/*
 * An object of the upper carries the overlay's marks and the attributes it had
 * there.  For the base the marks go, from everything below it too, and it gets
 * the attributes of the plan.  On its way back it gets its own again.  Both can
 * be repeated.  Of a staged copy only the security label needs to.
 *
 * The first returns 1 if something was changed; `now` is the object there.
 */
int dress_for_base(struct site *s, const struct op *op,
		   const struct place *source, const struct object *now,
		   const struct place *base, struct hb_error *err);
int dress_for_layer(const struct op *op, const struct place *source,
		    struct hb_error *err);

/* Makes the mode what it is to be, if it is not; never of a link. */
int dress_mode(const struct place *p, const struct object *now, mode_t mode,
	       struct hb_error *err);

/*
 * Mode and time of modification of a directory, of anything else the mode:
 * xfs gives a directory that is exchanged another time.  1 if that had to be
 * put right; where only its owner could, it stays.
 */
int dress_moved(const struct place *p, const struct object *now, mode_t mode,
		struct timespec mtime, struct hb_error *err);

/* Whether what it changes of a directory is as before it, or `after`: 1, 0. */
int dress_has_attributes(const struct op *op, int fd, const struct object *now,
			 bool after);

/*
 * OP_DIRECTORY.  Opening makes the directory and its likeness in the upper
 * writable for us; -HB_E_CONFLICT: it is another one, or with `is_first` its
 * attributes are not those of the plan.  Closing gives them their attributes
 * and their times: those of the plan, or with `back` the old ones.  Of the root
 * its picture gets them as well.
 */
int dress_open_dir(struct site *s, const struct op *op, bool is_first,
		   struct hb_error *err);
int dress_close_dir(struct site *s, const struct op *op, bool back,
		    struct hb_error *err);

#endif
