/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CHANGES_RENAMES_H
#define HB_CHANGES_RENAMES_H

#include "base/sha256.h"
#include "changes/changes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Files that went from one path to another: a deleted and an added one with
 * the same bytes.  The overlay does not tell, so both are kept as candidates
 * while the walk goes on, and compared at its end.
 */
#define RENAMES_MAX	  1000
#define RENAMES_IGNORED	  500 /* of these: what is ignored and deleted */
#define RENAMES_PATHS_MAX ((size_t)4 << 20) /* of all paths of one side */

struct rename_end {
	uint64_t number; /* of the change in the stream, from 0 */
	char *path;
	struct entry entry;
	size_t layer;	 /* of an added one */
	bool is_missing; /* in conflict unless it is a renamed one */
	bool is_ignored; /* of a deleted one */
	/* Likewise: the base has changed there, so the user has to see it. */
	bool is_disputed;
	bool has_digest, is_unreadable;
	uint8_t digest[SHA256_SIZE];
	size_t other;  /* index of the other end plus 1; 0: none */
	bool is_alone; /* only its other names are asked for */
	bool is_name;  /* another name of what the base has elsewhere */
};

struct rename_side {
	struct rename_end *ends; /* in the order of the stream */
	size_t n;
	size_t bytes;
	size_t cursor; /* for reading in step with the stream */
};

/*
 * Inodes of a layer with several names, one of which the base has too.  The
 * kernel copies up one name alone, so the others were made since.
 */
#define RENAMES_NAMES_MAX ((size_t)1 << 16)

struct renames {
	struct rename_side added, deleted;
	uint64_t *names;
	size_t n_names;
};

void renames_done(struct renames *renames);

/*
 * Notes a change if it can be one end of a rename.  Beyond the limits it is
 * not noted, and stays what it is.
 */
int renames_note(struct renames *renames, const struct change *change,
		 uint64_t number, bool is_missing, struct hb_error *err);

/* The base has a name of this inode; beyond the limit it is not noted. */
void renames_note_name(struct renames *renames, uint64_t ino);

/* Whether the origin of an added path that the base lacks is known. */
bool renames_explain(const struct rename_end *added);

/* Finds pairs; without `all` only for those that are missing in the base. */
void renames_resolve(struct renames *renames, const struct resource *resource,
		     bool all);

/*
 * Whether the deleted path of the pair is ignored, or in conflict.  Then it
 * explains the origin of the added path, but the two are not one change: only
 * one is taken, or asked about.
 */
bool renames_is_split(const struct renames *renames,
		      const struct rename_end *added);

/*
 * The end that is change `number`, or NULL.  Asked with rising numbers, after
 * renames_rewind().
 */
void renames_rewind(struct renames *renames);
const struct rename_end *renames_added(struct renames *renames,
				       uint64_t number);
const struct rename_end *renames_deleted(struct renames *renames,
					 uint64_t number);

#endif
