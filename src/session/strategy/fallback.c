/* SPDX-License-Identifier: Apache-2.0 */
#include "session/strategy/fallback.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/quote.h"
#include "box/probe.h"
#include "changes/resource.h"
#include "host/look.h"
#include "session/git/own_branch.h"
#include "session/git/own_record.h"
#include "session/strategy/shown.h"
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
static int mount_overlay(const struct resource *resource, struct hb_error *err)
{
	char path[PATH_MAX], mount[PATH_MAX], shown[QUOTE_SHOWN];
	auto_fd int trial = -1;
	int r;

	/* The kernel would only say that an argument is invalid. */
	if (look_mount_below(resource->record->source, mount, sizeof(mount))) {
		hb_fix(err, "unmount it, or name a directory beside it");
		return hb_fail(err, -HB_E_UNSUPPORTED,
			       "something is mounted at '%s'",
			       quote_shown(mount, shown, sizeof(shown)));
	}
	r = sys_mkdirat(resource->dir, TRIAL, 0700);
	if (r < 0)
		return hb_fail(err, r, "cannot make '" TRIAL "'");
	trial = store_open_own(resource->dir, TRIAL, err);
	if (trial < 0)
		return trial;
	r = (int)sys_fd_path(trial, path, sizeof(path));
	if (r < 0)
		return hb_fail(err, r, "cannot tell where the store lies");
	return probe_overlay(resource->record->source, path, err);
}

struct trial {
	const struct hb_store *store;
	const char *boot;
	bool trusts;	       /* what worked before is not tried again */
	int removed;	       /* below 0: the trial has left something */
	struct hb_error *left; /* and why */
};

/* What a trial depends on, in one line. */
static int trial_line(const struct trial *trial,
		      const struct resource *resource, char *ret, size_t size)
{
	struct sys_attr below, above;
	int r;

	r = sys_attr_at(resource->base, "", &below);
	if (r >= 0)
		r = sys_attr_at(resource->dir, "", &above);
	if (r < 0)
		return r;
	(void)snprintf(ret, size, "%s %llx %llx\n", trial->boot,
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
 * Mounts below are not looked for where a trial is trusted.  With such a mount
 * the box cannot be made, and is tried once more without trust.
 */
static int try_or_trust(const struct trial *trial,
			const struct resource *resource, struct hb_error *err)
{
	char line[128];
	int r;

	if (trial_line(trial, resource, line, sizeof(line)) < 0)
		return mount_overlay(resource, err);
	if (trial->trusts && has_worked(trial->store, line))
		return 0;
	r = mount_overlay(resource, err);
	if (r == 0 && !has_worked(trial->store, line))
		remember(trial->store, line);
	return r;
}

/* strategy_call.try_overlay */
static int try_overlay(void *ctx, const struct resource *resource,
		       struct hb_error *err)
{
	struct trial *trial = ctx;
	int r = try_or_trust(trial, resource, err);

	if (sys_faccessat(resource->dir, TRIAL, F_OK) != -ENOENT)
		trial->removed = tree_remove(resource->dir, TRIAL, trial->left);
	return r;
}

static const char *code_text(const struct hb_error *why)
{
	return why->code < HB_E_UNSUPPORTED ? hb_strerror(why->code) : "";
}

static int refuse(const struct strategy *strategy, const char *source,
		  const struct hb_error *why, struct hb_error *err)
{
	hb_fix(err, "%s",
	       why->fix[0] ? why->fix : "create without --no-fallback");
	return hb_fail(err, -HB_E_UNSUPPORTED, "no %s for '%s': %s%s%s",
		       strategy->named->noun, quoted(source), why->text,
		       why->code < HB_E_UNSUPPORTED ? ": " : "",
		       code_text(why));
}

static void say_instead(const struct hb_store *store,
			const struct strategy *strategy,
			const struct strategy *next, const char *source,
			const struct hb_error *why)
{
	store_say(store, "no %s for '%s', %s %s instead: %s%s%s",
		  strategy->named->noun, quoted(source), next->named->article,
		  next->named->noun, why->text,
		  why->code < HB_E_UNSUPPORTED ? ": " : "", code_text(why));
}

int fallback_choose(const struct hb_store *store, const char *boot,
		    const struct hb_create_options *asked,
		    const struct resource *resource,
		    struct record_resource *record, struct hb_error *err)
{
	struct trial trial = { .store = store,
			       .boot = boot,
			       .trusts = asked->trusts_trials,
			       .left = err };
	const struct strategy_call call = {
		.resource = resource,
		.boot = boot,
		.scans_groups = asked->scan_groups,
		.is_quiet = asked->is_quiet,
		.try_overlay = try_overlay,
		.listener = store->listener,
		.ctx = &trial,
	};
	const struct strategy *strategy = NULL, *next;
	int r;

	r = shown_strategy(record, &strategy, err);
	if (r >= 0 && own_branch_is_asked(record))
		r = own_branch_check(resource->base, record->source, err);
	if (r < 0)
		return r;
	for (;;) {
		struct hb_error why = { 0 };

		r = strategy->possible(&call, &why);
		if (trial.removed < 0)
			return trial.removed;
		if (r >= 0)
			return strategy->adopt(&call, record, err);
		next = strategy_next(strategy, record->type, 0);
		if (asked->without_fallback || !next)
			return refuse(strategy, record->source, &why, err);
		say_instead(store, strategy, next, record->source, &why);
		strategy = next;
		(void)snprintf(record->effective, sizeof(record->effective),
			       "%s", strategy->named->name);
	}
}
