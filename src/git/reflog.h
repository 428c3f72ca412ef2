/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_REFLOG_H
#define HB_GIT_REFLOG_H

#include "git/gitobject.h"

/*
 * The log of a reference: lines "OLD NEW NAME <MAIL> TIME ZONE\tWORDS", the
 * oldest first.  Any bytes may be there; a line that is none is passed over.
 */
#define REFLOG_MAX ((size_t)16 << 20)

struct reflog_line {
	struct git_id old, new;
	const char *text; /* the whole line, with its end */
	size_t len;
	const char *who; /* behind the ids, up to the line's end */
	size_t who_len;	 /* up to the tab, or all of it */
};

/* 1: the next line, and `*at` is behind it; 0: there is none. */
int reflog_next(const char **at, struct reflog_line *ret_line);

#endif
