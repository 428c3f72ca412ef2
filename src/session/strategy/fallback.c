/* SPDX-License-Identifier: Apache-2.0 */
#include "session/strategy/fallback.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/quote.h"
#include "box/probe.h"
#include "host/look.h"
#include "store/record.h"
#include "store/store.h"
#include "strategy/strategy.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "sys/place.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TRIAL	   "trial"
#define TRIED	   "tried"
#define TRIED_SIZE 4096

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

/* What a trial depends on, in one line. */
static int trial_line(const struct fallback_place *place, char *ret,
		      size_t size)
{
	struct sys_attr below, above;
	int r;

	r = sys_attr_at(place->base, "", &below);
	if (r >= 0)
		r = sys_attr_at(place->dir, "", &above);
	if (r < 0)
		return r;
	(void)snprintf(ret, size, "%s %llx %llx\n", place->boot,
		       (unsigned long long)below.dev,
		       (unsigned long long)above.dev);
	return 0;
}

static bool has_worked(const struct hb_store *store, const char *line)
{
	char text[TRIED_SIZE];

	return sys_read_file_at(store->dir, TRIED, text, sizeof(text)) >= 0 &&
	       strstr(text, line);
}

/* What does not fit begins anew: it is only there to save time. */
static void remember(const struct hb_store *store, const char *line)
{
	char text[TRIED_SIZE];
	ssize_t n = sys_read_file_at(store->dir, TRIED, text, sizeof(text));
	bool fits = n >= 0 && (size_t)n + strlen(line) < sizeof(text);
	auto_fd int fd = sys_openat(store->dir, TRIED,
				    O_WRONLY | O_CREAT | O_NOFOLLOW |
					    (fits ? O_APPEND : O_TRUNC),
				    0600);

	if (fd >= 0)
		(void)sys_write_all(fd, line, strlen(line));
}

/*
 * What is mounted below is not looked for where a trial is trusted: the box
 * cannot be made then, and is tried once more without trust.
 */
static int try_or_trust(const struct hb_store *store,
			const struct fallback_place *place, bool trusts,
			const struct record_resource *resource,
			struct hb_error *err)
{
	char line[128];
	int r;

	if (trial_line(place, line, sizeof(line)) < 0)
		return try_overlay(place->dir, resource, err);
	if (trusts && has_worked(store, line))
		return 0;
	r = try_overlay(place->dir, resource, err);
	if (r == 0 && !has_worked(store, line))
		remember(store, line);
	return r;
}

int fallback_choose(const struct hb_store *store,
		    const struct fallback_place *place,
		    const struct hb_create_options *asked,
		    struct record_resource *resource, struct hb_error *err)
{
	struct hb_error why = { 0 };
	int r, removed;

	if (strcmp(resource->effective, STRATEGY_OVERLAY) != 0)
		return 0;
	r = try_or_trust(store, place, asked->trusts_trials, resource, &why);
	removed = sys_faccessat(place->dir, TRIAL, F_OK) == -ENOENT
			  ? 0
			  : tree_remove(place->dir, TRIAL, err);
	if (removed < 0)
		return removed;
	if (r >= 0)
		return 0;
	if (asked->without_fallback) {
		hb_fix(err, "%s",
		       why.fix[0] ? why.fix : "create without --no-fallback");
		return hb_fail(
			err, -HB_E_UNSUPPORTED, "no overlay for '%s': %s%s%s",
			quoted(resource->source), why.text,
			why.code < HB_E_UNSUPPORTED ? ": " : "",
			why.code < HB_E_UNSUPPORTED ? hb_strerror(why.code)
						    : "");
	}
	(void)snprintf(resource->effective, sizeof(resource->effective), "%s",
		       STRATEGY_COPY);
	store_say(store, "no overlay for '%s', a copy instead: %s%s%s",
		  quoted(resource->source), why.text,
		  why.code < HB_E_UNSUPPORTED ? ": " : "",
		  why.code < HB_E_UNSUPPORTED ? hb_strerror(why.code) : "");
	return 0;
}
