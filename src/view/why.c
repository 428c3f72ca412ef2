/* SPDX-License-Identifier: Apache-2.0 */
#include "base/env.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "holdback/holdback.h"
#include "host/look.h"
#include "plan/plan.h"
#include "plan/settings.h"
#include "plan/view.h"
#include "plan/view_place.h"
#include "sys/file.h"
#include "view/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * `holdback why`: reads the answer off the plan that would be carried out, so
 * that it cannot say anything else than what would happen.
 */

enum what {
	WHAT_ABSENT,
	WHAT_READ_ONLY,
	WHAT_UNREADABLE,
	WHAT_REAL,
	WHAT_HELD_BACK,
	WHAT_CACHE,
	WHAT_HIDDEN,
	WHAT_OWN,
	WHAT_PRIVATE,
	WHAT_SOCKET,
};

static const struct {
	const char *name, *words;
} whats[] = {
	[WHAT_ABSENT] = { "absent", "nothing shows it: it is not there" },
	[WHAT_READ_ONLY] = { "read-only", "the real one can be read" },
	[WHAT_UNREADABLE] = { "unreadable",
			      "it is shown, and its mode does not let this user read it" },
	[WHAT_REAL] = { "real", "writes there are real" },
	[WHAT_HELD_BACK] = { "held-back",
			     "it can be changed, and changes are held back" },
	[WHAT_CACHE] = { "cache",
			 "it can be changed, and changes are dropped" },
	[WHAT_HIDDEN] = { "hidden", "something empty is there instead" },
	[WHAT_OWN] = { "own", "the view has its own instead of the host's" },
	[WHAT_PRIVATE] = { "private",
			   "in memory, and the host's files there are not shown" },
	[WHAT_SOCKET] = { "socket", "the command can connect to it" },
};

static enum what bind_what(const struct plan_op *op)
{
	if (op->origin && op->origin->key == KEY_SOCKET)
		return WHAT_SOCKET;
	return op->flags & PLAN_RO ? WHAT_READ_ONLY : WHAT_REAL;
}

static enum what what_of(const struct plan_op *op)
{
	bool is_closed = op && op->flags & PLAN_HAS_PERMS && op->perms == 0;

	if (!op)
		return WHAT_ABSENT;
	if (op->kind == OP_BIND)
		return bind_what(op);
	if (op->kind == OP_OVERLAY)
		return op->origin && op->origin->key == KEY_CACHE
			       ? WHAT_CACHE
			       : WHAT_HELD_BACK;
	if (op->kind == OP_GONE)
		return WHAT_ABSENT;
	if (is_closed || (op->kind == OP_TMPFS && op->origin))
		return WHAT_HIDDEN;
	if (op->kind == OP_BIND_DATA || op->kind == OP_MASK)
		return WHAT_OWN;
	return WHAT_PRIVATE;
}

/* What is not said by a setting is so by itself. */
static const char *own_reason(const struct run *run, const struct plan_op *op)
{
	if (!op)
		return "no setting names it";
	for (size_t i = 0; op->kind == OP_OVERLAY && i < run->n_resources; i++)
		if (run->resources[i].inside == op->dest)
			return run->resources[i].role == VIEW_GIT
				       ? "the repository of the worktree"
				       : "the workspace";
	for (size_t i = 0; i < run->n_entries; i++)
		if (run->entries[i].is_single &&
		    run->entries[i].path == op->dest)
			return "a program of PATH";
	if (op->kind == OP_BIND)
		return "the package of the command";
	if (run->host.home && strcmp(op->dest, run->host.home) == 0)
		return "the home directory, of which only named parts are shown";
	if (run->covered && (strcmp(op->dest, run->covered) == 0 ||
			     strcmp(op->dest, run->store_inside) == 0))
		return "where sessions live";
	return "every view has it so";
}

static void answer(const struct run *run, const char *path, hb_why_fn tell,
		   void *context)
{
	char inside[PATH_MAX], found[PATH_MAX], words[QUOTE_SHOWN + 32];
	const struct plan_op *op;
	struct hb_why why = { .path = path };
	enum what what;

	if (view_inside(&run->request, path, inside) < 0)
		return;
	op = view_find(&run->plan, inside, found);
	what = what_of(op);
	/* What its mode closes is not hidden as well. */
	if (what == WHAT_READ_ONLY &&
	    sys_faccessat(AT_FDCWD, path, R_OK) == -EACCES)
		what = WHAT_UNREADABLE;
	why.inside = found;
	why.what = whats[what].name;
	why.words = whats[what].words;
	if (op && op->origin) {
		why.by.key = setting_name(op->origin->key);
		why.by.value = op->origin->value;
		why.by.source = setting_source_name(op->origin->origin.source);
		why.by.file = op->origin->origin.file;
		why.by.line = op->origin->origin.line;
		why.by.words = setting_origin_words(&op->origin->origin,
						    op->origin->key, words,
						    sizeof(words));
	} else {
		why.by.words = own_reason(run, op);
	}
	tell(context, &why);
}

static int full_path(const struct run *run, const char *path, char *ret,
		     struct hb_error *err)
{
	char joined[PATH_MAX], shown[QUOTE_SHOWN];
	int r;

	r = path_is_absolute(path)
		    ? path_join(path, "", joined, sizeof(joined))
		    : path_join(run->cwd, path, joined, sizeof(joined));
	if (r >= 0)
		r = path_normalise(joined, PATH_DOTS_FOLD, ret, PATH_MAX);
	if (r < 0 || !path[0])
		return hb_fail(err, -HB_E_USAGE, "'%s' is not a path",
			       quote_shown(path, shown, sizeof(shown)));
	return 0;
}

/* The command need not exist: then its package shows nothing. */
static void find_command(struct run *run)
{
	run->may_lack_command = true;
	if (run->options->argv)
		(void)run_find_command(run, NULL);
}

int hb_why(const struct hb_run_options *options, const char *path,
	   hb_why_fn tell, void *context, struct hb_error *err)
{
	char full[PATH_MAX];
	struct run run = { 0 };
	int r;

	r = run_configure(&run, options, NULL, err);
	if (r >= 0)
		r = full_path(&run, path, full, err);
	if (r >= 0) {
		find_command(&run);
		r = run_look(&run, NULL, err);
	}
	if (r >= 0)
		r = view_build(&run.request, &run.host, &run.plan, err);
	if (r >= 0)
		answer(&run, full, tell, context);
	run_done(&run);
	return r;
}
