/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/shelf.h"

#include "agent/carried.h"
#include "base/auto.h"
#include "base/error.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "sys/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A settle takes milliseconds: so long others wait for it. */
#define LOCK_TRIES 500
#define LOCK_PAUSE 20

#define LOCK "lock"

int shelf_find_project(int fd, struct shelf_project *ret, struct hb_error *err)
{
	struct sys_attr attr;
	int r = sys_attr_at(fd, "", &attr);

	if (r < 0)
		return hb_fail(err, r, "cannot look at the project");
	(void)snprintf(ret->name, sizeof(ret->name), "%llx-%llx-%llx.%lx",
		       (unsigned long long)attr.dev,
		       (unsigned long long)attr.ino,
		       (unsigned long long)attr.btime.tv_sec,
		       (unsigned long)attr.btime.tv_nsec);
	return 0;
}

bool shelf_is_agent(const char *agent)
{
	return agent[0] && agent[0] != '.' && !strchr(agent, '/') &&
	       strlen(agent) < SHELF_NAME_SIZE &&
	       strcmp(agent, SHELF_WHERE) != 0;
}

/* A directory of ours that others have no right on. */
static int open_own(int dir, const char *name, bool makes, struct hb_error *err)
{
	auto_fd int fd = -1;
	struct sys_attr attr;
	int r = makes ? sys_mkdirat(dir, name, 0700) : 0;

	/* There is no store yet. */
	if (dir < 0)
		return -ENOENT;
	if (r >= 0 || r == -EEXIST)
		r = fd = sys_openat(dir, name,
				    O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	if (r == -ENOENT)
		return r;
	if (r >= 0)
		r = sys_attr_at(fd, "", &attr);
	if (r == -ELOOP || r == -ENOTDIR ||
	    (r >= 0 &&
	     (attr.uid != sys_effective_uid() || (attr.mode & 077) != 0))) {
		hb_fix(err, "remove '%s' from the state directory", name);
		return hb_fail(err, -HB_E_STATE,
			       "'%s' in the store is no directory of yours "
			       "alone",
			       name);
	}
	if (r < 0)
		return hb_fail(err, r, "cannot open '%s' in the store", name);
	return take_fd(&fd);
}

static void note_where(int dir, const char *where)
{
	auto_fd int fd =
		sys_openat(dir, SHELF_WHERE,
			   O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);

	/* For people alone: without it a number is shown. */
	if (fd >= 0)
		(void)sys_write_all(fd, where, strlen(where));
}

static bool is_where(int dir, const char *where)
{
	char text[PATH_MAX];
	ssize_t n = sys_read_file_at(dir, SHELF_WHERE, text, sizeof(text));

	return n >= 0 && strcmp(text, where) == 0;
}

int shelf_open(int state, const struct shelf_project *project,
	       const char *agent, const char *where, struct hb_error *err)
{
	auto_fd int all = -1;
	auto_fd int one = -1;

	if (!shelf_is_agent(agent))
		return -ENOENT;
	all = open_own(state, SHELF_DIR, where, err);
	if (all < 0)
		return all;
	one = open_own(all, project->name, where, err);
	if (one < 0)
		return one;
	if (where && !is_where(one, where))
		note_where(one, where);
	return open_own(one, agent, where, err);
}

int shelf_open_logins(int state, const char *agent, bool makes,
		      struct hb_error *err)
{
	auto_fd int all = -1;

	if (!shelf_is_agent(agent))
		return -ENOENT;
	all = open_own(state, SHELF_LOGINS, makes, err);
	return all < 0 ? all : open_own(all, agent, makes, err);
}

int shelf_lock(int dir, struct hb_error *err)
{
	int fd = sys_openat(dir, LOCK, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
	int r = fd;

	for (int i = 0; fd >= 0 && i < LOCK_TRIES; i++) {
		r = sys_flock(fd);
		if (r != -EWOULDBLOCK)
			break;
		sys_pause(LOCK_PAUSE);
	}
	if (r >= 0)
		return fd;
	if (fd >= 0)
		sys_close(fd);
	return hb_fail(err, r == -EWOULDBLOCK ? -HB_E_BUSY : r,
		       "cannot lock the carried state");
}

static int add_up(void *ctx, int dir, const struct carried *c,
		  struct hb_error *err)
{
	struct shelf_load *load = ctx;

	(void)dir;
	(void)err;
	load->bytes += c->size;
	load->files++;
	return 0;
}

int shelf_weigh(int dir, struct shelf_load *ret, struct hb_error *err)
{
	*ret = (struct shelf_load){ 0 };
	return carried_each(dir, add_up, ret, err);
}

bool shelf_is_full(const struct shelf_load *load)
{
	return load->bytes > SHELF_BYTES_MAX || load->files > SHELF_FILES_MAX;
}

static int is_some(void *ctx, int dir, const struct carried *c,
		   struct hb_error *err)
{
	(void)dir;
	(void)c;
	(void)err;
	*(bool *)ctx = true;
	return 0;
}

void shelf_tidy(int state, const struct shelf_project *project,
		const char *agent)
{
	auto_fd int all = open_own(state, SHELF_DIR, false, NULL);
	auto_fd int one =
		all < 0 ? -1 : open_own(all, project->name, false, NULL);
	auto_fd int dir = one < 0 ? -1 : open_own(one, agent, false, NULL);
	bool has_some = false;

	if (dir < 0 || carried_each(dir, is_some, &has_some, NULL) < 0 ||
	    has_some)
		return;
	(void)sys_unlinkat(dir, LOCK, 0);
	if (sys_unlinkat(one, agent, AT_REMOVEDIR) < 0)
		return;
	/* The last agent of the project: only its path is left then. */
	if (sys_unlinkat(all, project->name, AT_REMOVEDIR) == -ENOTEMPTY) {
		char where[PATH_MAX] = "";
		ssize_t n = sys_read_file_at(one, SHELF_WHERE, where,
					     sizeof(where));

		(void)sys_unlinkat(one, SHELF_WHERE, 0);
		if (sys_unlinkat(all, project->name, AT_REMOVEDIR) < 0 && n > 0)
			note_where(one, where);
	}
	(void)sys_unlinkat(state, SHELF_DIR, AT_REMOVEDIR);
}

/* Calls `fn` for each name in the directory that could be a shelf's. */
typedef int (*name_fn)(void *ctx, int dir, const char *name,
		       struct hb_error *err);

static int each_name(int dir, name_fn fn, void *ctx, struct hb_error *err)
{
	char block[8192] __attribute__((aligned(8)));
	auto_fd int fd = sys_openat(dir, ".", O_RDONLY | O_DIRECTORY, 0);
	ssize_t n = fd;
	int r = 0;

	while (n >= 0 && (n = sys_getdents(fd, block, sizeof(block))) > 0)
		for (ssize_t at = 0; r >= 0 && at < n;) {
			const struct k_dirent *e = (const void *)(block + at);

			at += e->reclen;
			if (shelf_is_agent(e->name))
				r = fn(ctx, dir, e->name, err);
		}
	/* The callee may have removed the last name, and the directory. */
	return r < 0 || n == -ENOENT ? r : (int)n;
}

struct each {
	shelf_fn fn;
	void *ctx;
	struct shelf shelf;
	char where[PATH_MAX];
};

static int visit_agent(void *ctx, int dir, const char *name,
		       struct hb_error *err)
{
	struct each *each = ctx;
	auto_fd int fd = open_own(dir, name, false, NULL);

	if (fd < 0)
		return 0;
	(void)snprintf(each->shelf.agent, sizeof(each->shelf.agent), "%s",
		       name);
	each->shelf.dir = fd;
	return each->fn(each->ctx, &each->shelf, err);
}

static int visit_project(void *ctx, int dir, const char *name,
			 struct hb_error *err)
{
	struct each *each = ctx;
	auto_fd int fd = open_own(dir, name, false, NULL);

	if (fd < 0)
		return 0;
	if (sys_read_file_at(fd, SHELF_WHERE, each->where,
			     sizeof(each->where)) < 0)
		each->where[0] = '\0';
	(void)snprintf(each->shelf.project.name,
		       sizeof(each->shelf.project.name), "%s", name);
	each->shelf.where = each->where;
	return each_name(fd, visit_agent, each, err);
}

int shelf_each(int state, const struct shelf_project *project, shelf_fn fn,
	       void *ctx, struct hb_error *err)
{
	auto_fd int all = open_own(state, SHELF_DIR, false, err);
	struct each each = { .fn = fn, .ctx = ctx };

	if (all < 0)
		return all == -ENOENT ? 0 : all;
	return project ? visit_project(&each, all, project->name, err)
		       : each_name(all, visit_project, &each, err);
}
