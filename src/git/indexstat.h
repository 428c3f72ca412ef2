/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_INDEXSTAT_H
#define HB_GIT_INDEXSTAT_H

#include "git/gitindex.h"
#include "git/indexmerge.h"

/*
 * Gives entries of an index without stat data that of their files, so that git
 * need not read them.  The index is in memory, as indexmerge() made it.
 *
 * If its sum is wrong, a crash has cut this short before.  Then all stat data
 * goes first: any of it may be half of one entry and half of none.
 */
struct indexstat_request {
	char *data; /* changed in place; the size stays */
	size_t len;
	/*
	 * 1: `ret` is the stat data of a file whose content is the entry's; 0:
	 * there is no such file; -errno ends it.
	 */
	int (*look)(void *ctx, const struct gitindex_entry *entry,
		    size_t id_size, struct indexmerge_stat *ret);
	void *ctx;
};

/* 1: it was changed; 0: not; -EBADMSG: it is no such index. */
int indexstat_fill(const struct indexstat_request *q);

#endif
