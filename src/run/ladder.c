/* SPDX-License-Identifier: Apache-2.0 */
#include "run/ladder.h"

#include "base/error.h"
#include "base/report.h"
#include "box/box.h"
#include "box/probe.h"
#include "box/stage.h"
#include "host/look.h"
#include "plan/plan.h"
#include "run/bare.h"
#include "sys/file.h"
#include "sys/landlock.h"
#include "sys/proc.h"
#include "sys/signal.h"
#include "view/prepare.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Landlock's versions: rules that bear renames, and closed abstract sockets. */
#define ABI_FILES  2
#define ABI_SCOPES 6

#define CORE_PATTERN	  "/proc/sys/kernel/core_pattern"
#define CORE_PATTERN_SIZE 256

struct world {
	const struct run *run;
	int abi; /* of landlock */
};

static bool is_bare(const struct world *w)
{
	return w->run->is_bare;
}

static bool has_net(const struct world *w)
{
	return settings_share_net(&w->run->settings);
}

static bool lacks_landlock(const struct world *w)
{
	return w->abi < ABI_FILES && !w->run->settings.allow_nested;
}

static bool has_open_abstract(const struct world *w)
{
	return has_net(w) && w->abi < ABI_SCOPES;
}

static bool is_bare_with_net(const struct world *w)
{
	return is_bare(w) && has_net(w);
}

static bool is_bare_without_scopes(const struct world *w)
{
	return is_bare(w) && w->abi < ABI_SCOPES;
}

/* As box/terminal.c decides it. */
static bool has_open_group(const struct world *w)
{
	if (w->abi >= ABI_SCOPES || is_bare(w))
		return false;
	for (int fd = 0; fd < 3; fd++)
		if (!sys_is_controlling_tty(fd))
			return true;
	return false;
}

/* Behind a pipe it runs as the host's root, on what the command left. */
static bool starts_core_handler(const struct world *w)
{
	char pattern[CORE_PATTERN_SIZE];

	(void)w;
	return sys_core_is_stuck() &&
	       sys_read_file_at(AT_FDCWD, CORE_PATTERN, pattern,
				sizeof(pattern)) > 0 &&
	       pattern[0] == '|';
}

/* What the host lacks, and what that means for a run. */
static const struct {
	bool (*is_lost)(const struct world *w);
	const char *words;
} losses[] = {
	{ is_bare,
	  "there are no namespaces: the command works on a copy at another path, and can change modes and times of your files wherever they are, watch them, see that they exist, and see processes and their command lines" },
	{ is_bare_without_scopes,
	  "and it can send signals to your processes, so that processes which it starts may outlive it" },
	{ is_bare_with_net,
	  "and it can talk to services on sockets of this machine, such as D-Bus or docker" },
	{ has_open_abstract,
	  "the network is the host's, abstract sockets open" },
	{ has_open_group,
	  "signals that the command sends to its group reach the caller's pipeline" },
	{ starts_core_handler,
	  "a command that crashes starts the host's core handler, as the hard limit of core files is 0" },
	{ lacks_landlock, "this kernel has no landlock" },
};

#define LOSSES (sizeof(losses) / sizeof(losses[0]))

static void report_loss(const struct hb_listener *listener, const char *words)
{
	(void)report_send(listener,
			  &(struct hb_report){ .kind = HB_REPORT_WEAKENED,
					       .text = words });
}

void ladder_report(const struct run *run)
{
	const struct world w = { run, sys_landlock_abi() };

	for (size_t i = 0; i < LOSSES; i++)
		if (losses[i].is_lost(&w))
			report_loss(run->listener, losses[i].words);
}

static int check_required(const struct run *run, struct hb_error *err)
{
	struct world w = { run, 0 };

	if (!run->settings.is_required)
		return 0;
	for (size_t i = 0; i < run->settings.n_items; i++)
		if (run->settings.items[i].key == KEY_GIT_TOKEN) {
			hb_fix(err, "leave out --git-token or --require");
			return hb_fail(
				err, -HB_E_UNSUPPORTED,
				"--require: the command could read and send a token");
		}
	w.abi = sys_landlock_abi();
	for (size_t i = 0; i < LOSSES; i++) {
		if (!losses[i].is_lost(&w))
			continue;
		hb_fix(err,
		       "holdback doctor says how to mend it; or leave out --require");
		return hb_fail(err, -HB_E_UNSUPPORTED, "--require: %s",
			       losses[i].words);
	}
	return 0;
}

/* The last step: nothing of the view can be mounted. */
static bool lacks_namespaces(void)
{
	return probe_named("mount-api", NULL) < 0;
}

int ladder_begin(struct run *run, struct hb_error *err)
{
	int r;

	run->ladder->is_required = run->settings.is_required;
	if (run->settings.allow_degraded && !run->settings.is_required &&
	    lacks_namespaces()) {
		r = bare_check(run, err);
		if (r < 0)
			return r;
		run->ladder->rungs |= LADDER_BARE;
		run->is_bare = true;
		r = run_check_network(run, err);
		if (r < 0)
			return r;
	}
	return check_required(run, err);
}

/* Each says whether the plan is another one now. */
static bool use_host_proc(struct plan *plan)
{
	for (size_t i = 0; i < plan->n_ops; i++)
		if (plan->ops[i].kind == OP_PROC)
			plan->ops[i].flags |= PLAN_HOST_PROC;
	return true;
}

/* The filter refuses it too, which is proved before the command runs. */
static bool use_filter(struct plan *plan)
{
	plan->settings &= ~(unsigned)PLAN_NO_USERNS;
	plan->settings |= PLAN_PROVE_NO_USERNS;
	return true;
}

static bool share(struct plan *plan, bool (*is_shared)(const char *source))
{
	bool has_shared = false;

	for (size_t i = 0; i < plan->n_ops; i++) {
		struct plan_op *op = &plan->ops[i];

		if (op->kind != OP_BIND || !(op->flags & PLAN_OWN) ||
		    (is_shared && !is_shared(op->source)))
			continue;
		op->flags &= ~(unsigned)PLAN_OWN;
		has_shared = true;
	}
	return has_shared;
}

static bool has_mounts(const char *source)
{
	char mount[PATH_MAX];

	return look_mount_below(source, mount, sizeof(mount));
}

static bool share_mounts(struct plan *plan)
{
	return share(plan, has_mounts);
}

static bool share_all(struct plan *plan)
{
	return share(plan, NULL);
}

/* Without a supervisor that hears of them there is no record of them. */
static bool record_no_calls(struct plan *plan)
{
	bool has_calls = plan->settings & PLAN_CALLS;

	plan->settings &= ~(unsigned)(PLAN_CALLS | PLAN_LOOKS);
	return has_calls;
}

/* Without a supervisor that hears of them every rename would fail. */
static bool rename_files_alone(struct plan *plan)
{
	bool has_renames = plan->settings & PLAN_RENAMES;

	plan->settings &= ~(unsigned)PLAN_RENAMES;
	return has_renames;
}

/*
 * Where a box fails for want of it, by which code if that tells it, and what
 * must fail by itself if not.
 */
static const struct {
	unsigned rung;
	int stage;
	int code;
	const char *probe;
	bool (*take)(struct plan *plan);
	const char *words;
} rungs[] = {
	{ LADDER_MOUNTS, STAGE_MOUNTS, HB_E_UNSUPPORTED, NULL, share_mounts,
	  "something is mounted in a directory that is shown: sockets there can be talked to, and locks there are the host's" },
	{ LADDER_SHARED, STAGE_MOUNTS, HB_E_UNSUPPORTED, NULL, share_all,
	  "no overlay of the shown directories is possible: sockets there can be talked to, and locks there are the host's" },
	{ LADDER_HOST_PROC, STAGE_MOUNTS, 0, "procfs", use_host_proc,
	  "parts of /proc are masked here, so the command sees the processes around it and their command lines" },
	{ LADDER_FILTER_ONLY, STAGE_NO_USERNS, 0, "no-nesting", use_filter,
	  "/proc/sys cannot be written here, so only the filter keeps the command from making user namespaces" },
	{ LADDER_UNRECORDED, STAGE_PROVE, HB_E_UNSUPPORTED, NULL,
	  record_no_calls,
	  "calls of the command cannot be heard here (another sandbox around it hears them?), so the log has changes alone" },
	{ LADDER_UNHEARD, STAGE_PROVE, HB_E_UNSUPPORTED, NULL,
	  rename_files_alone,
	  "calls of the command cannot be heard here, so it can rename no directory of the workspace, but has to copy it" },
};

/* Whether what failed is what the rung does without. */
static bool is_rung_for(size_t i, const struct hb_error *failed)
{
	if (failed->stage != rungs[i].stage)
		return false;
	if (!rungs[i].probe)
		return failed->code == rungs[i].code;
	return !lacks_namespaces() && probe_named(rungs[i].probe, NULL) < 0;
}

/* A way that the user has to choose. */
static void add_way(struct hb_error *failed)
{
	size_t n = strlen(failed->fix);

	(void)snprintf(
		failed->fix + n, sizeof(failed->fix) - n,
		"%sweaker, on a copy and without namespaces: --allow-degraded",
		n > 0 ? "; or " : "");
}

/* Takes the rung that would help: 1, or 0 if there is none. */
static int take_next(struct ladder *ladder, struct plan *plan,
		     struct hb_error *failed)
{
	if (plan->settings & PLAN_BARE)
		return 0;
	if (failed->stage == STAGE_CLONE || failed->stage == STAGE_IDS ||
	    failed->stage == STAGE_PRIVATE || failed->stage == STAGE_NETNS)
		add_way(failed);
	if (ladder->is_required)
		return 0;
	for (size_t i = 0; i < sizeof(rungs) / sizeof(rungs[0]); i++) {
		if (ladder->rungs & rungs[i].rung || !is_rung_for(i, failed))
			continue;
		ladder->rungs |= rungs[i].rung;
		if (!rungs[i].take(plan))
			continue;
		report_loss(ladder->listener, rungs[i].words);
		return 1;
	}
	return 0;
}

int ladder_run(struct ladder *ladder, struct plan *plan, char *const *envp,
	       ladder_again_fn again, void *context,
	       struct box_result *ret_result, struct hb_error *err)
{
	int r;

	for (;;) {
		r = box_run(plan, envp, ladder->listener, ret_result, err);
		if (r >= 0 || take_next(ladder, plan, err) == 0)
			return r;
		*err = (struct hb_error){ 0 };
		r = again ? again(context, err) : 0;
		if (r < 0)
			return r;
	}
}
