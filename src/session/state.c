/* SPDX-License-Identifier: Apache-2.0 */
#include "session/state.h"

#include "base/error.h"
#include "session/session.h"
#include "store/boot.h"
#include "sys/file.h"
#include "sys/place.h"
#include "sys/proc.h"

#include <stdio.h>

#define STATE_NAME(id, name) [HB_STATE_##id] = (name),
static const char *const shown_names[HB_STATES] = { HB_STATE_ROWS(STATE_NAME) };

const char *hb_state_name(enum hb_state state)
{
	return shown_names[state];
}

/* By what the record says; a live session alone has no lock for others. */
static const struct {
	enum hb_state with_lock, without;
} shown[SESSION_STATES] = {
	[SESSION_CREATED] = { HB_STATE_BUSY, HB_STATE_BUSY },
	[SESSION_IDLE] = { HB_STATE_IDLE, HB_STATE_BUSY },
	[SESSION_ACTIVE] = { HB_STATE_CRASHED, HB_STATE_LIVE },
	[SESSION_BROKEN] = { HB_STATE_BROKEN, HB_STATE_BUSY },
	[SESSION_GONE] = { HB_STATE_BUSY, HB_STATE_BUSY },
};

enum hb_state session_shown_state(const struct hb_session *s)
{
	return s->has_lock ? shown[s->record.state].with_lock
			   : shown[s->record.state].without;
}

/*
 * The states of a session.
 *
 *	created -> idle			session_make
 *	created -> active		the same, for a run
 *	idle    -> active		session_begin
 *	idle    -> active		session_reopen, for what was put off
 *	active  -> idle			session_end
 *	idle, active, broken -> broken	session_break
 *	broken  -> idle			session_mend
 *	all but gone -> gone		session_retire
 *
 * Commit, undo, redo and rollback leave a session idle: what they have under
 * way is in the journal, not in the state.
 */
static const bool is_allowed[SESSION_STATES][SESSION_STATES] = {
	[SESSION_CREATED] = { [SESSION_IDLE] = true,
			      [SESSION_ACTIVE] = true,
			      [SESSION_GONE] = true },
	[SESSION_IDLE] = { [SESSION_ACTIVE] = true,
			   [SESSION_BROKEN] = true,
			   [SESSION_GONE] = true },
	[SESSION_ACTIVE] = { [SESSION_IDLE] = true,
			     [SESSION_BROKEN] = true,
			     [SESSION_GONE] = true },
	[SESSION_BROKEN] = { [SESSION_BROKEN] = true,
			     [SESSION_IDLE] = true,
			     [SESSION_GONE] = true },
};

static int move_to(struct hb_session *s, enum session_state to, int64_t pid,
		   struct hb_error *err)
{
	enum session_state from = s->record.state;
	int64_t old_pid = s->record.pid;
	int r;

	if (!is_allowed[from][to]) {
		hb_fix(err, "holdback recover @%s, and try again",
		       s->record.name);
		return hb_fail(err, -HB_E_STATE,
			       "session '%s' is %s and cannot become %s",
			       s->record.name, session_state_name(from),
			       session_state_name(to));
	}
	r = session_needs_lock(s, err);
	if (r < 0)
		return r;
	s->record.state = to;
	s->record.pid = pid;
	r = session_save(s, err);
	if (r < 0) {
		s->record.state = from;
		s->record.pid = old_pid;
	}
	return r;
}

int session_save(struct hb_session *s, struct hb_error *err)
{
	int r;

	/* What was made by this process has it. */
	r = s->is_fresh ? 0 : boot_id(s->record.boot, err);
	if (r < 0)
		return r;
	return record_write(s->dir, &s->record, !s->is_fresh, err);
}

int session_begin(struct hb_session *s, struct hb_error *err)
{
	int r;

	/* A run's own one was begun when it was made. */
	if (s->is_fresh && s->record.state == SESSION_ACTIVE)
		return 0;
	s->record.used = sys_now();
	r = move_to(s, SESSION_ACTIVE, sys_getpid(), err);
	if (r < 0 || s->is_fresh)
		return r;
	/*
	 * The rename too: a machine that goes down while the box runs would
	 * leave the record of before, which knows of no lost writes.
	 */
	r = sys_fsync(s->dir);
	return r < 0 ? hb_fail(err, r, "cannot sync the session") : 0;
}

int session_reopen(struct hb_session *s, const char *boot, struct hb_error *err)
{
	enum session_state from = s->record.state;
	int r;

	s->record.state = SESSION_ACTIVE;
	(void)snprintf(s->record.boot, sizeof(s->record.boot), "%s", boot);
	r = record_write(s->dir, &s->record, true, err);
	if (r >= 0)
		r = sys_fsync(s->dir);
	if (r < 0)
		s->record.state = from;
	return r < 0 ? hb_fail(err, r, "cannot record the session") : 0;
}

int session_end(struct hb_session *s, struct hb_error *err)
{
	return move_to(s, SESSION_IDLE, 0, err);
}

int session_break(struct hb_session *s, struct hb_error *err)
{
	return move_to(s, SESSION_BROKEN, 0, err);
}

int session_mend(struct hb_session *s, struct hb_error *err)
{
	return move_to(s, SESSION_IDLE, 0, err);
}

int session_retire(struct hb_session *s, struct hb_error *err)
{
	return move_to(s, SESSION_GONE, 0, err);
}

int session_needs_lock(const struct hb_session *s, struct hb_error *err)
{
	if (s->has_lock)
		return 0;
	if (s->record.state == SESSION_ACTIVE) {
		hb_fix(err, "holdback stop @%s", s->record.name);
		return hb_fail(err, -HB_E_BUSY,
			       "session '%s' is live: process %lld runs in it",
			       s->record.name, (long long)s->record.pid);
	}
	hb_fix(err, "try again when it has ended");
	return hb_fail(err, -HB_E_BUSY, "another command works on session '%s'",
		       s->record.name);
}

/* The record is the only thing that knows: it has to be there before. */
int session_save_durably(struct hb_session *s, struct hb_error *err)
{
	int r;

	r = session_save(s, err);
	if (r < 0)
		return r;
	r = sys_fsync(s->dir);
	return r < 0 ? hb_fail(err, r, "cannot sync the session") : 0;
}
