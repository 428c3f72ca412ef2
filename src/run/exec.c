/* SPDX-License-Identifier: Apache-2.0 */
#include "run/exec.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "box/box.h"
#include "box/stage.h"
#include "host/look.h"
#include "plan/env.h"
#include "plan/plan.h"
#include "plan/view.h"
#include "plan/view_exec.h"
#include "run/kept.h"
#include "run/mounted.h"
#include "session/session.h"
#include "store/store.h"
#include "sys/file.h"
#include "sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * `holdback exec`: a box over the session's layers.  A session that `run` made
 * has the view of `run`; others have the host, read-only.
 */

struct exec {
	struct hb_session *session;
	struct plan plan;
	struct view_host host;
	struct view_exec_request request;
	struct mounted mounted;
	char home[PATH_MAX];
	char cwd[PATH_MAX];
};

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

		if (!e->session->resources[i].is_gone &&
		    path_is_beneath(here, resource->source))
			r = path_join(resource->inside,
				      here + strlen(resource->source), e->cwd,
				      sizeof(e->cwd));
	}
	if (r < 0)
		r = path_join(e->mounted.overlays[0].inside, "", e->cwd,
			      sizeof(e->cwd));
	if (r < 0)
		return hb_fail(err, r, "cannot tell the working directory");
	e->request.cwd = e->cwd;
	return 0;
}

static bool is_in_resource(const void *ctx, const char *path)
{
	const struct session_record *record = ctx;

	for (size_t i = 0; i < record->n_resources; i++)
		if (path_is_beneath(path, record->resources[i].source) ||
		    path_is_beneath(path, record->resources[i].inside))
			return true;
	return false;
}

/* What a session holds back chose its own name: no variable comes by it. */
static const char *find_program(const struct exec *e, char *const *argv,
				char *const *envp)
{
	if (!argv || look_is_chosen_in(argv[0], look_env(envp, "PATH"), e->cwd,
				       is_in_resource, &e->session->record))
		return NULL;
	return path_basename(argv[0]).s;
}

static int prepare(struct exec *e, char *const *argv, char *const *envp,
		   struct hb_error *err)
{
	const struct session_record *record = &e->session->record;
	int r;

	r = mounted_prepare(&e->mounted, err);
	if (r >= 0)
		r = find_cwd(e, err);
	if (r < 0)
		return r;
	find_home(e, envp);
	e->host.is_root = sys_geteuid() == 0;
	e->host.envp = envp;
	e->request.overlays = e->mounted.overlays;
	e->request.n_overlays = e->mounted.n_overlays;
	e->request.hidden = e->mounted.hidden;
	e->request.n_hidden = e->mounted.n_hidden;
	e->request.held = e->mounted.held;
	e->request.n_held = e->mounted.n_held;
	e->request.is_volatile = !record->is_durable;
	e->request.store = e->session->store->path;
	e->request.read_only = (const char *const *)record->read_only;
	e->request.n_read_only = record->n_read_only;
	e->request.program = find_program(e, argv, envp);
	e->plan.argv = argv;
	return view_exec_build(&e->request, &e->host, &e->plan, err);
}

/*
 * A directory of PATH that may not be searched makes what is nowhere look like
 * something that cannot be executed; the host knows better.
 */
int session_explain_exec(char *const *argv, char *const *envp,
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
		return session_explain_exec(argv, envp, err);
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
	struct box_result result = { 0 };
	auto_free char **inside = NULL;
	int r;

	r = plan_environment(&e->plan, envp, &inside, err);
	if (r < 0)
		return r;
	r = mounted_run(&e->mounted, inside, &result, err);
	if (r < 0)
		return explain(e->session, argv, envp, r, err);
	ret_result->status = result.status;
	ret_result->n_leftover = result.n_leftover;
	ret_result->full_pids = result.full_pids;
	ret_result->clipboard = (enum hb_clipboard)result.clipboard;
	return 0;
}

int hb_session_exec(struct hb_session *session, char *const *argv,
		    char *const *envp, const char *tty,
		    struct hb_exec_result *ret_result, struct hb_error *err)
{
	struct exec e = { .session = session,
			  .mounted = { .session = session } };
	struct hb_error local = { 0 };
	int r;

	if (!err)
		err = &local;
	if (session->record.n_policy > 0)
		return kept_exec(session, argv, envp, tty, ret_result, err);
	e.mounted.plan = &e.plan;
	plan_init(&e.plan);
	r = prepare(&e, argv, envp, err);
	if (r >= 0 && tty)
		plan_set_tty(&e.plan, tty);
	if (r >= 0)
		r = run(&e, argv, envp, ret_result, err);
	plan_done(&e.plan);
	mounted_done(&e.mounted);
	return r;
}
