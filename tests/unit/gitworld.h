/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TEST_GITWORLD_H
#define HB_TEST_GITWORLD_H

#include "base/buf.h"
#include "base/error.h"
#include "git/delivery.h"
#include "git/gitrefs.h"
#include "git/indexmerge.h"
#include "git/kept/kept_refs.h"
#include "git/objectstore.h"

#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * A repository three times, made by git itself: `then` as it was at T0, `base`
 * as the user has it now, `session` as the session has it.  A delivery is
 * applied to the base in the order of its stages, without any durability.
 */
struct gitworld {
	char path[64];
	int top;
	struct kept_refs kept;
	struct delivery_change *changes;
	size_t n_changes;
	struct delivery delivery;
	const char *held; /* a path of the work tree, or NULL */
};

/* Runs a script in the world's directory; it must succeed. */
static inline void world_run(const struct gitworld *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static inline void world_run(const struct gitworld *w, const char *fmt, ...)
{
	char *script = NULL, *command = NULL;
	va_list ap;

	va_start(ap, fmt);
	CHECK(vasprintf(&script, fmt, ap) >= 0);
	va_end(ap);
	CHECK(asprintf(&command, "set -e; cd '%s'; exec >/dev/null 2>log; %s",
		       w->path, script) >= 0);
	if (system(command) != 0) {
		printf("# %s\n", script);
		fflush(stdout);
		(void)!system("cat log >&2");
		CHECK(!"the script succeeds");
	}
	free(script);
	free(command);
}

/* Whether a script succeeds. */
static inline bool world_is(const struct gitworld *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static inline bool world_is(const struct gitworld *w, const char *fmt, ...)
{
	char *script = NULL, *command = NULL;
	va_list ap;
	int r;

	va_start(ap, fmt);
	CHECK(vasprintf(&script, fmt, ap) >= 0);
	va_end(ap);
	CHECK(asprintf(&command, "cd '%s'; exec >log 2>&1; %s", w->path,
		       script) >= 0);
	r = system(command);
	free(script);
	free(command);
	return r == 0;
}

/* The record, and the copy that changes are told by. */
static inline void world_take(struct gitworld *w)
{
	kept_refs_done(&w->kept);
	world_run(w, "rm -rf then; cp -a base then");
	CHECK_INT(kept_refs_look(w->top, "base/.git", &w->kept), 0);
}

/* The base is what the script makes of an empty repository with one commit. */
static inline void world_init(struct gitworld *w, const char *script)
{
	*w = (struct gitworld){ .path = "/var/tmp/holdback-test-XXXXXX" };
	(void)umask(022);
	CHECK(mkdtemp(w->path) != NULL);
	w->top = open(w->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(w->top >= 0);
	CHECK(setenv("HOME", w->path, 1) == 0);
	CHECK(setenv("GIT_CONFIG_NOSYSTEM", "1", 1) == 0);
	CHECK(setenv("GIT_AUTHOR_NAME", "U", 1) == 0);
	CHECK(setenv("GIT_AUTHOR_EMAIL", "u@example.org", 1) == 0);
	CHECK(setenv("GIT_COMMITTER_NAME", "U", 1) == 0);
	CHECK(setenv("GIT_COMMITTER_EMAIL", "u@example.org", 1) == 0);
	CHECK(setenv("GIT_EDITOR", "true", 1) == 0);
	world_run(w,
		  "git init -q -b master base; cd base; "
		  "git config gc.auto 0; git config commit.gpgsign false; "
		  "for i in 1 2 3 4; do echo $i >f$i; done; "
		  "git add .; git commit -qm first; %s",
		  script);
	world_take(w);
	world_run(w, "cp -a base session");
}

static inline void world_done(struct gitworld *w)
{
	delivery_done(&w->delivery);
	kept_refs_done(&w->kept);
	for (size_t i = 0; i < w->n_changes; i++)
		free((void *)(uintptr_t)w->changes[i].path);
	free(w->changes);
	world_run(w, "chmod -R u+w .; rm -rf '%s'", w->path);
	(void)close(w->top);
}

static inline int world_by_path(const void *a, const void *b)
{
	return strcmp(((const struct delivery_change *)a)->path,
		      ((const struct delivery_change *)b)->path);
}

/* Files below .git that differ between two of the three, by name and bytes. */
static inline void world_find_changes(struct gitworld *w)
{
	char line[PATH_MAX + 2];
	FILE *file;

	for (size_t i = 0; i < w->n_changes; i++)
		free((void *)(uintptr_t)w->changes[i].path);
	w->n_changes = 0;
	world_run(w, "list() { (cd $1/.git; find . -type f -printf '%%P\\n' |"
		     " sort); }; list then >a; list session >b; "
		     "comm -23 a b | sed 's/^/-/' >found; "
		     "comm -13 a b | sed 's/^/+/' >>found; "
		     "comm -12 a b | while read -r f; do "
		     "cmp -s then/.git/$f session/.git/$f || "
		     "echo \"+$f\"; done >>found");
	CHECK(snprintf(line, sizeof(line), "%s/found", w->path) > 0);
	file = fopen(line, "re");
	CHECK(file != NULL);
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		w->changes = reallocarray(w->changes, w->n_changes + 1,
					  sizeof(*w->changes));
		CHECK(w->changes != NULL);
		w->changes[w->n_changes] =
			(struct delivery_change){ .path = strdup(line + 1),
						  .is_gone = line[0] == '-' };
		w->changes[w->n_changes].is_newer =
			!world_is(w, "cmp then/.git/%s base/.git/%s", line + 1,
				  line + 1) &&
			world_is(w, "test -e base/.git/%s", line + 1);
		w->n_changes++;
	}
	(void)fclose(file);
	if (w->n_changes > 0)
		qsort(w->changes, w->n_changes, sizeof(*w->changes),
		      world_by_path);
}

static inline int world_read(void *ctx, const char *path, size_t max,
			     char **ret_data, size_t *ret_len)
{
	const struct gitworld *w = ctx;
	char whole[PATH_MAX];
	struct stat st;
	ssize_t n;
	char *data;
	int fd;

	CHECK(snprintf(whole, sizeof(whole), "session/.git/%s", path) > 0);
	fd = openat(w->top, whole, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		if (fd >= 0)
			(void)close(fd);
		return -ENOENT;
	}
	if ((size_t)st.st_size > max) {
		(void)close(fd);
		return -EFBIG;
	}
	data = malloc((size_t)st.st_size + 1);
	CHECK(data != NULL);
	n = read(fd, data, (size_t)st.st_size);
	CHECK(n == st.st_size);
	data[n] = '\0';
	(void)close(fd);
	*ret_data = data;
	*ret_len = (size_t)n;
	return 0;
}

static inline bool world_is_held(void *ctx, const char *path)
{
	const struct gitworld *w = ctx;

	return w->held && strcmp(w->held, path) == 0;
}

static inline enum delivery_verdict world_decide(struct gitworld *w,
						 enum delivery_mode mode)
{
	struct objectstore *objects = objectstore_new();
	struct delivery_request request = {
		.mode = mode,
		.session = "claude-1",
		.base = w->top,
		.prefix = "base/.git",
		.desk = "",
		.kept = &w->kept,
		.kept_index =
			openat(w->top, "then/.git/index", O_RDONLY | O_CLOEXEC),
		.read = world_read,
		.ctx = w,
		.objects = objects,
		.is_held = world_is_held,
	};
	struct hb_error err = { 0 };

	CHECK(objects != NULL);
	world_find_changes(w);
	request.changes = w->changes;
	request.n_changes = w->n_changes;
	CHECK_INT(objectstore_add(objects, w->top, "session/.git"), 0);
	CHECK_INT(objectstore_add(objects, w->top, "base/.git"), 0);
	delivery_done(&w->delivery);
	CHECK_INT(delivery_decide(&request, &w->delivery, &err), 0);
	objectstore_free(objects);
	if (request.kept_index >= 0)
		(void)close(request.kept_index);
	return w->delivery.verdict;
}

static inline void world_put(const struct gitworld *w,
			     const struct delivery_item *item)
{
	char path[PATH_MAX];
	int fd;

	world_run(w, "mkdir -p base/.git/$(dirname %s)", item->path);
	CHECK(snprintf(path, sizeof(path), "base/.git/%s", item->path) > 0);
	fd = openat(w->top, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
		    0644);
	CHECK(fd >= 0);
	CHECK(write(fd, item->content, item->len) == (ssize_t)item->len);
	(void)close(fd);
}

static inline ssize_t world_read_fd(void *ctx, void *to, size_t size,
				    uint64_t offset)
{
	return pread(*(int *)ctx, to, size, (off_t)offset);
}

static inline struct indexmerge_side
world_side(const struct gitworld *w, const char *path, int *fd, struct stat *st)
{
	*fd = openat(w->top, path, O_RDONLY | O_CLOEXEC);
	if (*fd < 0)
		return (struct indexmerge_side){ 0 };
	CHECK(fstat(*fd, st) == 0);
	return (struct indexmerge_side){ world_read_fd, fd,
					 (uint64_t)st->st_size };
}

static inline void world_merge_index(const struct gitworld *w)
{
	struct buf out = BUF_INIT(INDEXMERGE_MAX);
	struct indexmerge_result result;
	struct stat st = { 0 };
	int then, base, session, fd;
	struct indexmerge_request q = {
		.then = world_side(w, "then/.git/index", &then, &st),
		.session = world_side(w, "session/.git/index", &session, &st),
		.base = world_side(w, "base/.git/index", &base, &st),
		.moved = w->delivery.moved,
		.n_moved = w->delivery.n_moved,
		.id_size = 20,
	};

	q.base_mtime = st.st_mtim;
	CHECK_INT(indexmerge(&q, &out, &result), 0);
	CHECK_INT(result.n_conflicts, 0);
	fd = openat(w->top, "base/.git/index.new",
		    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	CHECK(fd >= 0);
	CHECK(write(fd, out.data, out.len) == (ssize_t)out.len);
	CHECK(renameat(w->top, "base/.git/index.new", w->top,
		       "base/.git/index") == 0);
	buf_done(&out);
	(void)close(fd);
	(void)close(then);
	(void)close(base);
	(void)close(session);
}

/* CAS as the real one has it; then the file. */
static inline void world_apply_item(const struct gitworld *w,
				    const struct delivery_item *item)
{
	char *now = NULL;

	if (item->is_ref) {
		CHECK_INT(kept_refs_now(w->top, "base/.git", item->path, &now),
			  0);
		/* What only packed-refs had is gone with that. */
		CHECK(strcmp(now, item->old) == 0 || !item->new[0]);
		free(now);
	}
	if (item->how == DELIVERY_MADE)
		world_put(w, item);
	else if (item->how == DELIVERY_AS_IS)
		world_run(w,
			  "mkdir -p base/.git/$(dirname %s); "
			  "cp -f session/.git/%s base/.git/%s",
			  item->path, item->path, item->path);
	else if (item->how == DELIVERY_DELETE)
		world_run(w, "rm base/.git/%s", item->path);
	else if (item->how == DELIVERY_INDEX)
		world_merge_index(w);
}

/*
 * Applies, and makes the session what it sees afterwards: the base, but for
 * what stays in the layer.
 */
static inline void world_apply(struct gitworld *w)
{
	const struct delivery *d = &w->delivery;

	for (int stage = 0; stage <= DELIVERY_STAGE_INDEX; stage++)
		for (size_t i = 0; i < d->n; i++)
			if ((int)d->items[i].stage == stage)
				world_apply_item(w, &d->items[i]);
	world_run(w, "rm -rf view; cp -a base/.git view");
	for (size_t i = 0; i < d->n; i++) {
		const struct delivery_item *item = &d->items[i];

		if (item->how != DELIVERY_STAYS &&
		    item->how != DELIVERY_DROPPED && !item->keeps_layer)
			continue;
		world_run(w,
			  "rm -f view/%s; if test -e session/.git/%s; then "
			  "mkdir -p view/$(dirname %s); "
			  "cp -a session/.git/%s view/%s; fi",
			  item->path, item->path, item->path, item->path,
			  item->path);
	}
	world_run(w, "rm -rf session/.git then; mv view session/.git; "
		     "cp -a base then");
	kept_refs_done(&w->kept);
	w->kept = d->next;
	w->delivery.next = (struct kept_refs){ 0 };
}

/* Whether the words have this among them. */
static inline bool world_says(const struct gitworld *w, const char *words)
{
	for (size_t i = 0; i < w->delivery.n_words; i++)
		if (strstr(w->delivery.words[i], words))
			return true;
	for (size_t i = 0; i < w->delivery.n_words; i++)
		printf("# it says: %s\n", w->delivery.words[i]);
	return false;
}

static inline enum delivery_how world_how(const struct gitworld *w,
					  const char *path)
{
	const struct delivery_item *item = delivery_find(&w->delivery, path);

	if (!item)
		printf("# no item: %s\n", path);
	CHECK(item != NULL);
	return item->how;
}

#endif
