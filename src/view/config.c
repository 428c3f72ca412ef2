/* SPDX-License-Identifier: Apache-2.0 */
#include "view/config.h"

#include "base/auto.h"
#include "base/env.h"
#include "base/error.h"
#include "base/kv.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "holdback/holdback.h"
#include "plan/profile.h"
#include "plan/settings.h"
#include "store/store.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * A run usually finds no file at all, and then this costs one look for each
 * directory and one for the workspace's file.
 */

#define SYSTEM_DIR     "/etc/holdback"
#define WORKSPACE_FILE ".holdback.conf"

/* A file that another user may have written is short. */
#define WORKSPACE_MAX ((size_t)64 << 10)

struct place {
	enum setting_source source;
	char dir[PATH_MAX];
};

#define PLACES 2

static void find_places(char *const *envp, const char *home,
			struct place places[PLACES])
{
	const char *xdg = env_get(envp, "XDG_CONFIG_HOME");
	int n = -1;

	places[0].source = SETTING_SYSTEM;
	(void)snprintf(places[0].dir, PATH_MAX, "%s", SYSTEM_DIR);
	places[1].source = SETTING_USER;
	if (xdg && path_is_absolute(xdg))
		n = snprintf(places[1].dir, PATH_MAX, "%s/holdback", xdg);
	else if (home)
		n = snprintf(places[1].dir, PATH_MAX, "%s/.config/holdback",
			     home);
	if (n < 0 || n >= PATH_MAX)
		places[1].dir[0] = '\0';
}

bool config_user_dir(char *const *envp, const char *home, char *ret)
{
	struct place places[PLACES];

	find_places(envp, home, places);
	memcpy(ret, places[1].dir, PATH_MAX);
	return ret[0] != '\0';
}

int config_make_dir(const char *dir, struct hb_error *err)
{
	char path[PATH_MAX];
	int r = 0;

	for (const char *p = strchr(dir + 1, '/'); r >= 0; p = strchr(p, '/')) {
		size_t n = p ? (size_t)(p - dir) : strlen(dir);

		memcpy(path, dir, n);
		path[n] = '\0';
		r = sys_mkdirat(AT_FDCWD, path, 0700);
		if (r == -EEXIST)
			r = 0;
		if (!p++)
			break;
	}
	return r < 0 ? hb_fail(err, r, "cannot make '%s'", quoted(path)) : 0;
}

/* Reads the rest of `fd` and tells what it says. */
static int read_text(const char *name, int fd, size_t max, config_text_fn fn,
		     void *ctx, struct hb_error *err)
{
	auto_free char *text = malloc(max + 1);
	ssize_t n;

	if (!text)
		return hb_fail(err, -ENOMEM, "cannot read the settings");
	n = sys_read_full(fd, text, max + 1);
	if (n < 0)
		return hb_fail(err, (int)n, "cannot read '%s'", quoted(name));
	if ((size_t)n > max)
		return hb_fail(err, -HB_E_CONFIG, "%s: the file is too large",
			       quoted(name));
	return fn(ctx, name, text, (size_t)n, err);
}

/* What the settings of one file are for. */
struct to_settings {
	struct settings *settings;
	enum setting_source source;
};

static int set_text(void *ctx, const char *path, const char *text, size_t n,
		    struct hb_error *err)
{
	const struct to_settings *to = ctx;

	return settings_read(to->settings, to->source, path, text, n, err);
}

/* Its writers decide what is weakened: only the user, or root. */
int config_check_owner(int fd, const char *path, struct hb_error *err)
{
	struct stat st;
	int r;

	r = sys_fstat(fd, &st);
	if (r < 0)
		return hb_fail(err, r, "cannot look at '%s'", quoted(path));
	if (S_ISREG(st.st_mode) &&
	    (st.st_uid == 0 || st.st_uid == sys_getuid()) &&
	    !(st.st_mode & (S_IWGRP | S_IWOTH)))
		return 0;
	hb_fix(err, "make it a file of your own: chmod go-w %s", quoted(path));
	return hb_fail(err, -HB_E_CONFIG,
		       "%s: another user can write this file", quoted(path));
}

/* 1: read; 0: there is no such file. */
static int read_file(const struct place *place, int dir, const char *name,
		     config_text_fn fn, void *ctx, struct hb_error *err)
{
	char path[PATH_MAX], shown[QUOTE_SHOWN];
	auto_fd int fd = -1;
	int r;

	if (path_join(place->dir, name, path, sizeof(path)) < 0)
		return 0;
	fd = sys_openat(dir, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return hb_fail(err, -HB_E_CONFIG, "cannot open '%s': %s",
			       quote_shown(path, shown, sizeof(shown)),
			       hb_strerror(-fd));
	r = config_check_owner(fd, path, err);
	if (r >= 0)
		r = read_text(path, fd, KV_FILE_MAX, fn, ctx, err);
	return r < 0 ? r : 1;
}

/* What stands in a directory of ours, or is not there. */
static int open_place(const struct place *place, struct hb_error *err)
{
	int fd;

	if (!place->dir[0])
		return -ENOENT;
	fd = sys_openat(AT_FDCWD, place->dir, O_RDONLY | O_DIRECTORY, 0);
	if (fd < 0 && fd != -ENOENT && fd != -ENOTDIR)
		return hb_fail(err, -HB_E_CONFIG, "cannot open '%s': %s",
			       quoted(place->dir), hb_strerror(-fd));
	return fd < 0 ? -ENOENT : fd;
}

/* NAME.conf, or false if there is no room for it. */
static bool conf_name(const char *name, char *ret, size_t size)
{
	int n = snprintf(ret, size, "%s%s", name, CONFIG_SUFFIX);

	return n > 0 && (size_t)n < size;
}

/*
 * Both files of each directory; `name` may be NULL.  Returns whether one of
 * that name was there.
 */
static int read_places(struct settings *s, const struct place places[PLACES],
		       const char *general, const char *name,
		       struct hb_error *err)
{
	char conf[NAME_MAX + 1];
	int found = 0, r;

	for (size_t i = 0; i < PLACES; i++) {
		struct to_settings to = { s, places[i].source };
		auto_fd int dir = -1;

		dir = open_place(&places[i], err);
		if (dir == -ENOENT)
			continue;
		if (dir < 0)
			return dir;
		r = general ? read_file(&places[i], dir, general, set_text, &to,
					err)
			    : 0;
		if (r < 0)
			return r;
		if (!name || !conf_name(name, conf, sizeof(conf)))
			continue;
		r = read_file(&places[i], dir, conf, set_text, &to, err);
		if (r < 0)
			return r;
		found |= r;
	}
	return found;
}

const char *config_option(const struct hb_run_options *options,
			  enum setting_key key)
{
	const char *value = NULL;

	for (size_t i = 0; i < options->n_settings; i++)
		if (strcmp(options->settings[i].key, setting_name(key)) == 0)
			value = options->settings[i].value;
	return value;
}

const char *config_ahead(const struct hb_run_options *options,
			 enum setting_key key)
{
	const char *value = config_option(options, key);

	return value ? value : settings_variable(options->envp, key);
}

static int fail_profile(const char *name, struct hb_error *err)
{
	const struct profile *p;
	struct suggestion s;

	suggestion_init(&s, name);
	for (size_t i = 0; (p = profile_at(i)) != NULL; i++)
		suggestion_offer(&s, p->name);
	if (s.best)
		hb_fix(err, "did you mean '%s'?", s.best);
	hb_fix(err, "'holdback profile' lists them");
	return hb_fail(err, -HB_E_CONFIG, "there is no profile '%s'",
		       quoted(name));
}

/* Of type settings_path_fn; `ctx` has the home directory. */
static bool is_there(void *ctx, const char *path)
{
	const char *const *home = ctx;
	char joined[PATH_MAX];

	if (strncmp(path, "~/", 2) != 0)
		return sys_faccessat(AT_FDCWD, path, F_OK) >= 0;
	return *home &&
	       path_join(*home, path + 2, joined, sizeof(joined)) >= 0 &&
	       sys_faccessat(AT_FDCWD, joined, F_OK) >= 0;
}

int config_load(struct settings *s, const struct hb_run_options *options,
		const char *program, const char *home, struct hb_error *err)
{
	const struct setting_origin origin = { .source = SETTING_OPTION };
	const char *asked = config_ahead(options, KEY_PROFILE);
	const char *name = asked ? asked : program;
	struct place places[PLACES];
	int has_profile = 0, r;

	/* A name that is a path names no file of ours. */
	if (asked && (strchr(asked, '/') || !asked[0]))
		return fail_profile(asked, err);
	r = settings_profile(s, PROFILE_BASE, err);
	if (r >= 0 && name && strcmp(name, PROFILE_BASE) != 0)
		r = has_profile = settings_profile(s, name, err);
	if (r >= 0 && !has_profile && !asked)
		r = settings_profile(s, PROFILE_GENERIC, err);
	if (r < 0)
		return r;
	find_places(options->envp, home, places);
	r = read_places(s, places, CONFIG_FILE_NAME, name, err);
	if (r >= 0 && asked && !has_profile && !r &&
	    strcmp(asked, PROFILE_BASE) != 0)
		return fail_profile(asked, err);
	if (r >= 0)
		r = settings_environment(s, options->envp, is_there, &home,
					 err);
	for (size_t i = 0; r >= 0 && i < options->n_settings; i++)
		r = settings_set(s, options->settings[i].key,
				 options->settings[i].value, &origin, err);
	return r;
}

/* `base` may be AT_FDCWD; `dir` has no links in its name then. */
int config_workspace_text(int base, const char *dir, const char *name,
			  config_text_fn fn, void *ctx, struct hb_error *err)
{
	char path[PATH_MAX], shown[QUOTE_SHOWN];
	auto_fd int fd = -1;
	struct stat st;
	int r;

	if (path_join(dir, name, path, sizeof(path)) < 0)
		return 0;
	fd = sys_openat2(base, base == AT_FDCWD ? path : name,
			 O_RDONLY | O_NONBLOCK | O_NOCTTY, 0,
			 K_RESOLVE_NO_SYMLINKS | K_RESOLVE_NO_MAGICLINKS);
	if (fd == -ENOENT)
		return 0;
	(void)quote_shown(path, shown, sizeof(shown));
	/* The kernel lacks it: that is not the file's fault. */
	if (fd == -ENOSYS) {
		hb_fix(err,
		       "use Linux 5.14 or later; in docker: --security-opt seccomp=unconfined");
		return hb_fail(err, -HB_E_UNSUPPORTED,
			       "this kernel has no openat2");
	}
	if (fd < 0)
		return hb_fail(err, -HB_E_CONFIG, "cannot open '%s': %s", shown,
			       hb_strerror(-fd));
	r = sys_fstat(fd, &st);
	if (r < 0 || !S_ISREG(st.st_mode))
		return hb_fail(err, -HB_E_CONFIG, "'%s' is no file", shown);
	return read_text(path, fd, WORKSPACE_MAX, fn, ctx, err);
}

int config_load_workspace(struct settings *s, const char *workspace,
			  struct hb_error *err)
{
	struct to_settings to = { s, SETTING_WORKSPACE };

	return config_workspace_text(AT_FDCWD, workspace, WORKSPACE_FILE,
				     set_text, &to, err);
}

int config_each_text(char *const *envp, const char *home, const char *name,
		     config_text_fn fn, void *ctx, struct hb_error *err)
{
	struct place places[PLACES];
	int r = 0;

	find_places(envp, home, places);
	for (size_t i = 0; r >= 0 && i < PLACES; i++) {
		auto_fd int dir = open_place(&places[i], err);

		if (dir != -ENOENT)
			r = dir < 0 ? dir
				    : read_file(&places[i], dir, name, fn, ctx,
						err);
	}
	return r < 0 ? r : 0;
}

int config_load_profile(struct settings *s, const char *name, char *const *envp,
			const char *home, struct hb_error *err)
{
	struct place places[PLACES];
	int built_in, r;

	if (strchr(name, '/') || !name[0])
		return fail_profile(name, err);
	built_in = settings_profile(s, name, err);
	if (built_in < 0)
		return built_in;
	find_places(envp, home, places);
	r = read_places(s, places, NULL, name, err);
	if (r < 0)
		return r;
	return built_in || r ? 0 : fail_profile(name, err);
}

struct each {
	config_name_fn fn;
	void *ctx;
	const char *dir;
};

static int tell_name(void *ctx, const char *name, struct hb_error *err)
{
	const struct each *each = ctx;
	size_t n = strlen(name), k = strlen(CONFIG_SUFFIX);
	char stem[NAME_MAX + 1];

	if (n <= k || strcmp(name + n - k, CONFIG_SUFFIX) != 0)
		return 0;
	(void)snprintf(stem, sizeof(stem), "%.*s", (int)(n - k), name);
	return each->fn(each->ctx, each->dir, stem, err);
}

int config_each_file(char *const *envp, const char *home, config_name_fn fn,
		     void *ctx, struct hb_error *err)
{
	struct place places[PLACES];
	int r = 0;

	find_places(envp, home, places);
	for (size_t i = 0; r >= 0 && i < PLACES; i++) {
		struct each each = { fn, ctx, places[i].dir };
		auto_fd int dir = -1;

		dir = open_place(&places[i], err);
		if (dir == -ENOENT)
			continue;
		r = dir < 0 ? dir : store_each_name(dir, tell_name, &each, err);
	}
	return r;
}
