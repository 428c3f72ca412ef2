/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_OBJECTSTORE_H
#define HB_GIT_OBJECTSTORE_H

#include "git/gitobject.h"

struct hb_error;

/*
 * The objects of a repository, in as many git directories as a session has
 * layers of it.  An object is its name: every directory that has it, loose or
 * in a pack, has the same object.  A file with another content counts as
 * missing.
 *
 * Nothing is followed (links, alternates, replace references, grafts), and the
 * repository's configuration is not read.  Work has a bound for the store's
 * whole life.
 */
#define OBJECTSTORE_WORK      ((uint64_t)1 << 30) /* bytes inflated */
#define OBJECTSTORE_PACKS_MAX 256
#define OBJECTSTORE_DIRS_MAX  64

/* The sizes that are read: more is no commit that a person wrote. */
#define OBJECTSTORE_COMMIT_MAX ((size_t)1 << 20)
#define OBJECTSTORE_TREE_MAX   ((size_t)16 << 20)

struct objectstore;

/* NULL: no memory. */
struct objectstore *objectstore_new(void);
void objectstore_free(struct objectstore *store);

/*
 * Adds `objects` of the git directory `prefix` below `root`, which is borrowed;
 * "" is the root itself.  Nothing there is success.
 */
int objectstore_add(struct objectstore *store, int root, const char *prefix);

/*
 * Reads an object.  -ENOENT: there is none, or none that can be read or that is
 * its name; -EFBIG: it is larger than `max`, or the work is used up; -ENOMEM.
 */
int objectstore_read(struct objectstore *store, const struct git_id *id,
		     size_t max, struct git_object *ret_object);

/* Whether there is an object of that name; its content is not looked at. */
bool objectstore_has(struct objectstore *store, const struct git_id *id);

/*
 * Looks at every file that is called as the object, and not into packs.  0:
 * each has the content that the name says, or there is none.  -EBADMSG: a file
 * has not.  -EFBIG: `*work`, the bytes that may be inflated, is used up.
 * -ENOMEM.
 */
int objectstore_check_files(struct objectstore *store, const struct git_id *id,
			    uint64_t *work);

/*
 * The same of the pack whose index is called so, "pack-x.idx", with all that is
 * in it.  The first directory that has the index counts.
 */
int objectstore_check_pack(struct objectstore *store, const char *name,
			   uint64_t *work);

#endif
