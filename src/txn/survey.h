/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_SURVEY_H
#define HB_TXN_SURVEY_H

#include "txn/txn.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The wanted part of a change set, found out before anything is planned.
 * Whether a directory goes whole is known only after the last thing in it.
 *
 * One bit per directory and one counter per inode with several names are kept;
 * all else is read from the stream again.
 */
struct survey {
	/* By number, see survey_is_partial() and survey_is_disputed(). */
	uint8_t *partial, *disputed;
	size_t room;
	uint64_t n_dirs;
	struct link_count *links; /* open addressing */
	size_t links_room, n_links;
	bool links_full; /* too many: none counts as complete */
	uint64_t n_taken;
	/*
	 * Directories that stay although the change that takes them away is
	 * wanted: something in them is not taken.  Counted by what was to
	 * become of them.  They do not count as taken.
	 */
	uint64_t n_kept_deleted, n_kept_replaced;
	uint64_t n_conflicts; /* wanted, and neither ours nor theirs */
	char *conflict;	      /* the path of the first of them */
	/* Wanted, and of a kind that has to be asked for and was not. */
	uint64_t n_denied;
	uint64_t bytes; /* of files that are taken */
	bool has_rest;	/* something is not taken */
};

int survey_run(struct survey *s, struct changes *changes,
	       const struct txn_options *options, struct hb_error *err);
void survey_done(struct survey *s);

/*
 * Whether the change is about a whole directory that appears, vanishes or hides
 * what was below.  Such changes are numbered from 0 in stream order.
 */
bool survey_is_whole_dir(const struct change *c);

/* Whether something in or about that directory is not taken. */
bool survey_is_partial(const struct survey *s, uint64_t number);

/*
 * Whether something in that directory is taken although the base has changed
 * there.
 */
bool survey_is_disputed(const struct survey *s, uint64_t number);

/* Whether it stays, by a change with this number that is to take it away. */
bool survey_keeps_dir(const struct survey *s, const struct change *c,
		      uint64_t number);

/* Whether all names of the inode are taken, so that it can be moved. */
bool survey_has_all_links(const struct survey *s, const struct change *c);

#endif
