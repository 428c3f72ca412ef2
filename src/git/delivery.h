/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_DELIVERY_H
#define HB_GIT_DELIVERY_H

#include "git/gitobject.h"
#include "git/kept/kept_refs.h"

#include <stdbool.h>
#include <stddef.h>

struct hb_error;
struct indexmerge_moved;
struct objectstore;

/*
 * What a commit makes of a repository: references and HEAD by value, the index
 * by entry, logs line by line.  Each has three versions: kept at T0, now in the
 * base, and in the session.  It reads and decides; the caller moves files.
 *
 * The session may be hostile.  What cannot be read or understood refuses the
 * delivery, or leaves the repository to be treated as files.
 */

/* How the user wants it: --git=MODE. */
enum delivery_mode {
	DELIVERY_MODE_FF,     /* forward, else to a branch of our own */
	DELIVERY_MODE_BRANCH, /* always to that; neither tree nor index */
	DELIVERY_MODE_MERGE,  /* as the first; the caller makes the merge */
	DELIVERY_MODE_FILES,  /* a repository is files like all others */
};

/* A file of the git directory that the session changed. */
struct delivery_change {
	const char *path; /* from the git directory on: "refs/heads/main" */
	bool is_gone;	  /* the session has it no more */
	bool is_newer;	  /* the base's own changed since T0, by its times */
};

/*
 * What the session has at that path, with a NUL behind it, for the caller to
 * free.  Asked for changed paths alone.  -ENOENT: no regular file; -EFBIG: it
 * has more than `max` bytes.
 */
typedef int (*delivery_read_fn)(void *ctx, const char *path, size_t max,
				char **ret_data, size_t *ret_len);

/* What is left of the session's doing. */
enum delivery_trace {
	DELIVERY_TRACE_NONE,
	DELIVERY_TRACE_FILE,
	DELIVERY_TRACE_REMOVED, /* there was a file, and the session removed it
				 */
};

/* Everything is borrowed for the length of the call. */
struct delivery_request {
	enum delivery_mode mode;
	/* The words are about a delivery to come, and also say its way. */
	bool is_ahead;
	/* A branch of the session's that is not delivered; or NULL. */
	const char *without;
	/*
	 * A reference that the base does not have, or NULL.  Then it is the
	 * only thing that is delivered, with the objects.
	 */
	const char *as_ref;
	const char *as_commit; /* what it gets; NULL: the session's commit */
	const char *session;   /* its name, any bytes */
	/* The git directory: `prefix` from `base` on; "" is `base` itself. */
	int base;
	const char *prefix;
	/*
	 * Where the workspace's HEAD and index are in it: "", or
	 * "worktrees/NAME" if the workspace is a linked worktree.
	 */
	const char *desk;
	/* As they were at T0; NULL: there is no record. */
	const struct kept_refs *kept;
	/* The copy of the index of T0; -1: there is none. */
	int kept_index;
	/* Files alone, no directories, in the order of strcmp(). */
	const struct delivery_change *changes;
	size_t n_changes;
	delivery_read_fn read;
	void *ctx;
	/*
	 * What the session's layers have at that path, also where it is no
	 * change because the base has the same.  NULL: it is not known.
	 */
	enum delivery_trace (*trace)(void *ctx, const char *path);
	/* All objects: of the layers and of the base. */
	struct objectstore *objects;
	/*
	 * Whether a path of the work tree is left out, held or denied; NULL:
	 * none is.  If the session's commits touch such a path, the unit stays.
	 */
	bool (*is_held)(void *ctx, const char *path);
};

enum delivery_verdict {
	/* Neither HEAD, index nor a reference moves. */
	DELIVERY_NOTHING,
	/* All of it is delivered; the index is merged. */
	DELIVERY_FORWARD,
	/*
	 * HEAD and index stay.  The commits are on `branch`; of the work tree,
	 * paths that delivery_stays() tells are not written.
	 */
	DELIVERY_TO_BRANCH,
	/*
	 * Only objects may be delivered; every other item says STAYS.  A held
	 * path is in a commit (`held`), or the same entry of the index changed
	 * on both sides (`conflicts`).
	 */
	DELIVERY_WAITS,
	/* Nothing at all may be delivered; `words` says why: [5]. */
	DELIVERY_REFUSED,
	/* Not understood, or asked for: no items, today's way; see `words`. */
	DELIVERY_AS_FILES,
};

enum delivery_how {
	/* The layer's file as it is: an object, a pack, an operation's file. */
	DELIVERY_AS_IS,
	/* The base gets `content`; a file of the layer is settled by it. */
	DELIVERY_MADE,
	/*
	 * As MADE, with the content of indexmerge(), once all files are in
	 * place: the last step.
	 */
	DELIVERY_INDEX,
	/* The base's file goes; what the layer has there is settled by it. */
	DELIVERY_DELETE,
	/* The base has it already: what the layer has there goes. */
	DELIVERY_SETTLED,
	/* It stays in the layer, pending. */
	DELIVERY_STAYS,
	/* It stays in the layer and is never delivered: locks, caches. */
	DELIVERY_DROPPED,
};

/* The order in which items are applied, so that any prefix is whole. */
enum delivery_stage {
	DELIVERY_STAGE_OBJECTS,
	DELIVERY_STAGE_LOGS,
	DELIVERY_STAGE_REFS, /* new and moved ones, then packed-refs */
	DELIVERY_STAGE_GONE, /* deleted ones, after packed-refs lost them */
	DELIVERY_STAGE_HEAD,
	DELIVERY_STAGE_REST, /* files of an operation, notes */
	DELIVERY_STAGE_INDEX,
};

struct delivery_item {
	char *path; /* from the git directory on */
	enum delivery_how how;
	enum delivery_stage stage;
	/* MADE: what the base gets; a NUL is behind it. */
	char *content;
	size_t len;
	/* MADE: what the layer has there stays pending all the same. */
	bool keeps_layer;
	/*
	 * A reference or a HEAD that moves: compare kept_refs_now() under git's
	 * own lock with `old`, and else give up.  A deleted one of which
	 * packed-refs alone knows is SETTLED by a new packed-refs.  Values are
	 * 40 or 64 digits, or "ref: NAME"; "": there is none.
	 */
	bool is_ref;
	char *old, *new;
};

struct delivery {
	enum delivery_verdict verdict;
	/*
	 * Sorted by path.  Each changed path has one; references that are only
	 * in packed-refs, and files of our own making, have one besides.
	 */
	struct delivery_item *items;
	size_t n;
	/* For people, in order; may have any bytes of names, quoted. */
	char **words;
	size_t n_words;
	/* "merge with: git merge holdback/claude-1"; or NULL */
	char *fix;
	/*
	 * TO_BRANCH: its name without refs/heads/, the commit that it has then,
	 * and its new commits.
	 */
	char *branch;
	struct git_id tip;
	size_t n_commits;
	bool can_merge; /* nothing of the user's is under way */
	/*
	 * Below HEAD: at T0, in the base and in the session, whose branch is
	 * without refs/heads/; NULL or "": there is none, or it is not known.
	 */
	struct git_id then, now, head;
	char *head_branch;
	/* WAITS: paths of the work tree, sorted. */
	char **conflicts, **held;
	size_t n_conflicts, n_held;
	size_t id_size; /* of an object in the index: 20 or 32 bytes */
	/* For indexmerge(): the session goes on from the user's new commits. */
	struct indexmerge_moved *moved;
	size_t n_moved;
	/*
	 * The record to keep from when all items are in place: values of the
	 * base, but those of T0 where the session's are pending.  A plain new
	 * record would make the next commit overwrite what the user did.  Undo
	 * puts the record from before back.
	 */
	struct kept_refs next;
	/* Of the work tree, sorted: touched by the session's commits. */
	char **touched;
	size_t n_touched;
	bool is_all_touched; /* or too many to tell: then all of them are */
};

/*
 * Decides.  0, also for a refusal; -errno only where the base cannot be read,
 * or memory is short.  delivery_done() in any case.
 */
int delivery_decide(const struct delivery_request *request,
		    struct delivery *ret_delivery, struct hb_error *err);
void delivery_done(struct delivery *delivery);
#define auto_delivery __attribute__((cleanup(delivery_done)))

/* NULL: no such path. */
const struct delivery_item *delivery_find(const struct delivery *delivery,
					  const char *path);

/*
 * Whether a changed path of the work tree is not written and stays pending: the
 * session's commits touch it, and they go to a branch.  The merge brings it.
 */
bool delivery_stays(const struct delivery *delivery, const char *path);

#endif
