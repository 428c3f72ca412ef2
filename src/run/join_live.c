/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/audit.h"
#include "base/auto.h"
#include "base/env.h"
#include "base/error.h"
#include "base/quote.h"
#include "base/report.h"
#include "box/box.h"
#include "box/join.h"
#include "box/knock.h"
#include "box/stage.h"
#include "host/look.h"
#include "run/ending.h"
#include "run/launch.h"
#include "run/news.h"
#include "run/order.h"
#include "run/wait.h"
#include "session/session.h"
#include "store/live.h"
#include "store/store.h"
#include "sys/place.h"
#include "sys/proc.h"
#include "sys/signal.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>

/*
 * Commands in sessions that may be live.
 *
 * The lock decides which process has the session; the door says whether another
 * can join it.  A held lock and a door without an answer mean that a box begins
 * or ends: the caller looks again.
 */

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
	    look_command(argv[0], env_get(envp, "PATH"), "/", name, real,
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

/*
 * The box has ended with this command.  The process that gets the lock knows
 * that the session is idle.
 */
static void await_idle(struct hb_store *store, const char *name)
{
	struct hb_session *session = NULL;
	struct wait w = { 0 };
	int r;

	do
		r = hb_session_open(store, name, HB_OPEN_CHANGE, &session,
				    NULL);
	while (r == -HB_E_BUSY && wait_again(&w, -EAGAIN));
	hb_session_free(session);
}

/* -EAGAIN, -ENOENT, -ECONNREFUSED without words: there is no box to join. */
static int join(struct hb_store *store, const char *ref, char *const *argv,
		char *const *envp, const char *tty,
		struct hb_exec_result *ret_result, struct hb_error *err)
{
	char name[RECORD_NAME_MAX + 1];
	struct news news = { store->listener, name };
	const struct hb_listener listener = { .hear = news_hear,
					      .context = &news };
	struct join_result result = { 0 };
	auto_fd int fd = -1;
	int r;

	fd = live_find(store, ref, name, err);
	if (fd < 0)
		return fd;
	audit_about(store->audit, name, NULL, NULL);
	order_tell_words(&listener, name, NULL, argv);
	r = join_run(fd, argv, envp, tty, &listener, &result, err);
	/* Then it is told by the box of its own. */
	if (is_without_box(r))
		audit_forget(store->audit);
	if (r < 0 && err->stage == STAGE_EXEC)
		return explain_exec(argv, envp, err);
	if (r < 0)
		return r;
	ret_result->status = result.status;
	ret_result->death = result.death;
	ret_result->has_joined = true;
	ret_result->n_nested = -1;
	ending_report(store->listener,
		      &(struct box_result){ .clipboard = result.clipboard,
					    .has_missed_network =
						    result.has_missed_network },
		      false);
	if (result.has_box_ended)
		store_say(
			store,
			"the session's box has ended, and this command with it");
	if (result.was_last)
		await_idle(store, name);
	return 0;
}

/*
 * A holder keeps a box open for the process that started it, and is gone with
 * that process: no other process knows of it.
 */
static int bind_to_parent(struct hb_error *err)
{
	pid_t parent = sys_getppid();
	int r = sys_set_parent_death_signal(SIGTERM);

	if (r >= 0 && sys_getppid() != parent)
		r = -ESRCH;
	return r < 0 ? hb_fail(err, r, "cannot bind to the parent") : 0;
}

int hb_session_exec(struct hb_session *session, char *const *argv,
		    char *const *envp, const char *tty,
		    struct hb_exec_result *ret_result, struct hb_error *err)
{
	const struct hb_setting setting = { "tty", tty };
	const struct hb_run_options options = { .argv = argv,
						.envp = envp,
						.settings = &setting,
						.n_settings = tty ? 1 : 0,
						.keeps_open = !argv };
	auto_free struct launch *l = launch_new(&options);
	struct hb_error local = { 0 };
	int r;

	if (!err)
		err = &local;
	if (!l)
		return hb_fail(err, -ENOMEM, "cannot start the command");
	l->session = session;
	l->is_exec = true;
	r = launch(l, err);
	if (r < 0)
		return r;
	ret_result->status = ending_status(&l->box);
	ret_result->death = ending_death(&l->box);
	ret_result->n_leftover = l->box.n_leftover;
	ret_result->n_nested = ending_nested(&l->box);
	ending_report(session->store->listener, &l->box, false);
	return 0;
}

/* A command that did not start is in the log as well. */
static int tell_failed(const struct hb_store *store, int r,
		       const struct hb_error *err)
{
	const struct hb_report failed = { .kind = HB_REPORT_FAILED,
					  .text = err->text,
					  .n = (uint64_t)-r };

	if (r >= 0 || err->code == 0)
		return r;
	audit_about_here(store->audit);
	(void)report_send(store->listener, &failed);
	return r;
}

/* There is no box, and none is about to be there. */
static int refuse_idle(const char *ref, struct hb_error *err)
{
	hb_fix(err, "holdback keep %s", ref ? ref : "@");
	return hb_fail(err, -HB_E_STATE,
		       "the session is not live, and --join makes no box");
}

int hb_exec(struct hb_store *store, const char *ref, enum hb_open how,
	    char *const *argv, char *const *envp, const char *tty,
	    struct hb_exec_result *ret_result, struct hb_error *err)
{
	struct hb_session *session = NULL;
	struct hb_error local = { 0 };
	struct wait w = { 0 };
	bool is_joining = how == HB_OPEN_JOIN;
	int door, r;

	if (!err)
		err = &local;
	r = argv ? 0 : bind_to_parent(err);
	if (r < 0)
		return r;
	do {
		*err = (struct hb_error){ 0 };
		door = argv ? join(store, ref, argv, envp, tty, ret_result, err)
			    : -ENOENT;
		if (err->code != 0 || !is_without_box(door))
			return tell_failed(store, door, err);
		r = hb_session_open(store, ref,
				    is_joining ? HB_OPEN_QUICK : how, &session,
				    err);
	} while (r == -HB_E_BUSY && argv && wait_again(&w, door));
	if (is_joining && (r >= 0 || (r == -EAGAIN && err->code == 0)))
		r = refuse_idle(ref, err);
	else if (r >= 0)
		r = hb_session_exec(session, argv, envp, tty, ret_result, err);
	hb_session_free(session);
	return tell_failed(store, r, err);
}

int hb_stop(struct hb_store *store, const char *ref, struct hb_error *err)
{
	char name[RECORD_NAME_MAX + 1];
	struct hb_session *session = NULL;
	struct hb_error local = { 0 };
	struct wait w = { 0 };
	bool was_live = false;
	int r;

	if (!err)
		err = &local;
	do {
		auto_fd int fd = -1;

		*err = (struct hb_error){ 0 };
		fd = live_find(store, ref, name, err);
		r = fd < 0 ? fd : knock_stop(fd, err);
		was_live |= r >= 0;
		if (err->code != 0 || (r < 0 && !is_without_box(r)))
			return r;
		/* The process that gets the lock knows that the box is gone. */
		r = hb_session_open(store, name, HB_OPEN_CHANGE, &session, err);
	} while (r == -HB_E_BUSY && wait_again(&w, -EAGAIN));
	hb_session_free(session);
	/* A session that held nothing went with its box. */
	if (r == -HB_E_NO_SESSION && was_live) {
		*err = (struct hb_error){ 0 };
		r = 0;
	}
	return r < 0 ? r : was_live;
}

int hb_resume(struct hb_store *store, const char *ref, struct hb_error *err)
{
	char name[RECORD_NAME_MAX + 1];
	struct hb_error local = { 0 };
	auto_fd int fd = -1;
	int r;

	if (!err)
		err = &local;
	fd = live_find(store, ref, name, err);
	r = fd < 0 ? fd : knock_resume(fd, err);
	return err->code == 0 && is_without_box(r) ? 0 : r;
}
