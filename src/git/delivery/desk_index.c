/* SPDX-License-Identifier: Apache-2.0 */
#include "git/delivery/desk_index.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/grow.h"
#include "git/delivery/commit_tree.h"
#include "git/delivery/decision.h"
#include "git/delivery/tree_index.h"
#include "git/delivery/values.h"
#include "git/indexmerge.h"
#include "git/kept/kept_index.h"
#include "git/treediff.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "tree/access.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bytes {
	char *data;
	size_t len;
};

static ssize_t read_bytes(void *ctx, void *to, size_t size, uint64_t offset)
{
	const struct bytes *bytes = ctx;
	size_t n;

	if (offset >= bytes->len)
		return 0;
	n = bytes->len - (size_t)offset;
	n = n > size ? size : n;
	memcpy(to, bytes->data + offset, n);
	return (ssize_t)n;
}

static ssize_t read_fd(void *ctx, void *to, size_t size, uint64_t offset)
{
	return sys_pread_full(*(const int *)ctx, to, size, offset);
}

/* Of type indexmerge_request.conflict. */
static int add_conflict(void *ctx, const char *path)
{
	struct delivery *out = ((struct decision *)ctx)->out;
	char *copy = strdup(path);

	if (!copy || grow(out->conflicts, out->n_conflicts) < 0) {
		free(copy);
		return -ENOMEM;
	}
	out->conflicts[out->n_conflicts++] = copy;
	return 0;
}

static struct indexmerge_side side_of(int *fd)
{
	struct sys_attr attr;

	if (*fd < 0 || sys_attr_at(*fd, "", &attr) < 0)
		return (struct indexmerge_side){ 0 };
	return (struct indexmerge_side){ read_fd, fd, attr.size };
}

static size_t id_size(const struct decision *d)
{
	for (size_t i = 0; i < d->base.n; i++)
		if (strlen(d->base.refs[i].value) == 64 &&
		    strncmp(d->base.refs[i].value, "ref:", 4) != 0)
			return 32;
	return 20;
}

static unsigned digit(char c)
{
	return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static struct indexmerge_value value_of(const struct treediff_side *side)
{
	struct indexmerge_value value = { .mode = (uint32_t)side->mode };
	const char *hex = side->id.hex;

	for (size_t i = 0; value.mode != 0 && hex[2 * i]; i++)
		value.id[i] = (unsigned char)(digit(hex[2 * i]) << 4 |
					      digit(hex[2 * i + 1]));
	return value;
}

/* Of type treediff_fn. */
static int add_moved(void *ctx, const struct treediff_change *change)
{
	struct delivery *out = ctx;
	char *path = strdup(change->path);

	if (!path || grow(out->moved, out->n_moved) < 0) {
		free(path);
		return -ENOMEM;
	}
	out->moved[out->n_moved++] = (struct indexmerge_moved){
		.path = path,
		.base = value_of(&change->old),
		.session = value_of(&change->new),
	};
	return 0;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct indexmerge_moved *)a)->path,
		      ((const struct indexmerge_moved *)b)->path);
}

/*
 * The view is live, so the session may have gone on from commits that the user
 * made since T0.  By the index of T0 alone, entries of theirs seem to be staged
 * by the user, and undone by the session.
 */
static int find_moved(struct decision *d)
{
	struct delivery *out = d->out;
	struct treediff diff = { .read = treediff_read,
				 .ctx = d->q->objects,
				 .n_paths = TREEDIFF_PATHS,
				 .n_trees = TREEDIFF_TREES };
	struct git_id old, new;
	char head[PATH_MAX];
	const char *base;
	int r;

	decision_head(d, head, sizeof(head));
	base = decision_resolve(&d->base, head);
	/* Another branch than at T0 may be where it was: the index is not. */
	if (!d->has_moved || !base[0] ||
	    strcmp(base, decision_resolve(d->q->kept, head)) == 0)
		return 0;
	r = values_is_ancestor(d->q->objects, base, d->session_commit);
	if (r <= 0)
		return r;
	r = commit_tree(d->q->objects, base, &old);
	if (r >= 0)
		r = commit_tree(d->q->objects, d->session_commit, &new);
	if (r >= 0)
		r = treediff_run(&diff, &old, &new, add_moved, out);
	if (out->n_moved > 0)
		qsort(out->moved, out->n_moved, sizeof(*out->moved), by_path);
	/* What is missing or too much is said by others. */
	return r == -ENOMEM ? r : 0;
}

/* Without stat data: only whether it can be merged is asked. */
static int try(struct decision *d, const char *path, bool is_newer,
	       struct bytes *session, struct indexmerge_result *ret)
{
	auto_buf struct buf merged = BUF_INIT(INDEXMERGE_MAX);
	struct indexmerge_request q = { .id_size = id_size(d),
					.conflict = add_conflict,
					.ctx = d };
	char whole[PATH_MAX];
	uint64_t size;
	auto_fd int base = -1;
	int then = d->q->kept_index;
	int n = snprintf(whole, sizeof(whole), "%s%s%s", d->q->prefix,
			 d->q->prefix[0] ? "/" : "", path);

	if (n < 0 || (size_t)n >= sizeof(whole))
		return -ENAMETOOLONG;
	base = access_open_regular(d->q->base, whole, &size);
	if (base < 0 && base != -ENOENT)
		return base;
	/* Without a copy, the base's is the one of T0 if it did not change. */
	if (then < 0 && base >= 0 && is_newer)
		return -EBADMSG;
	q.moved = d->out->moved;
	q.n_moved = d->out->n_moved;
	q.base = side_of(&base);
	q.then = side_of(then < 0 ? &base : &then);
	if (session->data)
		q.session = (struct indexmerge_side){ read_bytes, session,
						      session->len };
	return indexmerge(&q, &merged, ret);
}

/*
 * The base has the session's commits meanwhile, maybe merged with others.  Then
 * entries that are those of the session's own commit are history: only others
 * are still to be delivered.
 */
static int has_own_entries(struct decision *d, struct bytes *session)
{
	auto_buf struct buf committed = BUF_INIT(INDEXMERGE_MAX);
	auto_buf struct buf merged = BUF_INIT(INDEXMERGE_MAX);
	struct indexmerge_result result;
	struct bytes bytes;
	struct indexmerge_request q = { .id_size = id_size(d) };
	int r = tree_index_make(d->q->objects, d->session_commit, &committed);

	if (r < 0)
		return r;
	bytes = (struct bytes){ committed.data, committed.len };
	q.then = q.base =
		(struct indexmerge_side){ read_bytes, &bytes, bytes.len };
	if (session->data)
		q.session = (struct indexmerge_side){ read_bytes, session,
						      session->len };
	r = indexmerge(&q, &merged, &result);
	return r < 0 ? r : result.is_changed;
}

static int add(struct decision *d, const char *path, enum delivery_how how)
{
	return decision_add(d, path, how, DELIVERY_STAGE_INDEX) ? 0 : -ENOMEM;
}

int desk_index_decide(struct decision *d)
{
	const struct delivery_change *change;
	struct indexmerge_result result = { 0 };
	struct bytes session = { 0 };
	char path[PATH_MAX];
	int r = 0;

	(void)snprintf(path, sizeof(path), "%s%sindex", d->q->desk,
		       d->q->desk[0] ? "/" : "");
	d->out->id_size = id_size(d);
	change = decision_change(d, path);
	if (!change)
		return 0;
	if (!d->is_forward)
		return add(d, path, DELIVERY_STAYS);
	if (!change->is_gone)
		r = d->q->read(d->q->ctx, path, (size_t)KEPT_INDEX_MAX,
			       &session.data, &session.len);
	if (r >= 0 && d->is_merged)
		r = has_own_entries(d, &session);
	else if (r >= 0)
		r = find_moved(d);
	if (r >= 0 && !d->is_merged)
		r = try(d, path, change->is_newer, &session, &result);
	free(session.data);
	if (r < 0)
		return r == -ENOMEM ? r : -ENOTSUP;
	if (d->is_merged)
		return add(d, path, r ? DELIVERY_STAYS : DELIVERY_SETTLED);
	return add(d, path,
		   result.is_changed || result.n_conflicts > 0
			   ? DELIVERY_INDEX
			   : DELIVERY_SETTLED);
}
