/* SPDX-License-Identifier: Apache-2.0 */
#include "session/strategy/shown.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/quote.h"
#include "session/layers.h"
#include "session/open.h"
#include "session/session.h"
#include "store/berth.h"
#include "store/boot.h"
#include "store/progress.h"
#include "store/resource.h"
#include "store/store.h"
#include "sys/attr.h"

#include <assert.h>
#include <time.h>

struct shown {
	struct hb_session *session;
	size_t number;
	shown_held_fn held;
	void *held_ctx;
	struct progress *progress;
	bool is_after; /* the box has ended, not yet to begin */
	bool has_lost; /* as in struct strategy_place */
};

int shown_strategy(const struct record_resource *resource,
		   const struct strategy **ret, struct hb_error *err)
{
	const struct strategy *strategy = strategy_find(resource->effective);
	char shown[QUOTE_SHOWN];

	if (!strategy) {
		hb_fix(err, "use the version that made the session");
		return hb_fail(
			err, -HB_E_STATE, "the strategy '%s' is not known here",
			quote_shown(resource->effective, shown, sizeof(shown)));
	}
	*ret = strategy;
	return 0;
}

const char *shown_tree(const struct record_resource *resource)
{
	const struct strategy *strategy = strategy_find(resource->effective);

	return strategy ? strategy->shown : NULL;
}

bool shown_has_trees(const struct hb_session *s)
{
	for (size_t i = 0; i < s->record.n_resources; i++) {
		const struct strategy *strategy = NULL;

		if (shown_strategy(&s->record.resources[i], &strategy, NULL) <
			    0 ||
		    strategy->shown)
			return true;
	}
	return false;
}

static int tell_held(void *ctx, const char *path, struct hb_error *err)
{
	struct shown *shown = ctx;

	return shown->held
		       ? shown->held(shown->held_ctx, shown->number, path, err)
		       : 0;
}

static int fill_place(struct shown *shown, struct strategy_place *ret,
		      struct hb_error *err)
{
	struct hb_session *s = shown->session;
	struct resource *resource;
	struct sys_attr store;
	int r;

	r = sys_attr_at(s->store->dir, "", &store);
	if (r < 0)
		return hb_fail(err, r, "cannot look at the store");
	r = session_open_layers(s, shown->number, err);
	if (r < 0)
		return r;
	assert(s->resources);
	resource = &s->resources[shown->number];
	*ret = (struct strategy_place){
		.base = resource->base,
		.dir = resource->dir,
		.layers = resource->layers,
		.n_layers = resource->n_layers,
		.store_name = BERTH,
		.avoid_dev = store.dev,
		.avoid_ino = store.ino,
		.held = tell_held,
		.ctx = shown,
		.listener = &shown->progress->listener,
	};
	return 0;
}

/*
 * Later than everything in the baseline: what the box changes then has another
 * ctime than that.
 */
static int pass_time(const struct strategy_place *place, struct hb_error *err)
{
	auto_fd int marker = sys_unnamed_file(place->dir);
	struct timespec now;

	if (marker < 0)
		return hb_fail(err, marker, "cannot make a marker");
	return resource_clock(marker, &now, err);
}

/* Before or after a box, for one resource: what its strategy has to do. */
static int take_step(struct shown *shown, const char *boot,
		     struct hb_error *err)
{
	const struct record_resource *resource =
		&shown->session->record.resources[shown->number];
	const struct strategy *strategy = NULL;
	struct strategy_place place;
	int r;

	r = shown_strategy(resource, &strategy, err);
	if (r < 0 ||
	    !(shown->is_after ? strategy->after_box : strategy->before_box))
		return r;
	r = fill_place(shown, &place, err);
	if (r < 0)
		return r;
	place.boot = boot;
	place.has_lost = shown->has_lost;
	if (shown->is_after)
		r = strategy->after_box(&place, err);
	else
		r = strategy->before_box(&place, err);
	if (r >= 0 && !shown->is_after)
		r = pass_time(&place, err);
	return r < 0 ? hb_fail(err, r, "'%s'", resource->source) : r;
}

static int take_steps(struct shown *shown, struct hb_error *err)
{
	struct hb_session *s = shown->session;
	char boot[RECORD_BOOT_SIZE];
	int r;

	r = boot_id(boot, err);
	for (size_t i = 0; r >= 0 && i < s->record.n_resources; i++) {
		/* A copy of nothing is shown to nobody. */
		if (s->resources && s->resources[i].is_gone)
			continue;
		shown->number = i;
		r = take_step(shown, boot, err);
	}
	return r;
}

int shown_before_box(struct hb_session *s, shown_held_fn held, void *ctx,
		     struct hb_error *err)
{
	auto_progress struct progress progress = PROGRESS_NONE;
	struct shown shown = { .session = s,
			       .held = held,
			       .held_ctx = ctx,
			       .progress = &progress };

	if (!shown_has_trees(s))
		return 0;
	progress_begin(&progress, s->store, "copying");
	return take_steps(&shown, err);
}

int shown_after_box(struct hb_session *s, bool has_lost, struct hb_error *err)
{
	auto_progress struct progress progress = PROGRESS_NONE;
	struct shown shown = { .session = s,
			       .is_after = true,
			       .has_lost = has_lost,
			       .progress = &progress };
	int r;

	if (!shown_has_trees(s))
		return 0;
	progress_begin(&progress, s->store, "looking for changes");
	r = session_open_resources(s, err);
	return r < 0 ? r : take_steps(&shown, err);
}
