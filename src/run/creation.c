/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/audit.h"
#include "base/auto.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/report.h"
#include "holdback/session.h"
#include "host/worktree.h"
#include "plan/plan.h"
#include "plan/settings.h"
#include "plan/view.h"
#include "plan/view_place.h"
#include "run/database/kept_database.h"
#include "run/kept.h"
#include "run/launch.h"
#include "session/create.h"
#include "session/git/own_record.h"
#include "store/resource.h"
#include "store/store.h"
#include "sys/file.h"
#include "view/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * `holdback create`: a run without a command, of which only the session is
 * made.  The view is built once and thrown away, so that what cannot be shown
 * is told now and not by the first command.
 */

/* The directories that were named, in a record that has nothing else. */
static int choose(const struct hb_store *store,
		  const struct hb_create_options *options,
		  struct session_record *ret, struct hb_error *err)
{
	auto_free const char **words =
		calloc(options->n_settings + 1, sizeof(*words));
	size_t n = 0;

	if (!words)
		return hb_fail(err, -ENOMEM, "cannot keep the words");
	for (size_t i = 0; i < options->n_settings; i++)
		if (strcmp(options->settings[i].key, "cow") == 0)
			words[n++] = options->settings[i].value;
	return resource_choose(store, words, n, ret, err);
}

/* A place that is not the source's own may be missing, and nothing is made on
 * the host. */
static int check_place(const struct run *run,
		       const struct view_resource *resource,
		       struct hb_error *err)
{
	struct path_part dir = path_dirname(resource->inside);
	char parent[PATH_MAX], found[PATH_MAX], shown[QUOTE_SHOWN];
	const struct plan_op *op;
	struct stat st;

	if (strcmp(resource->inside, resource->source) == 0)
		return 0;
	(void)snprintf(parent, sizeof(parent), "%.*s", (int)dir.n, dir.s);
	op = view_find(&run->plan, parent, found);
	if (!op || op->kind != OP_BIND ||
	    (sys_fstatat(AT_FDCWD, resource->inside, &st,
			 AT_SYMLINK_NOFOLLOW) >= 0 &&
	     S_ISDIR(st.st_mode)))
		return 0;
	hb_fix(err, "a path below /run or /tmp, or of a directory that exists");
	return hb_fail(err, -HB_E_USAGE, "there is no directory '%s' to put it",
		       quote_shown(resource->inside, shown, sizeof(shown)));
}

/*
 * The repository of a worktree, which git in it reads.  It is not among the
 * directories that were named, so nothing in it is held back.
 */
static int show_repository(struct run *run, const char *dir, char *common,
			   struct hb_error *err)
{
	const struct setting_origin origin = { .source = SETTING_SESSION,
					       .file = "worktree" };
	const char *why;

	if (worktree_find(dir, common, &why) <= 0 ||
	    view_refuses_workspace(common, run->host.home))
		return 0;
	for (size_t i = 0; i < run->chosen->n_resources; i++)
		if (view_lies_in(common, run->chosen->resources[i].source))
			return 0;
	return settings_set(&run->settings, "ro", common, &origin, err);
}

/* What the first command would be told, without a command. */
static int look(struct run *run, const struct hb_run_options *options,
		const struct session_record *chosen,
		const struct hb_listener *listener, char *common,
		struct hb_error *err)
{
	int r;

	r = run_configure(run, options, NULL, err);
	if (r < 0)
		return r;
	run->chosen = chosen;
	/* Of one run, which this is not. */
	run->settings.is_direct = false;
	run->settings.is_ephemeral = false;
	r = show_repository(run, chosen->resources[0].source, common, err);
	if (r >= 0)
		r = run_look(run, listener, err);
	if (r >= 0)
		r = run_plan(run, NULL, err);
	for (size_t i = 0; r >= 0 && i < run->n_resources; i++)
		r = check_place(run, &run->resources[i], err);
	return r;
}

/* On a branch of its own, before anybody knows of it; else it goes. */
static int begin_new(struct hb_store *store, const char *name,
		     struct hb_error *err)
{
	struct hb_session *session = NULL;
	char ref[RECORD_NAME_MAX + 2];
	int r;

	(void)snprintf(ref, sizeof(ref), "@%s", name);
	r = hb_session_open(store, ref, HB_OPEN_CHANGE, &session, err);
	if (r >= 0)
		r = launch_begin(session, store->envp, err);
	if (r < 0 && session)
		(void)hb_session_cleanup(session, NULL);
	hb_session_free(session);
	return r;
}

static int make(struct hb_store *store, const struct run *run,
		const struct hb_create_options *options, struct hb_error *err)
{
	auto_record struct session_record record = { 0 };
	struct hb_create_options asked = *options;
	int r;

	r = kept_fill(run, store, &record, err);
	if (r < 0)
		return r;
	(void)snprintf(record.name, sizeof(record.name), "%s", options->name);
	record.is_durable = options->is_durable;
	asked.without_fallback |= run->settings.is_required;
	r = session_make(store, &record, NULL, &asked, NULL, err);
	if (r >= 0 && own_branch_is_any(&record))
		r = begin_new(store, record.name, err);
	if (r < 0)
		return r;
	audit_about(store->audit, record.name, record.id,
		    record.resources[0].source);
	(void)report_send(store->listener,
			  &(struct hb_report){ .kind = HB_REPORT_DONE,
					       .session = record.name,
					       .text = "create" });
	return 0;
}

static int create(struct hb_store *store,
		  const struct hb_create_options *options, struct hb_error *err)
{
	const struct hb_store_options where = { .dir = store->path,
						.envp = store->envp };
	const struct hb_run_options asked = {
		.envp = store->envp,
		.settings = options->settings,
		.n_settings = options->n_settings,
		.keeps_open = true,
		.store = &where,
	};
	auto_record struct session_record chosen = { 0 };
	struct run run = { 0 };
	char common[PATH_MAX];
	int r = choose(store, options, &chosen, err);

	if (r < 0)
		return r;
	r = look(&run, &asked, &chosen, store->listener, common, err);
	if (r >= 0)
		r = make(store, &run, options, err);
	run_done(&run);
	return r;
}

int hb_session_create(struct hb_store *store,
		      const struct hb_create_options *options,
		      struct hb_error *err)
{
	struct database_start database = DATABASE_START_NONE;
	struct hb_create_options asked = *options;
	int r;

	r = session_check_new(store, options->name, err);
	if (r >= 0)
		r = database_begin(store, NULL, options->settings,
				   options->n_settings, store->envp, false,
				   &database, err);
	if (database.settings) {
		asked.settings = database.settings;
		asked.n_settings = database.n_settings;
	}
	if (r >= 0)
		r = create(store, &asked, err);
	database_end(store, &database);
	return r;
}
