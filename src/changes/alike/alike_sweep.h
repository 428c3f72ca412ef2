/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CHANGES_ALIKE_ALIKE_SWEEP_H
#define HB_CHANGES_ALIKE_ALIKE_SWEEP_H

#include "changes/spill.h"
#include "sys/attr.h"

/*
 * Removes from the upper what a list is about.
 *
 * `may_go` is asked about each record, then `goes`.  `base` is what the base
 * has there, NULL: nothing that could be looked at.  What goes has to be the
 * object of the list still: by inode and ctime, of a directory by inode, mode
 * and owner.  That is looked at last, because most do not go.  A directory goes
 * after what is in it, and only if that leaves it empty; the others keep their
 * times.
 */
typedef bool (*sweep_may_fn)(const struct spilled *record);
typedef bool (*sweep_fn)(const struct spilled *record,
			 const struct sys_attr *base);

struct sweep_request {
	const struct resource *resource;
	struct spill *list;
	sweep_may_fn may_go;
	sweep_fn goes;
	struct timespec *newest; /* the latest ctime of the list; may be NULL */
	bool is_durable;	 /* what is gone stays so when it returns */
};

/* How many are gone. */
int sweep_run(const struct sweep_request *request, uint64_t *ret_n,
	      struct hb_error *err);

/*
 * After a crash in the middle of it: directories that lost a name have the
 * times of the list again.
 */
int sweep_restore_times(const struct resource *resource, struct spill *list,
			struct hb_error *err);

#endif
