/* SPDX-License-Identifier: Apache-2.0 */
#include "box/stage.h"

#include "box/state.h"
#include "sys/sock.h"

#include <string.h>

static const char *const names[] = {
	[STAGE_CLONE] = "clone",
	[STAGE_JOIN] = "join",
	[STAGE_PARENT] = "parent",
	[STAGE_IDS] = "ids",
	[STAGE_NETWORK] = "network",
	[STAGE_PRIVATE] = "private",
	[STAGE_STDIO] = "stdio",
	[STAGE_MOUNTS] = "mounts",
	[STAGE_NO_USERNS] = "no-userns",
	[STAGE_ROOT] = "root",
	[STAGE_NEST] = "nest",
	[STAGE_BOUND] = "bound",
	[STAGE_BLOCK] = "block",
	[STAGE_DOOR] = "door",
	[STAGE_SESSION] = "session",
	[STAGE_INIT] = "init",
	[STAGE_CWD] = "cwd",
	[STAGE_LIMITS] = "limits",
	[STAGE_CAPS] = "caps",
	[STAGE_DEVICES] = "devices",
	[STAGE_LANDLOCK] = "landlock",
	[STAGE_FDS] = "fds",
	[STAGE_SECCOMP] = "seccomp",
	[STAGE_PROVE] = "prove",
	[STAGE_EXEC] = "exec",
};

static_assert(sizeof(names) / sizeof(names[0]) == STAGE_END,
	      "every stage has a name");

static const struct box_step view[] = {
	{ STAGE_PARENT, step_parent },	     { STAGE_IDS, step_ids },
	{ STAGE_NETWORK, step_network },     { STAGE_PRIVATE, step_private },
	{ STAGE_STDIO, step_stdio },	     { STAGE_MOUNTS, step_mounts },
	{ STAGE_NO_USERNS, step_no_userns }, { STAGE_ROOT, step_root },
	{ STAGE_NEST, step_nest },	     { STAGE_BOUND, step_bound },
	{ STAGE_BLOCK, step_block },	     { STAGE_DOOR, step_door },
	{ STAGE_SESSION, step_session },
};

static const struct box_step command[] = {
	{ STAGE_CWD, step_cwd },	   { STAGE_LIMITS, step_limits },
	{ STAGE_CAPS, step_caps },	   { STAGE_DEVICES, step_devices },
	{ STAGE_LANDLOCK, step_landlock }, { STAGE_FDS, step_fds },
	{ STAGE_SECCOMP, step_seccomp },   { STAGE_PROVE, step_prove },
};

/* Without namespaces: what is left of both. */
static const struct box_step bare_view[] = {
	{ STAGE_PARENT, step_parent },
	{ STAGE_BOUND, step_bound },
	{ STAGE_BLOCK, step_block },
	{ STAGE_SESSION, step_session },
};

static const struct box_step bare_command[] = {
	{ STAGE_CWD, step_cwd },     { STAGE_LIMITS, step_limits },
	{ STAGE_CAPS, step_caps },   { STAGE_LANDLOCK, step_landlock },
	{ STAGE_FDS, step_fds },     { STAGE_SECCOMP, step_seccomp },
	{ STAGE_PROVE, step_prove },
};

const char *box_stage_name(int stage)
{
	if (stage <= 0 || stage >= STAGE_END)
		return "box";
	return names[stage];
}

int stage_fail(struct hb_error *err, int r)
{
	if (err->stage <= 0 || err->stage >= STAGE_EXEC ||
	    err->stage == STAGE_CWD)
		return r;
	return hb_fail(err, r, "stage %s", box_stage_name(err->stage));
}

static int run(const struct box_step *steps, size_t n, struct box *box,
	       struct hb_error *err)
{
	for (size_t i = 0; i < n; i++) {
		int r = steps[i].run(box, err);

		if (r < 0) {
			/* Sets the code even if the step forgot to. */
			if (err->code == 0)
				(void)hb_fail(err, r, "%s",
					      names[steps[i].stage]);
			err->stage = (int)steps[i].stage;
			return r;
		}
	}
	return 0;
}

int stage_run_view(struct box *box, struct hb_error *err)
{
	if (is_set(box, PLAN_BARE))
		return run(bare_view, sizeof(bare_view) / sizeof(bare_view[0]),
			   box, err);
	return run(view, sizeof(view) / sizeof(view[0]), box, err);
}

int stage_run_command(struct box *box, struct hb_error *err)
{
	if (is_set(box, PLAN_BARE))
		return run(bare_command,
			   sizeof(bare_command) / sizeof(bare_command[0]), box,
			   err);
	return run(command, sizeof(command) / sizeof(command[0]), box, err);
}
