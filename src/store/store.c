/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store.h"
#include "store/user_dir.h"

#include "audit/audit.h"
#include "base/auto.h"
#include "base/env.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/report.h"
#include "base/suggest.h"
#include "base/time.h"
#include "host/look.h"
#include "store/projects.h"
#include "store/record.h"
#include "store/user_dir.h"
#include "sys/attr.h"
#include "sys/dir.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "sys/place.h"
#include "sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_BELOW_HOME "/.local/state/holdback"
#define SESSIONS	   "sessions"
#define OTHERS_FIX	   "--state-dir DIR, with one of your own"

/* Sessions that a store may have; a limit for hostile directories. */
#define NAMES_MAX 100000

void store_say(const struct hb_store *store, const char *fmt, ...)
{
	char line[HB_TEXT_SIZE];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	report_text(store->listener, HB_REPORT_SAID, "%s", line);
}

static int open_own(int dirfd, const char *name, int flags,
		    struct hb_error *err)
{
	auto_fd int fd = -1;
	int r;

	fd = sys_openat(dirfd, name, flags | O_DIRECTORY | O_NOFOLLOW, 0);
	if (fd < 0)
		return hb_fail(err, fd, "cannot open '%s'", quoted(name));
	r = user_dir_check(fd, name, 077, OTHERS_FIX, err);
	if (r < 0)
		return r;
	return take_fd(&fd);
}

int store_open_own(int dirfd, const char *name, struct hb_error *err)
{
	return open_own(dirfd, name, O_RDONLY, err);
}

int store_open_shut(int dirfd, const char *name, struct hb_error *err)
{
	return open_own(dirfd, name, O_PATH, err);
}

int store_choose_path(const struct hb_store_options *options, char *ret,
		      size_t size, struct hb_error *err)
{
	const char *base = env_get(options->envp, "XDG_STATE_HOME");
	const char *home = env_get(options->envp, "HOME");
	char cwd[PATH_MAX], joined[PATH_MAX];
	int r;

	if (options->dir && path_is_absolute(options->dir)) {
		r = path_join(options->dir, "", joined, sizeof(joined));
	} else if (options->dir) {
		r = (int)sys_getcwd(cwd, sizeof(cwd));
		if (r >= 0)
			r = path_join(cwd, options->dir, joined,
				      sizeof(joined));
	} else if (base && path_is_absolute(base)) {
		r = path_join(base, "holdback", joined, sizeof(joined));
	} else if (home && path_is_absolute(home)) {
		r = path_join(home, DEFAULT_BELOW_HOME, joined, sizeof(joined));
	} else {
		hb_fix(err, "set HOME or XDG_STATE_HOME");
		return hb_fail(err, -HB_E_CONFIG,
			       "neither HOME nor XDG_STATE_HOME says where "
			       "sessions live");
	}
	if (r >= 0)
		r = path_normalise(joined, PATH_DOTS_FOLD, ret, size);
	if (r < 0)
		return hb_fail(err, r, "cannot use the state directory");
	return 0;
}

static int open_store(struct hb_store *store, const char *path, bool create,
		      struct hb_error *err)
{
	char real[PATH_MAX];
	int r;

	store->dir = sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
	if (store->dir == -ENOENT && !create)
		return 0;
	if (store->dir == -ENOENT) {
		r = user_dir_make(path, err);
		if (r < 0)
			return r;
		store->dir =
			sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
	}
	if (store->dir < 0)
		return hb_fail(err, store->dir,
			       "cannot open the state directory '%s'", path);
	r = user_dir_check(store->dir, path, 022, OTHERS_FIX, err);
	if (r < 0)
		return r;
	r = (int)sys_fd_path(store->dir, real, sizeof(real));
	if (r < 0)
		return hb_fail(err, r, "cannot tell where '%s' lies", path);
	store->path = strdup(real);
	if (!store->path)
		return hb_fail(err, -ENOMEM, "cannot open '%s'", path);
	if (create) {
		r = sys_mkdirat(store->dir, SESSIONS, 0700);
		store->is_made = r >= 0;
		if (r < 0 && r != -EEXIST)
			return hb_fail(err, r, "cannot make '%s/%s'", path,
				       SESSIONS);
	} else if (sys_faccessat(store->dir, SESSIONS, F_OK) == -ENOENT) {
		return 0;
	}
	store->sessions = store_open_own(store->dir, SESSIONS, err);
	return store->sessions < 0 ? store->sessions : 0;
}

/* A home directory is not ours to make; users without one name one all the
 * same. */
static int check_home(const struct hb_store_options *options,
		      struct hb_error *err)
{
	const char *base = env_get(options->envp, "XDG_STATE_HOME");
	const char *home = env_get(options->envp, "HOME");

	if (options->dir || (base && path_is_absolute(base)) ||
	    sys_faccessat(AT_FDCWD, home, F_OK) != -ENOENT)
		return 0;
	hb_fix(err, "set HOME or XDG_STATE_HOME to a directory that exists");
	return hb_fail(err, -HB_E_CONFIG,
		       "the home directory '%s' does not exist", quoted(home));
}

/*
 * A caller whose listener keeps the log already is lent the directory.  Any
 * other gets a log of the store's own in front of his listener.
 */
static int open_log(struct hb_store *store,
		    const struct hb_store_options *options,
		    struct hb_error *err)
{
	store->audit = audit_of(options->listener);
	store->owns_audit = !store->audit;
	if (store->owns_audit)
		store->audit = audit_new(options->listener);
	if (!store->audit)
		return hb_fail(err, -ENOMEM, "cannot open the store");
	store->listener = audit_listener(store->audit);
	return options->log ? audit_copy_to(store->audit, options->log, err)
			    : 0;
}

int store_open(const struct hb_store_options *options, bool create,
	       struct hb_store **ret_store, struct hb_error *err)
{
	struct hb_store *store;
	char path[PATH_MAX];
	int r;

	r = store_choose_path(options, path, sizeof(path), err);
	if (r >= 0 && create)
		r = check_home(options, err);
	if (r < 0)
		return r;
	store = calloc(1, sizeof(*store));
	if (!store)
		return hb_fail(err, -ENOMEM, "cannot open the store");
	store->dir = -1;
	store->sessions = -1;
	store->envp = options->envp;
	r = open_log(store, options, err);
	if (r >= 0)
		r = open_store(store, path, create, err);
	if (r < 0) {
		hb_store_free(store);
		return r;
	}
	if (store->dir >= 0)
		audit_set_state(store->audit, store->dir);
	*ret_store = store;
	return 0;
}

void hb_store_free(struct hb_store *store)
{
	if (!store)
		return;
	if (store->audit)
		audit_set_state(store->audit, -1);
	if (store->owns_audit)
		audit_free(store->audit);
	fd_closep(&store->dir);
	fd_closep(&store->sessions);
	free(store->path);
	free(store);
}

int store_no_session(const char *name, struct hb_error *err)
{
	hb_fix(err, "holdback ls");
	return hb_fail(err, -HB_E_NO_SESSION, "there is no session '%s'",
		       quoted(name));
}

bool store_leads_to(const struct hb_store *store, const char *name, int dir)
{
	return sys_is_object(store->sessions, name, dir);
}

int store_open_session(const struct hb_store *store, const char *name,
		       struct hb_error *err)
{
	int fd;

	if (store->sessions < 0 ||
	    sys_faccessat(store->sessions, name, F_OK) == -ENOENT)
		return store_no_session(name, err);
	fd = store_open_own(store->sessions, name, err);
	if (fd < 0)
		return hb_fail(err, fd, "cannot use the session");
	return fd;
}

int store_each_name(int dirfd, store_name_fn fn, void *ctx,
		    struct hb_error *err)
{
	char block[16384] __attribute__((aligned(8)));
	auto_fd int dir = -1;
	ssize_t n;
	int r;

	/* A descriptor of its own: the place in a listing is shared. */
	dir = sys_openat(dirfd, ".", O_RDONLY | O_DIRECTORY, 0);
	if (dir < 0)
		return hb_fail(err, dir, "cannot list a directory");
	while ((n = sys_getdents(dir, block, sizeof(block))) > 0) {
		for (ssize_t at = 0; at < n;) {
			const struct k_dirent *e = (const void *)(block + at);

			at += e->reclen;
			if (path_is_dots(e->name))
				continue;
			r = fn(ctx, e->name, err);
			if (r < 0)
				return r;
		}
	}
	if (n < 0)
		return hb_fail(err, (int)n, "cannot list a directory");
	return 0;
}

struct names {
	char **list;
	size_t n;
};

static int keep_name(void *ctx, const char *name, struct hb_error *err)
{
	struct names *names = ctx;

	if (record_check_name("session", name, NULL) < 0)
		return 0;
	if (names->n >= NAMES_MAX)
		return hb_fail(err, -E2BIG, "more than %d sessions", NAMES_MAX);
	if (grow(names->list, names->n) < 0)
		return hb_fail(err, -ENOMEM, "cannot list sessions");
	names->list[names->n] = strdup(name);
	if (!names->list[names->n])
		return hb_fail(err, -ENOMEM, "cannot list sessions");
	names->n++;
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int store_names(const struct hb_store *store, char ***ret_names, size_t *ret_n,
		struct hb_error *err)
{
	struct names names = { 0 };
	int r = 0;

	if (store->sessions >= 0)
		r = store_each_name(store->sessions, keep_name, &names, err);
	if (r < 0) {
		store_free_names(names.list, names.n);
		return r;
	}
	if (names.n > 1)
		qsort(names.list, names.n, sizeof(*names.list), compare_names);
	*ret_names = names.list;
	*ret_n = names.n;
	return 0;
}

void store_free_names(char **names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
}
