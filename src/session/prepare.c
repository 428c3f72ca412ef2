/* SPDX-License-Identifier: Apache-2.0 */
#include "session/prepare.h"

#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "holdback/holdback.h"
#include "session/config.h"
#include "session/entries.h"
#include "session/look.h"
#include "sys/file.h"
#include "sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * From options to a plan.  Start-up is measured in microseconds, so the host is
 * asked once for each thing, and nothing is asked that the plan does not need.
 */

static int find_cwd(struct run *run, struct hb_error *err)
{
	if (sys_getcwd(run->cwd, sizeof(run->cwd)) < 0 || run->cwd[0] != '/') {
		hb_fix(err, "change to a directory that exists");
		return hb_fail(err, -HB_E_USAGE,
			       "the working directory is gone");
	}
	run->request.cwd = run->cwd;
	return 0;
}

/* Where the command starts, if that is not where we are. */
static int find_chdir(struct run *run, struct hb_error *err)
{
	const char *dir = run->settings.chdir;
	const struct setting_item item = {
		.key = KEY_CHDIR,
		.value = dir,
		.origin = run->settings.origins[KEY_CHDIR],
	};
	int r;

	if (!dir)
		return 0;
	if (!dir[0])
		return entries_fail(&item, err, "not a directory's name");
	r = entries_path(run, &item, dir, run->chdir, err);
	if (r < 0)
		return r;
	run->request.cwd = run->chdir;
	return 0;
}

/* A shell in a directory that it reached by a link knows it by that name. */
static void find_cwd_name(struct run *run)
{
	const char *name = look_env(run->options->envp, "PWD");
	char real[PATH_MAX];

	if (!name || name[0] != '/' || strcmp(name, run->cwd) == 0)
		return;
	if (!run->settings.chdir && look_real(name, real) >= 0 &&
	    strcmp(real, run->cwd) == 0)
		run->request.cwd_name = name;
}

static void find_home(struct run *run)
{
	run->host.home_name = look_home(run->options->envp, run->home);
	if (run->host.home_name)
		run->host.home = run->home;
}

/* A home by any name: root's idea of home is not that of the directory's owner.
 */
static bool looks_like_home(const char *dir)
{
	static const char *const signs[] = { ".ssh", ".gnupg" };
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		if (path_join(dir, signs[i], path, sizeof(path)) >= 0 &&
		    sys_faccessat(AT_FDCWD, path, F_OK) >= 0)
			return true;
	return false;
}

/* A place that the settings hide is no workspace. */
static bool is_hidden(const struct run *run, const char *path)
{
	const struct settings *s = &run->settings;
	char hidden[PATH_MAX];

	for (size_t i = 0; i < s->n_items; i++)
		if (s->items[i].key == KEY_HIDE &&
		    entries_path(run, &s->items[i], s->items[i].value, hidden,
				 NULL) >= 0 &&
		    view_lies_in(path, hidden))
			return true;
	return false;
}

static const char *refuses_workspace(const struct run *run)
{
	const char *why =
		view_refuses_workspace(run->workspace, run->host.home);

	if (why)
		return why;
	if (run->host.home && strcmp(run->workspace, run->host.home) == 0)
		return "the home directory cannot be a workspace";
	if (is_hidden(run, run->workspace))
		return "a directory that is hidden in the view cannot be a workspace";
	if (looks_like_home(run->workspace))
		return "a directory that holds keys cannot be a workspace";
	return NULL;
}

int run_find_workspace(struct run *run, struct hb_error *err)
{
	char shown[QUOTE_SHOWN];
	const char *why;
	struct stat st;
	int r;

	look_workspace(run->cwd, run->host.home, run->workspace);
	why = refuses_workspace(run);
	(void)quote_shown(run->workspace, shown, sizeof(shown));
	if (why) {
		hb_fix(err, "change to the directory of a project");
		return hb_fail(err, -HB_E_USAGE, "%s: '%s'", why, shown);
	}
	r = sys_fstatat(AT_FDCWD, run->workspace, &st, 0);
	if (r < 0)
		return hb_fail(err, r, "cannot look at '%s'", shown);
	run->resources = calloc(1, sizeof(*run->resources));
	if (!run->resources)
		return hb_fail(err, -ENOMEM, "cannot make the view");
	run->resources[run->n_resources++] = (struct view_resource){
		.role = VIEW_WORKSPACE,
		.source = run->workspace,
		.inside = run->workspace,
		.mode = st.st_mode & 01777,
	};
	run->request.resources = run->resources;
	run->request.n_resources = run->n_resources;
	return config_load_workspace(&run->settings, run->workspace, err);
}

/* The path by which the command exists inside, with its own words after it. */
static int set_command(struct run *run, struct hb_error *err)
{
	const struct hb_run_options *o = run->options;
	char shown[QUOTE_SHOWN];
	struct path_part dir;
	size_t n = 1;

	if (!view_has(&run->plan, run->command_real)) {
		dir = path_dirname(run->command_real);
		hb_fix(err, "--ro %.*s", (int)dir.n, dir.s);
		return hb_fail(err, -HB_E_NOT_FOUND,
			       "'%s' is not in the view: it lies at '%s'",
			       quote_shown(o->argv[0], shown, sizeof(shown)),
			       run->command_real);
	}
	while (o->argv[n])
		n++;
	run->argv = calloc(n + 1, sizeof(*run->argv));
	if (!run->argv)
		return hb_fail(err, -ENOMEM, "cannot keep the command");
	memcpy(run->argv, o->argv, n * sizeof(*run->argv));
	/* By its own name if that works: a script sees what it is called. */
	if (!view_has(&run->plan, run->command))
		run->argv[0] = run->command_real;
	else if (!strchr(o->argv[0], '/'))
		run->argv[0] = run->command;
	run->plan.argv = run->argv;
	run->plan.argv0 = o->argv[0];
	return 0;
}

/* The last component of the command's name; NULL if it has none. */
static const char *program_of(const struct hb_run_options *o)
{
	const char *slash, *name;

	if (!o->argv || !o->argv[0])
		return NULL;
	slash = strrchr(o->argv[0], '/');
	name = slash ? slash + 1 : o->argv[0];
	return name[0] ? name : NULL;
}

int run_configure(struct run *run, const struct hb_run_options *options,
		  struct hb_error *err)
{
	int r;

	*run = (struct run){ .options = options };
	plan_init(&run->plan);
	settings_init(&run->settings);
	run->request.settings = &run->settings;
	run->host.envp = options->envp;
	run->host.is_root = sys_getuid() == 0;
	r = find_cwd(run, err);
	if (r < 0)
		return r;
	find_home(run);
	r = config_load(&run->settings, options, program_of(options),
			run->host.home, err);
	if (r >= 0)
		r = find_chdir(run, err);
	return r;
}

int run_prepare(struct run *run, const struct hb_run_options *options,
		struct hb_error *err)
{
	int r;

	r = run_configure(run, options, err);
	if (r >= 0)
		r = look_command(
			options->argv[0], look_env(options->envp, "PATH"),
			run->request.cwd, run->command, run->command_real, err);
	if (r < 0)
		return r;
	if (!run->settings.is_ephemeral) {
		hb_fix(err, "holdback run --ephemeral -- CMD");
		return hb_fail(err, -HB_E_USAGE,
			       "sessions are not built yet; nothing ran");
	}
	find_cwd_name(run);
	r = run_find_workspace(run, err);
	if (r >= 0)
		r = entries_find(run, err);
	return r;
}

int run_plan(struct run *run, struct hb_error *err)
{
	int r;

	r = view_build(&run->request, &run->host, &run->plan, err);
	if (r >= 0)
		r = set_command(run, err);
	return r;
}

void run_done(struct run *run)
{
	plan_done(&run->plan);
	settings_done(&run->settings);
	free(run->argv);
	free(run->entries);
	free(run->resources);
}
