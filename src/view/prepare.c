/* SPDX-License-Identifier: Apache-2.0 */
#include "view/prepare.h"

#include "base/auto.h"
#include "base/env.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/path.h"
#include "gate/rules.h"
#include "holdback/holdback.h"
#include "host/look.h"
#include "plan/environment/env.h"
#include "plan/view_bare.h"
#include "plan/view_place.h"
#include "store/berth.h"
#include "store/live.h"
#include "store/store.h"
#include "sys/file.h"
#include "sys/proc.h"
#include "view/config.h"
#include "view/entries.h"
#include "view/entry_paths.h"
#include "view/home/bounds.h"
#include "view/home/package.h"
#include "view/home/programs.h"
#include "view/own_sandbox.h"
#include "view/policy.h"
#include "view/workspace.h"

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
	char path[PATH_MAX];
	int r = look_cwd(path, err);

	if (r >= 0)
		r = plan_keep_text(&run->plan, path, &run->cwd, err);
	if (r >= 0)
		run->request.cwd = run->cwd;
	return r;
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
	char path[PATH_MAX];
	int r;

	if (!dir)
		return 0;
	if (!dir[0])
		return entries_fail(&item, err, "not a directory's name");
	r = entries_path(run, &item, dir, path, err);
	if (r >= 0)
		r = plan_keep_text(&run->plan, path, &run->chdir, err);
	if (r < 0)
		return r;
	run->request.cwd = run->chdir;
	return 0;
}

/* A shell in a directory that it reached by a link knows it by that name. */
static void find_cwd_name(struct run *run)
{
	const char *name = env_get(run->options->envp, "PWD");
	char real[PATH_MAX];

	if (!name || name[0] != '/' || strcmp(name, run->cwd) == 0)
		return;
	if (!run->settings.chdir && look_real(name, real) >= 0 &&
	    strcmp(real, run->cwd) == 0)
		run->request.cwd_name = name;
}

/*
 * Our own state is in ~/.local, so that is there, and two dozen rows of
 * profiles begin with it.
 */
static int read_names(struct run *run, struct hb_error *err)
{
	static const char *const inner[RUN_NAMES] = { "", "/.local",
						      "/.local/share" };
	char path[PATH_MAX];
	int r;

	for (size_t i = 0; i < RUN_NAMES; i++) {
		struct run_names *names = &run->home_names[i];

		r = snprintf(path, sizeof(path), "%s%s", run->home, inner[i]);
		if (r < 0 || (size_t)r >= sizeof(path) ||
		    !entries_may_exist(run, path))
			return 0;
		r = plan_keep_text(&run->plan, path, &names->dir, err);
		if (r < 0)
			return r;
		roster_read(names->dir, &names->names);
		run->n_home_names++;
	}
	return 0;
}

static int find_home(struct run *run, struct hb_error *err)
{
	char path[PATH_MAX];
	int r;

	run->host.home_name = look_home(run->options->envp, path);
	if (!run->host.home_name)
		return 0;
	r = plan_keep_text(&run->plan, path, &run->home, err);
	if (r < 0)
		return r;
	run->host.home = run->home;
	return read_names(run, err);
}

int run_find_workspace(struct run *run, struct hb_error *err)
{
	int r;

	if (run->session)
		r = workspace_of_session(run, err);
	else
		r = run->chosen ? workspace_chosen(run, err)
				: workspace_find(run, err);
	if (r < 0)
		return r;
	return config_load_workspace(&run->settings, run->workspace, err);
}

/* Whether something that is held back holds the working directory. */
static bool is_at_work(const struct run *run)
{
	for (size_t i = 0; i < run->n_resources; i++)
		if (view_lies_in(run->cwd, run->resources[i].source))
			return true;
	return false;
}

/* The working directory as the view has it. */
static int find_inside(struct run *run, struct hb_error *err)
{
	char path[PATH_MAX];
	int r;

	if (run->request.cwd != run->cwd)
		return 0;
	/* A session can be gone on with from anywhere. */
	if ((run->session || run->chosen) && !is_at_work(run)) {
		run->request.cwd = run->resources[0].inside;
		run->request.cwd_name = NULL;
		return 0;
	}
	if (view_inside(&run->request, run->cwd, path) < 0)
		return hb_fail(err, -HB_E_USAGE,
			       "the working directory's name is too long");
	r = plan_keep_text(&run->plan, path, &run->chdir, err);
	run->request.cwd = run->chdir;
	return r;
}

/* A command may not see where sessions live, in spite of all other settings. */
static bool may_show_store(const struct run *run, const char *path)
{
	const struct settings *s = &run->settings;

	if (run->request.host)
		return true;
	for (size_t i = 0; i < run->n_resources; i++)
		if (view_lies_in(path, run->resources[i].source))
			return true;
	for (size_t i = 0; i < s->n_items; i++)
		if (s->items[i].origin.source != SETTING_BUILT_IN &&
		    setting_is_path(s->items[i].key))
			return true;
	return false;
}

/* Where `path` leads once what is missing at its end has been made. */
static int find_future(const char *path, char *ret)
{
	char above[PATH_MAX], real[PATH_MAX];
	size_t n = strlen(path);
	int r;

	(void)snprintf(above, sizeof(above), "%s", path);
	while ((r = look_real(n > 0 ? above : "/", real)) == -ENOENT && n > 0) {
		while (n > 0 && above[n - 1] != '/')
			n--;
		while (n > 0 && above[n - 1] == '/')
			n--;
		above[n] = '\0';
	}
	return r < 0 ? r : path_join(real, path + n, ret, PATH_MAX);
}

/* The store of this run, without links; it need not be there yet. */
static int find_store(const struct run *run, char *ret)
{
	const struct hb_store_options plain = { .envp = run->host.envp };
	const struct hb_store_options *options = run->options->store;
	char path[PATH_MAX];
	int r;

	if (run->session)
		return path_join(run->session->store, "", ret, PATH_MAX);
	r = store_choose_path(options ? options : &plain, path, sizeof(path),
			      NULL);
	return r < 0 ? r : find_future(path, ret);
}

static int cover(struct run *run, const char *path, struct hb_error *err)
{
	size_t n = run->request.n_covered;

	for (size_t i = 0; i < n; i++)
		if (strcmp(run->covers[i], path) == 0)
			return 0;
	if (grow(run->covers, n) < 0)
		return hb_fail(err, -ENOMEM, "cannot make the view");
	run->covers[n] = path;
	run->request.covered = run->covers;
	run->request.n_covered++;
	return 0;
}

/* A copy of it, which lives as long as the plan. */
static int cover_kept(struct run *run, const char *dir, const char *name,
		      struct hb_error *err)
{
	size_t size = strlen(dir) + strlen(name) + 2;
	char *path = malloc(size);
	int r;

	if (!path)
		return hb_fail(err, -ENOMEM, "cannot make the view");
	(void)path_join(dir, name, path, size);
	r = plan_keep(&run->plan, path, err);
	return r < 0 ? r : cover(run, path, err);
}

/* The doors of sessions: a socket is talked to through any bind. */
static int cover_doors(struct run *run, struct hb_error *err)
{
	const char *dir = env_get(run->host.envp, "XDG_RUNTIME_DIR");
	char real[PATH_MAX];

	if (!run->request.host || !dir || !path_is_absolute(dir) ||
	    look_real(dir, real) < 0)
		return 0;
	return cover_kept(run, real, LIVE_RUNTIME, err);
}

static int cover_store(struct run *run, struct hb_error *err)
{
	char path[PATH_MAX];
	int r;

	if (find_store(run, path) < 0)
		return 0;
	r = plan_keep_text(&run->plan, path, &run->store, err);
	if (r < 0 || !may_show_store(run, run->store))
		return r;
	run->covered = run->store;
	r = cover(run, run->store, err);
	/* A resource that holds it may be seen elsewhere. */
	if (r >= 0 && view_inside(&run->request, run->store, path) >= 0) {
		r = plan_keep_text(&run->plan, path, &run->store_inside, err);
		if (r >= 0)
			r = cover(run, run->store_inside, err);
	}
	return r < 0 ? r : cover_doors(run, err);
}

/* A directory of tools that holds it, as XDG_STATE_HOME may have it. */
static int cover_shown_store(struct run *run, struct hb_error *err)
{
	if (run->covered || !run->store[0] || !bounds_is_shown(run, run->store))
		return 0;
	run->covered = run->store;
	return cover(run, run->store, err);
}

/* A directory of the host, and where it is seen. */
struct real_dir {
	struct run *run;
	const char *inside;
};

static int cover_in_base(void *ctx, const char *name, struct hb_error *err)
{
	const struct real_dir *dir = ctx;

	if (!berth_is_name(name))
		return 0;
	return cover_kept(dir->run, dir->inside, name, err);
}

static int cover_stores_in(struct run *run, const char *source,
			   const char *inside, struct hb_error *err)
{
	struct real_dir dir = { run, inside };
	auto_fd int fd =
		sys_openat(AT_FDCWD, source, O_RDONLY | O_DIRECTORY, 0);

	return fd < 0 ? 0 : store_each_name(fd, cover_in_base, &dir, err);
}

/* Of type berth_fn. */
static int cover_berth(void *ctx, const char *path, struct hb_error *err)
{
	struct run *run = ctx;
	char inside[PATH_MAX];
	int r = cover_kept(run, path, "", err);

	if (r >= 0 && view_inside(&run->request, path, inside) >= 0 &&
	    strcmp(inside, path) != 0)
		r = cover_kept(run, inside, "", err);
	return r;
}

/*
 * A resource that no session keeps shows the base itself: what sessions have at
 * its top is covered, also those that begin later.
 */
static int hold_berth(struct run *run, const struct view_resource *resource,
		      struct hb_error *err)
{
	int fd = berth_hold(run->store, resource->source, err);

	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return hb_fail(err, fd, "cannot cover the store in '%s'",
			       resource->source);
	if (grow(run->berths, run->n_berths) < 0) {
		sys_close(fd);
		return hb_fail(err, -ENOMEM, "cannot make the view");
	}
	run->berths[run->n_berths++] =
		(struct run_berth){ resource->source, fd };
	return cover_kept(run, resource->inside, BERTH, err);
}

/* So many of the resources, the first ones, show the base itself. */
static size_t count_bare(const struct run *run)
{
	return run->settings.is_ephemeral || run->n_kept == 0 ? run->n_resources
							      : run->n_direct;
}

int run_hold_berths(struct run *run, struct hb_error *err)
{
	size_t n = run->store[0] ? count_bare(run) : 0;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < n; i++)
		r = hold_berth(run, &run->resources[i], err);
	return r;
}

/* What sessions have at the top of a directory that is shown as it is. */
static int cover_stores(struct run *run, struct hb_error *err)
{
	size_t n = count_bare(run);
	int r = run->store[0] ? berth_each(run->store, cover_berth, run, err)
			      : 0;

	for (size_t i = 0; r >= 0 && i < n; i++)
		r = cover_stores_in(run, run->resources[i].source,
				    run->resources[i].inside, err);
	for (size_t i = 0; r >= 0 && i < run->n_entries; i++) {
		const struct view_entry *e = &run->entries[i];

		/* The data of agents is in no workspace. */
		if ((e->class == VIEW_RW || e->class == VIEW_RO) && e->item &&
		    e->item->origin.source != SETTING_BUILT_IN &&
		    e->found == VIEW_DIR)
			r = cover_stores_in(run, e->source, e->path, err);
	}
	return r;
}

/* A path of the host as the view has it, if it has. */
static int move_inside(struct run *run, const char **path, struct hb_error *err)
{
	char inside[PATH_MAX];

	if (view_inside(&run->request, *path, inside) < 0)
		return 0;
	return plan_keep_text(&run->plan, inside, path, err);
}

/* exec wants char *, and does not write. */
static void set_word(char **argv, const char *word)
{
	memcpy(argv, &word, sizeof(*argv));
}

/* The path by which the command exists inside, with its own words after it. */
static int set_command(struct run *run, struct hb_error *err)
{
	const struct hb_run_options *o = run->options;
	const char *const *words = run->inner.argv
					   ? run->inner.argv
					   : (const char *const *)o->argv;
	size_t n = 1;
	int r;

	while (words[n])
		n++;
	run->argv = calloc(n + 1, sizeof(*run->argv));
	if (!run->argv)
		return hb_fail(err, -ENOMEM, "cannot keep the command");
	memcpy(run->argv, words, n * sizeof(*run->argv));
	run->plan.argv = run->argv;
	run->plan.argv0 = o->argv[0];
	if (!run->command[0])
		return 0;
	r = move_inside(run, &run->command, err);
	if (r >= 0)
		r = move_inside(run, &run->command_real, err);
	/* By its own name if that works: a script sees what it is called. */
	if (!view_has(&run->plan, run->command))
		set_word(run->argv, run->command_real);
	else if (!strchr(o->argv[0], '/') ||
		 (path_is_absolute(o->argv[0]) && run->settings.at))
		set_word(run->argv, run->command);
	return r;
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

/* Whether a session, or an option, holds back what `path` lies in. */
static bool is_of_others(const struct run *run, const char *path)
{
	const struct hb_run_options *o = run->options;
	char dir[PATH_MAX], real[PATH_MAX];

	for (size_t i = 0;
	     run->session && i < run->session->record->n_resources; i++)
		if (view_lies_in(path,
				 run->session->record->resources[i].source))
			return true;
	for (size_t i = 0; i < o->n_settings; i++) {
		char *colon = NULL;

		if (strcmp(o->settings[i].key, "cow") != 0)
			continue;
		(void)snprintf(dir, sizeof(dir), "%s", o->settings[i].value);
		for (char *p = strstr(dir, ":/"); p; p = strstr(p + 1, ":/"))
			colon = p;
		if (colon)
			*colon = '\0';
		if (look_real(dir, real) >= 0 && view_lies_in(path, real))
			return true;
	}
	return false;
}

/* The workspace as far as it is known before the settings are. */
struct before {
	const struct run *run;
	char workspace[PATH_MAX];
};

static bool is_before(const void *ctx, const char *path)
{
	const struct before *before = ctx;

	return view_lies_in(path, before->workspace) ||
	       is_of_others(before->run, path);
}

/*
 * A command that lies in the workspace, or that something there leads to, is
 * part of that.  The maker of the workspace chose its name.  So no profile is
 * found by it, whether it was named by its path or found in PATH.
 */
static void find_program(struct run *run)
{
	const struct hb_run_options *o = run->options;
	struct before before = { .run = run };

	run->program = program_of(o);
	if (!run->program)
		return;
	look_workspace(run->cwd, run->host.home, before.workspace);
	/* At home everything is the user's own, as is PATH. */
	if (run->host.home && strcmp(before.workspace, run->host.home) == 0 &&
	    !strchr(o->argv[0], '/'))
		return;
	if (look_is_chosen_in(o->argv[0], env_get(o->envp, "PATH"), run->cwd,
			      is_before, &before))
		run->program = NULL;
}

int run_configure(struct run *run, const struct hb_run_options *options,
		  const struct run_session *session, struct hb_error *err)
{
	int r;

	run->options = options;
	run->session = session;
	run->cwd = run->chdir = run->workspace = "";
	run->store = run->store_inside = run->home = "";
	run->command = run->command_real = "";
	plan_init(&run->plan);
	settings_init(&run->settings);
	run->request.settings = &run->settings;
	run->host.envp = options->envp;
	run->host.is_root = sys_getuid() == 0;
	r = find_cwd(run, err);
	if (r >= 0)
		r = code_expand(options, &run->code, err);
	if (r < 0)
		return r;
	if (r > 0)
		options = run->options = &run->code.options;
	r = find_home(run, err);
	if (r < 0)
		return r;
	find_program(run);
	r = session ? policy_load(session->record, options, &run->settings, err)
		    : config_load(&run->settings, options, run->program,
				  run->host.home, err);
	if (r >= 0 && run->settings.strategy &&
	    settings_is_none(run->settings.strategy))
		run->settings.is_direct = true;
	if (r >= 0)
		r = find_chdir(run, err);
	if (r < 0 || !settings_shows_host(&run->settings))
		return r;
	run->view_item = (struct setting_item){
		.key = KEY_VIEW,
		.value = run->settings.view,
		.origin = run->settings.origins[KEY_VIEW],
	};
	run->request.host = &run->view_item;
	return 0;
}

static int look_at_command(struct run *run,
			   int (*look)(struct run *, struct hb_error *),
			   struct hb_error *err)
{
	if (!run->command[0])
		return 0;
	if (!run->may_lack_command)
		return look(run, err);
	(void)look(run, NULL);
	return 0;
}

int run_look(struct run *run, const struct hb_listener *listener,
	     struct hb_error *err)
{
	int r = 0;

	run->listener = listener;
	if (run->options->without_workspace) {
		run->request.cwd = "/";
	} else {
		find_cwd_name(run);
		r = run_find_workspace(run, err);
		if (r >= 0)
			r = workspace_find_more(run, err);
		if (r >= 0)
			r = find_inside(run, err);
	}
	if (r < 0)
		return r;
	r = cover_store(run, err);
	if (r >= 0)
		r = entries_find(run, err);
	if (r >= 0)
		r = cover_shown_store(run, err);
	if (r >= 0)
		r = programs_show(run, err);
	if (r >= 0)
		r = look_at_command(run, package_show, err);
	if (r >= 0)
		r = entries_hide(run, err);
	if (r >= 0)
		r = look_at_command(run, package_check, err);
	return r < 0 ? r : cover_stores(run, err);
}

int run_find_command(struct run *run, struct hb_error *err)
{
	const struct hb_run_options *o = run->options;
	char name[PATH_MAX], real[PATH_MAX];
	int r = look_command(o->argv[0], env_get(o->envp, "PATH"),
			     run->request.cwd, name, real, err);

	if (r >= 0)
		r = plan_keep_text(&run->plan, real, &run->command_real, err);
	if (r >= 0)
		r = plan_keep_text(&run->plan, name, &run->command, err);
	return r;
}

/*
 * What a session holds back may have a command that the host has not: then the
 * box looks for it.
 */
static int find_command(struct run *run, struct hb_error *err)
{
	int r;

	r = run_find_command(run, &run->lack);
	if (r >= 0)
		return 0;
	if (run->session)
		return 0;
	*err = run->lack;
	return r;
}

int run_prepare(struct run *run, const struct hb_run_options *options,
		const struct run_session *session,
		const struct hb_listener *listener, struct hb_error *err)
{
	int r;

	r = run_configure(run, options, session, err);
	options = run->options;
	if (r >= 0 && options->keeps_open)
		return run_look(run, listener, err);
	if (r >= 0 && (!options->argv || !options->argv[0])) {
		hb_fix(err, "holdback run -- COMMAND");
		return hb_fail(err, -HB_E_USAGE, "there is no command to run");
	}
	if (r >= 0)
		r = find_command(run, err);
	if (r >= 0)
		r = run_look(run, listener, err);
	if (r >= 0)
		r = own_sandbox_off(run, err);
	return r < 0 ? r : own_turns_mark(run, err);
}

int run_check_network(const struct run *run, struct hb_error *err)
{
	if (!run->is_bare || !settings_net_by_name(&run->settings))
		return 0;
	hb_fix(err, "--net none, or --net host");
	return hb_fail(err, -HB_E_UNSUPPORTED,
		       "a network by name needs namespaces, and this host has "
		       "none");
}

/* Behind the environment, which says what variables pass. */
int run_plan_network(struct run *run, struct hb_error *err)
{
	int r = run_check_network(run, err);

	if (r < 0 || !settings_net_by_name(&run->settings))
		return r;
	r = network_build(&run->settings, &run->plan,
			  &(struct network_call){ run->options->envp,
						  run->options->argv },
			  &run->network, err);
	if (r >= 0)
		run->plan.net = &run->network.access;
	return r;
}

int run_plan(struct run *run, char ***ret_envp, struct hb_error *err)
{
	int r;

	r = run->is_bare
		    ? view_bare_build(&run->request, &run->host, run->tmp,
				      &run->plan, err)
		    : view_build(&run->request, &run->host, &run->plan, err);
	if (r >= 0)
		r = run_plan_network(run, err);
	if (r >= 0 && !run->options->keeps_open)
		r = set_command(run, err);
	if (r >= 0 && ret_envp)
		r = plan_environment(&run->plan, run->options->envp, ret_envp,
				     err);
	return r;
}

void run_done(struct run *run)
{
	plan_done(&run->plan);
	network_done(&run->network);
	settings_done(&run->settings);
	code_done(&run->code);
	free(run->argv);
	free(run->inner.argv);
	free(run->entries);
	free(run->covers);
	for (size_t i = 0; i < run->n_hidden; i++)
		free(run->hidden[i]);
	free(run->hidden);
	filtered_done(&run->filtered);
	for (size_t i = 0; i < run->n_berths; i++)
		berth_release(run->berths[i].source, &run->berths[i].fd);
	free(run->berths);
	free(run->resources);
	gate_rules_free(run->rules);
}
