/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/view_bare.h"

#include "plan/environment/view_env.h"
#include "plan/plan.h"
#include "plan/settings.h"
#include "plan/view.h"
#include "plan/view_place.h"

#include <string.h>

/*
 * Every operation is a landlock rule (PLAN_BARE).  /dev/pts and /dev/shm are in
 * none: other terminals and memory of the same user lie there.
 */

static const struct {
	const char *path;
	unsigned flags;
} places[] = {
	{ "/proc", PLAN_RO },	    { "/dev/null", 0 },
	{ "/dev/zero", 0 },	    { "/dev/full", 0 },
	{ "/dev/random", PLAN_RO }, { "/dev/urandom", PLAN_RO },
	{ "/dev/tty", 0 },
};

static int allow(struct plan *plan, const char *path, unsigned flags,
		 const struct setting_item *item, struct hb_error *err)
{
	struct plan_op *op;
	int r;

	r = plan_add(plan, OP_BIND, &op, err);
	if (r < 0)
		return r;
	op->source = path;
	op->dest = path;
	op->flags = flags | PLAN_TRY;
	op->origin = item;
	return 0;
}

/*
 * No rule takes away what another gave: a toolchain with something in it that
 * is hidden is not there.  What is hidden in /etc is not ours to read.
 */
static bool holds_hidden(const struct view_request *request,
			 const struct view_entry *e)
{
	if (e->class != VIEW_SHOW || !e->item || e->item->value[0] != '~')
		return false;
	for (size_t i = 0; i < request->n_entries; i++)
		if (request->entries[i].class == VIEW_HIDE &&
		    request->entries[i].found != VIEW_ABSENT &&
		    view_lies_in(request->entries[i].path, e->path))
			return true;
	return false;
}

/* A link needs no rule: what counts is where it leads. */
static int allow_entry(struct plan *plan, const struct view_request *request,
		       const struct view_entry *e, struct hb_error *err)
{
	static const struct {
		bool is_allowed;
		unsigned flags;
	} classes[] = {
		[VIEW_SHOW] = { true, PLAN_RO }, [VIEW_HIDE] = { false, 0 },
		[VIEW_RO] = { true, PLAN_RO },	 [VIEW_RW] = { true, 0 },
		[VIEW_SOCKET] = { false, 0 },	 [VIEW_TEXT] = { false, 0 },
		[VIEW_EMPTY] = { false, 0 },	 [VIEW_FRESH] = { false, 0 },
		[VIEW_PASSING] = { false, 0 },	 [VIEW_COPY] = { false, 0 },
	};

	if (!classes[e->class].is_allowed || e->found == VIEW_ABSENT ||
	    e->found == VIEW_LINK || e->found == VIEW_OWN_LINK ||
	    holds_hidden(request, e))
		return 0;
	return allow(plan, e->source, classes[e->class].flags, e->item, err);
}

static void set_settings(const struct view_request *request, struct plan *plan)
{
	const struct settings *s = request->settings;

	plan->settings = PLAN_BARE | PLAN_FILTER | PLAN_LANDLOCK | PLAN_JOBS |
			 PLAN_CLOSE_FDS | PLAN_WAIT_ALL | PLAN_PROVE |
			 PLAN_PROVE_NO_USERNS | PLAN_LIMITS |
			 PLAN_DIE_WITH_PARENT | PLAN_FILTER_NO_SETID;
	view_terminal(s, plan);
	if (s->no_ptrace)
		plan->settings |= PLAN_FILTER_NO_PTRACE;
	if (!settings_share_net(s))
		plan->settings |= PLAN_NO_SOCKETS;
	plan->chdir = request->cwd;
	view_limits(s, plan);
}

int view_bare_build(const struct view_request *request,
		    const struct view_host *host, const char *tmp,
		    struct plan *plan, struct hb_error *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < sizeof(places) / sizeof(places[0]);
	     i++)
		r = allow(plan, places[i].path, places[i].flags, NULL, err);
	for (size_t i = 0; r >= 0 && i < request->n_entries; i++)
		r = allow_entry(plan, request, &request->entries[i], err);
	for (size_t i = 0; r >= 0 && i < request->n_resources; i++)
		if (request->resources[i].tree)
			r = allow(plan, request->resources[i].tree, 0,
				  request->resources[i].item, err);
	if (r >= 0)
		r = allow(plan, host->home, 0, NULL, err);
	if (r >= 0)
		r = allow(plan, tmp, 0, NULL, err);
	if (r < 0)
		return r;
	set_settings(request, plan);
	r = view_env(request, host, plan, err);
	if (r >= 0)
		r = plan_add_env(plan, ENV_SET, "TMPDIR", tmp, err);
	if (r >= 0)
		r = plan_add_env(plan, ENV_SET, "AGENT_WORK_DIR", tmp, err);
	return r;
}
