/* SPDX-License-Identifier: Apache-2.0 */
#include "git/treediff.h"

#include "base/grow.h"
#include "git/objectstore.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One side of a directory. */
struct cursor {
	struct git_object object;
	struct gittree tree;
	struct gittree_entry entry;
	bool has_entry;
};

/* A directory that is being compared. */
struct frame {
	struct cursor old, new;
	size_t path_len; /* of the directory, with its slash */
};

struct walk {
	struct treediff *diff;
	treediff_fn fn;
	void *ctx;
	struct frame *frames;
	size_t n;
	size_t live; /* bytes of their trees */
	char path[TREEDIFF_PATH_MAX + 1];
};

int treediff_read(void *ctx, const struct git_id *id, size_t max,
		  struct git_object *ret_object)
{
	return objectstore_read(ctx, id, max, ret_object);
}

static int advance(struct cursor *c)
{
	int r = gittree_next(&c->tree, &c->entry);

	c->has_entry = r == 1;
	return r < 0 ? r : 0;
}

static int open_side(struct walk *w, struct cursor *c, const struct git_id *id)
{
	struct treediff *diff = w->diff;
	int r;

	if (!id)
		return 0;
	diff->at = *id;
	if (diff->n_trees == 0)
		return -EFBIG;
	diff->n_trees--;
	r = diff->read(diff->ctx, id, OBJECTSTORE_TREE_MAX, &c->object);
	if (r < 0)
		return r;
	w->live += c->object.size;
	if (c->object.type != GIT_TREE)
		return -EBADMSG;
	if (w->live > TREEDIFF_LIVE_MAX)
		return -EFBIG;
	gittree_open(&c->tree, &c->object, strlen(id->hex));
	r = advance(c);
	if (r >= 0)
		diff->at.hex[0] = '\0';
	return r;
}

static void leave(struct walk *w)
{
	struct frame *f = &w->frames[--w->n];

	w->live -= f->old.object.size + f->new.object.size;
	free(f->old.object.data);
	free(f->new.object.data);
}

static int enter(struct walk *w, const struct git_id *old,
		 const struct git_id *new, size_t path_len)
{
	struct frame *f;
	int r;

	if (grow(w->frames, w->n) < 0)
		return -ENOMEM;
	f = &w->frames[w->n++];
	*f = (struct frame){ .path_len = path_len };
	r = open_side(w, &f->old, old);
	return r < 0 ? r : open_side(w, &f->new, new);
}

/* git's order: a directory's name ends in a slash. */
static int compare(const struct gittree_entry *a, const struct gittree_entry *b)
{
	const size_t n = a->name_len < b->name_len ? a->name_len : b->name_len;
	const int r = memcmp(a->name, b->name, n);
	unsigned char c, d;

	if (r != 0)
		return r;
	c = (unsigned char)a->name[n];
	d = (unsigned char)b->name[n];
	if (!c && a->mode == GITTREE_DIR)
		c = '/';
	if (!d && b->mode == GITTREE_DIR)
		d = '/';
	if (c != d)
		return c < d ? -1 : 1;
	/* One of them has the slash in its name: these are two things. */
	return (a->name_len > b->name_len) - (a->name_len < b->name_len);
}

static struct treediff_side side_of(const struct cursor *c)
{
	struct treediff_side side = { .mode = c->entry.mode };

	gittree_id(&c->tree, &c->entry, &side.id);
	return side;
}

/* The path of the entry, which ends in a slash if it is a directory. */
static int set_path(struct walk *w, size_t path_len,
		    const struct gittree_entry *entry, size_t *ret_len)
{
	const bool is_dir = entry->mode == GITTREE_DIR;

	if (entry->name_len + is_dir > TREEDIFF_PATH_MAX - path_len)
		return -EFBIG;
	memcpy(w->path + path_len, entry->name, entry->name_len);
	path_len += entry->name_len;
	if (is_dir)
		w->path[path_len++] = '/';
	w->path[path_len] = '\0';
	*ret_len = path_len;
	return 0;
}

static bool is_same(const struct cursor *a, const struct cursor *b)
{
	return a->entry.mode == b->entry.mode &&
	       a->tree.id_size == b->tree.id_size &&
	       memcmp(a->entry.id, b->entry.id, a->tree.id_size) == 0;
}

/* NULL: it is not on that side.  Both are directories, or none is. */
static int differ(struct walk *w, size_t path_len, const struct cursor *old,
		  const struct cursor *new)
{
	struct treediff_change change = { .path = w->path };
	const struct gittree_entry *entry = old ? &old->entry : &new->entry;
	size_t len;
	int r;

	if (old && new &&is_same(old, new))
		return 0;
	r = set_path(w, path_len, entry, &len);
	if (r < 0)
		return r;
	if (old)
		change.old = side_of(old);
	if (new)
		change.new = side_of(new);
	if (entry->mode == GITTREE_DIR)
		return enter(w, old ? &change.old.id : NULL,
			     new ? &change.new.id : NULL, len);
	if (w->diff->n_paths == 0)
		return -EFBIG;
	w->diff->n_paths--;
	return w->fn(w->ctx, &change);
}

/* The next name of the innermost directory. */
static int step(struct walk *w)
{
	struct frame *f = &w->frames[w->n - 1];
	struct cursor old = f->old, new = f->new;
	int order = 0, r = 0;

	if (!old.has_entry && !new.has_entry) {
		leave(w);
		return 0;
	}
	if (old.has_entry && new.has_entry)
		order = compare(&old.entry, &new.entry);
	else
		order = old.has_entry ? -1 : 1;
	if (order <= 0)
		r = advance(&f->old);
	if (r >= 0 && order >= 0)
		r = advance(&f->new);
	if (r < 0)
		return r;
	/* This may move the frames. */
	return differ(w, f->path_len, order <= 0 ? &old : NULL,
		      order >= 0 ? &new : NULL);
}

int treediff_run(struct treediff *diff, const struct git_id *old,
		 const struct git_id *new, treediff_fn fn, void *ctx)
{
	struct walk w = { .diff = diff, .fn = fn, .ctx = ctx };
	int r = 0;

	diff->at.hex[0] = '\0';
	if (!old || !new || !git_id_is_same(old, new))
		r = enter(&w, old, new, 0);
	while (r >= 0 && w.n > 0)
		r = step(&w);
	while (w.n > 0)
		leave(&w);
	free(w.frames);
	return r < 0 ? r : 0;
}
