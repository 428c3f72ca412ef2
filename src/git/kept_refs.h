/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_KEPT_REFS_H
#define HB_GIT_KEPT_REFS_H

#include <stddef.h>

struct buf;

/*
 * HEAD and all references of one repository by value, in a resource's directory
 * of the store: what the session's own values are based on.  A record that is
 * missing, torn or too large is no record, and the repository is treated as
 * files.
 *
 *	holdback-refs 1
 *	ref: refs/heads/main HEAD
 *	ID worktrees/x/HEAD
 *	ID refs/heads/main
 *	stash ID		its entries, the oldest first
 *	made refs/heads/...	a branch that a delivery made
 *	sum HEX			SHA-256 of all lines before
 */
#define KEPT_REFS_MAX ((size_t)32 << 20)

/* A value is 40 or 64 digits, or "ref: NAME". */
struct kept_ref {
	char *name;  /* "HEAD", "worktrees/x/HEAD", "refs/heads/main" */
	char *value; /* never empty */
};

struct kept_refs {
	struct kept_ref *refs; /* sorted by name */
	size_t n;
	char **stash; /* ids, the oldest first */
	size_t n_stash;
	char **made; /* sorted */
	size_t n_made;
};

void kept_refs_done(struct kept_refs *refs);
#define auto_kept_refs __attribute__((cleanup(kept_refs_done)))

/* The value, or NULL. */
const char *kept_refs_value(const struct kept_refs *refs, const char *name);

/*
 * Reads what the git directory `prefix` below `base` has now; "" is `base`
 * itself.  -EFBIG: too much; -ENOTSUP: its references are of another format.
 */
int kept_refs_look(int base, const char *prefix, struct kept_refs *ret);

/*
 * The value of one of them now, for the caller to free: that of its file, or
 * else of its line in packed-refs.  "": there is none.
 */
int kept_refs_now(int base, const char *prefix, const char *name,
		  char **ret_value);

/* The record as text, and back.  -EBADMSG: that is no whole record. */
int kept_refs_write(const struct kept_refs *refs, struct buf *out);
int kept_refs_parse(const char *text, size_t len, struct kept_refs *ret);

/*
 * The record of the repository at `path` (from the base on) in the store's
 * directory `dir`.  Loading: -ENOENT also for one that is torn.  Storing
 * replaces it at once, or not at all.
 */
int kept_refs_load(int dir, const char *path, struct kept_refs *ret);
int kept_refs_store(int dir, const char *path, const struct kept_refs *refs);

#endif
