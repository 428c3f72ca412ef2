/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_NOTIFY_TWIN_WALK_H
#define HB_BOX_NOTIFY_TWIN_WALK_H

#include "box/notify/twin.h"
#include "sys/kernel.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The walk of box/notify/twin.c: through a directory, and through another one
 * beside it, by descriptors.  Others may change both meanwhile.
 */

struct made_links;

#define TWIN_BLOCK_SIZE 4096

/* A directory that is being walked, and the one beside it; -1: there is none.
 */
struct twin_level {
	int from, to;
	char name[NAME_MAX + 1]; /* in the level above */
	uint64_t path;		 /* made_links_path() */
	size_t at, n;		 /* in `block` */
	_Alignas(struct k_dirent) char block[TWIN_BLOCK_SIZE];
};

struct twin_walk {
	struct twin *twin;
	struct twin_level *levels;
	size_t depth;
	size_t n_entries;
	uint64_t n_bytes;
	struct made_links *links; /* NULL: they are not known */
	bool takes_all;		  /* drop: there is no twin to ask */
	bool has_rest;		  /* drop: something cannot be removed */
};

/* What is done at each entry.  Below 0 ends the walk; 1: not entered. */
struct twin_deeds {
	int (*file)(struct twin_walk *w, const struct twin_level *l,
		    const char *name);
	/* Opens what the new level walks. */
	int (*enter)(struct twin_walk *w, const struct twin_level *l,
		     const char *name, struct twin_level *ret);
	/* After all that is in it; `above` NULL: the first. */
	int (*leave)(struct twin_walk *w, const struct twin_level *l,
		     const struct twin_level *above);
};

/* Takes both descriptors.  `to` -1: there is no directory beside it. */
int twin_walk(struct twin_walk *w, const struct twin_deeds *deeds, int from,
	      int to);

/* The next one of l->from, without the dots; 0: there is no more. */
int twin_next_entry(struct twin_level *l, const struct k_dirent **ret);

#endif
