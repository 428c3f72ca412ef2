/* SPDX-License-Identifier: Apache-2.0 */
#include "run/beside/turn_marks.h"

#include "base/error.h"
#include "base/path.h"
#include "box/turns.h"
#include "holdback/live.h"
#include "host/self.h"
#include "plan/inner.h"
#include "plan/plan.h"
#include "run/mounted.h"
#include "session/session.h"
#include "store/store.h"
#include "sys/file.h"
#include "sys/place.h"
#include "sys/sock.h"
#include "view/prepare.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#define NAME "turn" /* in the session's directory */

static int make_socket(struct mounted *m, const char **ret_path,
		       struct hb_error *err)
{
	char dir[PATH_MAX], path[PATH_MAX];
	int r;

	r = sys_unlinkat(m->session->dir, NAME, 0);
	if (r >= 0 || r == -ENOENT)
		r = m->turns = sys_listen_at(m->session->dir, NAME);
	if (r >= 0)
		r = (int)sys_fd_path(m->session->dir, dir, sizeof(dir));
	if (r >= 0)
		r = path_join(dir, NAME, path, sizeof(path));
	if (r < 0)
		return hb_fail(err, r, "cannot listen for turns");
	return plan_keep_text(m->plan, path, ret_path, err);
}

int turn_marks_open(struct run *run, struct mounted *m, struct hb_error *err)
{
	struct view_entry *entries;
	const char *path, *program;
	char self[PATH_MAX];
	int r;

	if (!run->settings.marks_turns)
		return 0;
	r = make_socket(m, &path, err);
	if (r < 0)
		return r;
	r = place_front(self);
	if (r < 0)
		return hb_fail(err, r, "cannot find the program of holdback");
	r = plan_keep_text(m->plan, self, &program, err);
	if (r < 0)
		return r;
	entries = reallocarray(run->entries, run->n_entries + 2,
			       sizeof(*entries));
	if (!entries)
		return hb_fail(err, -ENOMEM, "cannot make the view");
	run->entries = entries;
	entries[run->n_entries++] = (struct view_entry){
		.class = VIEW_SOCKET,
		.found = VIEW_FILE,
		.path = TURNS_SOCKET,
		.source = path,
	};
	entries[run->n_entries++] = (struct view_entry){
		.class = VIEW_RO,
		.found = VIEW_FILE,
		.path = TURNS_PROGRAM,
		.source = program,
	};
	run->request.entries = entries;
	run->request.n_entries = run->n_entries;
	return 0;
}

/*
 * The descriptors of the session that we were started with are closed.  What is
 * left of it in memory are names.
 */
int turn_marks_make(void *mounted)
{
	const struct hb_session *of = ((struct mounted *)mounted)->session;
	const struct hb_store_options options = { .dir = of->store->path,
						  .envp = of->store->envp };
	struct hb_session *session = NULL;
	struct hb_store *store = NULL;
	const char *name;
	int r;

	r = hb_store_open(&options, false, &store, NULL);
	if (r >= 0)
		r = hb_session_open_live(store, of->record.name, HB_OPEN_CHANGE,
					 &session, NULL);
	if (r >= 0)
		r = hb_session_mark_turn(session, &name, NULL);
	hb_session_free(session);
	hb_store_free(store);
	return r;
}

int hb_turn_ask(struct hb_error *err)
{
	int r = turns_ask();

	if (r == -ENOENT || r == -ECONNREFUSED) {
		hb_fix(err, "outside: holdback run --mark-turns -- COMMAND");
		return hb_fail(err, -HB_E_STATE,
			       "this is no run with --mark-turns");
	}
	if (r < 0) {
		hb_fix(err, "outside: holdback log, which has the reason");
		return hb_fail(err, r, "the turn was not marked");
	}
	return 0;
}
