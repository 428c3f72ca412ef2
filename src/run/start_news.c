/* SPDX-License-Identifier: Apache-2.0 */

#include "base/auto.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/report.h"
#include "box/box.h"
#include "box/stage.h"
#include "holdback/holdback.h"
#include "holdback/session.h"
#include "host/look.h"
#include "plan/view_place.h"
#include "run/ending.h"
#include "run/explain_run.h"
#include "run/kept.h"
#include "run/ladder.h"
#include "session/create.h"
#include "session/remove/cleanup.h"
#include "session/session.h"
#include "store/live.h"
#include "sys/file.h"
#include "sys/signal.h"
#include "view/direct/direct.h"
#include "view/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/*
 * `holdback run`: tells what is about to happen, carries the plan out, and puts
 * what went wrong into words that help.
 */

#define TOLD_SIZE (PATH_MAX + 256)

static void tell(const struct run *run, enum hb_report_kind kind,
		 const char *text)
{
	(void)report_send(
		run->listener,
		&(struct hb_report){ .kind = kind,
				     .is_quiet = run->settings.is_quiet,
				     .text = text });
}

/* Sockets of those who start containers for whoever asks. */
static bool is_as_good_as_root(const char *path)
{
	static const char *const names[] = { "docker.sock", "podman.sock",
					     "containerd.sock", "crio.sock",
					     "libvirt-sock" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (path_part_is(path_basename(path), names[i]))
			return true;
	return false;
}

static void tell_entries(const struct run *run)
{
	const char *home = run->host.home;
	char shown[QUOTE_SHOWN], text[TOLD_SIZE];

	for (size_t i = 0; i < run->n_entries; i++) {
		const struct view_entry *e = &run->entries[i];

		/* Those of --direct are part of what it says of itself. */
		if (e->class == VIEW_RW && !e->item)
			continue;
		/* A profile's are said by the profile. */
		if (e->item && e->item->key == KEY_DATA &&
		    e->item->origin.source == SETTING_BUILT_IN)
			continue;
		(void)quote_shown(e->path, shown, sizeof(shown));
		if (e->class == VIEW_RW)
			(void)snprintf(text, sizeof(text),
				       "writes in '%s' are real", shown);
		else if (e->class == VIEW_SOCKET)
			(void)snprintf(text, sizeof(text),
				       "the command can talk to '%s'%s", shown,
				       is_as_good_as_root(e->path)
					       ? ", which is as good as root"
					       : "");
		else if (e->class == VIEW_RO && home &&
			 view_lies_in(home, e->path))
			(void)snprintf(text, sizeof(text),
				       "the home directory can be read");
		else
			continue;
		tell(run, HB_REPORT_WEAKENED, text);
	}
}

/* What is bound read-only can still be connected to. */
static bool has_sockets(const char *path)
{
	static const struct {
		const char *dir;
		bool below; /* directories in it are as much its kind */
	} places[] = { { "/run", true },
		       { "/var/run", true },
		       { "/tmp", false },
		       { "/var/tmp", false },
		       { "/dev/shm", false } };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (view_lies_in(places[i].dir, path) ||
		    (places[i].below && view_lies_in(path, places[i].dir)))
			return true;
	return false;
}

static void tell_sockets(const struct run *run)
{
	char shown[QUOTE_SHOWN], text[TOLD_SIZE];

	for (size_t i = 0; i < run->n_entries; i++) {
		const struct view_entry *e = &run->entries[i];

		if ((e->class != VIEW_RO && e->class != VIEW_RW) ||
		    e->found != VIEW_DIR || !has_sockets(e->path))
			continue;
		(void)snprintf(text, sizeof(text),
			       "the command can talk to the services in '%s'",
			       quote_shown(e->path, shown, sizeof(shown)));
		tell(run, HB_REPORT_WEAKENED, text);
	}
}

static bool has_net(const struct run *run)
{
	return settings_share_net(&run->settings);
}

/*
 * A profile's network is said at the start, with all else that it does; one
 * that the user asked for is a weakening.
 */
static void tell_weakenings(const struct run *run)
{
	const struct settings *s = &run->settings;
	bool is_usual = s->origins[KEY_NET].source == SETTING_BUILT_IN;

	if (s->is_direct)
		tell(run, HB_REPORT_WEAKENED,
		     "nothing is held back: writes in the workspace are real");
	if (settings_shows_host(s))
		tell(run, HB_REPORT_WEAKENED,
		     "the whole host can be read, but for the home directory");
	if (has_net(run) && !is_usual)
		tell(run, HB_REPORT_WEAKENED, "the network is the host's");
	tell_entries(run);
	tell_sockets(run);
	if (s->allow_nested)
		tell(run, HB_REPORT_WEAKENED,
		     "the command may make namespaces; landlock has no rules for files");
	ladder_report(run);
}

/* What git inside does not know of its configuration. */
static void tell_git(const struct run *run)
{
	char text[128];

	if (run->n_git_keys > 0) {
		(void)snprintf(
			text, sizeof(text),
			"git: %zu key%s of your configuration %s a login, and %s left out",
			run->n_git_keys, run->n_git_keys == 1 ? "" : "s",
			run->n_git_keys == 1 ? "has" : "have",
			run->n_git_keys == 1 ? "is" : "are");
		tell(run, HB_REPORT_NOTED, text);
	}
	if (run->n_git_files > 0) {
		(void)snprintf(
			text, sizeof(text),
			"git: %zu file%s of your configuration cannot be read, and %s not shown",
			run->n_git_files, run->n_git_files == 1 ? "" : "s",
			run->n_git_files == 1 ? "is" : "are");
		tell(run, HB_REPORT_NOTED, text);
	}
}

static void tell_closed(const struct run *run)
{
	char text[128];

	if (run->n_closed_whole == 0)
		return;
	(void)snprintf(
		text, sizeof(text),
		"/etc: %zu director%s too much in %s to look at, and %s hidden",
		run->n_closed_whole,
		run->n_closed_whole == 1 ? "y has" : "ies have",
		run->n_closed_whole == 1 ? "it" : "them",
		run->n_closed_whole == 1 ? "is" : "are");
	tell(run, HB_REPORT_NOTED, text);
}

/* What of the home directory a profile shows. */
static size_t count_tools(const struct run *run)
{
	size_t n = 0;

	for (size_t i = 0; i < run->n_entries; i++)
		if (run->entries[i].class == VIEW_SHOW && run->host.home &&
		    view_lies_in(run->entries[i].path, run->host.home))
			n++;
	return n;
}

/* A path as its owner thinks of it. */
static const char *shown_at_home(const struct run *run, const char *path,
				 char *out, size_t size)
{
	const char *home = run->host.home;

	if (home && view_lies_in(path, home) && strcmp(path, home) != 0)
		(void)snprintf(out, size, "~%s", quoted(path + strlen(home)));
	else
		(void)snprintf(out, size, "%s", quoted(path));
	return out;
}

/* What is in force; nothing if that is nothing. */
static void add_limits(const struct settings *s, char *text, size_t size)
{
	const struct {
		enum setting_key key;
		uint64_t value;
		const char *words;
	} rows[] = {
		{ KEY_MEMORY, s->memory, "bytes of memory" },
		{ KEY_CPUS, s->cpus, "processors" },
		{ KEY_PIDS, s->pids, "processes" },
		{ KEY_TIMEOUT, s->timeout, "seconds" },
		{ KEY_INODES, s->inodes, "files in memory" },
		{ KEY_INOTIFY, s->inotify, "inotify instances" },
	};
	const char *between = " · at most ";

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t n = strlen(text);
		char value[32];

		if (rows[i].value == 0 ||
		    s->origins[rows[i].key].source == SETTING_DEFAULT)
			continue;
		(void)snprintf(
			text + n, size - n, "%s%s %s", between,
			settings_text(s, rows[i].key, value, sizeof(value)),
			rows[i].words);
		between = ", ";
	}
}

static void tell_start(const struct run *run, const char *session)
{
	char shown[QUOTE_SHOWN + 1], text[2 * TOLD_SIZE], what[TOLD_SIZE];
	size_t n_tools = count_tools(run);

	(void)shown_at_home(run, run->workspace, shown, sizeof(shown));
	if (run->settings.is_ephemeral)
		(void)snprintf(
			what, sizeof(what),
			"ephemeral: changes in '%s' are kept in memory (at most %llu MiB) and gone at the end",
			shown, (unsigned long long)(run->settings.size >> 20));
	else if (run->settings.is_direct)
		(void)snprintf(what, sizeof(what), "direct");
	else
		(void)snprintf(what, sizeof(what),
			       "session %s · %s is copy-on-write", session,
			       shown);
	(void)snprintf(text, sizeof(text),
		       "%s · network: %s · home hidden but for %zu tool%s",
		       what, has_net(run) ? "host" : "none", n_tools,
		       n_tools == 1 ? "" : "s");
	if (settings_shows_host(&run->settings))
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text),
			       " · view: the whole host, read-only");
	add_limits(&run->settings, text, sizeof(text));
	if (strcmp(settings_tty(&run->settings), "real") == 0)
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text),
			       " · terminal: your own");
	tell(run, HB_REPORT_NOTED, text);
	tell_git(run);
	tell_closed(run);
	if (!run->worktree_why)
		return;
	(void)snprintf(
		text, sizeof(text),
		"the repository of this worktree is not shown: '.git': %s",
		run->worktree_why);
	tell(run, HB_REPORT_NOTED, text);
}

/* Nothing is kept. */
static int run_box(struct run *run, struct box_result *ret_result,
		   struct hb_error *err)
{
	auto_free char **envp = NULL;
	int r;

	r = run_plan(run, &envp, err);
	if (r < 0)
		return r;
	tell_weakenings(run);
	tell_start(run, "");
	run->ladder->listener = run->listener;
	r = ladder_run(run->ladder, &run->plan, envp, NULL, NULL, ret_result,
		       err);
	return r < 0 ? run_explain(run, r, err) : 0;
}

static void start(struct kept_box *box)
{
	tell_weakenings(box->run);
	tell_start(box->run, box->session->record.name);
	/* A new one has said so. */
	if (!box->session->is_fresh && !box->run->settings.is_quiet)
		session_say_inside(box->session->store, &box->session->record);
}

/* What a run needs that keeps its changes. */
struct kept {
	struct hb_store *store;
	struct hb_session *session;
	bool is_new; /* made by this run: nothing is left of it if that fails */
};

static int open_store(struct kept *kept, const struct hb_run_options *options,
		      struct hb_error *err)
{
	const struct hb_store_options plain = { .envp = options->envp };

	return hb_store_open(options->store ? options->store : &plain, true,
			     &kept->store, err);
}

static int open_session(struct kept *kept, const char *name,
			const struct hb_run_options *options,
			struct hb_run_result *ret, struct hb_error *err)
{
	char ref[sizeof(ret->session) + 1];

	(void)snprintf(ret->session, sizeof(ret->session), "%s", name);
	(void)snprintf(ref, sizeof(ref), "@%s", name);
	return hb_session_open(kept->store, ref,
			       options->is_quick ? HB_OPEN_QUICK
						 : HB_OPEN_CHANGE,
			       &kept->session, err);
}

/* The session that was asked for, if it is there. */
static int open_asked(struct kept *kept, const struct hb_run_options *options,
		      struct hb_run_result *ret, struct hb_error *err)
{
	const char *name = look_env(options->envp, "HOLDBACK_SESSION");
	int r;

	for (size_t i = 0; i < options->n_settings; i++)
		if (strcmp(options->settings[i].key, "session") == 0)
			name = options->settings[i].value;
	if (!name)
		return 0;
	r = record_check_name("session", name, err);
	if (r >= 0)
		r = open_store(kept, options, err);
	if (r < 0 || session_check_new(kept->store, name, NULL) >= 0)
		return r;
	return open_session(kept, name, options, ret, err);
}

static int make_session(struct run *run, struct kept *kept, bool trusts,
			struct hb_run_result *ret, struct hb_error *err)
{
	int r = 0;

	if (!kept->store)
		r = open_store(kept, run->options, err);
	if (r >= 0)
		r = kept_make(run, kept->store, trusts, &kept->session, err);
	if (r < 0)
		return r;
	kept->is_new = true;
	(void)snprintf(ret->session, sizeof(ret->session), "%s",
		       kept->session->record.name);
	if (!run->options->is_quick ||
	    kept->session->record.state == SESSION_ACTIVE ||
	    !session_needs_more(kept->session))
		return 0;
	/* It stays, and who comes behind opens it. */
	hb_session_free(kept->session);
	kept->session = NULL;
	return -EAGAIN;
}

/* Of a session that this run has made nothing is left if it fails. */
static void drop_new(struct kept *kept, bool is_dropped)
{
	if (!kept->is_new)
		return;
	if (!is_dropped) {
		live_remove(kept->session->dir);
		(void)session_drop(kept->session, NULL);
	}
	hb_session_free(kept->session);
	kept->session = NULL;
}

static int run_kept(struct run *run, struct kept *kept, bool trusts,
		    struct box_result *ret_result, struct hb_run_result *ret,
		    struct hb_error *err)
{
	struct kept_box box = { .run = run,
				.start = start,
				.explain = run_explain };
	int r = 0;

	if (!kept->session)
		r = make_session(run, kept, trusts, ret, err);
	if (r < 0)
		return r;
	box.session = kept->session;
	box.may_drop = kept->session->record.is_passing;
	r = kept_run(&box, ret_result, err);
	/* What could not be written down is for the next command. */
	if (box.is_dropped || kept->session->record.state != SESSION_IDLE)
		ret->session[0] = '\0';
	if (r < 0)
		drop_new(kept, box.is_dropped);
	return r;
}

static int check_modes(const struct run *run, struct hb_error *err)
{
	const struct settings *s = &run->settings;

	if (s->is_ephemeral && s->is_direct)
		return hb_fail(err, -HB_E_USAGE,
			       "--ephemeral and --direct exclude each other");
	if (s->is_ephemeral && s->session)
		return hb_fail(err, -HB_E_USAGE,
			       "--ephemeral and --session exclude each other");
	return 0;
}

/* Whether there is to be a session. */
static bool keeps(const struct run *run)
{
	return !run->settings.is_ephemeral && run->n_kept > 0;
}

/* Whether the whole host shows where sessions live: only what is there can be
 * covered. */
static bool shows_store(const struct run *run)
{
	return run->request.host && run->store[0] &&
	       !(run->host.home && view_lies_in(run->store, run->host.home));
}

/* What others put there later is covered as well. */
static void make_runtime(const struct hb_store *store)
{
	char path[PATH_MAX];
	int fd = live_runtime(store, path);

	if (fd >= 0)
		sys_close(fd);
}

/* The command has ended, and its status is the caller's. */
static void end(struct run *run, const struct box_result *result,
		struct hb_run_result *ret)
{
	direct_tell_new(run);
	ret->status = ending_status(result);
	ret->is_quiet = run->settings.is_quiet;
	ending_report(run->listener, result, ret->is_quiet);
}

static int run_once(const struct hb_run_options *options, struct kept *kept,
		    bool trusts, struct hb_run_result *ret_result,
		    struct hb_error *err)
{
	int64_t begin = sys_now_ms();
	struct box_result result = { 0 };
	struct ladder ladder = { 0 };
	struct run_session of;
	struct run run;
	int r;

	r = kept->session ? kept_describe(kept->session, &of, err) : 0;
	if (r < 0)
		return r;
	r = run_prepare(&run, options, kept->session ? &of : NULL,
			options->store ? options->store->listener : NULL, err);
	run.ladder = &ladder;
	if (r >= 0)
		r = check_modes(&run, err);
	/* Only what is there is covered. */
	if (r >= 0 && run.covered && !kept->store &&
	    (keeps(&run) || shows_store(&run)))
		r = open_store(kept, options, err);
	if (r >= 0 && run.request.host && kept->store)
		make_runtime(kept->store);
	if (r >= 0)
		r = ladder_begin(&run, err);
	if (r >= 0)
		r = run_hold_berths(&run, err);
	if (r >= 0)
		r = keeps(&run) ? run_kept(&run, kept, trusts, &result,
					   ret_result, err)
				: run_box(&run, &result, err);
	if (r >= 0)
		end(&run, &result, ret_result);
	run_done(&run);
	ret_result->ms = sys_now_ms() - begin;
	return r;
}

/* An overlay that worked before may not any more: then it is tried. */
static int run_any(const struct hb_run_options *options, struct kept *kept,
		   struct hb_run_result *ret_result, struct hb_error *err)
{
	bool has_session = kept->session;
	int r;

	r = run_once(options, kept, true, ret_result, err);
	if (r >= 0 || has_session || !kept->is_new ||
	    err->stage != STAGE_MOUNTS)
		return r;
	*err = (struct hb_error){ 0 };
	return run_once(options, kept, false, ret_result, err);
}

int hb_run(const struct hb_run_options *options,
	   struct hb_run_result *ret_result, struct hb_error *err)
{
	struct hb_error local = { 0 };
	struct kept kept = { 0 };
	int r;

	if (!err)
		err = &local;
	r = open_asked(&kept, options, ret_result, err);
	if (r >= 0)
		r = run_any(options, &kept, ret_result, err);
	hb_session_free(kept.session);
	hb_store_free(kept.store);
	return r;
}
