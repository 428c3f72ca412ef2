/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_COMMANDS_PARTIAL_H
#define HB_CLI_COMMANDS_PARTIAL_H

#include "cli/show/doc.h"

#include <stdbool.h>
#include <stddef.h>

struct commit;
struct hb_commit_result;
struct hb_error;
struct hb_session_info;

/*
 * `sync --partial`: the paths that stand against a commit stay pending, with
 * all that is one with them, and the rest is committed.  Zero is none.
 */
struct partial_path {
	size_t resource;
	char *path, *why;
	char *left; /* goes out of the commit, with all below it */
};

/* A file that went from one path to the other. */
struct partial_rename {
	size_t resource;
	char *path, *from;
	bool is_out; /* both are left out */
};

struct partial_held {
	struct partial_path *list;
	size_t n;
	struct partial_rename *renames; /* of all changes, held or not */
	size_t n_renames;
	bool has_renames;
};

void partial_done(struct partial_held *held);

/*
 * Finds what has to be held, until nothing is left that does, and commits the
 * rest.  c->held has the paths, also after a failure.
 */
int partial_apply(struct commit *c, struct hb_commit_result *result,
		  struct hb_error *err);

/* One line each: "held: PATH: why". */
int partial_show(const struct hb_session_info *info,
		 const struct partial_path *held, struct buf *out);

/* The same as an array of objects. */
void partial_json(const struct hb_session_info *info,
		  const struct partial_held *held, struct doc *doc);

#endif
