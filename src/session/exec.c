/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "box/box.h"
#include "box/stage.h"
#include "plan/plan.h"
#include "plan/view.h"
#include "plan/view_exec.h"
#include "session/layers.h"
#include "session/look.h"
#include "session/session.h"
#include "session/shown.h"
#include "session/store.h"
#include "sys/file.h"
#include "sys/place.h"
#include "sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * `holdback exec`: a box over the session's layers.
 *
 * Order of events, each before the next: resources verified, fresh work
 * directories, state active, copies for the sake of groups, box, box gone,
 * untouched copies gone, state idle and unsynced, work directories put away,
 * synced.  Whoever finds the state active without the
 * lock being held knows that this was interrupted.
 */

#define WORK "work"

struct exec {
	struct hb_session *session;
	struct plan plan;
	struct view_host host;
	struct view_exec_request request;
	struct view_overlay *overlays;
	char ***layers; /* by resource: the paths of frozen ones */
	const char **hidden;
	struct view_held *held;
	char home[PATH_MAX];
	char cwd[PATH_MAX];
};

/* A copy that lives as long as the plan. */
static int keep(struct exec *e, const char *text, const char **ret,
		struct hb_error *err)
{
	char *copy = strdup(text);

	if (!copy)
		return hb_fail(err, -ENOMEM, "cannot make the view");
	*ret = copy;
	return plan_keep(&e->plan, copy, err);
}

static int fill_overlay(struct exec *e, size_t i, struct hb_error *err)
{
	const struct record_resource *resource =
		&e->session->record.resources[i];
	struct view_overlay *overlay = &e->overlays[i];
	const struct strategy *strategy = NULL;
	char path[PATH_MAX];
	int r;

	overlay->source = resource->source;
	overlay->inside = resource->inside;
	r = session_layer_paths(e->session, i, &e->layers[i],
				&overlay->n_layers, err);
	if (r < 0)
		return r;
	overlay->layers = (const char *const *)e->layers[i];
	r = shown_strategy(resource, &strategy, err);
	if (r >= 0 && strategy->shown)
		r = session_store_path(e->session, i, strategy->shown, path,
				       sizeof(path), err);
	if (r >= 0 && strategy->shown)
		r = keep(e, path, &overlay->tree, err);
	if (r >= 0)
		r = session_store_path(e->session, i, "upper", path,
				       sizeof(path), err);
	if (r >= 0)
		r = keep(e, path, &overlay->upper, err);
	if (r >= 0)
		r = session_store_path(e->session, i, WORK, path, sizeof(path),
				       err);
	if (r >= 0)
		r = keep(e, path, &overlay->work, err);
	if (r < 0 || !resource->is_in_base)
		return r;
	r = session_store_path(e->session, i, "", path, sizeof(path), err);
	if (r < 0)
		return r;
	path[strlen(path) - 1] = '\0';
	return keep(e, path, &e->hidden[e->request.n_hidden++], err);
}

/* The same thing at its place inside. */
static int add_held(void *ctx, size_t number, const char *path,
		    struct hb_error *err)
{
	struct exec *e = ctx;
	const struct record_resource *resource =
		&e->session->record.resources[number];
	char source[PATH_MAX], inside[PATH_MAX];
	struct view_held *held;
	int r;

	held = reallocarray(e->held, e->request.n_held + 1, sizeof(*held));
	if (!held)
		return hb_fail(err, -ENOMEM, "cannot make the view");
	e->held = held;
	held += e->request.n_held;
	r = path_join(resource->source, path, source, sizeof(source));
	if (r >= 0)
		r = path_join(resource->inside, path, inside, sizeof(inside));
	if (r < 0)
		return hb_fail(err, r, "cannot show '%s'", path);
	r = keep(e, source, &held->source, err);
	if (r >= 0)
		r = keep(e, inside, &held->inside, err);
	if (r >= 0)
		e->request.n_held++;
	return r;
}

static void find_home(struct exec *e, char *const *envp)
{
	const char *name = look_env(envp, "HOME");

	if (!name || name[0] != '/' || look_real(name, e->home) < 0 ||
	    strcmp(e->home, "/") == 0)
		return;
	e->host.home = e->home;
	e->host.home_name = name;
}

/* Where we are, as the view has it; else the first resource. */
static int find_cwd(struct exec *e, struct hb_error *err)
{
	const struct session_record *record = &e->session->record;
	char here[PATH_MAX];
	int r = -1;

	if (sys_getcwd(here, sizeof(here)) < 0)
		here[0] = '\0';
	for (size_t i = 0; r < 0 && i < record->n_resources; i++) {
		const struct record_resource *resource = &record->resources[i];

		if (path_is_beneath(here, resource->source))
			r = path_join(resource->inside,
				      here + strlen(resource->source), e->cwd,
				      sizeof(e->cwd));
	}
	if (r < 0)
		r = path_join(record->resources[0].inside, "", e->cwd,
			      sizeof(e->cwd));
	if (r < 0)
		return hb_fail(err, r, "cannot tell the working directory");
	e->request.cwd = e->cwd;
	return 0;
}

static int prepare(struct exec *e, char *const *argv, char *const *envp,
		   struct hb_error *err)
{
	const struct session_record *record = &e->session->record;
	int r = 0;

	e->overlays = calloc(record->n_resources, sizeof(*e->overlays));
	e->hidden = calloc(record->n_resources, sizeof(*e->hidden));
	e->layers = calloc(record->n_resources, sizeof(*e->layers));
	if (!e->overlays || !e->hidden || !e->layers)
		return hb_fail(err, -ENOMEM, "cannot make the view");
	for (size_t i = 0; r >= 0 && i < record->n_resources; i++)
		r = fill_overlay(e, i, err);
	if (r >= 0)
		r = find_cwd(e, err);
	if (r < 0)
		return r;
	find_home(e, envp);
	e->host.is_root = sys_geteuid() == 0;
	e->host.envp = envp;
	e->request.overlays = e->overlays;
	e->request.n_overlays = record->n_resources;
	e->request.hidden = e->hidden;
	e->request.held = e->held;
	e->request.is_volatile = !record->is_durable;
	e->request.store = e->session->store->path;
	e->request.read_only = (const char *const *)record->read_only;
	e->request.n_read_only = record->n_read_only;
	e->request.program = path_basename(argv[0]).s;
	e->plan.argv = argv;
	return view_exec_build(&e->request, &e->host, &e->plan, err);
}

static int hide_store(void *ctx, const char *name, struct hb_error *err)
{
	const struct session_resource *resource = ctx;
	int r;

	if (strncmp(name, SESSION_IN_BASE, sizeof(SESSION_IN_BASE) - 1) != 0)
		return 0;
	r = sys_make_whiteout(resource->upper, name);
	if (r < 0 && r != -EEXIST)
		return hb_fail(err, r, "cannot hide '%s'", name);
	return 0;
}

/*
 * Stores at the top of a resource are not part of it.  They are there when the
 * resource and the state directory have different mounts, and then all have
 * theirs there; only then all names are looked at, because a start must not
 * take longer where there are more.
 */
static int hide_stores(struct hb_session *s, struct hb_error *err)
{
	int r;

	for (size_t i = 0; i < s->record.n_resources; i++) {
		const struct strategy *strategy = NULL;

		r = shown_strategy(&s->record.resources[i], &strategy, err);
		if (r < 0)
			return r;
		/* A tree of ours does not have them. */
		if (!s->record.resources[i].is_in_base || strategy->shown)
			continue;
		r = store_each_name(s->resources[i].base, hide_store,
				    &s->resources[i], err);
		if (r < 0)
			return hb_fail(err, r, "'%s'",
				       s->record.resources[i].source);
	}
	return 0;
}

static int make_work(struct hb_session *s, struct hb_error *err)
{
	int r;

	for (size_t i = 0; i < s->record.n_resources; i++) {
		r = sys_mkdirat(s->resources[i].dir, WORK, 0700);
		if (r < 0)
			return hb_fail(err, r, "cannot make a work directory");
	}
	return 0;
}

/*
 * A directory of PATH that may not be searched makes what is nowhere look like
 * something that cannot be executed; the host knows better.
 */
static int explain_exec(char *const *argv, char *const *envp,
			struct hb_error *err)
{
	char name[PATH_MAX], real[PATH_MAX], shown[QUOTE_SHOWN];
	struct hb_error why = { 0 };
	int code = err->code == ENOENT ? HB_E_NOT_FOUND : HB_E_NOT_EXECUTABLE;

	if (!strchr(argv[0], '/') &&
	    look_command(argv[0], look_env(envp, "PATH"), "/", name, real,
			 &why) == -HB_E_NOT_FOUND)
		code = HB_E_NOT_FOUND;
	(void)quote_shown(argv[0], shown, sizeof(shown));
	why = *err;
	*err = (struct hb_error){ .stage = STAGE_EXEC };
	if (code == HB_E_NOT_FOUND)
		return hb_fail(err, -code, "there is no command '%s'", shown);
	return hb_fail(err, -code, "cannot execute '%s': %s", shown,
		       hb_strerror(why.code));
}

static int explain(const struct hb_session *s, char *const *argv,
		   char *const *envp, int r, struct hb_error *err)
{
	char mount[PATH_MAX], shown[QUOTE_SHOWN];

	if (err->stage == STAGE_EXEC)
		return explain_exec(argv, envp, err);
	if (err->stage != STAGE_MOUNTS || err->code != EINVAL)
		return r;
	for (size_t i = 0; i < s->record.n_resources; i++) {
		if (!look_mount_below(s->record.resources[i].source, mount,
				      sizeof(mount)))
			continue;
		hb_fix(err, "unmount '%s'",
		       quote_shown(mount, shown, sizeof(shown)));
		return hb_fail(err, r, "something is mounted at '%s'", shown);
	}
	return r;
}

static int run(struct exec *e, char *const *argv, char *const *envp,
	       struct hb_exec_result *ret_result, struct hb_error *err)
{
	struct hb_session *s = e->session;
	struct box_result result = { 0 };
	auto_free char **inside = NULL;
	struct hb_error ending = { 0 };
	int r, ended;

	r = plan_environment(&e->plan, envp, &inside, err);
	if (r >= 0)
		r = session_drop_work(s, err);
	if (r >= 0)
		r = hide_stores(s, err);
	if (r >= 0)
		r = make_work(s, err);
	if (r >= 0)
		r = session_begin(s, err);
	if (r < 0)
		return r;
	/* From here on a crash is made up for. */
	r = session_prepare_groups(s, err);
	if (r >= 0) {
		r = box_run(&e->plan, inside, NULL, &result, err);
		if (r < 0)
			r = explain(s, argv, envp, r, err);
	}
	ended = session_settle_box(s, false, &ending);
	if (ended < 0 && r >= 0) {
		/* The command ran, and its status is what is asked for. */
		store_say(s->store, "session '%s': %s: %s", s->record.name,
			  ending.text, hb_strerror(ending.code));
	}
	if (r < 0)
		return r;
	ret_result->status = result.status;
	ret_result->n_leftover = result.n_leftover;
	return 0;
}

int hb_session_exec(struct hb_session *session, char *const *argv,
		    char *const *envp, struct hb_exec_result *ret_result,
		    struct hb_error *err)
{
	struct exec e = { .session = session };
	struct hb_error local = { 0 };
	int r;

	if (!err)
		err = &local;
	r = session_needs_lock(session, err);
	if (r >= 0)
		r = session_open_resources(session, err);
	if (r < 0)
		return r;
	plan_init(&e.plan);
	r = shown_before_box(session, add_held, &e, err);
	if (r >= 0)
		r = prepare(&e, argv, envp, err);
	if (r >= 0)
		r = run(&e, argv, envp, ret_result, err);
	plan_done(&e.plan);
	for (size_t i = 0; e.layers && i < session->record.n_resources; i++)
		free(e.layers[i]);
	free(e.layers);
	free(e.overlays);
	free(e.hidden);
	free(e.held);
	return r;
}
