/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "base/kv.h"
#include "base/path.h"
#include "base/quote.h"
#include "holdback/net.h"
#include "host/look.h"
#include "plan/network/network_value.h"
#include "plan/settings.h"
#include "sys/file.h"
#include "view/config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A rule that is kept is one more line of a file of the user's.  It is added at
 * the end, in one write.  So a file that was written by hand, or that a link
 * leads to, keeps all else.
 */

#define LINE_SIZE 512

struct wanted {
	const char *key, *value;
	bool is_there;
	bool needs_newline;
};

static int look_for(struct wanted *wanted, const char *path, const char *text,
		    size_t n, struct hb_error *err)
{
	auto_kv_reader struct kv_reader reader = { 0 };
	struct kv_entry entry;
	int r;

	wanted->needs_newline = n > 0 && text[n - 1] != '\n';
	kv_reader_init(&reader, path, text, n);
	while ((r = kv_next(&reader, &entry, err)) > 0)
		if (strcmp(entry.key, wanted->key) == 0) {
			/* An empty value forgets those before it. */
			if (entry.len == 0)
				wanted->is_there = false;
			if (strcmp(entry.value, wanted->value) == 0)
				wanted->is_there = true;
		}
	return r;
}

static int read_file(int fd, const char *path, struct wanted *wanted,
		     struct hb_error *err)
{
	auto_free char *text = malloc(KV_FILE_MAX);
	ssize_t n;

	if (!text)
		return hb_fail(err, -ENOMEM, "cannot read '%s'", quoted(path));
	n = sys_read_full(fd, text, KV_FILE_MAX);
	if (n < 0)
		return hb_fail(err, (int)n, "cannot read '%s'", quoted(path));
	if ((size_t)n + LINE_SIZE > KV_FILE_MAX)
		return hb_fail(err, -HB_E_CONFIG, "%s: the file is too large",
			       quoted(path));
	return look_for(wanted, path, text, (size_t)n, err);
}

static int add_line(int fd, const char *path, const struct wanted *wanted,
		    struct hb_error *err)
{
	char line[LINE_SIZE];
	int n = snprintf(line, sizeof(line), "%s%s = %s\n",
			 wanted->needs_newline ? "\n" : "", wanted->key,
			 wanted->value);
	int r = n > 0 && (size_t)n < sizeof(line)
			? sys_write_all(fd, line, (size_t)n)
			: -E2BIG;

	if (r >= 0)
		r = sys_fsync(fd);
	return r < 0 ? hb_fail(err, r, "cannot write to '%s'", quoted(path))
		     : 1;
}

static int open_file(const char *dir, const char *path, struct hb_error *err)
{
	int fd, r;

	r = config_make_dir(dir, err);
	if (r < 0)
		return r;
	fd = sys_openat(AT_FDCWD, path,
			O_RDWR | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY,
			0600);
	if (fd < 0)
		return hb_fail(err, fd, "cannot open '%s'", quoted(path));
	r = config_check_owner(fd, path, err);
	if (r >= 0)
		return fd;
	sys_close(fd);
	return r;
}

int hb_net_keep(char *const *envp, const char *profile, bool is_deny,
		const char *rule, char *ret_file, struct hb_error *err)
{
	enum setting_key key = is_deny ? KEY_DENY : KEY_ALLOW;
	struct wanted wanted = { .key = setting_name(key), .value = rule };
	char home[PATH_MAX], dir[PATH_MAX], name[NAME_MAX + 1];
	auto_fd int fd = -1;
	int r;

	r = network_check(key, rule, err);
	if (r < 0)
		return r;
	if (profile && (strchr(profile, '/') || !profile[0]))
		profile = NULL;
	r = snprintf(name, sizeof(name), "%s",
		     profile ? profile : CONFIG_FILE_NAME);
	if (profile && r > 0 && (size_t)r < sizeof(name))
		r = snprintf(name, sizeof(name), "%s%s", profile,
			     CONFIG_SUFFIX);
	if (r < 0 || (size_t)r >= sizeof(name) ||
	    !config_user_dir(envp, look_home(envp, home) ? home : NULL, dir) ||
	    path_join(dir, name, ret_file, PATH_MAX) < 0)
		return hb_fail(err, -HB_E_CONFIG,
			       "there is no directory for settings of this "
			       "user");
	fd = open_file(dir, ret_file, err);
	if (fd < 0)
		return fd;
	r = read_file(fd, ret_file, &wanted, err);
	if (r < 0 || wanted.is_there)
		return r < 0 ? r : 0;
	return add_line(fd, ret_file, &wanted, err);
}
