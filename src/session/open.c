/* SPDX-License-Identifier: Apache-2.0 */
#include "session/open.h"
#include "session/database/list.h"
#include "session/database/unit.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/quote.h"
#include "base/report.h"
#include "base/time.h"
#include "changes/conflict.h"
#include "host/worktree.h"
#include "plan/role.h"
#include "session/database/list.h"
#include "session/database/unit.h"
#include "session/git/own_record.h"
#include "session/gone.h"
#include "session/interruption.h"
#include "session/layers.h"
#include "session/live/taken.h"
#include "session/remove/empty.h"
#include "session/resource_dirs.h"
#include "session/session.h"
#include "store/berth.h"
#include "store/resource.h"
#include "store/store.h"
#include "strategy/strategy.h"
#include "sys/attr.h"
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The resources of a session by descriptor, and what a transaction is told
 * about them.
 */

/* Two commits to one base take turns. */
#define LOCK_WAIT 10000 /* ms */

static int fail_emptying(const struct hb_session *s, struct hb_error *err)
{
	hb_fix(err, "holdback recover @%s", s->record.name);
	return hb_fail(err, -HB_E_STATE, "session '%s': rollback interrupted",
		       s->record.name);
}

/* The real directory and its place in the store; 1: it is gone, and that is
 * all. `given` may be NULL. */
static int open_place(struct hb_session *s, size_t number,
		      struct open_given *given, struct hb_error *err)
{
	struct resource *resource = &s->resources[number];
	int r;

	if (given) {
		resource->base = take_fd(&given->base);
		resource->dir = take_fd(&given->dir);
		return 0;
	}
	r = gone_judge(s, number, &resource->base, err);
	if (r < 0)
		return r;
	if (r > 0) {
		r = gone_open(s, number, resource, err);
		return r < 0 ? r : 1;
	}
	resource->dir =
		berth_open(&s->record, number, s->dir, resource->base, err);
	return 0;
}

static int open_one(struct hb_session *s, size_t number,
		    struct open_given *given, struct hb_error *err)
{
	struct resource *resource = &s->resources[number];
	int r;

	r = open_place(s, number, given, err);
	if (r != 0)
		return r < 0 ? r : 0;
	resource->spot = resource->dir;
	if (resource->dir < 0)
		return hb_fail(err, resource->dir,
			       "the store of '%s' is not as it was",
			       s->record.resources[number].source);
	resource->upper = sys_openat(resource->dir, "upper",
				     O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	/* A box that is there would see it. */
	if (resource->upper == -EACCES && s->has_lock && !s->box &&
	    session_open_top(resource->dir) >= 0)
		resource->upper =
			sys_openat(resource->dir, "upper",
				   O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	if (resource->upper == -ENOENT && session_is_emptying(resource->dir)) {
		if (s->is_look || !s->has_lock)
			return fail_emptying(s, err);
		r = session_finish_emptying(s, err);
		if (r < 0)
			return r;
		resource->upper =
			sys_openat(resource->dir, "upper",
				   O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	}
	/*
	 * Where two directories cannot change places, a rollback that was cut
	 * short may have left none: recovery brings one back.
	 */
	if (resource->upper < 0 &&
	    !(resource->upper == -ENOENT &&
	      (s->record.is_freezing || session_has_journal(s))))
		return hb_fail(err, resource->upper,
			       "cannot open the changes of '%s'",
			       s->record.resources[number].source);
	if (!s->is_fresh) {
		bool is_needed = !s->is_look && !s->is_given_up;

		r = resource_make_dirs(resource->dir, is_needed ? err : NULL);
		if (r < 0 && is_needed)
			return r;
	}
	/* Sessions of an earlier version have none. */
	resource->top = sys_openat(resource->dir, RESOURCE_TOP,
				   O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
	if (resource->top < 0 && resource->top != -ENOENT)
		return hb_fail(err, resource->top,
			       "cannot open the picture of '%s'",
			       s->record.resources[number].source);
	return 0;
}

/* Not before it is asked for: a box does without. */
static int load_seen(const struct resource *resource,
		     struct session_memory *memory, struct hb_error *err)
{
	int r;

	if (memory->has_seen || (resource->is_gone && resource->dir < 0))
		return 0;
	r = seen_open(resource->dir, &memory->seen, err);
	if (r < 0)
		return r;
	memory->has_seen = true;
	return 0;
}

/* For the caller, and beyond the time that they are open. */
static int note_gones(struct hb_session *s, struct hb_error *err)
{
	size_t n = s->record.n_resources;

	if (!s->infos)
		s->infos = calloc(n, sizeof(*s->infos));
	if (!s->infos)
		return hb_fail(err, -ENOMEM, "cannot open the resources");
	for (size_t i = 0; i < n; i++)
		s->infos[i].is_gone = s->resources[i].is_gone;
	s->info.knows_gone = true;
	return 0;
}

/* A strategy that this version does not know is refused when a box is made. */
static const struct part *part_of_strategy(const struct session_record *record,
					   size_t number)
{
	const struct strategy *strategy =
		strategy_of(&record->resources[number]);

	return strategy ? strategy->part : NULL;
}

/* One of each, with nothing open. */
static int new_resources(struct hb_session *s, struct hb_error *err)
{
	size_t n = s->record.n_resources;

	s->resources = calloc(n, sizeof(*s->resources));
	s->memories = calloc(n, sizeof(*s->memories));
	if (!s->resources || !s->memories) {
		free(s->resources);
		free(s->memories);
		s->resources = NULL;
		s->memories = NULL;
		return hb_fail(err, -ENOMEM, "cannot open the resources");
	}
	for (size_t i = 0; i < n; i++) {
		s->resources[i] = (struct resource)RESOURCE_CLOSED;
		s->resources[i].record = &s->record.resources[i];
		s->resources[i].number = i;
		s->resources[i].part = part_of_strategy(&s->record, i);
		s->resources[i].store_name = BERTH;
		s->memories[i] = (struct session_memory){
			.git = { -1, -1 },
			.seen.fd = -1,
			.log.fd = -1,
		};
	}
	if (!database_list_is_any(&s->record))
		return 0;
	for (size_t i = 0; i < n; i++) {
		struct database_list *list = &s->memories[i].databases;
		int r = database_list_read(&s->record, i, list, err);

		if (r < 0)
			return r;
		s->resources[i].databases = list->n > 0 ? list : NULL;
	}
	return 0;
}

int session_open_given(struct hb_session *s, struct open_given *given,
		       struct hb_error *err)
{
	size_t n = s->record.n_resources;
	int r = 0;

	if (s->has_resources)
		return 0;
	r = new_resources(s, err);
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = open_one(s, i, given ? &given[i] : NULL, err);
	for (size_t i = 0; r >= 0 && s->taken && i < n; i++)
		r = taken_open(s, i, err);
	if (r < 0) {
		session_close_resources(s);
		return r;
	}
	s->has_resources = true;
	return note_gones(s, err);
}

int session_open_resources(struct hb_session *s, struct hb_error *err)
{
	return session_open_given(s, NULL, err);
}

static void memory_done(struct session_memory *memory)
{
	peers_done(&memory->peers);
	database_list_done(&memory->databases);
	begun_done(&memory->begun);
	fd_closep(&memory->git.git);
	fd_closep(&memory->git.common);
	seen_done(&memory->seen);
	seen_log_done(&memory->log);
	outdated_done(&memory->outdated);
}

void session_close_resources(struct hb_session *s)
{
	for (size_t i = 0; s->resources && i < s->record.n_resources; i++) {
		struct resource *resource = &s->resources[i];

		fd_closep(&resource->base);
		fd_closep(&resource->dir);
		for (size_t k = 1; k < resource->n_layers; k++)
			fd_closep(&resource->layers[k]);
		free(resource->layers);
		free(resource->is_shared);
		fd_closep(&resource->upper);
		fd_closep(&resource->top);
		memory_done(&s->memories[i]);
	}
	free(s->resources);
	free(s->memories);
	free(s->seen_ctx);
	s->resources = NULL;
	s->memories = NULL;
	s->seen_ctx = NULL;
	s->has_resources = false;
}

/*
 * A clock that was set back makes T0 lie in the future, and nothing would look
 * changed.  From the beginning of time everything does, which is safe.
 */
static struct timespec believable_t0(const struct resource *resource,
				     struct timespec t0)
{
	auto_fd int marker = -1;
	struct timespec now;

	marker = sys_unnamed_file(resource->dir);
	if (marker < 0 || resource_clock(marker, &now, NULL) < 0)
		return t0;
	if (time_is_before(now, t0))
		return CONFLICT_T0_ALWAYS;
	return t0;
}

/* The words for an entry that is left, with the place of the version before. */
static void word_left(const struct hb_session *s, const struct hb_report *left,
		      char *text, size_t size)
{
	char shown[QUOTE_SHOWN], path[PATH_MAX] = "nowhere";

	if (left->text)
		(void)session_store_path(s, left->resource, left->text, path,
					 sizeof(path), NULL);
	(void)snprintf(text, size,
		       "session '%s': %s in %s was changed from outside and "
		       "is left as it is; the session's version: %s; the "
		       "version before: %s",
		       s->record.name,
		       quote_shown(left->path, shown, sizeof(shown)),
		       s->record.resources[left->resource].source,
		       left->n ? "pending" : "the changed file itself", path);
}

/* A transaction knows numbers; the listener is told names. */
static bool hear_txn(void *context, const struct hb_report *report)
{
	const struct hb_session *s = context;
	struct hb_report told = *report;
	char text[HB_TEXT_SIZE];

	told.session = s->record.name;
	told.source = s->record.resources[report->resource].source;
	if (report->kind == HB_REPORT_LEFT) {
		word_left(s, report, text, sizeof(text));
		told.text = text;
	}
	return report_send(s->store->listener, &told);
}

static int load_begun(struct hb_session *s, size_t number, struct hb_error *err)
{
	struct session_memory *memory = &s->memories[number];
	uint64_t after;
	int r;

	if (!own_branch_is_asked(&s->record.resources[number]))
		return 0;
	begun_done(&memory->begun);
	r = own_branch_load(s, number, &memory->begun, &after, err);
	memory->has_begun = r >= 0;
	return r == -ENOENT ? 0 : r;
}

/* What a transaction needs to know beside what a box does. */
static int open_for_txn(struct hb_session *s, size_t i, struct hb_error *err)
{
	struct resource *resource = &s->resources[i];
	const struct record_resource *record = resource->record;
	struct session_memory *memory = &s->memories[i];
	int r;

	r = load_seen(resource, memory, err);
	if (r >= 0)
		r = load_begun(s, i, err);
	if (r >= 0)
		r = session_open_layers(s, i, err);
	if (r < 0)
		return r;
	if (memory->git.git < 0 && !resource->is_gone)
		(void)worktree_open(record->source, &memory->git.git,
				    &memory->git.common);
	peers_done(&memory->peers);
	peers_init(&memory->peers, s, i);
	resource->begun =
		memory->has_begun && own_branch_is_in(resource, &memory->begun)
			? &memory->begun
			: NULL;
	resource->holds_databases = s->taken != NULL;
	resource->rest = -1;
	resource->like = -1;
	resource->peers = resource->is_gone ? NULL : &memory->peers.ask;
	resource->git = memory->git.git >= 0 ? &memory->git : NULL;
	resource->is_git = strcmp(record->role, role_name(VIEW_GIT)) == 0;
	resource->t0 = believable_t0(resource, record->t0);
	resource->since = (struct timespec){ 0 };
	s->seen_ctx[i] = s->taken ? taken_memory(s, i) : &memory->seen;
	return 0;
}

static int open_log(void *ctx, size_t resource, uint64_t n_paths,
		    struct hb_error *err)
{
	struct hb_session *s = ctx;

	return seen_log_open(&s->memories[resource].log, n_paths, err);
}

int session_txn(struct hb_session *s, struct txn **ret_txn,
		struct hb_error *err)
{
	size_t n = s->record.n_resources;
	int r;

	r = session_open_resources(s, err);
	if (r < 0)
		return r;
	if (!s->seen_ctx)
		s->seen_ctx = calloc(n, sizeof(*s->seen_ctx));
	if (!s->seen_ctx)
		return hb_fail(err, -ENOMEM, "cannot begin a transaction");
	for (size_t i = 0; i < n; i++) {
		r = open_for_txn(s, i, err);
		if (r < 0)
			return r;
	}
	s->of_txn = (struct hb_listener){ .hear = hear_txn, .context = s };
	s->txn = (struct txn){
		.session = s->dir,
		.resources = s->resources,
		.n_resources = n,
		.seen = s->taken ? taken_find_seen : seen_find,
		.seen_ctx = s->seen_ctx,
		.applied = session_applied,
		.applied_ctx = s,
		.applying = open_log,
		.listener = &s->of_txn,
		.lock_wait = LOCK_WAIT,
		.is_live = s->taken != NULL,
		.databases = &session_databases,
	};
	*ret_txn = &s->txn;
	return 0;
}

int session_clock(struct hb_session *s, struct timespec *ret_times,
		  struct hb_error *err)
{
	int r;

	r = session_open_resources(s, err);
	for (size_t i = 0; r >= 0 && i < s->record.n_resources; i++) {
		auto_fd int marker = sys_unnamed_file(s->resources[i].dir);

		if (marker < 0)
			return hb_fail(err, marker,
				       "cannot write to the store for '%s'",
				       s->record.resources[i].source);
		r = resource_clock(marker, &ret_times[i], err);
	}
	return r;
}

void session_remember(struct hb_session *s)
{
	for (size_t i = 0; i < s->record.n_resources; i++)
		seen_log_begin(s->resources[i].dir, &s->memories[i].seen,
			       &s->memories[i].log);
}

int session_applied(void *ctx, size_t resource, const struct seen *seen,
		    struct hb_error *err)
{
	struct hb_session *s = ctx;
	int r = 0;

	if (seen) {
		struct session_memory *m = &s->memories[resource];

		r = outdated_tell(&m->outdated, &m->seen, seen, err);
		return r < 0 ? r : seen_log_add(&m->log, seen, err);
	}
	for (size_t i = 0; r >= 0 && i < s->record.n_resources; i++) {
		struct session_memory *m = &s->memories[i];

		r = outdated_end(&m->outdated, &m->seen, &m->log, err);
		if (r >= 0)
			r = seen_log_sync(&m->log, err);
	}
	return r;
}

int session_remembered(struct hb_session *s, bool drop_older,
		       struct hb_error *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < s->record.n_resources; i++)
		r = seen_log_end(&s->memories[i].log, drop_older, err);
	return r;
}
