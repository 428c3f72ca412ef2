/* SPDX-License-Identifier: Apache-2.0 */
#include "session/fallback.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/quote.h"
#include "box/probe.h"
#include "session/look.h"
#include "session/record.h"
#include "session/store.h"
#include "strategy/strategy.h"
#include "sys/file.h"
#include "sys/place.h"
#include "txn/tree.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define TRIAL "trial"

/* Mounts one over the real directory, where the session's would be. */
static int try_overlay(int dir, const struct record_resource *resource,
		       struct hb_error *err)
{
	char path[PATH_MAX], mount[PATH_MAX], shown[QUOTE_SHOWN];
	auto_fd int trial = -1;
	int r;

	/* The kernel would only say that an argument is invalid. */
	if (look_mount_below(resource->source, mount, sizeof(mount))) {
		hb_fix(err, "unmount it, or name a directory beside it");
		return hb_fail(err, -HB_E_UNSUPPORTED,
			       "something is mounted at '%s'",
			       quote_shown(mount, shown, sizeof(shown)));
	}
	r = sys_mkdirat(dir, TRIAL, 0700);
	if (r < 0)
		return hb_fail(err, r, "cannot make '" TRIAL "'");
	trial = store_open_own(dir, TRIAL, err);
	if (trial < 0)
		return trial;
	r = (int)sys_fd_path(trial, path, sizeof(path));
	if (r < 0)
		return hb_fail(err, r, "cannot tell where the store lies");
	return probe_overlay(resource->source, path, err);
}

int fallback_choose(const struct hb_store *store, int dir, bool is_strict,
		    struct record_resource *resource, struct hb_error *err)
{
	char shown[QUOTE_SHOWN];
	struct hb_error why = { 0 };
	int r, removed;

	if (strcmp(resource->effective, STRATEGY_OVERLAY) != 0)
		return 0;
	r = try_overlay(dir, resource, &why);
	removed = tree_remove(dir, TRIAL, err);
	if (removed < 0)
		return removed;
	if (r >= 0)
		return 0;
	(void)quote_shown(resource->source, shown, sizeof(shown));
	if (is_strict) {
		hb_fix(err, "%s",
		       why.fix[0] ? why.fix : "create without --no-fallback");
		return hb_fail(err, -HB_E_UNSUPPORTED,
			       "no overlay for '%s': %s%s%s", shown, why.text,
			       why.code < HB_E_UNSUPPORTED ? ": " : "",
			       why.code < HB_E_UNSUPPORTED
				       ? hb_strerror(why.code)
				       : "");
	}
	(void)snprintf(resource->effective, sizeof(resource->effective), "%s",
		       STRATEGY_COPY);
	store_say(store, "no overlay for '%s', a copy instead: %s%s%s", shown,
		  why.text, why.code < HB_E_UNSUPPORTED ? ": " : "",
		  why.code < HB_E_UNSUPPORTED ? hb_strerror(why.code) : "");
	return 0;
}
