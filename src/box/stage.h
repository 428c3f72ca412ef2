/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_STAGE_H
#define HB_BOX_STAGE_H

#include <stddef.h>

struct box;
struct hb_error;

/*
 * What happens between clone() and execve(), in this order.  The order is the
 * security argument; docs/ARCHITECTURE.md gives the reason for each place.  Add
 * a stage here, in the tables in stage.c, and there, in one commit.
 */
enum box_stage {
	STAGE_CLONE = 1, /* the supervisor makes namespaces and a child */
	STAGE_JOIN,	 /* or somebody enters those of a box: box/join.h */
	/* The view: by init, with capabilities in the box's user namespace. */
	STAGE_PARENT,  /* die with the supervisor: before anything can hang */
	STAGE_IDS,     /* maps, before anything has an owner */
	STAGE_NETWORK, /* loopback up */
	STAGE_PRIVATE, /* no mount event in or out, before the first mount */
	STAGE_STDIO,   /* what is read, read-only: the last look by host path */
	STAGE_MOUNTS,  /* build the tree: needs the host's view for sources */
	STAGE_NO_USERNS, /* through the host's /proc, so before it goes */
	STAGE_ROOT,	 /* pivot, detach the host */
	STAGE_NEST,	 /* the last user namespace, if the plan has a second */
	STAGE_BOUND,	 /* bounding set and no_new_privs: for init as well */
	STAGE_BLOCK,	 /* wait for the caller's byte: the view is complete */
	STAGE_DOOR, /* namespaces go to the supervisor: complete, dumpable yet
		     */
	STAGE_SESSION, /* setsid(), before init and the command part */
	STAGE_INIT,    /* init splits off, without capabilities, undumpable */
	/* The restrictions: by the command itself. */
	STAGE_CWD,	/* the working directory, inside, and PWD */
	STAGE_LIMITS,	/* rlimits, keyring, process group, death signal */
	STAGE_CAPS,	/* from here on nothing may need a capability */
	STAGE_DEVICES,	/* 0-2: the view's /dev/null, before landlock's rules */
	STAGE_LANDLOCK, /* opens path descriptors, so before they are closed */
	STAGE_FDS,	/* nothing above 2 but what was asked for */
	STAGE_SECCOMP,	/* late, so that the filter need allow none of this */
	STAGE_PROVE,	/* try what must now fail, and stop if it works */
	STAGE_EXEC,
	STAGE_END /* one past the last */
};

struct box_step {
	enum box_stage stage;
	int (*run)(struct box *box, struct hb_error *err);
};

/* "mounts", "landlock", ...; for messages. */
const char *box_stage_name(int stage);

/*
 * Adds the stage to a failure in one and returns `r`, unless what the caller
 * named himself speaks for itself.
 */
int stage_fail(struct hb_error *err, int r);

/*
 * Runs the stages of the view, and those of the command.  On failure `err` has
 * the stage and begins with its name.
 */
int stage_run_view(struct box *box, struct hb_error *err);
int stage_run_command(struct box *box, struct hb_error *err);

#endif
