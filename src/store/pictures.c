/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pictures.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/path.h"
#include "store/layout.h"
#include "store/record.h"
#include "store/store.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOCK	  "lock"
#define SERVER	  "server-"
#define INSPECTED "inspected-"

bool pictures_hold(const struct hb_store *store, const char *source)
{
	char dir[PATH_MAX];

	return path_join(store->path, PICTURES_DIR, dir, sizeof(dir)) >= 0 &&
	       strcmp(source, dir) != 0 && path_is_beneath(source, dir);
}

int pictures_find(const struct hb_store *store,
		  const struct session_record *record)
{
	for (size_t i = 0; i < record->n_resources; i++)
		if (pictures_hold(store, record->resources[i].source))
			return (int)i;
	return -1;
}

int pictures_open(const char *source, char ret_path[PATH_MAX],
		  struct hb_error *err)
{
	struct path_part dir = path_dirname(source);
	int fd;

	(void)snprintf(ret_path, PATH_MAX, "%.*s", (int)dir.n, dir.s);
	fd = store_open_own(AT_FDCWD, ret_path, err);
	return fd < 0 ? hb_fail(err, fd, "the place of the database") : fd;
}

void pictures_server(const struct session_record *record,
		     char ret[PICTURES_NAME_SIZE])
{
	(void)snprintf(ret, PICTURES_NAME_SIZE, SERVER "%s", record->id);
}

void pictures_inspected(const struct session_record *record,
			char ret[PICTURES_NAME_SIZE])
{
	(void)snprintf(ret, PICTURES_NAME_SIZE, INSPECTED "%s", record->id);
}

static int make_dir(int at, const char *name, struct hb_error *err)
{
	int r = sys_mkdirat(at, name, 0700);

	return r < 0 && r != -EEXIST ? hb_fail(err, r, "cannot make '%s'", name)
				     : 0;
}

int pictures_make(const struct hb_store *store, const char *name,
		  char ret_picture[PATH_MAX], int *ret_lock,
		  struct hb_error *err)
{
	char id[RECORD_ID_SIZE], picture[NAME_MAX + 1];
	auto_fd int all = -1;
	auto_fd int dir = -1;
	auto_fd int lock = -1;
	int r = make_dir(store->dir, PICTURES_DIR, err);

	if (r >= 0)
		r = layout_new_id(id, err);
	if (r < 0)
		return r;
	all = store_open_own(store->dir, PICTURES_DIR, err);
	r = all < 0 ? all : make_dir(all, id, err);
	if (r < 0)
		return r;
	dir = store_open_own(all, id, err);
	if (dir < 0)
		return dir;
	lock = sys_lock_file(dir, LOCK, O_CREAT, 0);
	if (lock < 0)
		return hb_fail(err, lock, "cannot lock a new place");
	(void)snprintf(picture, sizeof(picture), "%s" PICTURES_ENDING, name);
	r = make_dir(dir, PICTURES_ORIGINAL, err);
	if (r >= 0)
		r = make_dir(dir, picture, err);
	if (r < 0)
		return r;
	r = snprintf(ret_picture, PATH_MAX, "%s/" PICTURES_DIR "/%s/%s",
		     store->path, id, picture);
	if (r >= PATH_MAX)
		return hb_fail(err, -ENAMETOOLONG,
			       "the path of the state directory is too long");
	*ret_lock = take_fd(&lock);
	return 0;
}

struct sweep {
	const struct hb_store *store;
	int all;	  /* databases/ */
	int place;	  /* one of it */
	const char *name; /* the name of that */
	char **sessions;  /* of all sessions */
	size_t n;
	bool is_used, is_session; /* by the look at the sessions */
};

/*
 * Whether a session refers to the place.  One that cannot be read may.  With
 * `id`: whether that session does.
 */
static void ask_sessions(struct sweep *s, const char *id)
{
	char path[PATH_MAX];

	s->is_used = s->is_session = false;
	(void)snprintf(path, sizeof(path), "%s/" PICTURES_DIR "/%s",
		       s->store->path, s->name);
	for (size_t i = 0; i < s->n; i++) {
		auto_record struct session_record record = { 0 };
		auto_fd int dir =
			store_open_session(s->store, s->sessions[i], NULL);

		if (dir < 0 || record_read(dir, &record, NULL) < 0) {
			s->is_used = s->is_session = true;
			return;
		}
		for (size_t k = 0; k < record.n_resources; k++)
			if (path_is_beneath(record.resources[k].source, path)) {
				s->is_used = true;
				s->is_session |=
					id && strcmp(id, record.id) == 0;
			}
	}
}

/* Of type store_name_fn: data and notes of sessions that are gone. */
static int sweep_name(void *ctx, const char *name, struct hb_error *err)
{
	struct sweep *s = ctx;
	const char *dash = strchr(name, '-');

	(void)err;
	if (strncmp(name, SERVER, sizeof(SERVER) - 1) != 0 &&
	    strncmp(name, INSPECTED, sizeof(INSPECTED) - 1) != 0)
		return 0;
	ask_sessions(s, dash + 1);
	if (!s->is_session)
		(void)tree_remove(s->place, name, NULL);
	return 0;
}

/* Of type store_name_fn. */
static int sweep_place(void *ctx, const char *name, struct hb_error *err)
{
	struct sweep *s = ctx;
	auto_fd int dir = store_open_own(s->all, name, NULL);
	auto_fd int lock = dir < 0 ? -1 : sys_lock_file(dir, LOCK, O_CREAT, 0);

	(void)err;
	if (lock < 0)
		return 0;
	s->place = dir;
	s->name = name;
	ask_sessions(s, NULL);
	if (s->is_used)
		(void)store_each_name(dir, sweep_name, s, NULL);
	else
		(void)tree_remove(s->all, name, NULL);
	return 0;
}

void pictures_sweep(const struct hb_store *store)
{
	struct sweep s = { .store = store };
	auto_fd int all = store_open_own(store->dir, PICTURES_DIR, NULL);

	if (all < 0 || store->sessions < 0 ||
	    store_names(store, &s.sessions, &s.n, NULL) < 0)
		return;
	s.all = all;
	(void)store_each_name(all, sweep_place, &s, NULL);
	store_free_names(s.sessions, s.n);
}
