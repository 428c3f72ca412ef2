/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_KEPT_REFS_H
#define HB_GIT_KEPT_REFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct gitrefs;

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
 *	packed refs/tags/...	a name that packed-refs had
 *	shallow ID		a boundary: history below it is missing
 *	sum HEX			SHA-256 of all lines before
 */
#define KEPT_REFS_MAX	 ((size_t)32 << 20)
#define KEPT_SHALLOW	 "shallow" /* a file of the git directory */
#define KEPT_SHALLOW_MAX ((size_t)4 << 20)

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
	/* Names of packed-refs, sorted: only of these a line can be missing. */
	char **packed;
	size_t n_packed;
	char **shallow; /* sorted */
	size_t n_shallow;
};

void kept_refs_done(struct kept_refs *refs);
#define auto_kept_refs __attribute__((cleanup(kept_refs_done)))

/*
 * For a record that is put together; -EFBIG, -ENOMEM.  It is sorted before it
 * is asked.  A value that is added twice stays twice.
 */
int kept_refs_add(struct kept_refs *refs, const char *name, const char *value);
int kept_refs_add_stash(struct kept_refs *refs, const char *id);
int kept_refs_add_made(struct kept_refs *refs, const char *name);
int kept_refs_add_packed_name(struct kept_refs *refs, const char *name);
/* Of the text of a file `shallow`; lines that are none are passed over. */
int kept_refs_add_shallow(struct kept_refs *refs, const char *text);
void kept_refs_sort(struct kept_refs *refs);

/* Whether a delivery of ours made that branch. */
bool kept_refs_is_made(const struct kept_refs *refs, const char *name);

/* Whether packed-refs had a line of that name. */
bool kept_refs_is_packed(const struct kept_refs *refs, const char *name);

bool kept_refs_is_shallow(const struct kept_refs *refs, const char *id);

/*
 * Whether the name is a directory of one of them, or one of them a directory of
 * it: files cannot have both.
 */
bool kept_refs_clash(const struct kept_refs *refs, const char *name);

/* The value, or NULL. */
const char *kept_refs_value(const struct kept_refs *refs, const char *name);

/*
 * Reads what the git directory `prefix` below `base` has now; "" is `base`
 * itself.  -EFBIG: too much; -ENOTSUP: its references are of another format.
 */
int kept_refs_look(int base, const char *prefix, struct kept_refs *ret);

/* The same in two steps: without packed-refs, and then its lines. */
int kept_refs_look_loose(int base, const char *prefix, struct kept_refs *ret);
int kept_refs_add_packed(struct kept_refs *refs, const struct gitrefs *packed);

/* The value that the text of a file is, to be freed; "": none. */
int kept_refs_read_value(char *text, char **ret_value);

/*
 * The value of one of them now, for the caller to free: that of its file, or
 * else of its line in packed-refs.  "": there is none.
 */
int kept_refs_now(int base, const char *prefix, const char *name,
		  char **ret_value);

/* The record as text, and back.  -EBADMSG: that is no whole record. */
int kept_refs_write(const struct kept_refs *refs, struct buf *out);
int kept_refs_parse(const char *text, size_t len, struct kept_refs *ret);

#endif
