/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "box/box.h"
#include "box/stage.h"
#include "holdback/holdback.h"
#include "session/look.h"
#include "session/prepare.h"
#include "sys/landlock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * `holdback run`: tells what is about to happen, carries the plan out, and puts
 * what went wrong into words that help.
 */

#define TOLD_SIZE (PATH_MAX + 256)

/* Landlock's versions: rules that bear renames, and closed abstract sockets. */
#define ABI_FILES    2
#define ABI_ABSTRACT 6

static void tell(const struct hb_listener *listener, enum hb_notice notice,
		 const char *text)
{
	if (listener && listener->tell)
		listener->tell(listener->context, notice, text);
}

/* Sockets of those who start containers for whoever asks. */
static bool is_as_good_as_root(const char *path)
{
	static const char *const names[] = { "docker.sock", "podman.sock",
					     "containerd.sock", "crio.sock",
					     "libvirt-sock" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (path_part_is(path_basename(path), names[i]))
			return true;
	return false;
}

static void tell_entries(const struct run *run,
			 const struct hb_listener *listener)
{
	const char *home = run->host.home;
	char shown[QUOTE_SHOWN], text[TOLD_SIZE];

	for (size_t i = 0; i < run->n_entries; i++) {
		const struct view_entry *e = &run->entries[i];

		(void)quote_shown(e->path, shown, sizeof(shown));
		if (e->class == VIEW_RW)
			(void)snprintf(text, sizeof(text),
				       "what is written in '%s' is real",
				       shown);
		else if (e->class == VIEW_SOCKET)
			(void)snprintf(text, sizeof(text),
				       "the command can talk to '%s'%s", shown,
				       is_as_good_as_root(e->path)
					       ? ", which is as good as root"
					       : "");
		else if (e->class == VIEW_RO && home &&
			 view_lies_in(home, e->path))
			(void)snprintf(text, sizeof(text),
				       "the home directory can be read");
		else
			continue;
		tell(listener, HB_NOTICE_WEAKENED, text);
	}
}

static bool has_net(const struct run *run)
{
	return !(run->plan.ns & PLAN_NS_NET);
}

/*
 * A profile's network is said at the start, with all else that it does; one
 * that the user asked for is a weakening.
 */
static void tell_weakenings(const struct run *run,
			    const struct hb_listener *listener)
{
	const struct settings *s = &run->settings;
	bool is_usual = s->origins[KEY_NET].source == SETTING_BUILT_IN;
	int abi = sys_landlock_abi();

	if (has_net(run) && abi < ABI_ABSTRACT)
		tell(listener, HB_NOTICE_WEAKENED,
		     "the network is the host's, abstract sockets open");
	else if (has_net(run) && !is_usual)
		tell(listener, HB_NOTICE_WEAKENED, "the network is the host's");
	tell_entries(run, listener);
	if (s->allow_nested)
		tell(listener, HB_NOTICE_WEAKENED,
		     "the command may make namespaces; landlock has no rules for files");
	else if (abi < ABI_FILES)
		tell(listener, HB_NOTICE_WEAKENED,
		     "this kernel has no landlock");
}

/* What of the home directory a profile shows. */
static size_t count_tools(const struct run *run)
{
	size_t n = 0;

	for (size_t i = 0; i < run->n_entries; i++)
		if (run->entries[i].class == VIEW_SHOW && run->host.home &&
		    view_lies_in(run->entries[i].path, run->host.home))
			n++;
	return n;
}

static void tell_start(const struct run *run,
		       const struct hb_listener *listener)
{
	char shown[QUOTE_SHOWN], text[TOLD_SIZE];
	size_t n_tools = count_tools(run);

	if (run->settings.is_quiet)
		return;
	(void)snprintf(
		text, sizeof(text),
		"ephemeral: changes in '%s' are kept in memory (at most %llu MiB) and gone at the end · network: %s · home hidden but for %zu tool%s",
		quote_shown(run->workspace, shown, sizeof(shown)),
		(unsigned long long)(run->settings.size >> 20),
		has_net(run) ? "host" : "none", n_tools,
		n_tools == 1 ? "" : "s");
	tell(listener, HB_NOTICE_START, text);
	if (!run->worktree_why)
		return;
	(void)snprintf(
		text, sizeof(text),
		"the repository of this worktree is not shown: '.git': %s",
		run->worktree_why);
	tell(listener, HB_NOTICE_START, text);
}

/* The command could not be executed: the number tells which way. */
static int explain_exec(const struct run *run, struct hb_error *err)
{
	int code = err->code == ENOENT ? HB_E_NOT_FOUND : HB_E_NOT_EXECUTABLE;
	struct hb_error own = { .stage = err->stage };
	char shown[QUOTE_SHOWN];

	(void)quote_shown(run->argv[0], shown, sizeof(shown));
	if (code == HB_E_NOT_FOUND) {
		(void)hb_fail(&own, -code,
			      "the interpreter of '%s' is not in the view",
			      shown);
		hb_fix(&own,
		       "--ro DIR, with the directory of the program that its first line names");
	} else {
		(void)hb_fail(&own, -code, "cannot execute '%s': %s", shown,
			      hb_strerror(err->code));
	}
	*err = own;
	return -code;
}

static int explain(const struct run *run, int r, struct hb_error *err)
{
	char mount[PATH_MAX], shown[QUOTE_SHOWN];

	if (err->stage == STAGE_EXEC)
		return explain_exec(run, err);
	if (err->stage == STAGE_CWD) {
		err->code = HB_E_USAGE;
		hb_fix(err, "--chdir DIR, with a directory of the view");
		return -HB_E_USAGE;
	}
	/* The kernel says no more than EINVAL. */
	if (err->stage == STAGE_MOUNTS && err->code == EINVAL &&
	    look_mount_below(run->workspace, mount, sizeof(mount))) {
		hb_fix(err,
		       "start in a directory without mounts below it, or unmount '%s'",
		       quote_shown(mount, shown, sizeof(shown)));
		return hb_fail(err, r, "something is mounted at '%s'", shown);
	}
	return r;
}

static int run_box(const struct run *run, const struct hb_listener *listener,
		   struct hb_run_result *ret_result, struct hb_error *err)
{
	struct box_result result = { 0 };
	auto_free char **envp = NULL;
	int r;

	r = plan_environment(&run->plan, run->options->envp, &envp, err);
	if (r < 0)
		return r;
	tell_weakenings(run, listener);
	tell_start(run, listener);
	r = box_run(&run->plan, envp, NULL, &result, err);
	if (r < 0)
		return explain(run, r, err);
	ret_result->status = result.status;
	ret_result->n_leftover = result.n_leftover;
	ret_result->is_quiet = run->settings.is_quiet;
	return 0;
}

int hb_run(const struct hb_run_options *options,
	   const struct hb_listener *listener, struct hb_run_result *ret_result,
	   struct hb_error *err)
{
	struct hb_error local = { 0 };
	struct run run;
	int r;

	if (!err)
		err = &local;
	r = run_prepare(&run, options, listener, err);
	if (r >= 0)
		r = run_plan(&run, err);
	if (r >= 0)
		r = run_box(&run, listener, ret_result, err);
	run_done(&run);
	return r;
}
