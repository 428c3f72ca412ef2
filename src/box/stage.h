/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_STAGE_H
#define HB_BOX_STAGE_H

struct box;
struct hb_error;

/*
 * What happens between clone() and execve(), in this order.  The order is the
 * security argument; docs/ARCHITECTURE.md gives the reason for each place, and
 * a lint compares the two.
 *
 *	id		STAGE_ID
 *	name		for messages
 *	by		VIEW: by init, with capabilities in the box's user
 *			namespace; COMMAND: the restrictions, by the command
 *			itself; others have no step
 *	needs		NAMESPACES, or BARE: also in a box without them
 *	function	step_FUNCTION()
 */
/* clang-format off */
#define BOX_STAGES(ROW) \
	ROW(CLONE, "clone", SUPERVISOR, BARE, nothing) /* the supervisor makes namespaces and a child */ \
	ROW(JOIN, "join", SUPERVISOR, BARE, nothing) /* or a client enters those of a box: box/join.h */ \
	ROW(PARENT, "parent", VIEW, BARE, parent) /* die with the supervisor: before anything can hang */ \
	ROW(IDS, "ids", VIEW, NAMESPACES, ids) /* maps, before anything has an owner */ \
	ROW(NETWORK, "network", VIEW, NAMESPACES, network) /* loopback up, or a process beside makes all of it */ \
	ROW(PRIVATE, "private", VIEW, NAMESPACES, private) /* no mount event in or out, before the first mount */ \
	ROW(STDIO, "stdio", VIEW, NAMESPACES, stdio) /* what is read, read-only: the last look by host path */ \
	ROW(MOUNTS, "mounts", VIEW, NAMESPACES, mounts) /* build the tree: needs the host's view for sources */ \
	ROW(NETNS, "netns", VIEW, NAMESPACES, netns) /* enter the network namespace that was made beside */ \
	ROW(NO_USERNS, "no-userns", VIEW, NAMESPACES, no_userns) /* through the host's /proc, so before it goes */ \
	ROW(ROOT, "root", VIEW, NAMESPACES, root) /* pivot, detach the host */ \
	ROW(NEST, "nest", VIEW, NAMESPACES, nest) /* the last user namespace, if the plan has a second */ \
	ROW(BOUND, "bound", VIEW, BARE, bound) /* bounding set and no_new_privs: for init as well */ \
	ROW(BLOCK, "block", VIEW, BARE, block) /* wait for the caller's byte: the view is complete */ \
	ROW(DOOR, "door", VIEW, NAMESPACES, door) /* namespaces go to the supervisor: complete, dumpable yet */ \
	ROW(SESSION, "session", VIEW, BARE, session) /* setsid(), before init and the command part */ \
	ROW(INIT, "init", INIT, BARE, nothing) /* init splits off, without capabilities, undumpable */ \
	ROW(CWD, "cwd", COMMAND, BARE, cwd) /* the working directory, inside, and PWD */ \
	ROW(LIMITS, "limits", COMMAND, BARE, limits) /* rlimits, keyring, process group, death signal */ \
	ROW(CAPS, "caps", COMMAND, BARE, caps) /* from here on nothing may need a capability */ \
	ROW(DEVICES, "devices", COMMAND, NAMESPACES, devices) /* 0-2: the view's /dev/null, before landlock's rules */ \
	ROW(LANDLOCK, "landlock", COMMAND, BARE, landlock) /* opens path descriptors, so before they are closed */ \
	ROW(FDS, "fds", COMMAND, BARE, fds) /* nothing above 2 but what was asked for */ \
	ROW(SECCOMP, "seccomp", COMMAND, BARE, seccomp) /* late, so that the filter need allow none of this */ \
	ROW(PROVE, "prove", COMMAND, BARE, prove) /* try what must now fail, and stop if it works */ \
	ROW(EXEC, "exec", EXEC, BARE, nothing)

#define BOX_STAGE_ID(id, ...) STAGE_##id,
enum box_stage {
	STAGE_NONE, /* no stage */
	BOX_STAGES(BOX_STAGE_ID)
	STAGE_END /* one past the last */
};
#undef BOX_STAGE_ID
/* clang-format on */

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
