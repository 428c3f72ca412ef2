/* SPDX-License-Identifier: Apache-2.0 */
#include "box/limits.h"
#include "box/state.h"
#include "sys/file.h"
#include "sys/proc.h"
#include "sys/signal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/*
 * The command's last steps before it is the command.  It may share its memory
 * with init until it executes: what is written here is its own part of the
 * state, and nothing is allocated.
 */

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

int step_session(struct box *box, struct hb_error *err)
{
	int r;

	/* init leads it: box/lead.h. */
	if (box->peer >= 0) {
		r = sys_work_at_terminal(box->peer);
		return r < 0 ? hb_fail(err, r, "cannot work at a terminal") : 0;
	}
	if (!is_set(box, PLAN_NEW_SESSION))
		return 0;
	r = sys_setsid();
	/* Already the leader of one: that is what was asked for. */
	if (r < 0 && r != -EPERM)
		return hb_fail(err, r, "cannot make a new session");
	return 0;
}

/* "PWD=" or "OLDPWD=" and a directory's name. */
#define PWD_SIZE (BOX_CWD_SIZE + sizeof("OLDPWD="))

static void set_env(struct box *box, char *text, const char *name,
		    const char *value)
{
	size_t n = strlen(name);

	(void)snprintf(text, PWD_SIZE, "%s=%s", name, value);
	for (size_t i = 0; i < box->n_env; i++) {
		if (strncmp(box->envp[i], name, n) == 0 &&
		    box->envp[i][n] == '=') {
			box->envp[i] = text;
			return;
		}
	}
	box->envp[box->n_env++] = text;
	box->envp[box->n_env] = NULL;
}

int step_cwd(struct box *box, struct hb_error *err)
{
	/* Not of the heap, of which the supervisor would have the pages. */
	static char pwd[PWD_SIZE], oldpwd[PWD_SIZE];
	const char *cwd = "/";
	int r;

	if (box->plan->chdir) {
		r = sys_chdir(box->plan->chdir);
		if (r < 0)
			return box_fail(box, err, r, WORD_CHDIR,
					box->plan->chdir);
		cwd = box->plan->chdir;
	} else if (box->cwd[0] == '/' && sys_chdir(box->cwd) >= 0) {
		cwd = box->cwd;
	} else if (box->home && sys_chdir(box->home) >= 0) {
		cwd = box->home;
	}
	set_env(box, pwd, "PWD", cwd);
	if (box->cwd[0] == '/' && strcmp(cwd, box->cwd) != 0)
		set_env(box, oldpwd, "OLDPWD", box->cwd);
	return 0;
}

int step_limits(struct box *box, struct hb_error *err)
{
	int r;

	if (is_set(box, PLAN_DIE_WITH_PARENT)) {
		r = sys_set_parent_death_signal(SIGKILL);
		if (r < 0)
			return hb_fail(err, r, "cannot bind to the parent");
	}
	if (is_set(box, PLAN_LIMITS)) {
		r = sys_forbid_core();
		if (r < 0)
			return hb_fail(err, r, "cannot switch core files off");
		r = sys_new_session_keyring();
		/* A kernel or a container without keyrings has none to hide. */
		if (r < 0 && r != -ENOSYS && r != -EPERM)
			return hb_fail(err, r, "cannot leave the keyring");
	}
	r = limits_of_namespace(box, err);
	if (r < 0)
		return r;
	if (box->group == GROUP_OWN) {
		r = sys_setpgid(0, 0);
		if (r < 0)
			return hb_fail(err, r, "cannot make a process group");
		/* SIGTTOU is blocked: from the background this is allowed. */
		if (box->is_foreground)
			(void)sys_tcsetpgrp(box->tty, sys_getpgrp());
	}
	if (box->has_mask) {
		r = sys_restore_signals(&box->mask);
		if (r < 0)
			return hb_fail(err, r, "cannot restore the signals");
	}
	return 0;
}

int step_exec(struct box *box, struct hb_error *err)
{
	const char *file = box->plan->argv[0];
	int r;

	r = sys_execvpe(file, box->argv, box->envp,
			box->path_list ? box->path_list : DEFAULT_PATH);
	return box_fail(box, err, r, WORD_EXEC, file);
}
