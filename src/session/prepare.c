/* SPDX-License-Identifier: Apache-2.0 */
#include "session/prepare.h"

#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "holdback/holdback.h"
#include "session/look.h"
#include "sys/file.h"
#include "sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * From options to a plan.  Start-up is measured in microseconds, so the host is
 * asked once for each thing, and nothing is asked that the plan does not need.
 */

#define RESOLVER "/etc/resolv.conf"

static int find_cwd(struct run *run, struct hb_error *err)
{
	const struct hb_run_options *o = run->options;
	char joined[PATH_MAX];
	int r;

	if (sys_getcwd(run->cwd, sizeof(run->cwd)) < 0 || run->cwd[0] != '/') {
		hb_fix(err, "change to a directory that exists");
		return hb_fail(err, -HB_E_USAGE,
			       "the working directory is gone");
	}
	run->request.cwd = run->cwd;
	if (!o->chdir)
		return 0;
	r = path_is_absolute(o->chdir)
		    ? path_normalise(o->chdir, PATH_DOTS_FOLD, run->chdir,
				     sizeof(run->chdir))
		    : path_join(run->cwd, o->chdir, joined, sizeof(joined));
	if (r >= 0 && !path_is_absolute(o->chdir))
		r = path_normalise(joined, PATH_DOTS_FOLD, run->chdir,
				   sizeof(run->chdir));
	if (r < 0 || !o->chdir[0])
		return hb_fail(err, -HB_E_USAGE,
			       "option '--chdir': not a directory's name");
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
	if (!run->options->chdir && look_real(name, real) >= 0 &&
	    strcmp(real, run->cwd) == 0)
		run->request.cwd_name = name;
}

/* With "/" for a home, as services have it, there is none to hide. */
static bool is_home(struct run *run, const char *name)
{
	return name && name[0] == '/' && look_real(name, run->home) >= 0 &&
	       strcmp(run->home, "/") != 0;
}

static void find_home(struct run *run)
{
	const char *name = look_env(run->options->envp, "HOME");
	const struct passwd *user;

	if (!is_home(run, name)) {
		/* Not said, or not true: then what the system says. */
		user = getpwuid(sys_getuid());
		name = user ? user->pw_dir : NULL;
		if (!is_home(run, name))
			return;
	}
	run->host.home = run->home;
	run->host.home_name = name;
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

static int find_workspace(struct run *run, struct hb_error *err)
{
	const char *home = run->host.home, *why;
	char shown[QUOTE_SHOWN];
	struct stat st;
	int r;

	look_workspace(run->cwd, home, run->workspace);
	run->request.workspace = run->workspace;
	why = view_refuses_workspace(run->workspace, home);
	if (!why && looks_like_home(run->workspace))
		why = "a directory that holds keys cannot be a workspace";
	(void)quote_shown(run->workspace, shown, sizeof(shown));
	if (why) {
		hb_fix(err, "change to the directory of a project");
		return hb_fail(err, -HB_E_USAGE, "%s: '%s'", why, shown);
	}
	r = sys_fstatat(AT_FDCWD, run->workspace, &st, 0);
	if (r < 0)
		return hb_fail(err, r, "cannot look at '%s'", shown);
	run->request.mode = st.st_mode & 01777;
	return 0;
}

static int find_tree(struct run *run, const struct hb_dir *dir,
		     struct view_tree *ret_tree, struct hb_error *err)
{
	char real[PATH_MAX], shown[QUOTE_SHOWN], *copy;
	int r;

	(void)quote_shown(dir->path, shown, sizeof(shown));
	r = look_real(dir->path, real);
	if (r < 0)
		return hb_fail(
			err, -HB_E_USAGE, "option '--%s': cannot find '%s': %s",
			dir->is_writable ? "rw" : "ro", shown, hb_strerror(-r));
	if (path_is_beneath(real, "/proc") || path_is_beneath(real, "/sys"))
		return hb_fail(
			err, -HB_E_USAGE,
			"option '--%s': the host's '%s' is not put into the view",
			dir->is_writable ? "rw" : "ro", shown);
	if (strcmp(real, "/") == 0)
		return hb_fail(
			err, -HB_E_USAGE,
			"option '--%s': the root directory is not put into the view",
			dir->is_writable ? "rw" : "ro");
	copy = strdup(real);
	if (!copy)
		return hb_fail(err, -ENOMEM, "cannot keep '%s'", shown);
	*ret_tree = (struct view_tree){
		.path = copy,
		.name = path_is_absolute(dir->path) ? dir->path : NULL,
		.is_writable = dir->is_writable,
	};
	return plan_keep(&run->plan, copy, err);
}

static int find_trees(struct run *run, struct hb_error *err)
{
	const struct hb_run_options *o = run->options;

	if (o->n_dirs == 0)
		return 0;
	run->trees = calloc(o->n_dirs, sizeof(*run->trees));
	if (!run->trees)
		return hb_fail(err, -ENOMEM, "cannot keep the directories");
	for (size_t i = 0; i < o->n_dirs; i++) {
		int r = find_tree(run, &o->dirs[i], &run->trees[i], err);

		if (r < 0)
			return r;
	}
	run->request.trees = run->trees;
	run->request.n_trees = o->n_dirs;
	return 0;
}

/*
 * Where the resolver's file is a link into /run, which is private, names could
 * not be looked up inside.
 */
static void find_resolver(struct run *run)
{
	if (run->request.has_net && look_real(RESOLVER, run->resolver) >= 0 &&
	    strcmp(run->resolver, RESOLVER) != 0)
		run->host.resolver = run->resolver;
}

static int check_names(const struct hb_run_options *o, struct hb_error *err)
{
	char shown[QUOTE_SHOWN];

	for (size_t i = 0; i < o->n_env; i++)
		if (o->env[i][0] == '\0' || o->env[i][0] == '=')
			return hb_fail(
				err, -HB_E_USAGE,
				"option '--env': '%s' has no name",
				quote_shown(o->env[i], shown, sizeof(shown)));
	return 0;
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

static void fill_request(struct run *run)
{
	const struct hb_run_options *o = run->options;
	const char *slash = strrchr(o->argv[0], '/');

	run->request.size = o->size ? o->size : HB_DEFAULT_SIZE;
	run->request.has_net = o->net == HB_NET_HOST;
	run->request.no_ptrace = o->no_ptrace;
	run->request.allow_nested = o->allow_nested;
	run->request.program = slash ? slash + 1 : o->argv[0];
	run->request.env = o->env;
	run->request.n_env = o->n_env;
	run->host.envp = o->envp;
	run->host.is_root = sys_getuid() == 0;
}

int run_prepare(struct run *run, const struct hb_run_options *options,
		struct hb_error *err)
{
	int r;

	*run = (struct run){ .options = options };
	plan_init(&run->plan);
	fill_request(run);
	r = check_names(options, err);
	if (r >= 0)
		r = find_cwd(run, err);
	if (r >= 0)
		r = look_command(
			options->argv[0], look_env(options->envp, "PATH"),
			run->request.cwd, run->command, run->command_real, err);
	if (r < 0)
		return r;
	if (!options->is_ephemeral) {
		hb_fix(err, "holdback run --ephemeral -- CMD");
		return hb_fail(err, -HB_E_USAGE,
			       "sessions are not built yet; nothing ran");
	}
	find_cwd_name(run);
	find_home(run);
	find_resolver(run);
	r = find_workspace(run, err);
	if (r >= 0)
		r = find_trees(run, err);
	if (r >= 0)
		r = look_paths(&run->host, &run->plan, err);
	if (r >= 0)
		r = view_build(&run->request, &run->host, &run->plan, err);
	if (r >= 0)
		r = set_command(run, err);
	return r;
}

void run_done(struct run *run)
{
	plan_done(&run->plan);
	free(run->argv);
	free(run->trees);
}
