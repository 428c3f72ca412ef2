/* SPDX-License-Identifier: Apache-2.0 */
#include "run/told/start_news.h"

#include "base/env.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/report.h"
#include "host/git_lacks.h"
#include "plan/dropped.h"
#include "plan/inner.h"
#include "plan/view_env.h"
#include "plan/view_place.h"
#include "run/ladder.h"
#include "view/prepare.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/*
 * The words before the command: what is weaker than usual, and what the view
 * has.
 */

#define TOLD_SIZE     (PATH_MAX + 256)
#define DROPPED_NAMED 3

static void tell(const struct run *run, enum hb_report_kind kind,
		 const char *text)
{
	(void)report_send(
		run->listener,
		&(struct hb_report){ .kind = kind,
				     .is_quiet = run->settings.is_quiet,
				     .text = text });
}

/* Sockets of services that start containers for any caller. */
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

/* The socket of a database's server, by the name that it makes itself. */
static bool is_of_database(const char *path)
{
	static const char *const names[] = { ".s.PGSQL.", "mysqld.sock",
					     "mysql.sock", "mysqlx.sock" };
	const char *name = path_basename(path).s;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* What more than talk goes through a socket. */
static const char *meaning_of(const char *path)
{
	if (is_as_good_as_root(path))
		return ", which is as good as root";
	return is_of_database(path)
		       ? ": it can change the real database and, as its "
			 "superuser, run programs outside"
		       : "";
}

static void tell_entries(const struct run *run)
{
	const char *home = run->host.home;
	char shown[QUOTE_SHOWN], text[TOLD_SIZE];

	for (size_t i = 0; i < run->n_entries; i++) {
		const struct view_entry *e = &run->entries[i];

		/* Those of --direct and --mark-turns say it of themselves. */
		if ((e->class == VIEW_RW || e->class == VIEW_SOCKET) &&
		    !e->item)
			continue;
		/* A profile's are said by the profile. */
		if (e->item && (e->item->key == KEY_RUNS ||
				(e->item->key == KEY_DATA &&
				 e->item->origin.source == SETTING_BUILT_IN)))
			continue;
		(void)quote_shown(e->path, shown, sizeof(shown));
		if (e->class == VIEW_RW)
			(void)snprintf(text, sizeof(text),
				       "writes in '%s' are real", shown);
		else if (e->class == VIEW_SOCKET)
			(void)snprintf(text, sizeof(text),
				       "the command can talk to '%s'%s", shown,
				       meaning_of(e->path));
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
		    e->found != VIEW_DIR || !has_sockets(e->path) ||
		    view_lies_in(e->path, TURNS_DIR))
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

/* SCHEME://USER:PASSWORD@HOST, with or without the scheme. */
static bool has_password(const char *url)
{
	const char *scheme = strstr(url, "://");
	const char *from = scheme ? scheme + 3 : url;
	const char *end = from + strcspn(from, "/");
	const char *colon = memchr(from, ':', (size_t)(end - from));
	const char *at = memrchr(from, '@', (size_t)(end - from));

	return colon && at && colon < at;
}

static void tell_proxies(const struct run *run)
{
	char text[128];

	for (size_t i = 0; has_net(run) && view_env_proxies[i]; i++) {
		const char *url =
			env_get(run->options->envp, view_env_proxies[i]);

		if (!url || !has_password(url))
			continue;
		(void)snprintf(text, sizeof(text),
			       "the command can read the password in %s",
			       view_env_proxies[i]);
		tell(run, HB_REPORT_WEAKENED, text);
	}
}

static size_t count_items(const struct settings *s, enum setting_key key)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_items; i++)
		n += s->items[i].key == key;
	return n;
}

/* Rules that are there, and say nothing in the network that was asked for. */
static void tell_open_rules(const struct run *run)
{
	const struct settings *s = &run->settings;
	size_t n = count_items(s, KEY_DENY);
	char text[128];

	if (!has_net(run))
		return;
	(void)snprintf(text, sizeof(text),
		       "the network is the host's: %zu host%s of `deny` can be "
		       "reached",
		       n, n == 1 ? "" : "s");
	if (n > 0)
		tell(run, HB_REPORT_WEAKENED, text);
	if (count_items(s, KEY_PORT) + count_items(s, KEY_HOST_PORT) > 0)
		tell(run, HB_REPORT_SAID,
		     "the network is the host's: its ports are the command's, "
		     "and --port and --host-port change nothing");
}

/*
 * A profile's network is said at the start, with all else that it does; one
 * that the user asked for is a weakening.
 */
void news_weakenings(const struct run *run)
{
	const struct settings *s = &run->settings;
	bool is_usual = s->origins[KEY_NET].source == SETTING_BUILT_IN;

	if (s->is_direct)
		tell(run, HB_REPORT_WEAKENED, NEWS_DIRECT);
	if (settings_sync(s) > 0)
		report_text(
			run->listener, HB_REPORT_WEAKENED,
			"each %llu seconds the changes that the gate lets pass reach the real files, and no one is asked",
			(unsigned long long)settings_sync(s));
	if (settings_shows_host(s))
		tell(run, HB_REPORT_WEAKENED,
		     "the whole host can be read, but for the home directory");
	if (has_net(run) && !is_usual)
		tell(run, HB_REPORT_WEAKENED, "the network is the host's");
	tell_open_rules(run);
	tell_proxies(run);
	tell_entries(run);
	tell_sockets(run);
	if (!settings_keep_log(s))
		tell(run, HB_REPORT_WEAKENED, NEWS_NO_LOG);
	if (settings_record_calls(s) && run->is_bare)
		tell(run, HB_REPORT_WEAKENED, NEWS_NO_CALLS);
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
	if (run->signs)
		tell(run, HB_REPORT_NOTED,
		     "git: commits inside are not signed; to sign them: holdback commit --sign");
}

/* What the repository of the workspace is made of, and is not inside. */
static void tell_borrowed(const struct run *run)
{
	char text[128];

	if (run->n_borrowed > 0) {
		(void)snprintf(
			text, sizeof(text),
			"git: %zu director%s of objects that the repository borrows %s shown, read-only",
			run->n_borrowed, run->n_borrowed == 1 ? "y" : "ies",
			run->n_borrowed == 1 ? "is" : "are");
		tell(run, HB_REPORT_NOTED, text);
	}
	if (run->n_borrowed_lacks > 0) {
		(void)snprintf(
			text, sizeof(text),
			"git: %zu director%s of .git/objects/info/alternates %s not shown; --ro DIR shows it",
			run->n_borrowed_lacks,
			run->n_borrowed_lacks == 1 ? "y" : "ies",
			run->n_borrowed_lacks == 1 ? "is" : "are");
		tell(run, HB_REPORT_NOTED, text);
	}
}

/* What variables added to the rules; run/net_told.h says the rest. */
static void tell_names(const struct run *run)
{
	const struct network *n = &run->network;
	char text[TOLD_SIZE];

	if (!run->plan.net)
		return;
	for (size_t i = 0; i < n->n_said; i++) {
		(void)snprintf(text, sizeof(text), "net: %s", n->said[i]);
		tell(run, HB_REPORT_SAID, text);
	}
}

/* What git outside would fetch when it is asked for. */
static void tell_lacks(const struct run *run)
{
	char path[PATH_MAX];
	struct git_lacks lacks;
	int r = path_join(run->workspace, ".git", path, sizeof(path));

	if (settings_net(&run->settings) != NET_NONE || run->settings.is_quiet)
		return;
	for (size_t i = 0; i < run->n_resources; i++)
		if (run->resources[i].role == VIEW_GIT)
			r = path_join(run->resources[i].source, "", path,
				      sizeof(path));
	if (r < 0)
		return;
	git_lacks_find(path, &lacks);
	if (lacks.is_partial)
		tell(run, HB_REPORT_NOTED,
		     "git: this is a partial clone; objects that are not here cannot be fetched inside without --net host");
	if (lacks.has_lfs)
		tell(run, HB_REPORT_NOTED,
		     "git: large files of LFS that are not here cannot be fetched inside without --net host");
}

static void tell_inner(const struct run *run)
{
	char text[128];

	if (run->inner.marks_turns)
		tell(run, HB_REPORT_NOTED,
		     "each turn is marked: holdback rollback --to turn-N goes back to it");
	else if (run->settings.marks_turns)
		tell(run, HB_REPORT_SAID,
		     "at the end of a turn the command has to run: " TURNS_PROGRAM
		     " mark --turn");
	if (!run->inner.is_off)
		return;
	(void)snprintf(text, sizeof(text),
		       "%s's own sandbox is off: holdback is the sandbox",
		       run->program);
	tell(run, HB_REPORT_NOTED, text);
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

/* Directories of PATH that the command does not have, and how it gets them. */
static void tell_path(const struct run *run)
{
	char text[TOLD_SIZE], shown[QUOTE_SHOWN + 1];
	size_t n = run->n_path_lacks, used = 0;

	for (size_t i = 0; i < n && i < PATH_LACKS_NAMED; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%s%s", i == 0 ? "PATH: " : ", ",
					 shown_at_home(run, run->path_lacks[i],
						       shown, sizeof(shown)));
	if (n > PATH_LACKS_NAMED)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 " and %zu more", n - PATH_LACKS_NAMED);
	if (n > 0) {
		(void)snprintf(text + used, sizeof(text) - used,
			       " %s not shown inside; --ro DIR shows %s",
			       n == 1 ? "is" : "are",
			       n == 1 ? "it" : "one of them");
		tell(run, HB_REPORT_NOTED, text);
	}
	if (run->n_program_lacks == 0)
		return;
	(void)snprintf(
		text, sizeof(text),
		"PATH: %zu link%s to hidden files or other projects %s not shown inside; --ro FILE shows one",
		run->n_program_lacks, run->n_program_lacks == 1 ? "" : "s",
		run->n_program_lacks == 1 ? "is" : "are");
	tell(run, HB_REPORT_NOTED, text);
}

/* What package managers inside do not know of their configuration. */
static void tell_rc(const struct run *run)
{
	char text[256];

	for (size_t i = 0; i < RC_FILES; i++) {
		const struct run_rc *rc = &run->rc_lacks[i];

		if (!rc->name || (!rc->is_whole && rc->n_keys == 0))
			continue;
		if (rc->is_whole)
			(void)snprintf(
				text, sizeof(text),
				"~/%s is not understood, and not shown inside",
				rc->name);
		else
			(void)snprintf(
				text, sizeof(text),
				"~/%s: %zu key%s %s a login or %s unknown, and %s left out inside",
				rc->name, rc->n_keys,
				rc->n_keys == 1 ? "" : "s",
				rc->n_keys == 1 ? "has" : "have",
				rc->n_keys == 1 ? "is" : "are",
				rc->n_keys == 1 ? "is" : "are");
		tell(run, HB_REPORT_NOTED, text);
	}
}

/* Said to scripts as well: without its key an agent fails in any of them. */
static void tell_dropped(const struct run *run)
{
	const char *names[DROPPED_NAMED];
	char text[TOLD_SIZE], name[QUOTE_SHOWN];
	size_t used = 0, n;

	n = dropped_find(&run->settings, &run->plan, run->options->envp, names,
			 DROPPED_NAMED);
	if (n == 0)
		return;
	for (size_t i = 0; i < n && i < DROPPED_NAMED; i++) {
		(void)snprintf(name, sizeof(name), "%.*s",
			       (int)strcspn(names[i], "="), names[i]);
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%s%s", i ? ", " : "", quoted(name));
	}
	if (n > DROPPED_NAMED)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 " and %zu more", n - DROPPED_NAMED);
	(void)snprintf(text + used, sizeof(text) - used,
		       " %s not passed on; --env NAME passes %s",
		       n == 1 ? "is" : "are", n == 1 ? "it" : "one of them");
	tell(run, HB_REPORT_SAID, text);
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

void news_start(const struct run *run, const char *session)
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
	(void)snprintf(text, sizeof(text), "%s · network: %s · home hidden",
		       what, key_nets[settings_net(&run->settings)]);
	if (n_tools > 0)
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text),
			       " but for %zu tool%s", n_tools,
			       n_tools == 1 ? "" : "s");
	if (settings_shows_host(&run->settings))
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text),
			       " · view: the whole host, read-only");
	add_limits(&run->settings, text, sizeof(text));
	if (strcmp(settings_tty(&run->settings), "real") == 0)
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text),
			       " · terminal: your own");
	tell(run, HB_REPORT_NOTED, text);
	tell_names(run);
	tell_git(run);
	tell_borrowed(run);
	tell_lacks(run);
	tell_inner(run);
	tell_closed(run);
	tell_rc(run);
	tell_path(run);
	tell_dropped(run);
	if (!run->worktree_why)
		return;
	(void)snprintf(
		text, sizeof(text),
		"the repository of this worktree is not shown: '.git': %s",
		run->worktree_why);
	tell(run, HB_REPORT_NOTED, text);
}
