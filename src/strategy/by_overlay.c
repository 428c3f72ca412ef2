/* SPDX-License-Identifier: Apache-2.0 */
#include "base/report.h"
#include "strategy/groups.h"
#include "strategy/strategy.h"

#include <stdio.h>

/*
 * The kernel shows base and layers as one directory and writes the upper.  The
 * only work around a box is for the sake of groups: groups.h.
 */

int overlay_possible(const struct strategy_call *call, struct hb_error *err)
{
	return call->try_overlay(call->ctx, call->resource, err);
}

static void say_group(const struct strategy_call *call,
		      const struct groups_found *found, bool is_prepared)
{
	char name[64], text[160];

	groups_name(found->gid, name, sizeof(name));
	if (!found->is_member)
		(void)snprintf(text, sizeof(text),
			       "you are not in group %s: its files are "
			       "read-only inside",
			       name);
	else if (is_prepared)
		(void)snprintf(text, sizeof(text),
			       "group %s is unknown inside: its files are "
			       "copied before each command",
			       name);
	else
		(void)snprintf(text, sizeof(text),
			       "files of group %s are read-only inside; use "
			       "--scan-groups",
			       name);
	report_text(call->listener, HB_REPORT_SAID, "%s", text);
}

/* Which groups the box does not know, and what follows from it. */
int overlay_adopt(const struct strategy_call *call,
		  struct record_resource *record, struct hb_error *err)
{
	struct groups_found found;
	int base = call->resource->base;
	int r;

	r = groups_matter(base, call->scans_groups, err);
	if (r < 0)
		return r;
	record->has_groups = r > 0;
	if (call->is_quiet)
		return 0;
	r = groups_probe(base, &found, err);
	if (r > 0)
		say_group(call, &found, record->has_groups);
	return r < 0 ? r : 0;
}

const char *overlay_show(const struct record_resource *record)
{
	(void)record;
	return NULL;
}

bool overlay_is_quick(const struct record_resource *record)
{
	return !record->has_groups;
}

int overlay_before_box(const struct strategy_call *call, struct hb_error *err)
{
	(void)call;
	(void)err;
	return 0;
}

int overlay_begin_box(const struct strategy_call *call, struct hb_error *err)
{
	return call->resource->record->has_groups
		       ? groups_prepare(call->resource, err)
		       : 0;
}

int overlay_after_box(const struct strategy_call *call, struct hb_error *err)
{
	return call->resource->record->has_groups
		       ? groups_settle(call->resource, err)
		       : 0;
}

int overlay_cleanup(int dir, struct hb_error *err)
{
	(void)dir;
	(void)err;
	return 0;
}
