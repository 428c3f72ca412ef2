/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CHANGES_CHANGES_H
#define HB_CHANGES_CHANGES_H

#include "changes/resource.h"
#include "tree/entry.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct delivered_item;
struct hb_listener;

/*
 * The change set: the changes of a resource's layers to its base.  It is one
 * stream in path order, which status, diff, gate, review and commit read.  The
 * order is that of a walk: names by bytes, a directory before what is in it, so
 * a slash sorts before every other byte.
 *
 * One walk over layers and base makes it, by descriptor, in memory that does
 * not grow with the tree.  An unnamed spill file keeps it.  Everything in a
 * layer is hostile.
 */
enum change_kind {
	CHANGE_ADDED = 'A',
	CHANGE_MODIFIED = 'M', /* content, or a link's target */
	CHANGE_DELETED = 'D',
	CHANGE_TYPE = 'T',	 /* another type of object in its place */
	CHANGE_ATTRIBUTES = 'P', /* mode, owner, xattrs, ACL: no content */
	CHANGE_TIMES = 't',	 /* a file's mtime alone; shown with -v */
};

/* What differs; any kind but A and D may have several. */
enum change_what {
	CHANGED_CONTENT = 1 << 0,
	CHANGED_MODE = 1 << 1,
	CHANGED_OWNER = 1 << 2,
	CHANGED_XATTRS = 1 << 3, /* user.*, ACLs, security.capability */
	CHANGED_TARGET = 1 << 4,
	CHANGED_MTIME = 1 << 5,
	/*
	 * Nothing of its own, but in the layer it shares its inode with other
	 * names: the base's copy has to become that inode.
	 */
	CHANGED_LINKS = 1 << 6,
	/* With CHANGED_CONTENT: whether xattrs differ was not looked at. */
	CHANGED_MAYBE_XATTRS = 1 << 7,
};

enum change_flag {
	/*
	 * A directory that hides or replaces all of the base below it: the
	 * deletions it means follow as changes of their own.
	 */
	CHANGE_OPAQUE = 1 << 0,
	CHANGE_IN_NEW = 1 << 1,	 /* inside a directory that is itself added */
	CHANGE_IN_GONE = 1 << 2, /* inside a directory that is itself deleted */
	CHANGE_GIT = 1 << 3,	 /* part of a repository's unit, not counted */
	CHANGE_RENAMED = 1 << 4, /* `from` is where it came from */
	CHANGE_SPECIAL = 1 << 5, /* fifo, socket, device */
	CHANGE_SETID = 1 << 6,	 /* setuid, setgid or file capabilities */
	CHANGE_CONFLICT = 1 << 7, /* the base changed since T0; see `why` */
	/* The other end of a rename: deleted, and the `from` of an added one.
	 */
	CHANGE_MOVED_AWAY = 1 << 8,
	/*
	 * A directory of both sides that is in the stream for commit alone: its
	 * times, which are carried and not listed, or its being opaque.  Kind
	 * CHANGE_TIMES; never shown, counted, in conflict or in the hash, so a
	 * set that has nothing else has no changes: see `n_changes`.  Of kind
	 * CHANGE_ADDED it was committed from here, the base has it no more, and
	 * nothing about it is pending but what may follow.
	 */
	CHANGE_CARRIED = 1 << 9,
	/*
	 * The base's object has other names, and is untouched since T0.  Not in
	 * the hash.
	 */
	CHANGE_OLD_LINKED = 1 << 10,
	/*
	 * The base's own rules say that git ignores it; see `ignores` below.
	 * Not in the hash, and counted by itself.
	 */
	CHANGE_IGNORED = 1 << 11,
	/* Part of a database: filters take or leave all of its files. */
	CHANGE_DATABASE = 1 << 12,
	/* CHANGE_CONFLICT, and no choice of a version settles it. */
	CHANGE_FIRM = 1 << 13,
	/*
	 * With CHANGE_IGNORED: git_is_lock(), or git_is_note() of which the
	 * base has a newer one; counted by itself.
	 */
	CHANGE_LOCK = 1 << 14,
	/*
	 * The session began so: begun.h.  It is in the stream for a commit that
	 * ends the beginning.  Never shown, counted, in conflict or in the
	 * hash, and no filter lets it pass.
	 */
	CHANGE_BEGUN = 1 << 15,
};

struct change {
	enum change_kind kind;
	unsigned what;	/* enum change_what */
	unsigned flags; /* enum change_flag */
	/*
	 * Relative to the resource, any bytes but NUL.  "." is the resource's
	 * own directory, of which only attributes change: the first of all.
	 */
	const char *path;
	const char *from;		/* CHANGE_RENAMED, else NULL */
	const struct entry *from_entry; /* what was there; with `from` */
	const char *why;     /* CHANGE_CONFLICT: words for people, else NULL */
	unsigned conflict;   /* the same as enum conflict has it, else 0 */
	size_t resource;     /* its number among those of the session */
	size_t layer;	     /* index of the layer that `new` is in */
	struct entry old;    /* ENTRY_NONE for an added one */
	struct entry new;    /* ENTRY_NONE for a deleted one */
	uint64_t link_group; /* not 0: same number, same inode in the layer */
	/*
	 * CHANGE_IGNORED: so much of the path is the topmost directory that is
	 * ignored, or all of it.
	 */
	size_t ignored_top;
	/* CHANGE_FIRM: the process that has it open; 0: none that is known. */
	pid_t holder;
	/*
	 * In a change set of changes_deliver(): what becomes of it, as
	 * delivered.h says.  Else NULL.
	 */
	const struct delivered_item *item;
};

/* What has to be asked for before the change may be committed. */
enum change_asks {
	CHANGE_ASKS_NOTHING,
	CHANGE_ASKS_SPECIAL, /* a fifo */
	CHANGE_ASKS_SETID,   /* it would have setuid, setgid, capabilities */
	CHANGE_ASKS_NEVER,   /* a socket or a device: in any case */
};

/* Whether it is about the resource's own directory. */
bool change_is_top(const struct change *change);

/*
 * Rights that the base's file has already ask for nothing as long as neither
 * they nor what they are given to change.
 */
enum change_asks change_asks(const struct change *change);

/* No path begins so; with room for the number. */
#define SEEN_INODE	"/"
#define SEEN_INODE_SIZE 24

/*
 * As `layer_ino`: it was committed from a copy of a live upper, by a command
 * that was killed.  The box has gone on since, and may have removed the name
 * while the base did not have it.  Such a removal leaves no whiteout.
 */
#define SEEN_APART UINT64_MAX

/*
 * What the session knows of a path after it was committed from here.
 * Directories that commit renamed into place, or whose times it restored,
 * belong to it as well.  To a later scan they look as if the user had moved
 * them.
 */
struct seen {
	/*
	 * SEEN_INODE and the inode's number: every name that it has in the
	 * base, because one of them was moved away.
	 */
	const char *path;
	uint64_t base_ino;
	struct timespec base_ctime;
	uint64_t layer_ino; /* 0: nothing in the layer; SEEN_APART */
	struct timespec layer_ctime;
	/*
	 * Not 0: enum conflict.  The commit of it was accepted although the
	 * base had changed, and then undone: it is in conflict again.
	 * `base_ctime` is a time before that undo, and the rest is zero.
	 */
	unsigned conflict;
	/*
	 * When it is told: the base had no directory there before; it is the
	 * directory that the base had, with other attributes.
	 */
	bool is_made, is_dressed;
};

/* Looks a path up among the seen ones.  false: never committed. */
typedef bool (*seen_fn)(void *ctx, const char *path, struct seen *ret_seen);

/*
 * Others who share layers with us.  Whether one of them has committed the
 * layer's object at the path, or an object made from it, and the base still has
 * it.  The layer is not the upper. ino 0: nothing is there.
 */
typedef bool (*changes_peers_fn)(void *ctx, size_t layer, const char *path,
				 uint64_t base_ino, struct timespec base_ctime);
struct changes_peers {
	changes_peers_fn have_committed;
	void *ctx;
};

struct changes_request {
	const struct resource *resource;
	int spill_dir; /* where the spill file may lie */
	seen_fn seen;  /* may be NULL */
	void *seen_ctx;
	/*
	 * The name in `spill_dir` of what is remembered from one scan to the
	 * next, as known.h says, and the boot that this is; NULL: nothing is.
	 * With `keeps_known` it is written as well, which only who holds the
	 * session's lock may do.
	 */
	const char *known;
	const char *boot;
	bool keeps_known;
	/* Finds out what git ignores, which no filter lets pass then. */
	bool ignores;
	bool with_renames;
	/*
	 * Leaves the hash zero and so spares reading new files, for a caller
	 * that only lists.  What was reviewed by such a list cannot be
	 * expected.
	 */
	bool without_hash;
	/*
	 * For a caller that lists names: where content differs, xattrs of the
	 * base are not read, as CHANGED_MAYBE_XATTRS says.
	 */
	bool names_only;
	/* Hears how many entries were walked, now and then; may be NULL. */
	const struct hb_listener *listener;
};

/*
 * Directories count as well.  The two ends of a rename count once, as renamed.
 * What is part of a repository's unit counts as `n_git` and `n_changes` only.
 */
struct changes_summary {
	uint64_t n_changes; /* in the stream, but for the carried ones */
	uint64_t n_added, n_modified, n_deleted, n_renamed, n_type;
	uint64_t n_attributes, n_times, n_conflicts, n_git;
	/* Of those added, deleted and of all others: how many directories. */
	uint64_t n_dirs_added, n_dirs_deleted, n_dirs_changed;
	uint64_t bytes; /* of the content that is new */
	/* Of what is ignored, which counts nowhere else but in `n_changes`. */
	uint64_t n_ignored, ignored_bytes, n_dirs_ignored;
	uint64_t n_locks; /* CHANGE_LOCK */
	/* Those not ignored because asking took too much: ignored_unjudged() */
	uint64_t n_unjudged;
	uint8_t hash[32];
};

struct changes;

/*
 * Walks and compares.  On failure nothing is left; a tree that cannot be read
 * as a layer is refused whole, naming the path.
 */
int changes_scan(const struct changes_request *request,
		 struct changes **ret_changes, struct hb_error *err);
void changes_free(struct changes *changes);

/* Counts one change of a stream that is being made. */
void changes_count(struct changes_summary *sum, const struct change *c);

const struct changes_summary *changes_summary(const struct changes *changes);

/*
 * Reads from the first change on; 1: a change, 0: the end.  What `ret_change`
 * points to is valid until the next call.
 */
int changes_rewind(struct changes *changes, struct hb_error *err);
int changes_next(struct changes *changes, struct change *ret_change,
		 struct hb_error *err);

#endif
