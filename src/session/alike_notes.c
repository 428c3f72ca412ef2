/* SPDX-License-Identifier: Apache-2.0 */
#include "session/alike_notes.h"

#include "base/time.h"
#include "changes/alike/alike.h"
#include "session/open.h"

#include "base/auto.h"
#include "base/error.h"
#include "session/layers.h"
#include "session/live/unmark.h"
#include "session/session.h"
#include "store/berth.h"
#include "store/resource.h"
#include "sys/attr.h"
#include "sys/place.h"

/*
 * Before a box: writes in it have to be later than the notes, by the clock of
 * the file system.  Its ticks are shorter than this on every kernel.
 */
#define TICK_NS 20000000L

typedef int (*alike_fn)(const struct resource *resource, void *ctx,
			struct hb_error *err);

static int for_each(struct hb_session *s, alike_fn fn, void *ctx,
		    struct hb_error *err)
{
	int r;

	/* Notes are about an upper that nothing writes to. */
	if (s->box || unmark_was_begun(s))
		return 0;
	r = session_open_resources(s, err);
	for (size_t i = 0; r >= 0 && i < s->record.n_resources; i++) {
		const struct resource *resource = &s->resources[i];

		if (resource->is_gone)
			continue;
		r = session_open_layers(s, i, err);
		if (r >= 0)
			r = fn(resource, ctx, err);
		if (r < 0)
			return hb_fail(err, r, "'%s'",
				       s->record.resources[i].source);
	}
	return r;
}

static int note_one(const struct resource *resource, void *ctx,
		    struct hb_error *err)
{
	const bool *is_committed = ctx;

	(void)err;
	/* What is not noted is a conflict later on, and says so then. */
	(void)alike_note(resource, *is_committed, NULL);
	return 0;
}

void session_note_alike(struct hb_session *s, bool is_committed)
{
	(void)for_each(s, note_one, &is_committed, NULL);
}

static int drop_one(const struct resource *resource, void *ctx,
		    struct hb_error *err)
{
	struct timespec *newest = ctx, found;
	int r = alike_drop(resource, &found, err);

	if (r >= 0 && time_is_before(*newest, found))
		*newest = found;
	return r;
}

int session_drop_alike(struct hb_session *s, struct hb_error *err)
{
	struct timespec newest = { 0 };

	return for_each(s, drop_one, &newest, err);
}

static int pass_time(const struct resource *resource, void *ctx,
		     struct hb_error *err)
{
	auto_fd int marker = sys_unnamed_file(resource->dir);
	struct timespec now;

	(void)ctx;
	if (marker < 0)
		return hb_fail(err, marker, "cannot make a marker");
	return resource_clock(marker, &now, err);
}

int session_drop_alike_before_box(struct hb_session *s, struct hb_error *err)
{
	struct timespec newest = { 0 }, now;
	int64_t passed;
	int r;

	/* Nothing was in it yet. */
	if (s->is_fresh)
		return 0;
	r = for_each(s, drop_one, &newest, err);
	if (r < 0 || newest.tv_sec == 0)
		return r;
	now = sys_now();
	passed = (int64_t)(now.tv_sec - newest.tv_sec) * 1000000000 +
		 (now.tv_nsec - newest.tv_nsec);
	return passed > TICK_NS ? 0 : for_each(s, pass_time, NULL, err);
}

static int forget_one(const struct resource *resource, void *ctx,
		      struct hb_error *err)
{
	(void)ctx;
	return alike_forget(resource, err);
}

int session_forget_alike(struct hb_session *s, struct hb_error *err)
{
	return for_each(s, forget_one, NULL, err);
}
