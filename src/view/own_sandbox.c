/* SPDX-License-Identifier: Apache-2.0 */
#include "view/own_sandbox.h"

#include "base/auto.h"
#include "base/env.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "holdback/holdback.h"
#include "plan/inner.h"
#include "plan/settings.h"
#include "sys/file.h"
#include "view/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

/* Longer settings are not read: the agent's sandbox stays as they say. */
#define SETTINGS_MAX 65536

/* Files of a project may be anything, so none of them is waited for. */
static size_t read_settings(const char *dir, const char *name,
			    char text[SETTINGS_MAX])
{
	char path[PATH_MAX];
	auto_fd int fd = -1;
	struct stat st;
	ssize_t n;

	if (path_join(dir, name, path, sizeof(path)) < 0)
		return 0;
	fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	if (fd < 0 || sys_fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	n = sys_read_full(fd, text, SETTINGS_MAX);
	return n >= 0 && n < SETTINGS_MAX ? (size_t)n : 0;
}

static bool file_sets_it(const char *dir, const char *name)
{
	char text[SETTINGS_MAX];

	return inner_is_set(text, read_settings(dir, name, text));
}

/* The mode of codex by its files; that of a profile lies above the other. */
static bool is_stricter_by_file(const struct run *run)
{
	const char *home = env_get(run->options->envp, "CODEX_HOME");
	char dir[PATH_MAX], name[NAME_MAX + 1], text[SETTINGS_MAX];
	int mode = -1;

	if (!run->inner.is_by_file || !run->host.home)
		return false;
	if (home && home[0])
		(void)snprintf(dir, sizeof(dir), "%s", home);
	else if (path_join(run->home, ".codex", dir, sizeof(dir)) < 0)
		return false;
	if (run->inner.profile &&
	    snprintf(name, sizeof(name), "%s.config.toml", run->inner.profile) <
		    (int)sizeof(name))
		mode = inner_mode(text, read_settings(dir, name, text));
	if (mode < 0)
		mode = inner_mode(text,
				  read_settings(dir, "config.toml", text));
	return mode > 0;
}

static bool is_set(const struct run *run)
{
	const char *const *names;
	const char *variable;
	size_t n = inner_settings(run->program, &names, &variable);

	if (variable && inner_is_on(env_get(run->options->envp, variable)))
		return true;
	for (size_t i = 0; i < n; i++)
		if ((run->host.home && file_sets_it(run->home, names[i])) ||
		    (run->workspace[0] &&
		     file_sets_it(run->workspace, names[i])))
			return true;
	return false;
}

int own_turns_mark(struct run *run, struct hb_error *err)
{
	if (!run->settings.marks_turns)
		return 0;
	return inner_mark_turns(run->program, run->options->argv, &run->inner) <
			       0
		       ? hb_fail(err, -ENOMEM, "cannot keep the command")
		       : 0;
}

int own_sandbox_off(struct run *run, struct hb_error *err)
{
	if (run->settings.allow_nested)
		return 0;
	if (inner_switch_off(run->program, run->options->argv, is_set(run),
			     &run->inner) < 0)
		return hb_fail(err, -ENOMEM, "cannot keep the command");
	if (is_stricter_by_file(run))
		run->inner.stricter = "sandbox_mode = read-only";
	if (!run->inner.stricter)
		return 0;
	hb_fix(err,
	       "leave it out, and review with 'holdback diff'; or: holdback run --allow-nested -- %s",
	       run->program);
	return hb_fail(
		err, -HB_E_USAGE,
		"%s cannot keep '%s': its own sandbox does not work in this one",
		run->program, quoted(run->inner.stricter));
}
