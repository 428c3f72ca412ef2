/* SPDX-License-Identifier: Apache-2.0 */
#include "session/strategy/shown.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/quote.h"
#include "holdback/session.h"
#include "plan/settings.h"
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
#include <stdio.h>
#include <string.h>
#include <time.h>

enum step {
	BEFORE_BOX,
	BEGIN_BOX,
	AFTER_BOX
};

struct shown {
	struct hb_session *session;
	size_t number;
	enum step step;
	shown_held_fn held;
	void *held_ctx;
	struct progress progress;
	bool has_lost; /* as in struct strategy_call */
};

int shown_strategy(const struct record_resource *resource,
		   const struct strategy **ret, struct hb_error *err)
{
	const struct strategy *strategy = strategy_of(resource);

	if (!strategy) {
		hb_fix(err, "use the version that made the session");
		return hb_fail(err, -HB_E_STATE,
			       "the strategy '%s' is not known here",
			       quoted(resource->effective));
	}
	*ret = strategy;
	return 0;
}

static const char *default_name(const struct record_resource *resource)
{
	const struct strategy *strategy = strategy_find(resource->type, "");

	return strategy ? strategy->named->name : "";
}

void shown_set_strategy(struct record_resource *resource, const char *name)
{
	(void)snprintf(resource->strategy, sizeof(resource->strategy), "%s",
		       name);
	/* What lies over another does not say which that is. */
	(void)snprintf(resource->effective, sizeof(resource->effective), "%s",
		       strategy_over_find(name) ? default_name(resource)
						: name);
}

void shown_name_strategies(struct session_record *record)
{
	for (size_t i = 0; i < record->n_resources; i++) {
		struct record_resource *resource = &record->resources[i];
		const char *name = default_name(resource);

		if (resource->strategy[0] == '\0')
			(void)snprintf(resource->strategy,
				       sizeof(resource->strategy), "%s", name);
		if (resource->effective[0] == '\0')
			(void)snprintf(resource->effective,
				       sizeof(resource->effective), "%s", name);
	}
}

void shown_tell(const struct record_resource *resource, struct hb_resource *ret)
{
	ret->type = resource_type_name(resource->type);
	ret->source = resource->source;
	ret->inside = resource->inside;
	ret->requested = resource->strategy;
	ret->strategy = resource->effective;
	ret->is_direct = settings_is_none(resource->effective);
	ret->is_usual =
		strcmp(resource->effective, default_name(resource)) == 0;
}

void shown_tell_direct(const char *path, struct hb_resource *ret)
{
	const char *name = strategy_names[STRATEGY_NAME_NONE].name;

	*ret = (struct hb_resource){
		.type = resource_type_name(RESOURCE_FS_DIRECTORY),
		.source = path,
		.inside = path,
		.requested = name,
		.strategy = name,
		.is_direct = true,
	};
}

const char *shown_tree(const struct record_resource *resource)
{
	const struct strategy *strategy = strategy_of(resource);

	return strategy ? strategy->show(resource) : NULL;
}

bool shown_has_trees(const struct session_record *record)
{
	for (size_t i = 0; i < record->n_resources; i++)
		if (!strategy_of(&record->resources[i]) ||
		    shown_tree(&record->resources[i]))
			return true;
	return false;
}

bool shown_is_quick(const struct session_record *record)
{
	for (size_t i = 0; i < record->n_resources; i++) {
		const struct record_resource *resource = &record->resources[i];
		const struct strategy *strategy = strategy_of(resource);

		if (!strategy || !strategy->is_quick(resource))
			return false;
	}
	return true;
}

static int tell_held(void *ctx, const char *path, struct hb_error *err)
{
	struct shown *shown = ctx;

	return shown->held
		       ? shown->held(shown->held_ctx, shown->number, path, err)
		       : 0;
}

static int fill_call(struct shown *shown, const char *boot,
		     struct strategy_call *ret, struct hb_error *err)
{
	struct hb_session *s = shown->session;
	struct sys_attr store;
	int r;

	r = sys_attr_at(s->store->dir, "", &store);
	if (r < 0)
		return hb_fail(err, r, "cannot look at the store");
	r = session_open_layers(s, shown->number, err);
	if (r < 0)
		return r;
	assert(s->resources);
	*ret = (struct strategy_call){
		.resource = &s->resources[shown->number],
		.avoid_dev = store.dev,
		.avoid_ino = store.ino,
		.boot = boot,
		.has_lost = shown->has_lost,
		.held = tell_held,
		.ctx = shown,
		.listener = &shown->progress.listener,
	};
	return 0;
}

/*
 * Later than everything in the baseline: what the box changes then has another
 * ctime than that.
 */
static int pass_time(const struct resource *resource, struct hb_error *err)
{
	auto_fd int marker = sys_unnamed_file(resource->dir);
	struct timespec now;

	if (marker < 0)
		return hb_fail(err, marker, "cannot make a marker");
	return resource_clock(marker, &now, err);
}

/* One step of one resource: what its strategy has to do. */
static int take_step(struct shown *shown, const char *boot,
		     struct hb_error *err)
{
	const struct record_resource *resource =
		&shown->session->record.resources[shown->number];
	const struct strategy *strategy = NULL;
	struct strategy_call call;
	int r;

	r = shown_strategy(resource, &strategy, err);
	if (r < 0 || strategy->is_quick(resource))
		return r;
	r = fill_call(shown, boot, &call, err);
	if (r < 0)
		return r;
	if (shown->step == BEFORE_BOX)
		r = strategy->before_box(&call, err);
	else if (shown->step == BEGIN_BOX)
		r = strategy->begin_box(&call, err);
	else
		r = strategy->after_box(&call, err);
	if (r >= 0 && shown->step == BEFORE_BOX && strategy->show(resource))
		r = pass_time(call.resource, err);
	return r < 0 ? hb_fail(err, r, "'%s'", resource->source) : r;
}

static int take_steps(struct shown *shown, const char *title,
		      struct hb_error *err)
{
	struct hb_session *s = shown->session;
	char boot[RECORD_BOOT_SIZE];
	int r;

	if (shown_is_quick(&s->record))
		return 0;
	shown->progress = (struct progress)PROGRESS_NONE;
	if (title && shown_has_trees(&s->record))
		progress_begin(&shown->progress, s->store, title);
	r = session_open_resources(s, err);
	if (r >= 0)
		r = boot_id(boot, err);
	for (size_t i = 0; r >= 0 && i < s->record.n_resources; i++) {
		/* A copy of nothing is not shown. */
		if (s->resources[i].is_gone)
			continue;
		shown->number = i;
		r = take_step(shown, boot, err);
	}
	progress_end(&shown->progress);
	return r;
}

int shown_before_box(struct hb_session *s, shown_held_fn held, void *ctx,
		     struct hb_error *err)
{
	struct shown shown = {
		.session = s, .step = BEFORE_BOX, .held = held, .held_ctx = ctx
	};

	return take_steps(&shown, "copying", err);
}

int shown_begin_box(struct hb_session *s, struct hb_error *err)
{
	struct shown shown = { .session = s, .step = BEGIN_BOX };

	return take_steps(&shown, NULL, err);
}

int shown_after_box(struct hb_session *s, bool has_lost, struct hb_error *err)
{
	struct shown shown = { .session = s,
			       .step = AFTER_BOX,
			       .has_lost = has_lost };

	return take_steps(&shown, "looking for changes", err);
}
