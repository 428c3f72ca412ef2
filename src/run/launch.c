/* SPDX-License-Identifier: Apache-2.0 */
#include "run/launch.h"

#include "audit/audit.h"
#include "base/error.h"
#include "base/report.h"
#include "holdback/holdback.h"
#include "holdback/session.h"
#include "plan/view_place.h"
#include "run/bare.h"
#include "run/branch/beginning.h"
#include "run/database/kept_database.h"
#include "run/ending.h"
#include "run/explain_run.h"
#include "run/kept.h"
#include "run/order.h"
#include "run/told/mistakes.h"
#include "run/told/start_news.h"
#include "session/create.h"
#include "session/git/own_branch.h"
#include "session/git/own_record.h"
#include "session/remove/cleanup.h"
#include "session/session.h"
#include "session/strategy/shown.h"
#include "store/live.h"
#include "store/store.h"
#include "sys/file.h"
#include "sys/proc.h"
#include "view/direct/direct.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The way of every command into its box is one list of steps, each of which
 * sees what the ones before it found.  Nothing is made on the host before
 * everything that can be refused without it was looked at.
 * tests/lint/run-path.py holds how deep the calls go.
 */

static int describe(struct launch *l, struct hb_error *err)
{
	return l->session ? kept_describe(l->session, &l->of, err) : 0;
}

static int prepare(struct launch *l, struct hb_error *err)
{
	const struct hb_store_options *store = l->options->store;
	int r = run_prepare(&l->run, l->options, l->session ? &l->of : NULL,
			    store ? store->listener : NULL, err);

	/* Only now: exec asks no question about its directories. */
	if (l->is_exec)
		l->run.listener = l->session->store->listener;
	l->ladder.listener = l->run.listener;
	l->run.ladder = &l->ladder;
	l->is_quiet = l->run.settings.is_quiet;
	l->sync = settings_sync(&l->run.settings);
	return r;
}

/* In a copy of this process. */
static size_t record_calls(void *launch, int *ret_fds)
{
	const struct launch *l = launch;
	struct audit *audit = audit_of(l->run.listener);

	return audit ? audit_take_calls(audit, ret_fds) : 0;
}

static int open_log(struct launch *l, struct hb_error *err)
{
	struct audit *audit = audit_of(l->run.listener);

	if (audit && !settings_keep_log(&l->run.settings))
		audit_stop(audit);
	return order_open_log(&l->run, err);
}

/* A session keeps its strategy; without a session there is none. */
static int check_strategy(const struct launch *l, struct hb_error *err)
{
	const struct settings *s = &l->run.settings;

	if (!s->strategy || s->origins[KEY_STRATEGY].source != SETTING_OPTION)
		return 0;
	if (settings_is_none(s->strategy) && !l->session && !s->is_ephemeral)
		return 0;
	if (!l->session && (s->is_ephemeral || s->is_direct))
		return hb_fail(err, -HB_E_USAGE,
			       "%s and --strategy exclude each other",
			       s->is_direct ? "--direct" : "--ephemeral");
	if (!l->session ||
	    strcmp(l->session->record.resources[0].strategy, s->strategy) == 0)
		return 0;
	hb_fix(err, "another name, or no --strategy");
	return hb_fail(err, -HB_E_USAGE,
		       "session '%s' was made with the strategy %s",
		       l->session->record.name,
		       l->session->record.resources[0].strategy);
}

static int check_modes(struct launch *l, struct hb_error *err)
{
	const struct settings *s = &l->run.settings;

	if (s->is_ephemeral && s->is_direct)
		return hb_fail(err, -HB_E_USAGE,
			       "--ephemeral and --direct exclude each other");
	if (s->is_ephemeral && s->session)
		return hb_fail(err, -HB_E_USAGE,
			       "--ephemeral and --session exclude each other");
	if (l->sync > 0 && (s->is_ephemeral || s->is_direct || s->code)) {
		hb_fix(err, "one of the two options");
		return hb_fail(err, -HB_E_USAGE,
			       "%s takes changes of a session, and a run with "
			       "%s has none",
			       s->sync > 0 ? "--sync" : "--yolo",
			       s->is_direct ? "--direct"
			       : s->code    ? "--code"
					    : "--ephemeral");
	}
	if (s->marks_turns && (s->is_ephemeral || s->is_direct))
		return hb_fail(err, -HB_E_USAGE,
			       "--mark-turns needs a session, and %s has none",
			       s->is_direct ? "--direct" : "--ephemeral");
	return check_strategy(l, err);
}

/* Whether there is to be a session. */
static bool keeps(const struct launch *l)
{
	return l->session ||
	       (!l->run.settings.is_ephemeral && l->run.n_kept > 0);
}

/* Whether the whole host shows where sessions live. */
static bool shows_store(const struct run *run)
{
	return run->request.host && run->store[0] &&
	       !(run->host.home && view_lies_in(run->store, run->host.home));
}

static int open_store(struct launch *l, struct hb_error *err)
{
	const struct hb_store_options plain = { .envp = l->options->envp };
	const struct hb_store_options *asked = l->options->store;

	if (l->store || l->session)
		return 0;
	return hb_store_open(asked ? asked : &plain, true, &l->store, err);
}

/* Only what is there is covered. */
static int open_covered(struct launch *l, struct hb_error *err)
{
	bool is_covered = l->run.covered && (keeps(l) || shows_store(&l->run));

	/* Single calls are written while the command runs. */
	return is_covered || settings_record_calls(&l->run.settings)
		       ? open_store(l, err)
		       : 0;
}

/* What others put there later is covered as well. */
static int make_runtime(struct launch *l, struct hb_error *err)
{
	char path[PATH_MAX];
	int fd;

	(void)err;
	fd = l->run.request.host && l->store ? live_runtime(l->store, path)
					     : -1;
	if (fd >= 0)
		sys_close(fd);
	return 0;
}

static int begin_ladder(struct launch *l, struct hb_error *err)
{
	return ladder_begin(&l->run, err);
}

static int hold_berths(struct launch *l, struct hb_error *err)
{
	return run_hold_berths(&l->run, err);
}

static int make_session(struct launch *l, struct hb_error *err)
{
	int r;

	if (l->session)
		return 0;
	r = kept_make(&l->run, l->store, l->trusts_trials, &l->session, err);
	if (r < 0)
		return r;
	/* It stays, and who comes behind opens it. */
	if (l->options->is_quick &&
	    l->session->record.state != SESSION_ACTIVE &&
	    session_needs_more(l->session))
		return -EAGAIN;
	l->is_new = true;
	return 0;
}

/* The box of the session comes after that of its beginning. */
static int begin_branch(struct launch *l, struct hb_error *err)
{
	return l->is_beginning
		       ? 0
		       : launch_begin(l->session, l->options->envp, err);
}

static int lay(struct launch *l, struct hb_error *err)
{
	l->mounted.session = l->session;
	/* Work of others would be taken for a part of the beginning. */
	l->mounted.is_closed = l->is_beginning;
	l->mounted.plan = &l->run.plan;
	if (database_is_kept(l->session))
		l->mounted.command = l->options->argv;
	/* What a command did to a database is seen after its box. */
	l->mounted.may_drop =
		l->may_drop && l->session->record.is_passing &&
		(l->is_inspection || !database_is_kept(l->session));
	return kept_lay(&l->run, &l->mounted, err);
}

/* Of a copy of the directory the changes are known when it ends. */
static int begin_sync(struct launch *l, struct hb_error *err)
{
	if (l->sync == 0 || l->is_beginning)
		return 0;
	if (!l->run.is_bare && !shown_has_trees(&l->session->record)) {
		l->mounted.sync = l->sync;
		return 0;
	}
	if (l->run.settings.is_required)
		return hb_fail(err, -HB_E_UNSUPPORTED,
			       "the changes of this session can be synced only "
			       "when its command has ended");
	report_text(
		l->run.listener, HB_REPORT_SAID, "%s",
		"the changes of this session are synced when the command has ended, and not before");
	return 0;
}

static int make_plan(struct launch *l, struct hb_error *err)
{
	int r;

	if (l->session)
		l->run.request.session = l->session->record.name;
	l->run.plan.recording = record_calls;
	l->run.plan.recording_context = l;
	r = run_plan(&l->run, &l->envp, err);
	if (r < 0 || !l->session || !database_is_kept(l->session))
		return r;
	if (!l->is_inspection && !l->is_beginning)
		r = database_spoil(l->session, err);
	return r < 0 ? r
		     : database_wrap(&l->run,
				     l->is_inspection || l->is_beginning, err);
}

/* Less than usual is said each time, and so is more to be seen. */
static void tell_owner(struct launch *l)
{
	const struct session_record *record = &l->session->record;

	if (l->run.is_bare)
		ladder_report(&l->run);
	if (l->run.settings.is_direct)
		report_text(l->run.listener, HB_REPORT_WEAKENED, "%s",
			    NEWS_DIRECT);
	if (!settings_keep_log(&l->run.settings))
		report_text(l->run.listener, HB_REPORT_WEAKENED, "%s",
			    NEWS_NO_LOG);
	if (settings_record_calls(&l->run.settings) && l->run.is_bare)
		report_text(l->run.listener, HB_REPORT_WEAKENED, "%s",
			    NEWS_NO_CALLS);
	if (settings_shows_host(&l->run.settings))
		store_say(l->session->store,
			  "session '%s'%s: view: the whole host, read-only",
			  record->name,
			  record->is_earlier ? ", of an earlier version" : "");
}

static int tell(struct launch *l, struct hb_error *err)
{
	(void)err;
	if (l->is_beginning)
		return 0;
	order_tell(&l->run, l->session ? l->session->record.name : NULL);
	if (l->is_exec && l->session) {
		tell_owner(l);
		return 0;
	}
	news_weakenings(&l->run);
	mistakes_tell(&l->run, l->session != NULL);
	news_start(&l->run, l->session ? l->session->record.name : "");
	/* A new one has said so. */
	if (l->session && !l->session->is_fresh && !l->is_quiet)
		session_say_inside(l->session->store, &l->session->record);
	return 0;
}

static int begin(struct launch *l, struct hb_error *err)
{
	l->ladder.listener = &l->mounted.listener;
	return mounted_begin(&l->mounted, err);
}

/* In the order in which each needs the ones before it. */
static const struct {
	int (*take)(struct launch *l, struct hb_error *err);
	bool is_of_session; /* only if there is to be one */
} steps[] = {
	{ describe, false },	 { prepare, false },
	{ check_modes, false },	 { open_log, false },
	{ open_covered, false }, { make_runtime, false },
	{ begin_ladder, false }, { hold_berths, false },
	{ open_store, true },	 { make_session, true },
	{ begin_branch, true },	 { lay, true },
	{ begin_sync, true },	 { make_plan, false },
	{ tell, false },	 { begin, true },
};

/* The session is another process's: nothing of it is looked at any more. */
static void tell_staying(struct launch *l)
{
	const struct session_record *record = &l->session->record;
	size_t n = l->box.n_staying;
	const struct hb_report report = { .kind = HB_REPORT_SAID,
					  .is_quiet = l->is_quiet,
					  .text = l->staying };

	mounted_leave(&l->mounted);
	(void)snprintf(l->staying, sizeof(l->staying),
		       "session '%s' stays live: %zu other command%s in it; "
		       "to end %s: holdback stop @%s",
		       record->name, n, n == 1 ? " runs" : "s run",
		       n == 1 ? "it" : "them", record->name);
	(void)report_send(l->run.listener, &report);
}

/* What was there only for this box, in any case. */
static void put_away(struct launch *l, bool has_run)
{
	if (has_run && l->box.n_staying > 0)
		tell_staying(l);
	l->mounted.was_lent = l->box.was_lent;
	mounted_end(&l->mounted, has_run);
	l->is_dropped = l->mounted.is_dropped;
	if (l->run.is_bare && l->mounted.session && !l->is_dropped)
		bare_settle(l->session);
	if (has_run)
		direct_tell_new(&l->run);
	mounted_done(&l->mounted);
	free(l->envp);
	run_done(&l->run);
}

/* Of a session that was made for a command nothing is left if that fails. */
static void drop_new(struct launch *l)
{
	if (!l->is_dropped) {
		live_remove(l->session->dir);
		(void)session_drop(l->session, NULL);
	}
	hb_session_free(l->session);
	l->session = NULL;
}

/* The caller is another process, which went on long ago. */
_Noreturn static void end_keeper(const struct launch *l)
{
	audit_free(l->session->store->audit);
	sys_exit(0);
}

struct launch *launch_new(const struct hb_run_options *options)
{
	struct launch *l = calloc(1, sizeof(*l));

	if (l)
		l->options = options;
	return l;
}

static void hear_network(struct launch *l)
{
	if (!l->run.plan.net)
		return;
	net_told_init(&l->net_told, l->ladder.listener, &l->run.network,
		      l->is_quiet);
	l->ladder.listener = &l->net_told.listener;
}

static void inspect(struct launch *of);

int launch(struct launch *l, struct hb_error *err)
{
	int r = 0;

	l->is_new = false;
	l->mounted = MOUNTED_INIT;
	l->envp = NULL;
	/* Not the first time: to write zeros would take the pages. */
	if (l->was_tried) {
		l->ladder = (struct ladder){ 0 };
		l->run = (struct run){ 0 };
	}
	l->was_tried = true;
	for (size_t i = 0; r >= 0 && i < sizeof(steps) / sizeof(steps[0]); i++)
		if (!steps[i].is_of_session || keeps(l))
			r = steps[i].take(l, err);
	if (r >= 0) {
		hear_network(l);
		r = ladder_run(&l->ladder, &l->run.plan, l->envp,
			       l->session ? mounted_renew : NULL, &l->mounted,
			       &l->box, err);
		if (r < 0)
			r = run_explain(&l->run, r, err);
		else if (l->run.plan.net)
			net_told_end(&l->net_told);
	}
	put_away(l, r >= 0);
	if (r >= 0 && l->box.is_keeper)
		end_keeper(l);
	if (r >= 0 && l->session && !l->is_dropped && l->box.n_staying == 0)
		inspect(l);
	if (r < 0 && l->is_new)
		drop_new(l);
	return r;
}

/*
 * A box of its own, which has nothing of the command but its data.  The command
 * has run, so its status counts.
 */
static void inspect(struct launch *of)
{
	const struct hb_setting settings[] = {
		{ .key = setting_name(KEY_NET), .value = key_nets[NET_NONE] },
		{ .key = setting_name(KEY_QUIET), .value = "yes" },
	};
	char *argv[DATABASE_WORDS];
	const struct hb_run_options options = { .argv = argv,
						.envp = of->options->envp,
						.settings = settings,
						.n_settings = 2 };
	struct launch *l;
	struct hb_error err = { 0 };
	int r;

	if (of->is_inspection || of->is_beginning ||
	    !database_is_kept(of->session))
		return;
	database_words(argv);
	l = launch_new(&options);
	if (!l)
		return;
	l->session = of->session;
	l->is_exec = l->is_inspection = l->is_beginning = true;
	l->may_drop = of->may_drop;
	r = launch(l, &err);
	of->is_dropped = l->is_dropped;
	if (!l->is_dropped)
		database_inspected(of->session,
				   r < 0 ? r : ending_status(&l->box));
	free(l);
}

static int begin_one(struct hb_session *s, char *const *envp,
		     struct own_start *start, struct hb_error *err)
{
	const struct hb_setting offline = { .key = setting_name(KEY_NET),
					    .value = key_nets[NET_NONE] };
	char *argv[BEGINNING_WORDS];
	const struct hb_run_options options = { .argv = argv,
						.envp = envp,
						.settings = &offline,
						.n_settings = 1 };
	struct launch *l = launch_new(&options);
	int r;

	if (!l)
		return hb_fail(err, -ENOMEM, "cannot begin on a branch");
	beginning_fill(s, start, argv);
	l->session = s;
	l->is_exec = true;
	l->is_beginning = true;
	r = launch(l, err);
	if (r >= 0)
		r = beginning_end(s, start, ending_status(&l->box), err);
	free(l);
	return r;
}

int launch_begin(struct hb_session *s, char *const *envp, struct hb_error *err)
{
	struct own_start start;
	size_t number = 0;
	int r;

	if (!own_branch_is_any(&s->record))
		return 0;
	while ((r = own_branch_next(s, number, &start, err)) == 1) {
		number = start.number + 1;
		r = begin_one(s, envp, &start, err);
		own_start_done(&start);
		if (r < 0)
			return r;
	}
	return r;
}
