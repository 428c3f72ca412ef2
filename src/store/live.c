/* SPDX-License-Identifier: Apache-2.0 */
#include "store/live.h"

#include "base/auto.h"
#include "base/env.h"
#include "base/error.h"
#include "base/path.h"
#include "store/record.h"
#include "store/resolve.h"
#include "store/store.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "sys/place.h"
#include "sys/sock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

#define LINK	 "door"
#define OWN_NAME "socket" /* in the session's directory */

/* Room for the session's name, a part of its id and what is between. */
#define SOCKET_NAME_SIZE (RECORD_NAME_MAX + 16)

int live_runtime(const struct hb_store *store, char *ret_path)
{
	const char *path = env_get(store->envp, "XDG_RUNTIME_DIR");
	auto_fd int above = -1;
	auto_fd int dir = -1;
	ssize_t n;
	int r;

	if (!path || !path_is_absolute(path))
		return -ENOENT;
	above = store_open_own(AT_FDCWD, path, NULL);
	if (above < 0)
		return above;
	r = sys_mkdirat(above, LIVE_RUNTIME, 0700);
	if (r < 0 && r != -EEXIST)
		return r;
	dir = store_open_own(above, LIVE_RUNTIME, NULL);
	if (dir < 0)
		return dir;
	n = sys_fd_path(dir, ret_path, PATH_MAX);
	return n < 0 ? (int)n : take_fd(&dir);
}

/* Listens as `name` in `dir`, which who joins finds at `path`. */
static int listen_at(int session, int dir, const char *name, const char *path)
{
	auto_fd int fd = -1;
	int r;

	r = sys_unlinkat(dir, name, 0);
	if (r < 0 && r != -ENOENT)
		return r;
	/* First, so that what a crash leaves can be found. */
	r = sys_symlinkat(path, session, LINK);
	if (r < 0)
		return r;
	fd = sys_listen_at(dir, name);
	if (fd >= 0)
		return take_fd(&fd);
	(void)sys_unlinkat(session, LINK, 0);
	return fd;
}

/* The id keeps sessions of one name in two stores apart. */
static int listen_in(const struct live_place *place, int runtime)
{
	char name[SOCKET_NAME_SIZE], dir[PATH_MAX], path[PATH_MAX];
	ssize_t n;
	int r;

	if (runtime < 0)
		return runtime;
	(void)snprintf(name, sizeof(name), "%s-%.8s.sock", place->record->name,
		       place->record->id);
	n = sys_fd_path(runtime, dir, sizeof(dir));
	if (n < 0)
		return (int)n;
	r = path_join(dir, name, path, sizeof(path));
	if (r < 0)
		return r;
	if (!sys_is_socket_path(path))
		return -ENAMETOOLONG;
	return listen_at(place->dir, runtime, name, path);
}

int live_open(const struct live_place *place, int runtime, struct hb_error *err)
{
	int r;

	if (!place->is_fresh)
		live_remove(place->dir);
	r = listen_in(place, runtime);
	if (r < 0)
		r = sys_listen_at(place->dir, OWN_NAME);
	return r < 0 ? hb_fail(err, r, "cannot listen for commands that join")
		     : r;
}

void live_remove(int dir)
{
	char path[PATH_MAX];
	ssize_t n;

	(void)sys_unlinkat(dir, OWN_NAME, 0);
	n = sys_readlinkat(dir, LINK, path, sizeof(path));
	if (n < 0)
		return;
	(void)sys_unlinkat(dir, path, 0);
	(void)sys_unlinkat(dir, LINK, 0);
}

void live_tidy(const struct hb_store *store, const char *name)
{
	auto_fd int dir = store_open_session(store, name, NULL);
	auto_fd int lock = -1;

	if (dir < 0)
		return;
	lock = sys_lock_file(dir, "lock", 0, 0);
	if (lock >= 0)
		live_remove(dir);
}

int live_connect(int dir)
{
	char path[PATH_MAX];
	ssize_t n;
	int r;

	n = sys_readlinkat(dir, LINK, path, sizeof(path));
	if (n == -ENOENT)
		return sys_connect_at(dir, OWN_NAME);
	if (n < 0)
		return (int)n;
	r = sys_connect_at(dir, path);
	/* The maker of the link is gone, or is about to make the rest. */
	return r == -ENOENT ? -ECONNREFUSED : r;
}

int live_find(const struct hb_store *store, const char *ref, char *ret_name,
	      struct hb_error *err)
{
	auto_fd int dir = -1;
	int r;

	r = store_resolve(store, ref, ret_name, RECORD_NAME_MAX + 1, err);
	if (r < 0)
		return r;
	dir = store_open_session(store, ret_name, err);
	if (dir < 0)
		return dir;
	r = live_connect(dir);
	if (r >= 0 || r == -ENOENT || r == -ECONNREFUSED)
		return r;
	return hb_fail(err, r, "cannot reach the supervisor of session '%s'",
		       ret_name);
}
