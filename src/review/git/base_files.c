/* SPDX-License-Identifier: Apache-2.0 */
#include "review/git/base_files.h"

#include "base/auto.h"
#include "base/grow.h"
#include "sys/attr.h"
#include "tree/access.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILES_MAX ((size_t)1 << 20)

struct looking {
	struct base_files *to;
	const char *prefix;
};

/* Nothing in them is ever made; objects are the most of a repository. */
static bool is_passed_over(const struct tree_visit *v)
{
	static const char *const names[] = { "hooks",	"info",	   "lfs",
					     "modules", "objects", "rr-cache" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(v->path, names[i]) == 0)
			return true;
	return false;
}

/* Of type tree_fn. */
static int look(void *ctx, const struct tree_visit *v, struct hb_error *err)
{
	struct looking *l = ctx;
	struct base_file file = { 0 };
	int r;

	if (v->when != TREE_ENTER)
		return 0;
	if (S_ISDIR(v->attr.mode))
		return is_passed_over(v) ? TREE_SKIP : 0;
	if (l->to->n >= FILES_MAX || grow(l->to->files, l->to->n) < 0)
		return -ENOMEM;
	r = entry_read_base(v->dir, v->name, &file.entry, err);
	if (r < 0)
		return r;
	if (asprintf(&file.path, "%s%s%s", l->prefix, *l->prefix ? "/" : "",
		     v->path) < 0)
		return -ENOMEM;
	l->to->files[l->to->n++] = file;
	return 0;
}

static int by_path(const void *a, const void *b)
{
	const struct base_file *x = a, *y = b;

	return strcmp(x->path, y->path);
}

int base_files_read(int base, const char *prefix, struct base_files *ret)
{
	struct looking l = { ret, prefix };
	auto_fd int dir =
		access_open_below(base, prefix, strlen(prefix), O_RDONLY, NULL);
	int r = dir < 0 ? dir
			: tree_walk(dir, ".", TREE_LENIENT, look, &l, NULL);

	if (ret->n > 0)
		qsort(ret->files, ret->n, sizeof(*ret->files), by_path);
	return r < 0 ? r : 0;
}

void base_files_done(struct base_files *files)
{
	for (size_t i = 0; i < files->n; i++)
		free(files->files[i].path);
	free(files->files);
	*files = (struct base_files){ 0 };
}

void base_files_get(const struct base_files *files, const char *path,
		    struct entry *ret)
{
	/* Only compared. */
	const struct base_file key = { .path = (char *)(uintptr_t)path };
	const struct base_file *found =
		files->n == 0 ? NULL
			      : bsearch(&key, files->files, files->n,
					sizeof(key), by_path);

	*ret = found ? found->entry : (struct entry){ .type = ENTRY_NONE };
}

struct search {
	struct sys_attr of;
	const char *above;
	char *ret;
	size_t size;
	bool is_found;
};

/* Of type tree_fn. */
static int compare(void *ctx, const struct tree_visit *v, struct hb_error *err)
{
	struct search *s = ctx;
	int n;

	(void)err;
	if (v->attr.ino != s->of.ino || v->attr.dev != s->of.dev)
		return TREE_SKIP;
	n = snprintf(s->ret, s->size, "%s/%s", s->above, v->name);
	s->is_found = n > 0 && (size_t)n < s->size;
	return TREE_SKIP;
}

bool base_files_find_dir(int base, const char *above, int fd, char *ret,
			 size_t size)
{
	struct search s = { .above = above, .ret = ret, .size = size };
	auto_fd int dir =
		access_open_below(base, above, strlen(above), O_RDONLY, NULL);

	if (dir < 0 || fd < 0 || sys_attr_at(fd, "", &s.of) < 0)
		return false;
	(void)tree_walk(dir, ".", TREE_FLAT | TREE_LENIENT, compare, &s, NULL);
	return s.is_found;
}
