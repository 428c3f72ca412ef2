/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_SITE_H
#define HB_TXN_SITE_H

#include "txn/op.h"
#include "txn/txn.h"

#include <stdint.h>

/* Where the objects of one resource lie during one transaction. */
enum site_dir {
	SITE_SPOT_UNDO, /* SPOT/undo/ID/SLOT: objects of the base */
	SITE_SPOT_TXN,	/* SPOT/txn/ID/SLOT: copies that go into the base */
	SITE_DIR_UNDO,	/* DIR/undo/ID/LSLOT: objects of the upper */
	SITE_DIR_TXN,	/* DIR/txn/ID/SLOT: the empty upper of a rollback */
	SITE_DIR_TRASH, /* DIR/trash/ID: the upper that it took the place of */
	SITE_DIRS
};

/* A directory that was opened last: the next operation is mostly near it. */
struct cursor {
	int root;
	int fd;
	char *path; /* NULL: none */
};

struct site {
	const struct resource *resource;
	uint64_t id;
	char name[24];	     /* of its directories: the id */
	int dirs[SITE_DIRS]; /* -1: not there */
	struct cursor base, upper;
	bool is_one;	 /* SPOT is DIR: what is synced for one is for both */
	bool has_labels; /* the base's objects have security labels */
	bool is_overlay; /* the base lies on one: see OP_RISES */
};

/* One place: a name in a directory, or dir -1 where that does not exist. */
struct place {
	int dir;
	const char *name;
	char slot[24]; /* what `name` points to for slots */
};

/*
 * Opens the directories of the transaction that exist; site_make() also makes
 * those that do not, and syncs what it made.
 */
int site_open(struct site *s, const struct resource *resource, uint64_t id,
	      struct hb_error *err);
int site_make(struct site *s, struct hb_error *err);
void site_close(struct site *s);

/* Waits until names in all of these are on disk.  0 or -errno. */
int site_sync(const struct site *s);

/*
 * Its directories go: copies, which nothing refers to any more, with all that
 * is in them, and of the others those that are empty.
 */
int site_remove(struct site *s, struct hb_error *err);

/*
 * The parent of a path of any length, and the last name.  -ENOENT and -ENOTDIR
 * become dir -1.  Valid until the next call for the same tree.  Of an OP_LAYER
 * the base is the upper.
 */
int site_base(struct site *s, const struct op *op, struct place *ret,
	      struct hb_error *err);
int site_upper(struct site *s, const struct op *op, struct place *ret,
	       struct hb_error *err);

/* The same for source and undo slot. */
int site_source(struct site *s, const struct op *op, struct place *ret,
		struct hb_error *err);
void site_undo(struct site *s, const struct op *op, struct place *ret);

/* The identity OP_RISES of an operation; the old object has `nlink` names. */
unsigned site_rises(const struct site *s, uint64_t nlink);

/* What lies there, by its raw attributes; ENTRY_NONE: nothing. */
int place_read(const struct place *p, struct object *ret, struct hb_error *err);

/* Forgets the cursors: a directory on their way has been moved. */
void site_forget(struct site *s);

struct sys_attr;
struct object object_of_attr(const struct sys_attr *a);
struct object object_of(const struct entry *e);

/* Opens the directory of an OP_DIRECTORY itself.  -ENOENT: not there. */
int site_open_dir(const struct cursor *in, const char *path,
		  struct hb_error *err);

#endif
