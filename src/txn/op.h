/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_OP_H
#define HB_TXN_OP_H

#include "changes/conflict.h"
#include "tree/entry.h"
#include "tree/xattrs.h"

#include <stdint.h>

/*
 * One operation of a transaction: the change to make at one path of a base.
 *
 * An object has up to three places.  These are the base, its source (where the
 * new one comes from) and the undo slot (where the old one goes).  Which object
 * lies at which place, and nothing else, says how far the operation has got.
 */
enum op_kind {
	OP_ADD = 1,   /* nothing there before */
	OP_REPLACE,   /* with any two types */
	OP_DELETE,    /* to the undo slot, a directory with all it holds */
	OP_DIRECTORY, /* attributes of a directory that stays, and its times */
	OP_LAYER,     /* only what is in the upper leaves it */
	/* An empty directory that cannot be moved; `new` is a copy of it. */
	OP_REMOVE,
	/* A database gets other pages; `new` is staged: databases.h. */
	OP_DATABASE,
	OP_KINDS /* one past the last */
};

enum op_source {
	SOURCE_NONE,   /* OP_DELETE, OP_DIRECTORY */
	SOURCE_LAYER,  /* the object in the upper, at the same path */
	SOURCE_STAGED, /* a copy: txn/ID/SLOT in the spot; OP_REMOVE */
	SOURCES	       /* one past the last */
};

/*
 * Which object is the operation's: what may stand for the object that the plan
 * saw.  One word of a record with enum op_effect, so no bit is in both.
 */
enum op_identity {
	/*
	 * The base is an overlay.  Moving an object of its lower layer, or a
	 * name in a directory there, copies it up, and that is a birth.  An
	 * object with several names then has another inode number as well.
	 */
	OP_RISES = 1 << 9,
	OP_RISES_APART = 1 << 10,
	/* OP_DIRECTORY: of one with an OP_REMOVE, and `new` stands in for it */
	OP_REMADE = 1 << 11,
	/* OP_REMOVE and OP_ADD of one path: the other's object is gone then. */
	OP_SHARES = 1 << 12,
	OP_IDENTITY_ALL = 0xf << 9
};

/* What is done besides moving the objects. */
enum op_effect {
	/*
	 * What lies at the path in the upper, a whiteout or the original of a
	 * copy, goes to undo/ID/L<SLOT> of the resource's directory.
	 */
	OP_LAYER_MOVES = 1 << 0,
	OP_OPAQUE = 1 << 1,    /* the source had this mark: it gets it back */
	OP_ORIGIN = 1 << 2,    /* likewise */
	OP_IN_NEW = 1 << 3,    /* OP_DIRECTORY: of a directory added here */
	OP_KEEP_TIME = 1 << 4, /* OP_DIRECTORY: others wrote there since */
	OP_XATTRS = 1 << 5,    /* OP_DIRECTORY: they are replaced as well */
	OP_UPPER = 1 << 6,     /* a rollback: the "base" is the upper itself */
	/* OP_DIRECTORY: only its likeness in the upper, with any base */
	OP_IN_UPPER = 1 << 7,
	/* The old object has other names, whose new ctime is our doing. */
	OP_LINKED = 1 << 8,
	OP_EFFECT_ALL = (1 << 9) - 1
};

/* What identifies an object after a reboot, and its attributes. */
struct object {
	enum entry_type type; /* ENTRY_NONE: there is none */
	mode_t mode;	      /* 07777 */
	uid_t uid;
	gid_t gid;
	uint64_t ino, size;
	struct timespec mtime, btime;
	/*
	 * Of a git index its gitindex_name(), of a directory: contents.h, of an
	 * OP_DATABASE: databases.h.
	 */
	uint64_t entries; /* 0: not told */
};

struct op {
	enum op_kind kind;
	enum op_source source;
	unsigned identity; /* enum op_identity */
	unsigned effect;   /* enum op_effect */
	uint32_t resource;
	uint64_t slot;
	const char *path; /* below the base, "" is its root */
	struct object old, new;
	struct object layer; /* OP_LAYER_MOVES: what moves */
	/*
	 * The base had changed here, and the user took the session's version
	 * all the same.  Of an OP_DIRECTORY CONFLICT_MOVED: the directory's own
	 * move is in doubt, independent of the changes in it.
	 */
	enum conflict accepted;
	/* What the new object gets, for it comes as `new` says. */
	mode_t mode;
	uid_t uid;
	gid_t gid;
	/* OP_XATTRS: all of the directory's that we carry, before and after. */
	struct xattr_list old_xattrs, new_xattrs;
};

/*
 * Whether a plan makes such an operation: objects, source, identity and effects
 * of its kind, by one table.  The journal has no other.
 */
bool op_is_legal(const struct op *op);

/* Whether objects change places, one of them in the base or in the upper. */
bool op_moves(const struct op *op);

/* Whether it is about a directory that stays: OP_DIRECTORY. */
bool op_dresses(const struct op *op);

/* Whether it is about the content of a file that stays: OP_DATABASE. */
bool op_is_written(const struct op *op);

/* Whether it does something to the base, and not to the layer alone. */
bool op_is_in_base(const struct op *op);

/* Whether it has the effects that its kind needs: without them it is void. */
bool op_has_effect(const struct op *op);

/* Moved or not, the same object, with or without writes to it since. */
bool object_is(const struct object *a, const struct object *b);

/* And no program has written to it.  Directories have no such state. */
bool object_is_unchanged(const struct object *a, const struct object *b);

/*
 * The same of the operation's old object, which may have been copied up since
 * the plan was made.  The number of a file in a lower layer is not given to
 * another one.  Where it does not stay (OP_RISES_APART) size and mtime say
 * which it is.
 */
bool op_is_old(const struct op *op, const struct object *o);
bool op_is_old_unchanged(const struct op *op, const struct object *o);

#endif
