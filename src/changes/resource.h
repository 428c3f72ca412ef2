/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CHANGES_RESOURCE_H
#define HB_CHANGES_RESOURCE_H

#include "changes/resource_type.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct begun;
struct database_list;
struct changes_peers;
struct ignored_outside;
struct part;

#define RECORD_STRATEGY_SIZE 24
#define RECORD_ROLE_SIZE     16

/* The lines of a session's record about one resource. */
struct record_resource {
	enum resource_type type;
	char *source; /* absolute, without links; owned */
	char *inside; /* where the view has it; owned */
	/* Identity of the directory: survives a reboot. */
	uint64_t ino;
	struct timespec btime;
	struct timespec t0; /* what changed later changed under the session */
	/* Of the changes that were rolled back and undo would bring back; or 0.
	 */
	struct timespec t0_before;
	bool same_mount; /* its store is on its own mount: moves, no copies */
	bool is_in_base; /* its store is .holdback-ID at the top of it */
	char *berth;	 /* its store is in the berth of this one; owned, or
			  * NULL or empty: see berth.h */
	bool has_groups; /* groups that the box does not know: see groups.h */
	/* How its changes are held back: as was asked for, and as it is done.
	 * Empty: the default strategy. */
	char strategy[RECORD_STRATEGY_SIZE];
	char effective[RECORD_STRATEGY_SIZE];
	char role[RECORD_ROLE_SIZE]; /* what `run` has it for; "": cow */
};

/*
 * One resource of a session: the only struct that says where it lies.  The
 * session opens it and owns it; strategies, change set, transaction and gate
 * borrow it.
 */
struct resource {
	const struct record_resource *record; /* borrowed */
	size_t number;			      /* among those of its session */
	const struct part *part;	      /* part.h; NULL: part_layers */
	int base;  /* its root, verified; -1: there is none */
	int dir;   /* its directory in the store: rN, or in a berth */
	int spot;  /* a directory on the base's own mount for undo/ and txn/ */
	int upper; /* dir/upper; -1 while it is being frozen */
	/*
	 * dir/top, an empty directory with the attributes that the base's root
	 * had when nothing about them was pending: top.h.  -1: there is none,
	 * and they are no part of the change set.
	 */
	int top;
	int *layers;	 /* the topmost first; [0] is `upper` */
	bool *is_shared; /* by layer: another session refers to it */
	size_t n_layers;
	/*
	 * Where a commit of several layers writes what it leaves out, as a
	 * layer of its own over the new base; -1: nowhere.  An empty directory.
	 */
	int rest;
	/*
	 * What an upper that a rollback makes looks like, one of the layers;
	 * -1: as `top`.
	 */
	int like;
	/* What is a store at the top of the base, by walk_is_store(), is no
	 * part of it.  NULL: nothing is. */
	const char *store_name;
	const struct changes_peers *peers; /* may be NULL */
	/*
	 * Where the base's own `.git` leads, if that is a file and leads out of
	 * it; else NULL.
	 */
	const struct ignored_outside *git;
	/* What the session began with, where that is not the base; or NULL. */
	const struct begun *begun;
	/* Databases that are committed by their rows: database.h; or NULL. */
	const struct database_list *databases;
	/* A box uses them: they wait for its end, as what git ignores does. */
	bool holds_databases;
	bool is_git; /* its root is the directory of a repository */
	/*
	 * Its directory is gone, and all of this an empty stand-in, or -1 where
	 * it is left out: session/gone.h.  A rollback leaves it as it is.
	 */
	bool is_gone;
	/* The record's T0, unless the clock was set back; zero: no conflict is
	 * looked for. */
	struct timespec t0;
	/*
	 * The time there when a transaction began, for late.h: what changes
	 * from now on has a ctime that is not before it.  Zero: not looked for.
	 */
	struct timespec since;
};

/* Nothing of it is open. */
#define RESOURCE_CLOSED                                                    \
	{                                                                  \
		.base = -1, .dir = -1, .spot = -1, .upper = -1, .top = -1, \
		.rest = -1, .like = -1                                     \
	}

#endif
