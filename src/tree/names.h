/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TREE_NAMES_H
#define HB_TREE_NAMES_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

struct hb_error;

/*
 * The names of directories, sorted by bytes, in memory that does not grow with
 * their number: long lists lie in a file without a name.
 *
 * A walk has one list per level.  They share a pool, and are given back in the
 * reverse order in which they were made.
 */
struct names_pool {
	int dir;	 /* where the file may lie; borrowed */
	int file;	 /* -1 as long as it was not needed */
	uint64_t end;	 /* of what is in use of the file */
	size_t held;	 /* bytes of all lists in memory */
	char *block;	 /* of the file, for whichever list was read last */
	uint64_t at;	 /* offset of the block */
	size_t n_block;	 /* bytes in it */
	size_t max_sort; /* bytes sorted at once; tests make it small */
	char name[NAME_MAX + 1]; /* what was last given out of the file */
};

struct names {
	struct names_pool *pool;
	char *text;	    /* in memory: each with a NUL; else NULL */
	size_t len, pos;    /* of `text` */
	uint64_t bottom;    /* where the pool's file ended before */
	uint64_t next, end; /* in the file */
};

void names_pool_init(struct names_pool *pool, int dir);
void names_pool_done(struct names_pool *pool);

/*
 * Reads all of the `n` directories to their ends and gives the union of their
 * names, each once, without "." and "..".
 */
int names_read(struct names_pool *pool, const int *dirs, size_t n,
	       struct names *ret_names, struct hb_error *err);
void names_done(struct names *names);

/* 1: the next name, valid until the pool is used again; 0: no more. */
int names_next(struct names *names, const char **ret_name,
	       struct hb_error *err);

#endif
