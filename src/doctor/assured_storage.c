/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/assured_storage.h"

#include "base/auto.h"
#include "base/error.h"
#include "box/limits.h"
#include "holdback/session.h"
#include "plan/plan.h"
#include "plan/settings.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "sys/proc.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Less than this is soon full. */
#define LITTLE ((uint64_t)1 << 30)

/* What layers lie on, each tried with files of ours in `dir`. */

static void look_reflink(int dir, struct hb_check *check)
{
	auto_fd int from = sys_openat(dir, "from", O_RDWR | O_CREAT, 0600);
	auto_fd int to = sys_openat(dir, "to", O_RDWR | O_CREAT, 0600);
	int r = from < 0 ? from : sys_write_all(from, "x", 1);

	if (r >= 0)
		r = to < 0 ? to : sys_clone_file(to, from);
	if (r < 0)
		(void)snprintf(check->found, sizeof(check->found),
			       "not on this file system: copies are whole");
	(void)sys_unlinkat(dir, "from", 0);
	(void)sys_unlinkat(dir, "to", 0);
}

static void look_xattrs(int dir, struct hb_check *check)
{
	int r = sys_set_xattr(dir, "user.holdback.doctor", "x", 1);

	if (r >= 0) {
		(void)sys_remove_xattr(dir, "user.holdback.doctor");
		return;
	}
	check->verdict = HB_VERDICT_WARN;
	(void)snprintf(check->found, sizeof(check->found), "%s",
		       hb_strerror(-r));
	(void)snprintf(
		check->fix, sizeof(check->fix),
		"set XDG_STATE_HOME to a directory on ext4, xfs or btrfs");
}

static void look_space(int dir, struct hb_check *check)
{
	struct sys_space space = { 0 };
	int r = sys_space(dir, &space);

	(void)snprintf(check->found, sizeof(check->found), "%llu MiB are free",
		       (unsigned long long)(space.free_bytes >> 20));
	if (r >= 0 && space.free_bytes >= LITTLE)
		return;
	check->verdict = HB_VERDICT_WARN;
	(void)snprintf(check->fix, sizeof(check->fix),
		       "make room there: holdback gc, or other files");
}

static const struct {
	struct hb_check check;
	void (*look)(int dir, struct hb_check *check);
} rows[] = {
	{ { .name = "reflink",
	    .was_tried = true,
	    .used_for = "copies of files that take no room",
	    .lost = "copies are whole" },
	  look_reflink },
	{ { .name = "attributes",
	    .was_tried = true,
	    .used_for = "marks of an overlay on its layers",
	    .lost = "sessions on this file system need a copy of the tree" },
	  look_xattrs },
	{ { .name = "space",
	    .was_tried = true,
	    .used_for = "room for the changes of commands",
	    .lost = "commands find the disk full" },
	  look_space },
};

struct count {
	size_t n;
	char first[HB_SESSION_NAME_SIZE];
};

static int count_stale(void *ctx, const struct hb_session_info *info,
		       struct hb_error *err)
{
	struct count *count = ctx;

	(void)err;
	if (count->n++ == 0)
		(void)snprintf(count->first, sizeof(count->first), "%s",
			       info->name);
	return 0;
}

static int count_broken(void *ctx, const struct hb_session_info *info,
			struct hb_error *err)
{
	if (info->state != HB_STATE_BROKEN &&
	    info->state != HB_STATE_UNREADABLE)
		return 0;
	return count_stale(ctx, info, err);
}

static void tell_sessions(char *const *envp, assured_fn tell, void *context)
{
	const struct hb_store_options options = { .envp = envp };
	struct hb_check check = {
		.name = "sessions",
		.was_tried = true,
		.used_for = "changes of commands that are not committed",
		.lost = "they take room, or wait for an answer",
	};
	struct count broken = { 0 }, stale = { 0 };
	struct hb_store *store = NULL;
	uint64_t n = 0;

	/* None has been made yet: there is nothing to look at. */
	if (hb_store_open(&options, false, &store, NULL) >= 0) {
		(void)hb_store_list(store, count_broken, &broken, NULL);
		(void)hb_store_clean_stale(store, true, count_stale, &stale, &n,
					   NULL);
	}
	hb_store_free(store);
	if (broken.n > 0) {
		check.verdict = HB_VERDICT_WARN;
		(void)snprintf(check.found, sizeof(check.found),
			       "%zu broken, such as '%s'", broken.n,
			       broken.first);
		(void)snprintf(check.fix, sizeof(check.fix),
			       "holdback recover @%s", broken.first);
	} else if (stale.n > 0) {
		check.verdict = HB_VERDICT_WARN;
		(void)snprintf(check.found, sizeof(check.found),
			       "%zu left by interrupted commands, such as '%s'",
			       stale.n, stale.first);
		(void)snprintf(check.fix, sizeof(check.fix),
			       "holdback cleanup --stale");
	}
	tell(context, &check);
}

/* Without a word of the user's; holdback-run(1) has the words for each. */
static void tell_limits(assured_fn tell, void *context)
{
	const struct plan_limits usual = { .pids = PLAN_PIDS_USUAL,
					   .is_pids_usual = true };
	struct hb_check check = {
		.name = "limits",
		.was_tried = true,
		.used_for = "bounds of a run without options",
	};
	char all[32] = "";

	(void)sys_read_file_at(AT_FDCWD,
			       "/proc/sys/fs/inotify/max_user_instances", all,
			       sizeof(all));
	(void)snprintf(
		check.found, sizeof(check.found),
		"%llu processes%s, %llu MiB and %llu files in each place in memory, %lu inotify instances, stopped below 1 GiB or 5 %% of free disk",
		(unsigned long long)limits_pids(&usual),
		sys_geteuid() == 0 ? " (but not of root)" : "",
		SETTING_SIZE >> 20,
		(unsigned long long)plan_inodes(PLAN_USUAL, SETTING_SIZE),
		strtoul(all, NULL, 10) / 2);
	tell(context, &check);
}

void assured_storage(const char *dir, char *const *envp, assured_fn tell,
		     void *context)
{
	auto_fd int at = sys_openat(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY, 0);

	for (size_t i = 0; at >= 0 && i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct hb_check check = rows[i].check;

		rows[i].look(at, &check);
		tell(context, &check);
	}
	tell_limits(tell, context);
	tell_sessions(envp, tell, context);
}
