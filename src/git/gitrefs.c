/* SPDX-License-Identifier: Apache-2.0 */
#include "git/gitrefs.h"

#include "base/auto.h"
#include "base/grow.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "tree/access.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REFS	  "refs/"
#define WORKTREES "worktrees/"

void gitrefs_done(struct gitrefs *refs)
{
	for (size_t i = 0; i < refs->n; i++)
		free(refs->refs[i].name);
	free(refs->refs);
	*refs = (struct gitrefs){ 0 };
}

int gitrefs_add(struct gitrefs *refs, const char *name, const struct git_id *id)
{
	char *copy;

	if (refs->n == GITREFS_MAX || strlen(name) > GITREFS_NAME_MAX)
		return -EFBIG;
	copy = strdup(name);
	if (!copy || grow(refs->refs, refs->n) < 0) {
		free(copy);
		return -ENOMEM;
	}
	refs->refs[refs->n].name = copy;
	refs->refs[refs->n++].id = *id;
	return 0;
}

int gitrefs_add_packed(struct gitrefs *refs, const char *text)
{
	char name[GITREFS_NAME_MAX + 1];
	int r = 0;

	while (r >= 0 && *text) {
		size_t n = strcspn(text, "\n"), digits = strcspn(text, " \n");
		struct git_id id;

		if (digits < n && n - digits - 1 < sizeof(name) &&
		    git_id_parse(text, digits, &id)) {
			memcpy(name, text + digits + 1, n - digits - 1);
			name[n - digits - 1] = '\0';
			if (strncmp(name, REFS, strlen(REFS)) == 0)
				r = gitrefs_add(refs, name, &id);
		}
		text += n + (text[n] == '\n');
	}
	return r;
}

int gitref_parse(char *text, struct git_id *ret_id, const char **ret_name)
{
	size_t n = strcspn(text, " \t\r\n");

	if (git_id_parse(text, n, ret_id))
		return 1;
	if (strncmp(text, "ref:", 4) != 0)
		return 0;
	text += 4 + strspn(text + 4, " \t");
	text[strcspn(text, "\r\n")] = '\0';
	*ret_name = text;
	return strncmp(text, REFS, strlen(REFS)) == 0 ? 2 : 0;
}

int gitref_read_file(int root, const char *prefix, const char *name, size_t max,
		     char **ret_text)
{
	auto_free char *text = NULL;
	char path[PATH_MAX];
	auto_fd int fd = -1;
	uint64_t size = 0;
	ssize_t got;
	int n = snprintf(path, sizeof(path), "%s%s%s", prefix,
			 prefix[0] ? "/" : "", name);

	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	fd = access_open_regular(root, path, &size);
	if (fd < 0)
		return fd;
	if (size > max)
		return -EFBIG;
	text = malloc((size_t)size + 1);
	if (!text)
		return -ENOMEM;
	got = sys_pread_full(fd, text, (size_t)size, 0);
	if (got < 0)
		return (int)got;
	text[got] = '\0';
	*ret_text = take_ptr(&text);
	return 0;
}

/* Of type tree_fn, below refs/. */
static int add_file(void *ctx, const struct tree_visit *visit,
		    struct hb_error *err)
{
	auto_free char *text = NULL;
	char name[GITREFS_NAME_MAX + 1];
	const char *other;
	struct git_id id;
	int n;

	(void)err;
	if (visit->when != TREE_ENTER || !S_ISREG(visit->attr.mode))
		return 0;
	n = snprintf(name, sizeof(name), REFS "%s", visit->path);
	if (n < 0 || (size_t)n >= sizeof(name) ||
	    gitref_read_file(visit->dir, "", visit->name, GITREFS_FILE_MAX,
			     &text) < 0 ||
	    gitref_parse(text, &id, &other) != 1)
		return 0;
	return gitrefs_add(ctx, name, &id);
}

int gitrefs_open_below(int root, const char *prefix, const char *name)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s%s%s", prefix,
			 prefix[0] ? "/" : "", name);

	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	return sys_openat2(root, path, O_RDONLY | O_DIRECTORY, 0,
			   K_RESOLVE_BENEATH | K_RESOLVE_NO_SYMLINKS);
}

int gitrefs_add_loose(struct gitrefs *refs, int root, const char *prefix)
{
	auto_fd int dir = gitrefs_open_below(root, prefix, REFS);

	if (dir < 0)
		return dir == -ENAMETOOLONG ? dir : 0;
	return tree_walk(dir, ".", TREE_LENIENT, add_file, refs, NULL);
}

/* One HEAD, if it is an id. */
static int add_head(struct gitrefs *refs, int root, const char *prefix,
		    const char *name)
{
	auto_free char *text = NULL;
	const char *other;
	struct git_id id;
	int r = gitref_read_file(root, prefix, name, GITREFS_FILE_MAX, &text);

	if (r < 0 || gitref_parse(text, &id, &other) != 1)
		return r == -ENOMEM ? r : 0;
	return gitrefs_add(refs, name, &id);
}

struct heads {
	struct gitrefs *refs;
	int root;
	const char *prefix;
};

/* Of type tree_fn, in worktrees/. */
static int add_worktree(void *ctx, const struct tree_visit *visit,
			struct hb_error *err)
{
	const struct heads *heads = ctx;
	char name[GITREFS_NAME_MAX + 1];
	int n, r;

	(void)err;
	if (!S_ISDIR(visit->attr.mode))
		return 0;
	n = snprintf(name, sizeof(name), WORKTREES "%s/HEAD", visit->name);
	if (n < 0 || (size_t)n >= sizeof(name))
		return TREE_SKIP;
	r = add_head(heads->refs, heads->root, heads->prefix, name);
	return r < 0 ? r : TREE_SKIP;
}

int gitrefs_add_heads(struct gitrefs *refs, int root, const char *prefix)
{
	struct heads heads = { refs, root, prefix };
	auto_fd int dir = -1;
	int r = add_head(refs, root, prefix, "HEAD");

	if (r >= 0)
		dir = gitrefs_open_below(root, prefix, WORKTREES);
	if (dir < 0)
		return r;
	return tree_walk(dir, ".", TREE_FLAT | TREE_LENIENT, add_worktree,
			 &heads, NULL);
}

int gitrefs_add_packed_file(struct gitrefs *refs, int root, const char *prefix)
{
	auto_free char *text = NULL;
	int r = gitref_read_file(root, prefix, "packed-refs",
				 GITREFS_PACKED_MAX, &text);

	if (r == -ENOENT || r == -EACCES)
		return 0;
	return r < 0 ? r : gitrefs_add_packed(refs, text);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct gitref *)a)->name,
		      ((const struct gitref *)b)->name);
}

void gitrefs_sort(struct gitrefs *refs)
{
	if (refs->n > 0)
		qsort(refs->refs, refs->n, sizeof(*refs->refs), by_name);
}

const struct gitref *gitrefs_find(const struct gitrefs *refs, const char *name)
{
	size_t low = 0, high = refs->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(name, refs->refs[middle].name);

		if (order == 0)
			return &refs->refs[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

/* All of `from` that the other list lacks. */
static int merge(struct gitrefs *to, const struct gitrefs *from,
		 const struct gitrefs *other)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < from->n; i++) {
		const struct gitref *ref = &from->refs[i];

		if (ref->id.hex[0] &&
		    !(other && gitrefs_find(other, ref->name)))
			r = gitrefs_add(to, ref->name, &ref->id);
	}
	return r;
}

/* Files first: those of the session, and those that it left alone. */
static int merge_new(const struct gitrefs_session *session,
		     const struct gitrefs *loose, const struct gitrefs *packed,
		     struct gitrefs *ret_new)
{
	auto_gitrefs struct gitrefs inside = { 0 };
	auto_gitrefs struct gitrefs there = { 0 };
	int r = 0;

	if (session->packed)
		r = gitrefs_add_packed(&inside, session->packed);
	else if (!session->has_packed)
		r = merge(&inside, packed, NULL);
	gitrefs_sort(&inside);
	/* A file that it removed uncovers the line. */
	if (r >= 0)
		r = merge(&there, session->touched, NULL);
	if (r >= 0)
		r = merge(&there, loose, session->touched);
	gitrefs_sort(&there);
	if (r >= 0)
		r = merge(ret_new, &inside, &there);
	return r < 0 ? r : merge(ret_new, &there, NULL);
}

int gitrefs_sides(const struct gitrefs_session *session, int base,
		  const char *prefix, struct gitrefs *ret_old,
		  struct gitrefs *ret_new)
{
	auto_gitrefs struct gitrefs loose = { 0 };
	auto_gitrefs struct gitrefs packed = { 0 };
	auto_gitrefs struct gitrefs heads = { 0 };
	int r;

	r = gitrefs_add_loose(&loose, base, prefix);
	if (r >= 0)
		r = gitrefs_add_packed_file(&packed, base, prefix);
	if (r >= 0)
		r = gitrefs_add_heads(&heads, base, prefix);
	gitrefs_sort(&loose);
	gitrefs_sort(&packed);
	if (r >= 0)
		r = merge(ret_old, &packed, &loose);
	if (r >= 0)
		r = merge(ret_old, &loose, NULL);
	if (r >= 0)
		r = merge(ret_old, &heads, NULL);
	if (r >= 0)
		r = merge_new(session, &loose, &packed, ret_new);
	if (r >= 0)
		r = merge(ret_new, &heads, session->heads);
	if (r >= 0)
		r = merge(ret_new, session->heads, NULL);
	gitrefs_sort(ret_old);
	gitrefs_sort(ret_new);
	return r;
}
