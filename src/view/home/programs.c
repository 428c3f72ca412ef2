/* SPDX-License-Identifier: Apache-2.0 */
#include "view/home/programs.h"

#include "base/auto.h"
#include "base/env.h"
#include "base/error.h"
#include "base/path.h"
#include "host/look.h"
#include "plan/plan.h"
#include "plan/view.h"
#include "plan/view_place.h"
#include "store/store.h"
#include "sys/file.h"
#include "view/entry_paths.h"
#include "view/home/bounds.h"
#include "view/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * Each program is a mount, so that their number has a bound, and so has the
 * number of names that are looked at.
 */
#define PROGRAMS_MAX 256
#define NAMES_MAX    2048
#define DIRS_MAX     64
#define ROOM	     32

/* A prefix is told by a file in it, beside the directory of its programs. */
static const struct {
	const char *sign;
	const char *shown; /* of the prefix; "": all of it */
} signs[] = {
	{ "pyvenv.cfg", "" },	/* a venv */
	{ "conda-meta", "" },	/* conda, or an environment of it */
	{ ".opam-switch", "" }, /* a switch of opam */
	{ "pkg/tool", "" },	/* go */
	{ "lib/modules", "" },	/* a JDK */
	{ "lib/node_modules", "lib/node_modules" }, /* a prefix of npm */
};

#define SIGNS (sizeof(signs) / sizeof(signs[0]))

/* Of an installation: they may hold the token of a channel. */
static const char *const secrets[] = { ".condarc", "condarc", "condarc.d" };

#define SECRETS (sizeof(secrets) / sizeof(secrets[0]))

struct programs {
	struct run *run;
	const char *dir; /* that is listed; without links */
	int fd;
	size_t n_shown, n_names;
	size_t n_stand_ins; /* links to us, which the view does not have */
	size_t spare;	    /* room for entries */
	const char *done[DIRS_MAX];
	size_t n_done;
};

/* A copy of `e`, whose path and target need not last. */
static int add_entry(struct programs *p, struct view_entry e,
		     struct hb_error *err)
{
	struct run *run = p->run;
	int r = p->spare ? 0 : entries_more(run, ROOM, err);

	if (r < 0)
		return r;
	p->spare = (p->spare ? p->spare : ROOM) - 1;
	e.class = VIEW_SHOW;
	r = plan_keep_text(&run->plan, e.path, &e.path, err);
	if (r >= 0 && e.target)
		r = plan_keep_text(&run->plan, e.target, &e.target, err);
	e.source = e.target ? e.target : e.path;
	if (r >= 0)
		run->entries[run->n_entries++] = e;
	return r;
}

static int add_file(struct programs *p, const char *path, struct hb_error *err)
{
	const struct view_entry e = { .found = VIEW_DIR,
				      .path = path,
				      .is_single = true };

	p->n_shown++;
	return add_entry(p, e, err);
}

static int add_link(struct programs *p, const char *path, const char *target,
		    struct hb_error *err)
{
	const struct view_entry e = { .found = VIEW_OWN_LINK,
				      .path = path,
				      .target = target,
				      .is_single = true };

	return add_entry(p, e, err);
}

static int add_tree(struct programs *p, const char *path, struct hb_error *err)
{
	const struct view_entry e = { .found = VIEW_DIR, .path = path };

	return add_entry(p, e, err);
}

/* The directory is not there: which one is told. */
static int lack(struct programs *p, const char *dir, struct hb_error *err)
{
	struct run *run = p->run;
	size_t n = run->n_path_lacks++;

	return n < PATH_LACKS_NAMED ? plan_keep_text(&run->plan, dir,
						     &run->path_lacks[n], err)
				    : 0;
}

static bool is_program(const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_mode & 0111;
}

/* The file that a link leads to, and a link of ours that leads there at once.
 */
static int show_link(struct programs *p, const char *path, struct hb_error *err)
{
	char real[PATH_MAX];
	struct stat st;
	int r = 0;

	if (look_real(path, real) < 0 ||
	    sys_fstatat(AT_FDCWD, real, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !is_program(&st))
		return 0;
	/* Inside, the program that it stands in front of is meant. */
	if (look_stands_in_front(path_basename(path).s, &st)) {
		p->n_stand_ins++;
		return 0;
	}
	if (!bounds_is_shown(p->run, real)) {
		if (!bounds_allow(p->run, real)) {
			p->run->n_program_lacks++;
			return 0;
		}
		r = add_file(p, real, err);
	}
	return r < 0 ? r : add_link(p, path, real, err);
}

/* Of type store_name_fn.  -E2BIG: there are too many. */
static int show_program(void *ctx, const char *name, struct hb_error *err)
{
	struct programs *p = ctx;
	char path[PATH_MAX];
	struct stat st;

	if (++p->n_names > NAMES_MAX || p->n_shown == PROGRAMS_MAX)
		return -E2BIG;
	if (sys_fstatat(p->fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    path_join(p->dir, name, path, sizeof(path)) < 0)
		return 0;
	if (S_ISLNK(st.st_mode))
		return show_link(p, path, err);
	if (!is_program(&st) || bounds_is_shown(p->run, path) ||
	    bounds_keep_out(p->run, path))
		return 0;
	return add_file(p, path, err);
}

static int show_programs(struct programs *p, const char *name, const char *dir,
			 struct hb_error *err)
{
	size_t before = p->run->n_entries;
	auto_fd int fd = -1;
	int r;

	p->n_stand_ins = 0;
	if (!bounds_is_checkout(p->run, dir))
		fd = sys_openat(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY, 0);
	if (fd < 0)
		return lack(p, name, err);
	p->dir = dir;
	p->fd = fd;
	r = store_each_name(fd, show_program, p, NULL);
	if (r == -ENOMEM)
		return hb_fail(err, r, "cannot make the view");
	/* Some of them would be a riddle. */
	if (r < 0) {
		p->spare += p->run->n_entries - before;
		p->run->n_entries = before;
	}
	return r < 0 || p->run->n_entries + p->n_stand_ins == before
		       ? lack(p, name, err)
		       : 0;
}

static bool has(const char *dir, const char *name)
{
	char path[PATH_MAX];

	return path_join(dir, name, path, sizeof(path)) >= 0 &&
	       sys_faccessat(AT_FDCWD, path, F_OK) >= 0;
}

/* Of type store_name_fn: what is no secret. */
static int show_part(void *ctx, const char *name, struct hb_error *err)
{
	struct programs *p = ctx;
	char path[PATH_MAX];

	if (p->n_shown++ == PROGRAMS_MAX)
		return -E2BIG;
	for (size_t i = 0; i < SECRETS; i++)
		if (strcmp(name, secrets[i]) == 0)
			return 0;
	return path_join(p->dir, name, path, sizeof(path)) < 0
		       ? 0
		       : add_tree(p, path, err);
}

static int show_tree(struct programs *p, const char *tree, struct hb_error *err)
{
	bool has_secret = false;
	auto_fd int fd = -1;

	for (size_t i = 0; i < SECRETS; i++)
		has_secret = has_secret || has(tree, secrets[i]);
	if (!has_secret)
		return add_tree(p, tree, err);
	fd = sys_openat(AT_FDCWD, tree, O_RDONLY | O_DIRECTORY, 0);
	if (fd < 0)
		return hb_fail(err, fd, "cannot list '%s'", tree);
	p->dir = tree;
	return store_each_name(fd, show_part, p, err);
}

/* 1: all of it is shown; 0: its programs are not. */
static int show_prefix(struct programs *p, const char *prefix, size_t sign,
		       struct hb_error *err)
{
	const char *part = signs[sign].shown;
	char path[PATH_MAX], real[PATH_MAX];
	int r;

	if (path_join(prefix, part, path, sizeof(path)) < 0 ||
	    look_real(path, real) < 0 || strcmp(real, path) != 0 ||
	    bounds_is_shown(p->run, path) || !bounds_allow(p->run, path))
		return 0;
	r = show_tree(p, path, err);
	return r < 0 ? r : !part[0];
}

static int show_dir(struct programs *p, const char *name, const char *dir,
		    struct hb_error *err)
{
	struct path_part above = path_dirname(dir);
	char prefix[PATH_MAX];
	int r = 0;

	(void)snprintf(prefix, sizeof(prefix), "%.*s", (int)above.n, above.s);
	for (size_t i = 0; r == 0 && i < SIGNS; i++)
		if (has(prefix, signs[i].sign))
			r = show_prefix(p, prefix, i, err);
	if (r == 0)
		r = show_programs(p, name, dir, err);
	return r;
}

/* As the view spells it: the home directory has another name there. */
static bool spell(const struct run *run, const char *dir, size_t n, char *ret)
{
	const char *name = run->host.home_name;
	char text[PATH_MAX];

	if (dir[0] != '/' || n >= sizeof(text))
		return false;
	(void)snprintf(text, sizeof(text), "%.*s", (int)n, dir);
	if (path_normalise(text, PATH_DOTS_FOLD, ret, PATH_MAX) < 0)
		return false;
	if (!name || !view_lies_in(ret, name))
		return true;
	(void)snprintf(text, sizeof(text), "%s", ret + strlen(name));
	return path_join(run->host.home, text, ret, PATH_MAX) >= 0;
}

static bool is_done(struct programs *p, const char *dir)
{
	const char *copy;

	for (size_t i = 0; i < p->n_done; i++)
		if (strcmp(p->done[i], dir) == 0)
			return true;
	if (p->n_done == DIRS_MAX ||
	    plan_keep_text(&p->run->plan, dir, &copy, NULL) < 0)
		return true;
	p->done[p->n_done++] = copy;
	return false;
}

static int look_at(struct programs *p, const char *name, struct hb_error *err)
{
	struct run *run = p->run;
	char real[PATH_MAX];
	struct stat st;
	size_t lacks = run->n_path_lacks;
	int r = 0;

	if (bounds_is_shown(run, name) || look_real(name, real) < 0 ||
	    sys_fstatat(AT_FDCWD, real, &st, 0) < 0 || !S_ISDIR(st.st_mode) ||
	    is_done(p, name))
		return 0;
	if (!bounds_is_shown(run, real)) {
		if (!run->host.home || strcmp(real, run->host.home) == 0 ||
		    !view_lies_in(real, run->host.home))
			return lack(p, name, err);
		r = show_dir(p, name, real, err);
	}
	if (r >= 0 && lacks == run->n_path_lacks && strcmp(name, real) != 0)
		r = add_link(p, name, real, err);
	return r;
}

int programs_show(struct run *run, struct hb_error *err)
{
	const char *list = env_get(run->host.envp, "PATH");
	struct programs p = { .run = run };
	char name[PATH_MAX];
	int r = 0;

	/* While a session is only made no command has a PATH. */
	while (r >= 0 && list && !run->chosen) {
		size_t n = strcspn(list, ":");

		if (spell(run, list, n, name))
			r = look_at(&p, name, err);
		list += n;
		list = *list ? list + 1 : NULL;
	}
	return r;
}
