/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "review/find.h"
#include "review/stack.h"
#include "session/git/own_branch.h"
#include "session/git/own_record.h"
#include "session/gone.h"
#include "session/interruption.h"
#include "session/layers.h"
#include "session/open.h"
#include "session/publish/carry_settle.h"
#include "session/resource_dirs.h"
#include "session/session.h"
#include "session/settle.h"
#include "session/state.h"
#include "session/strategy/shown.h"
#include "session/told.h"
#include "store/store.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "sys/place.h"
#include "tree/content.h"
#include "tree/tree.h"
#include "txn/txn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Throwing pending changes away, all of them or those at some paths: one
 * transaction, which undo can reverse.
 */

#define AWAY "the changes are discarded"

/* In a resource's store: one path that goes for good. */
#define PATH_GONE "path.gone"
#define GIT	  ".git"

/* Everything above the layer with the id `keep`; NULL: everything. */
static int roll_back(struct hb_session *s, const char *keep,
		     struct hb_error *err)
{
	struct stack_change stack = { .is_rollback = true, .keep = keep };
	struct txn *txn = NULL;
	int r;

	r = session_txn(s, &txn, err);
	if (r < 0)
		return r;
	r = gone_check_layers(s, keep, err);
	if (r < 0)
		return r;
	session_remember(s);
	r = stack_begin(&stack, s, txn, false, err);
	if (r >= 0)
		r = txn_rollback(txn, err);
	stack_end(&stack);
	if (r >= 0)
		(void)session_finish(s, AWAY);
	if (r >= 0)
		(void)gone_say_pending(s);
	/* The upper is another one now. */
	session_close_resources(s);
	return r;
}

/* It is done: an older T0 finds more conflicts, and none is missed. */
static int conclude(struct hb_session *s)
{
	struct hb_error why = { 0 };

	s->record.used = sys_now();
	if (session_save(s, &why) < 0)
		store_say(s->store,
			  "session '%s': " AWAY "; the record of it could not "
			  "be written (%s: %s)",
			  s->record.name, why.text, hb_strerror(why.code));
	return 0;
}

static int roll_all_back(struct hb_session *s, struct hb_error *err)
{
	struct timespec times[RECORD_RESOURCES_MAX];
	bool was_gone[RECORD_RESOURCES_MAX] = { false };
	bool any_gone = session_has_gone(s);
	int r;

	/* It may be back by then, with all that is pending in it. */
	for (size_t i = 0; i < s->record.n_resources; i++)
		was_gone[i] = s->resources[i].is_gone;
	r = roll_back(s, NULL, err);
	if (r < 0)
		return r;
	/* Where the journal waits to be filed it may be taken back. */
	if (session_has_journal(s) || session_clock(s, times, NULL) < 0)
		return conclude(s);
	for (size_t i = 0; i < s->record.n_resources; i++) {
		struct record_resource *resource = &s->record.resources[i];

		if (was_gone[i])
			continue;
		if (resource->t0_before.tv_sec == 0)
			resource->t0_before = resource->t0;
		resource->t0 = times[i];
	}
	if (!any_gone)
		s->record.has_lost = false;
	return conclude(s);
}

static int nothing_at(const char *path, struct hb_error *err)
{
	hb_fix(err, "holdback status");
	return hb_fail(err, -HB_E_USAGE, "nothing is pending at '%s'",
		       quoted(path));
}

/*
 * A path inside of a directory that hides everything below it would stay hidden
 * after its removal.  Only that directory as a whole can be rolled back.
 */
static int check_above(const struct resource *resource, const char *path,
		       struct hb_error *err)
{
	const char *pos = path;
	char shown[QUOTE_SHOWN], above[PATH_MAX];
	struct path_part part;
	struct entry entry;

	while (path_next(&pos, &part) && *pos != '\0') {
		const struct content_place place = { .root = resource->upper,
						     .in_layer = true,
						     .path = above };
		struct content_dir dir = { .fd = -1 };
		const char *name;
		int left, r;

		if (part.n > NAME_MAX ||
		    (size_t)(part.s + part.n - path) >= sizeof(above))
			return nothing_at(path, err);
		(void)snprintf(above, sizeof(above), "%.*s",
			       (int)(part.s + part.n - path), path);
		r = content_enter(&place, &dir, &name, err);
		if (r >= 0)
			r = entry_read_layer(dir.fd, name, &entry, err);
		left = content_leave(&dir, r < 0 ? NULL : err);
		if (r < 0 || left < 0)
			return r < 0 ? r : left;
		if (entry.is_whiteout || entry.is_opaque) {
			hb_fix(err, "roll '%s' back as a whole",
			       quote_shown(above, shown, sizeof(shown)));
			return hb_fail(err, -HB_E_USAGE,
				       "'%s' was replaced or deleted", shown);
		}
		if (entry.type != ENTRY_DIR)
			return nothing_at(path, err);
	}
	return 0;
}

/* What is frozen cannot be taken out of its layer. */
static int check_frozen(struct hb_session *s, size_t number, const char *path,
			struct hb_error *err)
{
	const struct resource *resource = &s->resources[number];
	struct path_part dir = path_dirname(path);
	struct sys_attr attr;
	int r;

	if (path_part_is(dir, "."))
		dir.n = 0;
	r = session_open_layers(s, number, err);
	for (size_t i = 1; r >= 0 && i < resource->n_layers; i++) {
		auto_fd int fd = content_find_dir(resource->layers[i], path,
						  dir.n, NULL);

		if (fd < 0 || sys_attr_at(fd, path_basename(path).s, &attr) < 0)
			continue;
		hb_fix(err,
		       "holdback rollback @%s discards all changes, with --to "
		       "MARK those since a mark",
		       s->record.name);
		return hb_fail(
			err, -HB_E_STATE,
			"'%s' was changed before a mark, and a mark is not "
			"taken apart",
			quoted(path));
	}
	return r;
}

/*
 * Without HEAD, or with half of git's files, the session is on no branch, and
 * has work all the same.
 */
static int check_own(const struct hb_session *s, size_t number,
		     const char *path, struct hb_error *err)
{
	size_t n = strcspn(path, "/");

	if (!own_branch_is_asked(&s->record.resources[number]) ||
	    !(n == strlen(GIT) && strncmp(path, GIT, n) == 0))
		return 0;
	hb_fix(err,
	       "holdback rollback @%s discards all of it, and git inside "
	       "takes commits back",
	       s->record.name);
	return hb_fail(err, -HB_E_USAGE,
		       "session '%s' is on a branch of its own: '%s' is not "
		       "rolled back by itself",
		       s->record.name, quoted(path));
}

/* Which resource the path is of, and the rest of it, which is allocated. */
static int find_path(struct hb_session *s, const char *path,
		     struct txn_path *ret, struct hb_error *err)
{
	char rest[PATH_MAX];
	size_t number = 0;
	int r;

	r = session_find_path(s, path, &number, rest, err);
	if (r < 0)
		return r;
	if (rest[0] == '\0') {
		hb_fix(err, "holdback rollback without a path");
		return hb_fail(err, -HB_E_USAGE,
			       "'%s' is the whole of a resource", path);
	}
	r = s->resources[number].is_gone
		    ? gone_refuse(s, "its pending changes stay", err)
		    : check_frozen(s, number, rest, err);
	if (r >= 0)
		r = check_own(s, number, rest, err);
	if (r >= 0)
		r = check_above(&s->resources[number], rest, err);
	if (r < 0)
		return r;
	*ret = (struct txn_path){ .resource = number, .path = strdup(rest) };
	return ret->path ? 0 : hb_fail(err, -ENOMEM, "cannot keep a path");
}

/* What is rolled back by path is in the upper. */
static int keep_all_layers(const struct hb_session *s,
			   struct stack_change *stack, struct hb_error *err)
{
	uint64_t done = 0;
	int r = 0;

	if (s->record.n_layers > 0)
		r = session_last_done(s, &done, err);
	for (size_t i = s->record.n_layers; r >= 0 && i > 0; i--)
		if (layer_counts(&s->record.layers[i - 1], done)) {
			memcpy(stack->last, s->record.layers[i - 1].id,
			       sizeof(stack->last));
			stack->keep = stack->last;
			break;
		}
	return r;
}

static int roll_found_back(struct hb_session *s, struct txn_path *found,
			   size_t n, struct hb_error *err)
{
	struct stack_change stack = { .is_rollback = true };
	const struct txn_path *missing = NULL;
	struct hb_error why = { 0 };
	struct txn *txn = NULL;
	int r;

	r = session_txn(s, &txn, err);
	if (r < 0)
		return r;
	r = keep_all_layers(s, &stack, err);
	if (r >= 0)
		r = stack_begin(&stack, s, txn, false, err);
	if (r < 0)
		return r;
	r = txn_rollback_paths(txn, found, n, &missing, &why);
	stack_end(&stack);
	if (missing)
		return nothing_at(missing->path, err);
	if (r < 0 && err)
		*err = why;
	if (r >= 0)
		(void)session_finish(s, AWAY);
	session_close_resources(s);
	return r;
}

/*
 * Of one path in a layer or in a copy, by one rename to `dir`; 0: there is
 * nothing.  The directory above keeps its time.
 */
static int take_away(int root, const char *path, int dir, struct hb_error *err)
{
	const struct content_place place = { .root = root,
					     .in_layer = true,
					     .path = path };
	struct content_dir above = { .fd = -1 };
	struct sys_attr was = { 0 }, is = { 0 };
	const char *name = NULL;
	int left, r;

	r = tree_remove(dir, PATH_GONE, err);
	if (r < 0)
		return r;
	r = content_enter(&place, &above, &name, err);
	if (r >= 0)
		r = sys_attr_at(above.fd, "", &was);
	if (r >= 0)
		r = sys_attr_at(above.fd, name, &is);
	if (r >= 0)
		r = S_ISDIR(is.mode)
			    ? layers_move_dir(above.fd, name, dir, PATH_GONE,
					      is.mode & 07777)
			    : sys_renameat(above.fd, name, dir, PATH_GONE);
	if (r >= 0)
		(void)sys_set_mtime_at(above.fd, "", was.mtime);
	left = content_leave(&above, NULL);
	if (r == -ENOENT || r == -ENOTDIR || r == -ELOOP)
		return 0;
	if (r >= 0)
		r = left;
	if (r < 0)
		return hb_fail(err, r, "cannot take '%s' away", path);
	r = tree_remove(dir, PATH_GONE, err);
	return r < 0 ? r : 1;
}

/*
 * What a command left in a copy goes from there, which makes room for the rest
 * of it to be carried to the layer.
 */
static int settle_without(struct hb_session *s, const struct txn_path *found,
			  size_t n, struct hb_error *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < n; i++) {
		size_t number = found[i].resource;
		const char *tree = shown_tree(&s->record.resources[number]);
		auto_fd int copy = -1;
		int dir = s->resources[number].dir;

		if (!tree)
			continue;
		copy = sys_openat(dir, tree, O_PATH | O_DIRECTORY | O_NOFOLLOW,
				  0);
		r = copy < 0 ? hb_fail(err, copy, "cannot open the copy")
			     : take_away(copy, found[i].path, dir, err);
	}
	if (r < 0)
		return r;
	r = session_settle_box(s, SETTLE_CRASHED, err);
	if (r < 0)
		return hb_fail(err, r,
			       "these are gone from the copy; the rest of it "
			       "needs more room");
	return session_open_resources(s, err);
}

/* For good: nothing has to be made, and each path goes by itself. */
static int drop_found(struct hb_session *s, struct txn_path *found, size_t n,
		      struct hb_error *err)
{
	bool is_left = s->record.state == SESSION_ACTIVE &&
		       shown_has_trees(&s->record);
	int r = 0;

	if (is_left)
		r = settle_without(s, found, n, err);
	for (size_t i = 0; r >= 0 && i < n; i++) {
		const struct resource *resource =
			&s->resources[found[i].resource];

		r = take_away(resource->upper, found[i].path, resource->dir,
			      err);
		/* What was in the copy alone was pending, and is gone. */
		if (r == 0 && !is_left)
			return nothing_at(found[i].path, err);
	}
	session_close_resources(s);
	return r < 0 ? r : 0;
}

typedef int (*roll_fn)(struct hb_session *s, struct txn_path *found, size_t n,
		       struct hb_error *err);

static int roll_some_back(struct hb_session *s, const char *const *paths,
			  size_t n, roll_fn roll, struct hb_error *err)
{
	struct txn_path *found = calloc(n, sizeof(*found));
	int r = 0;

	if (!found)
		return hb_fail(err, -ENOMEM, "cannot keep the paths");
	for (size_t i = 0; r == 0 && i < n; i++)
		r = find_path(s, paths[i], &found[i], err);
	if (r == 0)
		r = roll(s, found, n, err);
	for (size_t i = 0; i < n; i++)
		free((void *)(uintptr_t)found[i].path);
	free(found);
	return r;
}

static int rollback_to(struct hb_session *session, const char *mark,
		       struct hb_error *err)
{
	char keep[RECORD_ID_SIZE];
	size_t number;
	int r;

	r = session_needs_lock(session, err);
	if (r >= 0)
		r = own_branch_need_whole(session, err);
	if (r >= 0)
		r = session_find_mark(session, mark, &number, err);
	if (r < 0)
		return r;
	/* The record may be rewritten before it is compared with. */
	memcpy(keep, session->record.layers[number].id, sizeof(keep));
	r = roll_back(session, keep, err);
	return r < 0 ? r : conclude(session);
}

static int rollback(struct hb_session *session, const char *const *paths,
		    size_t n_paths, struct hb_error *err)
{
	int r;

	r = session_needs_lock(session, err);
	if (r >= 0)
		r = own_branch_need_whole(session, err);
	if (r >= 0)
		r = session_open_resources(session, err);
	if (r < 0)
		return r;
	if (n_paths == 0)
		(void)carry_forget(session, NULL);
	return n_paths == 0 ? roll_all_back(session, err)
			    : roll_some_back(session, paths, n_paths,
					     roll_found_back, err);
}

static int empty_paths(struct hb_session *session, const char *const *paths,
		       size_t n_paths, struct hb_error *err)
{
	int r;

	r = session_needs_lock(session, err);
	if (r >= 0)
		r = own_branch_need_whole(session, err);
	if (r < 0)
		return r;
	if (session_has_journal(session))
		return session_fail_interrupted(session, err);
	r = session_open_resources(session, err);
	return r < 0 ? r
		     : roll_some_back(session, paths, n_paths, drop_found, err);
}

/*
 * What is not held back cannot be rolled back.  -HB_E_STATE if that is all;
 * else a line for each.
 */
static int tell_direct(const struct hb_session *s, struct hb_error *err)
{
	const struct hb_session_info *info = hb_session_info(s);
	char shown[QUOTE_SHOWN];
	bool is_all = true;

	for (size_t i = 0; i < info->n_resources; i++)
		is_all = is_all && info->resources[i].is_direct;
	if (is_all) {
		hb_fix(err, "git, or a backup of the directory");
		return hb_fail(err, -HB_E_STATE,
			       "nothing of session '%s' is held back: its "
			       "commands write to the real files",
			       info->name);
	}
	for (size_t i = 0; i < info->n_resources + info->n_direct; i++) {
		const struct hb_resource *resource =
			i < info->n_resources
				? &info->resources[i]
				: &info->direct[i - info->n_resources];

		if (!resource->is_direct)
			continue;
		store_say(s->store,
			  "'%s' is not held back: writes of commands there "
			  "stay",
			  quote_shown(resource->source, shown, sizeof(shown)));
	}
	return 0;
}

#define ROLLBACK "rollback"

int hb_session_rollback_to(struct hb_session *session, const char *mark,
			   struct hb_error *err)
{
	struct hb_error local = { 0 };
	int r;

	err = err ? err : &local;
	told_begin(session, ROLLBACK);
	r = tell_direct(session, err);
	if (r >= 0)
		r = rollback_to(session, mark, err);
	return told_end(session, ROLLBACK, r, 0, err);
}

int hb_session_rollback(struct hb_session *session, const char *const *paths,
			size_t n_paths, struct hb_error *err)
{
	struct hb_error local = { 0 };
	int r;

	err = err ? err : &local;
	told_begin(session, ROLLBACK);
	r = n_paths == 0 ? tell_direct(session, err) : 0;
	if (r >= 0)
		r = rollback(session, paths, n_paths, err);
	return told_end(session, ROLLBACK, r, 0, err);
}

int hb_session_empty_paths(struct hb_session *session, const char *const *paths,
			   size_t n_paths, struct hb_error *err)
{
	struct hb_error local = { 0 };

	err = err ? err : &local;
	told_begin(session, ROLLBACK);
	return told_end(session, ROLLBACK,
			empty_paths(session, paths, n_paths, err), 0, err);
}
