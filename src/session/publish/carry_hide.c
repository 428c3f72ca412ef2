/* SPDX-License-Identifier: Apache-2.0 */
#include "session/publish/carry_hide.h"

#include "agent/carried.h"
#include "base/auto.h"
#include "base/error.h"
#include "base/path.h"
#include "session/open.h"
#include "session/publish/carry_note.h"
#include "session/publish/carry_place.h"
#include "session/session.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "sys/place.h"
#include "tree/overlay.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define UPPER	  "upper"
#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW)

/* So many files of the host are copied for one row. */
#define COPIES_MAX 512

struct hide {
	struct hb_session *s;
	struct carry_note *note;
	size_t resource;
	const char *below; /* the row's path, from the resource */
	size_t n_copies;
};

static bool is_mark(const struct sys_attr *attr)
{
	return S_ISCHR(attr->mode) && attr->rdev_major == 0 &&
	       attr->rdev_minor == 0;
}

static int set_opaque(int dir, const char *name, mode_t mode)
{
	auto_fd int fd = -1;
	int r = sys_mkdirat(dir, name, 0700);

	if (r < 0 && r != -EEXIST)
		return r;
	fd = sys_openat(dir, name, DIR_FLAGS, 0);
	if (fd >= 0 && r >= 0)
		(void)sys_fchmod(fd, mode & 0777);
	return fd < 0 ? fd : sys_set_xattr(fd, OVERLAY_PREFIX "opaque", "y", 1);
}

/* Hides what the host has at `name`; what is carried is there already. */
static int hide_one(const struct hide *h, int dir, int host, const char *name,
		    const char *path)
{
	struct sys_attr attr;
	int r = sys_attr_at(host, name, &attr);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (S_ISDIR(attr.mode))
		return set_opaque(dir, name, attr.mode);
	r = sys_make_whiteout(dir, name);
	if (r == -EEXIST)
		return 0;
	if (r >= 0)
		r = sys_attr_at(dir, name, &attr);
	return r < 0 ? r : carry_note_given(h->note, path, &attr, 0);
}

/* The names of the host that a row with a star means. */
static int hide_all(const struct hide *h, int dir, int host,
		    const struct carry_rule *rule)
{
	char block[8192] __attribute__((aligned(8)));
	auto_fd int fd = sys_openat(host, ".", DIR_FLAGS, 0);
	struct path_part parent = path_dirname(rule->path);
	ssize_t n = fd;
	int r = 0;

	while (n >= 0 && (n = sys_getdents(fd, block, sizeof(block))) > 0)
		for (ssize_t at = 0; r >= 0 && at < n;) {
			const struct k_dirent *e = (const void *)(block + at);
			char path[PATH_MAX];

			at += e->reclen;
			if (path_is_dots(e->name))
				continue;
			(void)snprintf(path, sizeof(path), "%.*s/%s",
				       (int)parent.n, parent.s, e->name);
			if (carry_rule_is_at(rule, path))
				r = hide_one(h, dir, host, e->name, path);
		}
	return r < 0 ? r : (int)n;
}

static int hide_rule(struct hide *h, const struct carry_rule *rule)
{
	const char *name = strrchr(h->below, '/');
	auto_fd int host = -1;
	auto_fd int dir = -1;

	name = name ? name + 1 : h->below;
	dir = carry_open_parents(h->s, h->resource, h->below, &host);
	/* What is not there by this name hides nothing. */
	if (dir < 0 || host < 0)
		return dir == -ESTALE || dir >= 0 ? 0 : dir;
	return strchr(name, '*') ? hide_all(h, dir, host, rule)
				 : hide_one(h, dir, host, name, rule->path);
}

static int copy_bytes(int from, int dir, const char *name, uint64_t size,
		      mode_t mode)
{
	auto_free char *bytes = malloc(size + 1);
	auto_fd int fd = -1;
	ssize_t n;
	int r;

	if (!bytes)
		return -ENOMEM;
	n = sys_pread_full(from, bytes, size, 0);
	if (n < 0)
		return (int)n;
	fd = sys_openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
			0600);
	r = fd < 0 ? fd : sys_write_all(fd, bytes, (size_t)n);
	return r < 0 ? r : sys_fchmod(fd, mode & 0777);
}

/* One file of the host; what is carried in its place stays. */
static int copy_file(struct hide *h, int from, const char *name,
		     const struct sys_attr *attr, const char *below)
{
	const char *source = h->s->record.resources[h->resource].source;
	char path[PATH_MAX];
	struct sys_attr made;
	auto_fd int file = -1;
	auto_fd int host = -1;
	auto_fd int dir = -1;
	int r;

	if (!S_ISREG(attr->mode) || attr->size > CARRIED_FILE_MAX ||
	    h->n_copies++ >= COPIES_MAX ||
	    path_join(source, below, path, sizeof(path)) < 0)
		return 0;
	file = sys_openat(from, name,
			  O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
	if (file < 0)
		return 0;
	dir = carry_open_parents(h->s, h->resource, below, &host);
	r = dir < 0 ? dir : copy_bytes(file, dir, name, attr->size, attr->mode);
	if (r == -EEXIST || r == -ESTALE)
		return 0;
	if (r >= 0)
		r = sys_attr_at(dir, name, &made);
	return r < 0 ? r : carry_note_given(h->note, path, &made, 0);
}

/* Of type tree_fn, on a directory of the host. */
static int copy_one(void *ctx, const struct tree_visit *visit,
		    struct hb_error *err)
{
	struct hide *h = ctx;
	char below[PATH_MAX];
	int r;

	if (visit->when != TREE_ENTER || S_ISDIR(visit->attr.mode) ||
	    path_join(h->below, visit->path, below, sizeof(below)) < 0)
		return 0;
	r = copy_file(h, visit->dir, visit->name, &visit->attr, below);
	return r < 0 ? hb_fail(err, r, "cannot copy the agent's notes") : 0;
}

/* Whether a row that hides is above this one, which is the first of its path.
 */
static bool is_hidden(const struct carry_note *note,
		      const struct carry_rule *rule)
{
	for (const struct carry_rule *r = note->rules; r < rule; r++)
		if (strcmp(r->path, rule->path) == 0)
			return false;
	for (size_t i = 0; i < note->n_rules; i++)
		if (note->rules[i].is_hidden && &note->rules[i] != rule &&
		    path_is_beneath(rule->path, note->rules[i].path))
			return true;
	return false;
}

/* Of type tree_fn. */
static int drop_mark(void *ctx, const struct tree_visit *visit,
		     struct hb_error *err)
{
	auto_fd int fd = -1;
	int r = 0;

	(void)ctx;
	if (visit->when != TREE_ENTER)
		return 0;
	if (is_mark(&visit->attr)) {
		r = sys_unlinkat(visit->dir, visit->name, 0);
	} else if (S_ISDIR(visit->attr.mode)) {
		fd = sys_openat(visit->dir, visit->name, DIR_FLAGS, 0);
		r = fd < 0 ? fd : sys_remove_xattr(fd, OVERLAY_PREFIX "opaque");
		if (r == -ENODATA || r == -EOPNOTSUPP)
			r = 0;
	}
	return r < 0 ? hb_fail(err, r, "cannot show the agent's data again")
		     : 0;
}

static int copy_rule(struct hide *h, struct hb_error *err)
{
	const char *slash = strrchr(h->below, '/');
	char inner[PATH_MAX];
	auto_fd int host = -1;
	auto_fd int dir = -1;
	auto_fd int made = -1;
	struct sys_attr attr;
	int r;

	/* The place itself is there in any case: see run/places.h. */
	if (snprintf(inner, sizeof(inner), "%s/.", h->below) >=
	    (int)sizeof(inner))
		return 0;
	dir = carry_open_parents(h->s, h->resource, h->below, &host);
	if (dir < 0 || host < 0)
		return dir == -ESTALE || dir >= 0 ? 0 : dir;
	slash = slash ? slash + 1 : h->below;
	if (sys_attr_at(host, slash, &attr) < 0)
		return 0;
	if (S_ISREG(attr.mode))
		return copy_file(h, host, slash, &attr, h->below);
	if (!S_ISDIR(attr.mode))
		return 0;
	fd_closep(&host);
	made = carry_open_parents(h->s, h->resource, inner, &host);
	if (made < 0 || host < 0)
		return made == -ESTALE || made >= 0 ? 0 : made;
	r = tree_walk(host, ".", TREE_LENIENT, copy_one, h, err);
	/* The box sees this directory itself, in which a mark is a device. */
	return r < 0 ? r
		     : tree_walk(made, ".", TREE_OURS, drop_mark, NULL, err);
}

int carry_hide(struct hb_session *s, struct carry_note *note,
	       struct hb_error *err)
{
	int r = session_open_resources(s, err);

	for (size_t i = 0; r >= 0 && i < note->n_rules; i++) {
		const struct carry_rule *rule = &note->rules[i];
		struct hide h = { .s = s, .note = note };

		h.resource = carry_find_resource(s, rule->path);
		if (h.resource == s->record.n_resources)
			continue;
		h.below = rule->path +
			  strlen(s->record.resources[h.resource].source) + 1;
		if (rule->is_hidden)
			r = hide_rule(&h, rule);
		else if (rule->class == STATE_RUNS &&
			 !strchr(rule->path, '*') && is_hidden(note, rule))
			r = copy_rule(&h, err);
	}
	return r < 0 ? hb_fail(err, r, "cannot hide the agent's data") : 0;
}

int carry_drop_marks(struct hb_session *s, struct hb_error *err)
{
	int r = session_open_resources(s, err);

	for (size_t i = 0; r >= 0 && i < s->record.n_resources; i++)
		if (carry_is_state(s, i) && !s->resources[i].is_gone)
			r = tree_walk(s->resources[i].dir, UPPER, TREE_OURS,
				      drop_mark, NULL, err);
	return r;
}
