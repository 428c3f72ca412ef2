/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_PACK_GITPACK_H
#define HB_GIT_PACK_GITPACK_H

#include "git/gitobject.h"

/*
 * One pack with its index (git's Documentation/gitformat-pack: pack version 2
 * and 3, index version 2).  The writer is hostile: every offset is checked, a
 * chain of deltas has a length, and each step of it a size.
 */
#define GITPACK_CHAIN_MAX 256

struct delta_bases;

struct gitpack {
	int index, pack; /* -1: not open */
	uint64_t index_size, pack_size;
	uint32_t n; /* objects */
	/* Objects that were read before, borrowed; NULL: none are kept. */
	struct delta_bases *bases;
};

/*
 * Opens `name`, which ends in ".idx", and the pack beside it.  -EBADMSG: not
 * to be understood.  gitpack_close() in any case.
 */
int gitpack_open(int dir, const char *name, struct gitpack *ret_pack);

/* The same with the two in a directory each. */
int gitpack_open_apart(int index_dir, int pack_dir, const char *name,
		       struct gitpack *ret_pack);
void gitpack_close(struct gitpack *pack);

/* 1: it has the object, at this offset; 0: it has not. */
int gitpack_find(const struct gitpack *pack, const struct git_id *id,
		 uint64_t *ret_offset);

/* The object that is the number `i` of the index, by name. */
int gitpack_at(const struct gitpack *pack, uint32_t i, size_t digits,
	       struct git_id *ret_id, uint64_t *ret_offset);

/* What stands before an object's data. */
struct gitpack_entry {
	enum git_type type; /* one without a word is made of another object */
	uint64_t size;	    /* of what the data inflates to */
	uint64_t data;	    /* its offset */
};
int gitpack_look(const struct gitpack *pack, uint64_t offset, size_t digits,
		 struct gitpack_entry *ret_entry);

/*
 * Reads the object at the offset; each inflated byte lowers `*work`.  -EFBIG:
 * it, or an object that it is made of, has more than `max` bytes, or there is
 * too much work.  Its name is not looked at.
 */
int gitpack_read(const struct gitpack *pack, uint64_t offset, size_t digits,
		 size_t max, uint64_t *work, struct git_object *ret_object);

#endif
