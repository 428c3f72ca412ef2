/* SPDX-License-Identifier: Apache-2.0 */
#include "view/texts.h"

#include "base/buf.h"
#include "base/env.h"
#include "base/error.h"
#include "host/look.h"
#include "plan/plan.h"
#include "sys/file.h"
#include "sys/proc.h"
#include "view/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

/*
 * The host's own files name all users with an account and every machine that
 * the user knows by a name of their own.  A command needs none of that.  It
 * needs a name for itself and for the owners that it sees as `nobody`.
 */

#define TEXT_LIMIT    16384
#define NOBODY	      65534
#define RESOLVER_SIZE 8192

/* Not a real one, which would tell the machine from others; but valid. */
#define MACHINE_ID "686f6c646261636b686f6c646261636b\n"

/* A name that can stand in a line of these files. */
static bool is_plain(const char *s)
{
	return s && s[0] && !s[strcspn(s, ":\n")];
}

static void user_name(const struct run *run, const struct passwd *user,
		      char *ret, size_t size)
{
	const char *name = user ? user->pw_name : NULL;

	if (!is_plain(name))
		name = env_get(run->host.envp, "USER");
	if (is_plain(name))
		(void)snprintf(ret, size, "%s", name);
	else
		(void)snprintf(ret, size, "%u", (unsigned)sys_getuid());
}

static void write_passwd(const struct run *run, struct buf *out)
{
	const struct passwd *user = getpwuid(sys_getuid());
	const char *shell = user ? user->pw_shell : NULL;
	const char *home = run->host.home_name;
	char name[LOGIN_NAME_MAX];

	user_name(run, user, name, sizeof(name));
	if (sys_getuid() != 0)
		(void)buf_add_str(out, "root:x:0:0:root:/root:/bin/sh\n");
	(void)buf_add_fmt(out, "%s:x:%u:%u::%s:%s\n", name,
			  (unsigned)sys_getuid(), (unsigned)sys_getgid(),
			  is_plain(home) ? home : "/tmp",
			  is_plain(shell) ? shell : "/bin/sh");
	(void)buf_add_fmt(
		out, "nobody:x:%d:%d:nobody:/nonexistent:/usr/sbin/nologin\n",
		NOBODY, NOBODY);
}

static void write_group(const struct run *run, struct buf *out)
{
	const struct group *group = getgrgid(sys_getgid());
	char name[LOGIN_NAME_MAX];

	if (sys_getgid() != 0)
		(void)buf_add_str(out, "root:x:0:\n");
	if (group && is_plain(group->gr_name))
		(void)snprintf(name, sizeof(name), "%s", group->gr_name);
	else
		user_name(run, getpwuid(sys_getuid()), name, sizeof(name));
	(void)buf_add_fmt(out, "%s:x:%u:\nnogroup:x:%d:\n", name,
			  (unsigned)sys_getgid(), NOBODY);
}

static void write_hosts(const struct run *run, struct buf *out)
{
	char name[HOST_NAME_MAX + 1];

	(void)run;
	(void)buf_add_str(out, "127.0.0.1 localhost");
	if (sys_gethostname(name, sizeof(name)) >= 0 &&
	    !name[strcspn(name, " \t\n#")] && name[0] &&
	    strcmp(name, "localhost") != 0)
		(void)buf_add_fmt(out, " %s", name);
	(void)buf_add_str(out, "\n::1 localhost ip6-localhost ip6-loopback\n");
}

/* Whether a line says how names are looked up. */
static bool is_resolver_line(const char *line)
{
	static const char *const words[] = { "nameserver", "search", "domain",
					     "options", "sortlist" };
	size_t n = strcspn(line, " \t\n");

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (n == strlen(words[i]) && strncmp(line, words[i], n) == 0)
			return true;
	return false;
}

static void write_resolver(const struct run *run, struct buf *out)
{
	char text[RESOLVER_SIZE];

	/* The relay answers there, and everywhere else. */
	if (settings_net_by_name(&run->settings)) {
		(void)buf_add_str(out, "nameserver 127.0.0.1\n");
		return;
	}
	if (!settings_share_net(&run->settings) ||
	    sys_read_file_at(AT_FDCWD, "/etc/resolv.conf", text, sizeof(text)) <
		    0) {
		(void)buf_add_str(out, "# no network\n");
		return;
	}
	for (const char *line = text; *line;) {
		size_t n = strcspn(line, "\n");

		if (is_resolver_line(line))
			(void)buf_add_fmt(out, "%.*s\n", (int)n, line);
		line += n + (line[n] ? 1 : 0);
	}
}

/*
 * The host's, but names of hosts come from files and the resolver alone.  Other
 * services of the host are out of reach, and some make a program wait.
 */
static void write_services(const struct run *run, struct buf *out)
{
	char text[RESOLVER_SIZE];

	(void)run;
	if (sys_read_file_at(AT_FDCWD, "/etc/nsswitch.conf", text,
			     sizeof(text)) < 0)
		text[0] = '\0';
	for (const char *line = text; *line;) {
		size_t n = strcspn(line, "\n");

		if (strncmp(line, "hosts:", 6) != 0)
			(void)buf_add_fmt(out, "%.*s\n", (int)n, line);
		line += n + (line[n] ? 1 : 0);
	}
	(void)buf_add_str(out, "hosts: files dns\n");
}

static void write_machine(const struct run *run, struct buf *out)
{
	(void)run;
	(void)buf_add_str(out, MACHINE_ID);
}

static const struct {
	const char *path;
	void (*write)(const struct run *run, struct buf *out);
	bool is_by_name; /* only if the network is */
} texts[TEXTS_MAX] = {
	{ "/etc/passwd", write_passwd, false },
	{ "/etc/group", write_group, false },
	{ "/etc/hosts", write_hosts, false },
	{ "/etc/resolv.conf", write_resolver, false },
	{ "/etc/machine-id", write_machine, false },
	{ "/etc/nsswitch.conf", write_services, true },
};

/*
 * Where the file is to be: the link's end if it is one, because a place in a
 * read-only directory can only be covered.
 */
static int find_place(const char *path, char *ret)
{
	ssize_t n = sys_readlinkat(AT_FDCWD, path, ret, PATH_MAX);

	if (n == -EINVAL)
		return snprintf(ret, PATH_MAX, "%s", path);
	return n < 0 ? (int)n : look_real(path, ret);
}

static int add_text(struct run *run, size_t i, struct hb_error *err)
{
	auto_buf struct buf out = BUF_INIT(TEXT_LIMIT);
	char place[PATH_MAX], *text = NULL;
	const char *path;
	int r;

	if (texts[i].is_by_name && !settings_net_by_name(&run->settings))
		return 0;
	if (find_place(texts[i].path, place) < 0)
		return 0;
	r = plan_keep_text(&run->plan, place, &path, err);
	if (r < 0)
		return r;
	texts[i].write(run, &out);
	r = buf_take(&out, &text, NULL);
	if (r < 0)
		return hb_fail(err, r, "cannot write '%s'", texts[i].path);
	r = plan_keep(&run->plan, text, err);
	if (r < 0)
		return r;
	run->entries[run->n_entries++] = (struct view_entry){
		.class = VIEW_TEXT,
		.found = VIEW_FILE,
		.path = path,
		.source = text,
	};
	return 0;
}

int texts_find(struct run *run, struct hb_error *err)
{
	bool has_etc = false;
	int r = 0;

	for (size_t i = 0; i < run->n_entries; i++)
		if (run->entries[i].class == VIEW_SHOW &&
		    strcmp(run->entries[i].path, "/etc") == 0)
			has_etc = true;
	for (size_t i = 0; r >= 0 && has_etc && i < TEXTS_MAX; i++)
		r = add_text(run, i, err);
	return r;
}
