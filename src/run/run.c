/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/audit.h"
#include "base/auto.h"
#include "base/error.h"
#include "base/report.h"
#include "box/stage.h"
#include "holdback/holdback.h"
#include "holdback/session.h"
#include "run/database/kept_database.h"
#include "run/ending.h"
#include "run/launch.h"
#include "session/create.h"
#include "session/session.h"
#include "store/record.h"
#include "store/store.h"
#include "sys/signal.h"
#include "view/config.h"

#include <errno.h>
#include <stdio.h>

/*
 * `holdback run`: a launch in the session that was asked for, or in a new
 * session of its own.
 */

/* The session that was asked for, if it is there. */
static int open_asked(struct launch *l, struct hb_run_result *ret,
		      struct hb_error *err)
{
	const struct hb_run_options *options = l->options;
	const struct hb_store_options plain = { .envp = options->envp };
	const char *name = config_ahead(options, KEY_SESSION);
	char ref[RECORD_NAME_MAX + 2];
	int r;

	if (!name)
		return 0;
	r = record_check_name("session", name, err);
	if (r >= 0)
		r = hb_store_open(options->store ? options->store : &plain,
				  true, &l->store, err);
	if (r < 0 || session_check_new(l->store, name, NULL) >= 0)
		return r;
	(void)snprintf(ret->session, sizeof(ret->session), "%s", name);
	(void)snprintf(ref, sizeof(ref), "@%s", name);
	return hb_session_open(l->store, ref,
			       options->is_quick ? HB_OPEN_QUICK
						 : HB_OPEN_CHANGE,
			       &l->session, err);
}

static void fill_result(const struct launch *l, struct hb_run_result *ret)
{
	ret->status = ending_status(&l->box);
	ret->death = ending_death(&l->box);
	ret->is_quiet = l->is_quiet;
	ret->sync = l->sync;
	ret->n_nested = ending_nested(&l->box);
	if (!l->session)
		return;
	/* What could not be written down is for the next command. */
	(void)snprintf(ret->session, sizeof(ret->session), "%s",
		       !l->is_dropped &&
				       l->session->record.state == SESSION_IDLE
			       ? l->session->record.name
			       : "");
}

/*
 * A sandbox in a sandbox fails in many ways, and the usual advice helps in
 * none.  Words and settings that are wrong stay so.
 */
static void explain_inside(char *const *envp, struct hb_error *err)
{
	static const int of_the_user[] = { 0, HB_E_USAGE, HB_E_CONFIG,
					   HB_E_NOT_FOUND,
					   HB_E_NOT_EXECUTABLE };

	for (size_t i = 0; i < sizeof(of_the_user) / sizeof(of_the_user[0]);
	     i++)
		if (err->code == of_the_user[i])
			return;
	/* What the kernel refuses to a box is explained already. */
	if (err->stage != 0 || !hb_is_inside(envp))
		return;
	err->fix[0] = '\0';
	hb_fix(err, "the sandbox around it holds already: " HB_SWITCH
		    "=off, or --allow-nested for the outer one");
}

/*
 * A run that did not start is in the log as well.  So is a run that had no
 * use for the store; that is not made for it.
 */
static void end_log(struct audit *audit, const struct hb_store_options *where,
		    const struct hb_store *open, int r,
		    const struct hb_error *err)
{
	const struct hb_report failed = { .kind = HB_REPORT_FAILED,
					  .text = err->text,
					  .n = (uint64_t)-r };
	struct hb_store *store = NULL;

	/* Another program goes on with it, and tells it. */
	if (r == -EAGAIN && err->code == 0) {
		audit_forget(audit);
	} else if (r < 0) {
		audit_about_here(audit);
		(void)report_send(where->listener, &failed);
	}
	if (open || !audit_has_kept(audit))
		return;
	if (store_open(where, false, &store, NULL) >= 0)
		hb_store_free(store);
}

/* A database takes the place of its URL before anything is prepared. */
static int begin_database(struct launch *l, struct hb_run_options *asked,
			  struct database_start *start, struct hb_error *err)
{
	int r = 0;

	if (!database_is_asked(asked->settings, asked->n_settings))
		return 0;
	if (!l->store && !asked->is_quick)
		r = hb_store_open(asked->store, true, &l->store, err);
	if (r >= 0)
		r = database_begin(l->store, l->session, asked->settings,
				   asked->n_settings, asked->envp,
				   asked->is_quick, start, err);
	asked->settings = start->settings;
	asked->n_settings = start->n_settings;
	return r;
}

int hb_run(const struct hb_run_options *options,
	   struct hb_run_result *ret_result, struct hb_error *err)
{
	struct hb_store_options where = { .envp = options->envp };
	struct hb_run_options asked = *options;
	auto_free struct launch *l = launch_new(&asked);
	struct audit *audit;
	int64_t begin = sys_now_ms();
	struct database_start database = DATABASE_START_NONE;
	struct hb_error local = { 0 };
	int r;

	if (!err)
		err = &local;
	if (options->store)
		where = *options->store;
	audit = l ? audit_new(where.listener) : NULL;
	if (!audit)
		return hb_fail(err, -ENOMEM, "cannot start the command");
	where.listener = audit_listener(audit);
	asked.store = &where;
	l->trusts_trials = l->may_drop = true;
	r = open_asked(l, ret_result, err);
	if (r >= 0)
		r = begin_database(l, &asked, &database, err);
	if (r >= 0)
		r = launch(l, err);
	/* An overlay that worked before may not any more: then it is tried. */
	if (r < 0 && l->is_new && err->stage == STAGE_MOUNTS) {
		*err = (struct hb_error){ 0 };
		l->trusts_trials = false;
		r = launch(l, err);
	}
	if (r < 0)
		explain_inside(options->envp, err);
	fill_result(l, ret_result);
	ret_result->ms = sys_now_ms() - begin;
	if (r >= 0)
		ending_report(where.listener, &l->box, l->is_quiet);
	hb_session_free(l->session);
	database_end(l->store, &database);
	end_log(audit, &where, l->store, r, err);
	hb_store_free(l->store);
	audit_free(audit);
	return r;
}
