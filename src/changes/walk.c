/* SPDX-License-Identifier: Apache-2.0 */
#include "changes/walk.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/path.h"
#include "base/report.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "tree/access.h"
#include "tree/names.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/*
 * The walk
 * --------
 *
 * A stack of frames, one per level, each with a directory per source: the
 * layers, the topmost first, and the base last.  A source that has no directory
 * there, or whose directory is hidden by a higher layer, is absent.
 *
 *	layers and base		both merge; only the layers' names are looked
 *				at, unless a layer hides the base (`hides`)
 *	layers, no base		a new directory
 *	base, no layer		a directory that is gone
 *
 * Invariants:
 *
 *	(a) The top frame's descriptors are open.  Others may be closed to stay
 *	    within FDS_MAX; on the way back they are opened again through ".."
 *	    of the child, or by their path, and must be what they were.
 *	(b) No more than one component goes to the kernel on the way down, so
 *	    paths of any length work.
 *	(c) A directory in a layer that had to be made searchable gets its mode
 *	    back when its frame goes, whatever made it go.  The frame above is
 *	    opened first: ".." needs that permission as well.
 */
#define FDS_MAX	       192
#define DEPTH_MAX      65536
#define PROGRESS_EVERY 4096

struct source {
	int fd; /* -1: absent, or closed for a while */
	uint64_t dev, ino;
	mode_t mode;
	bool is_there, was_closed;
};

struct frame {
	size_t path_len;
	struct names names;
	struct source *sources; /* n_layers + 1 of them */
	enum git_place git;
	enum conflict doubt;
	struct timespec base_mtime, base_ctime;
	bool hides, in_gone;
};

struct walk {
	const struct walk_request *request;
	size_t n_layers;
	struct names_pool pool;
	struct buf path;
	struct frame *frames;
	size_t n;
	size_t lowest; /* the lowest frame whose descriptors are open */
	size_t n_fds;
	struct entry *entries; /* of a child, by source; scratch */
	int *listed;	       /* descriptors to list; scratch */
	uint64_t n_seen;
};

/* What the sources say about one name. */
struct child {
	struct entry top;   /* of the topmost layer that has it */
	size_t layer;	    /* that layer */
	bool is_touched;    /* there is one */
	bool hides;	    /* lower sources do not shine through */
	int base_fd;	    /* opened for listing, or -1 */
	bool was_closed;    /* that had to be opened up */
	bool is_unreadable; /* the base's directory, for us */
};

static struct frame *top_of(struct walk *w)
{
	return &w->frames[w->n - 1];
}

static int fail_here(struct walk *w, int r, struct hb_error *err)
{
	return hb_fail_at(err, r, w->path.len ? buf_str(&w->path) : ".",
			  "cannot compare");
}

static void close_source(struct walk *w, struct source *s)
{
	if (s->fd < 0)
		return;
	sys_close(s->fd);
	s->fd = -1;
	w->n_fds--;
}

static void close_frame(struct walk *w, struct frame *f)
{
	for (size_t i = 0; i <= w->n_layers; i++)
		close_source(w, &f->sources[i]);
}

/* Keeps the top frame open, which the next one is opened from. */
static void make_room(struct walk *w)
{
	while (w->n_fds + w->n_layers + 1 > FDS_MAX && w->lowest + 1 < w->n) {
		close_frame(w, &w->frames[w->lowest]);
		w->lowest++;
	}
}

static int root_of(const struct walk *w, size_t source)
{
	return source == w->n_layers ? w->request->base
				     : w->request->layers[source];
}

static int reopen_source(struct walk *w, struct frame *f, size_t i, int child,
			 struct hb_error *err)
{
	struct source *s = &f->sources[i];
	auto_fd int fd = -1;
	struct sys_attr a;
	int r;

	if (child >= 0 && f->path_len > 0) {
		fd = sys_openat(child, "..", O_PATH | O_DIRECTORY, 0);
		if (fd < 0)
			return fail_here(w, fd, err);
	} else {
		fd = access_open_below(root_of(w, i), buf_str(&w->path),
				       f->path_len, O_PATH, err);
		if (fd < 0)
			return fd;
	}
	r = sys_attr_at(fd, "", &a);
	if (r < 0)
		return fail_here(w, r, err);
	if (a.ino != s->ino || a.dev != s->dev)
		return hb_fail(err, -HB_E_BUSY,
			       "a directory was moved while it was read");
	s->fd = take_fd(&fd);
	w->n_fds++;
	return 0;
}

/* Opens the frame below the top one again. */
static int reopen_parent(struct walk *w, struct hb_error *err)
{
	struct frame *child = top_of(w), *f = &w->frames[w->n - 2];
	int r;

	for (size_t i = 0; i <= w->n_layers; i++) {
		if (!f->sources[i].is_there)
			continue;
		r = reopen_source(w, f, i, child->sources[i].fd, err);
		if (r < 0)
			return r;
	}
	w->lowest = w->n - 2;
	return 0;
}

static int give_back_modes(struct walk *w, struct frame *f,
			   struct hb_error *err)
{
	int r = 0, given;

	for (size_t i = 0; i <= w->n_layers; i++) {
		const struct source *s = &f->sources[i];
		const struct entry e = { .mode = s->mode };

		if (!s->was_closed || s->fd < 0)
			continue;
		given = access_close_again(s->fd, &e, err);
		if (given < 0)
			r = given;
	}
	return r;
}

static int pop(struct walk *w, struct hb_error *err)
{
	struct frame *f = top_of(w);
	int r = 0, given;

	if (w->n > 1 && w->lowest >= w->n - 1)
		r = reopen_parent(w, err);
	given = give_back_modes(w, f, err);
	close_frame(w, f);
	names_done(&f->names);
	free(f->sources);
	w->n--;
	if (w->n > 0)
		buf_cut(&w->path, top_of(w)->path_len);
	return r < 0 ? r : given;
}

static int add_frame(struct walk *w, struct hb_error *err)
{
	struct frame *f;

	if (w->n == DEPTH_MAX)
		return hb_fail(err, -E2BIG, "directories are nested too deep");
	if (grow(w->frames, w->n) < 0)
		return hb_fail(err, -ENOMEM, "cannot descend");
	f = &w->frames[w->n];
	*f = (struct frame){ .path_len = w->path.len };
	f->sources = calloc(w->n_layers + 1, sizeof(*f->sources));
	if (!f->sources)
		return hb_fail(err, -ENOMEM, "cannot descend");
	for (size_t i = 0; i <= w->n_layers; i++)
		f->sources[i].fd = -1;
	w->n++;
	return 0;
}

static void set_source(struct walk *w, struct source *s, int fd,
		       const struct entry *e, bool was_closed)
{
	*s = (struct source){
		.fd = fd,
		.dev = e->dev,
		.ino = e->ino,
		.mode = e->mode,
		.is_there = true,
		.was_closed = was_closed,
	};
	w->n_fds++;
}

static int list_names(struct walk *w, struct frame *f, struct hb_error *err)
{
	bool with_base = f->in_gone || f->hides || w->request->is_whole;
	size_t n = 0;

	for (size_t i = 0; i < w->n_layers + with_base; i++)
		if (f->sources[i].fd >= 0)
			w->listed[n++] = f->sources[i].fd;
	return names_read(&w->pool, w->listed, n, &f->names, err);
}

static int open_root(struct walk *w, struct hb_error *err)
{
	struct frame *f;
	int r;

	r = add_frame(w, err);
	if (r < 0)
		return r;
	f = top_of(w);
	if (w->request->is_git)
		f->git = GIT_TOP;
	for (size_t i = 0; i <= w->n_layers; i++) {
		bool is_layer = i < w->n_layers;
		struct entry e;
		int fd;

		fd = access_open_below(
			root_of(w, i), "", 0,
			is_layer || w->request->is_whole ? O_RDONLY : O_PATH,
			err);
		if (fd < 0)
			return fd;
		set_source(w, &f->sources[i], fd, &(struct entry){ 0 }, false);
		r = entry_read_fd(fd, is_layer, &e, err);
		if (r < 0)
			return r;
		/* The kernel never hides a whole base. */
		if (e.is_opaque)
			return hb_fail(err, -HB_E_CORRUPT,
				       "the top of a layer is opaque");
		f->sources[i].dev = e.dev;
		f->sources[i].ino = e.ino;
		f->base_mtime = e.mtime;
		f->base_ctime = e.ctime;
	}
	return list_names(w, f, err);
}

/*
 * Asks the layers from the top down until one has the last word.  `entries` of
 * the ones that contribute a directory is set, of the others it is empty.
 */
static int ask_layers(struct walk *w, const char *path, const char *name,
		      struct child *c, struct hb_error *err)
{
	const struct walk_request *q = w->request;
	const struct frame *f = top_of(w);
	size_t layer = 0;
	const struct entry *known =
		q->known ? q->known(q->ctx, path, &layer) : NULL;
	int r;

	for (size_t i = 0; i < w->n_layers; i++)
		w->entries[i].type = ENTRY_NONE;
	for (size_t i = 0; i < w->n_layers; i++) {
		struct entry e;

		if (f->sources[i].fd < 0)
			continue;
		r = entry_read_known(f->sources[i].fd, name,
				     i == layer ? known : NULL, &e, err);
		if (r < 0)
			return r;
		if (e.type == ENTRY_NONE && !e.is_whiteout)
			continue;
		/* That is for the kernel alone. */
		if (e.taken != 0 && e.taken == entry_place(path))
			e.is_opaque = false;
		if (!c->is_touched) {
			c->top = e;
			c->layer = i;
			c->is_touched = true;
		} else if (e.type != ENTRY_DIR) {
			c->hides = true;
			return 0;
		}
		if (e.type != ENTRY_DIR)
			return 0;
		w->entries[i] = e;
		if (e.is_opaque) {
			c->hides = true;
			return 0;
		}
	}
	return 0;
}

/* Opens a base directory whose names have to be read, and tries to search. */
static int open_base(struct walk *w, const char *name, const struct entry *e,
		     struct child *c, struct hb_error *err)
{
	struct hb_error why = { 0 };
	struct sys_attr a;
	int r;

	c->base_fd =
		access_open_dir(top_of(w)->sources[w->n_layers].fd, name, e,
				w->request->is_own_base, &c->was_closed, &why);
	r = c->base_fd < 0 ? c->base_fd : sys_attr_at(c->base_fd, ".", &a);
	if (r >= 0)
		return 0;
	if (c->base_fd >= 0)
		sys_close(c->base_fd);
	c->base_fd = -1;
	if (r == -EACCES || (r == -EXDEV && w->request->is_whole)) {
		c->is_unreadable = true;
		return 0;
	}
	return hb_pass(err, &why, r);
}

static int ask_base(struct walk *w, const char *name, struct sighting *s,
		    struct child *c, struct hb_error *err)
{
	const struct frame *f = top_of(w);
	struct hb_error why = { 0 };
	int fd = f->sources[w->n_layers].fd;
	int r;

	if (fd < 0)
		return 0;
	r = entry_read_base(fd, name, &s->old, &why);
	/* A whiteout over what cannot be seen would vanish from the set. */
	if (r == -EACCES && c->is_touched && !c->top.is_whiteout) {
		s->doubt = CONFLICT_UNREADABLE;
		return 0;
	}
	if (r < 0)
		return hb_pass(err, &why, r);
	if (s->old.type != ENTRY_DIR)
		return 0;
	if (f->in_gone || f->hides || c->hides || w->request->is_whole ||
	    (c->is_touched && c->top.type != ENTRY_DIR)) {
		r = open_base(w, name, &s->old, c, err);
		if (r < 0)
			return r;
		if (c->is_unreadable)
			s->doubt = CONFLICT_UNREADABLE;
	}
	return 0;
}

static int open_layers_below(struct walk *w, const struct frame *parent,
			     struct frame *f, const char *name,
			     struct hb_error *err)
{
	for (size_t i = 0; i < w->n_layers; i++) {
		const struct entry *e = &w->entries[i];
		bool was_closed;
		int fd;

		if (e->type != ENTRY_DIR)
			continue;
		fd = access_open_dir(parent->sources[i].fd, name, e, true,
				     &was_closed, err);
		if (fd < 0)
			return fd;
		set_source(w, &f->sources[i], fd, e, was_closed);
	}
	return 0;
}

static int push(struct walk *w, const struct sighting *s, struct child *c,
		struct hb_error *err)
{
	bool is_new_dir = s->new.type == ENTRY_DIR;
	bool is_only_base = w->request->is_whole && !s->has_layer &&
			    !s->in_hidden && !s->in_gone;
	const struct frame *parent;
	struct frame *f;
	int r;

	make_room(w);
	r = add_frame(w, err);
	if (r < 0)
		return r;
	f = top_of(w);
	parent = f - 1;
	f->git = git_place_below(s->git, s->name);
	f->doubt = s->doubt_below ? s->doubt_below : s->doubt;
	f->hides = parent->hides || c->hides;
	f->in_gone = !is_new_dir && !is_only_base;
	if (is_new_dir) {
		r = open_layers_below(w, parent, f, s->name, err);
		if (r < 0)
			return r;
	}
	if (s->old.type == ENTRY_DIR && !c->is_unreadable) {
		int fd = take_fd(&c->base_fd);

		if (fd < 0)
			fd = access_open_dir_path(
				parent->sources[w->n_layers].fd, s->name,
				&s->old, err);
		if (fd < 0)
			return fd;
		set_source(w, &f->sources[w->n_layers], fd, &s->old,
			   c->was_closed);
		f->base_mtime = s->old.mtime;
		f->base_ctime = s->old.ctime;
	}
	return list_names(w, f, err);
}

bool walk_is_store(const char *path, const char *store_name)
{
	size_t n = strlen(store_name);

	return strncmp(path, store_name, n) == 0 &&
	       (path[n] == '\0' || path[n] == '/' || path[n] == '-');
}

/*
 * With an id behind it, by its name and its being in the base.  A command that
 * makes such a name inside has made a change like any other.
 */
static bool is_skipped(const struct walk *w, const char *name)
{
	const char *store = w->request->store_name;
	struct sys_attr a;

	if (w->n > 1 || !store || !walk_is_store(name, store))
		return false;
	return strcmp(name, store) == 0 ||
	       sys_attr_at(w->frames[0].sources[w->n_layers].fd, name, &a) >= 0;
}

static int show(struct walk *w, struct sighting *s, struct child *c,
		struct hb_error *err)
{
	const struct frame *f = top_of(w);
	int r;

	s->git = f->git;
	s->has_layer = c->is_touched;
	s->layer = c->layer;
	s->new = c->top;
	s->layer_ino = c->top.ino;
	s->layer_ctime = c->top.ctime;
	s->base_dir = f->sources[w->n_layers].fd;
	s->layer_dir = c->is_touched ? f->sources[c->layer].fd : -1;
	s->in_new = !f->sources[w->n_layers].is_there;
	s->in_gone = f->in_gone;
	s->in_hidden = f->hides;
	s->is_opaque = s->old.type == ENTRY_DIR && s->new.type == ENTRY_DIR &&
		       (f->hides || c->hides);
	s->parent_ino = f->sources[w->n_layers].ino;
	s->parent_mtime = f->base_mtime;
	s->parent_ctime = f->base_ctime;
	r = w->request->sight(w->request->ctx, s, err);
	if (r < 0)
		return fail_here(w, r, err);
	if (r == WALK_PAST || (r == WALK_SKIP && s->new.type != ENTRY_DIR))
		return 0;
	if (s->new.type != ENTRY_DIR &&
	    (s->old.type != ENTRY_DIR || c->is_unreadable))
		return 0;
	r = push(w, s, c, err);
	return r < 0 ? fail_here(w, r, err) : 0;
}

static int ask_settled(const struct walk *w, const char *path,
		       const struct child *c, struct hb_error *err)
{
	const struct walk_request *q = w->request;

	if (!q->settled || !c->is_touched || c->top.type != ENTRY_FILE)
		return 0;
	return q->settled(q->ctx, path,
			  w->frames[w->n - 1].sources[c->layer].fd, &c->top,
			  err);
}

static int visit(struct walk *w, const char *name, struct hb_error *err)
{
	const struct frame *f = top_of(w);
	struct sighting s = { .doubt = f->doubt };
	struct child c = { .base_fd = -1 };
	size_t at;
	int r;

	if (is_skipped(w, name))
		return 0;
	if (++w->n_seen % PROGRESS_EVERY == 0)
		(void)report_send(
			w->request->listener,
			&(struct hb_report){ .kind = HB_REPORT_PROGRESS,
					     .n = w->n_seen });
	if (f->path_len > 0)
		(void)buf_add_char(&w->path, '/');
	at = w->path.len;
	r = buf_add_str(&w->path, name);
	if (r < 0)
		return hb_fail(err, r, "a path is too long");
	s.path = buf_str(&w->path);
	s.name = s.path + at;

	r = ask_layers(w, s.path, s.name, &c, err);
	if (r >= 0)
		r = ask_settled(w, s.path, &c, err);
	if (r == 1)
		return 0;
	if (r >= 0)
		r = ask_base(w, s.name, &s, &c, err);
	if (r < 0)
		r = fail_here(w, r, err);
	/* A whiteout for nothing, or nothing that a layer hides. */
	else if ((s.old.type != ENTRY_NONE || c.top.type != ENTRY_NONE) &&
		 (c.is_touched || f->hides || f->in_gone ||
		  w->request->is_whole))
		r = show(w, &s, &c, err);
	if (c.base_fd >= 0 && c.was_closed)
		(void)access_close_again(c.base_fd, &s.old, NULL);
	if (c.base_fd >= 0)
		sys_close(c.base_fd);
	return r;
}

static int run(struct walk *w, struct hb_error *err)
{
	int r;

	r = open_root(w, err);
	while (r >= 0 && w->n > 0) {
		const char *name;

		buf_cut(&w->path, top_of(w)->path_len);
		r = names_next(&top_of(w)->names, &name, err);
		if (r > 0)
			r = visit(w, name, err);
		else if (r == 0)
			r = pop(w, err);
	}
	return r;
}

int walk_run(const struct walk_request *request, struct hb_error *err)
{
	size_t n = request->n_layers + 1;
	auto_free struct entry *entries = calloc(n, sizeof(*entries));
	auto_free int *listed = calloc(n, sizeof(*listed));
	struct walk w = {
		.request = request,
		.n_layers = request->n_layers,
		.entries = entries,
		.listed = listed,
	};
	int r;

	if (!entries || !listed)
		return hb_fail(err, -ENOMEM, "cannot compare");
	buf_init(&w.path, PATH_TREE_MAX);
	names_pool_init(&w.pool, request->spill_dir);
	r = run(&w, err);
	while (w.n > 0)
		(void)pop(&w, NULL);
	free(w.frames);
	names_pool_done(&w.pool);
	buf_done(&w.path);
	return r;
}
