/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "base/path.h"
#include "session/layers.h"
#include "session/session.h"
#include "store/berth.h"
#include "store/store.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "tree/content.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

/*
 * The pending changes of a directory that is gone: the paths of its layers,
 * from the top down, each once.  Without the directory a new file looks like a
 * changed one.
 */
#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW)

struct gone_walk {
	size_t resource;
	int layers[LAYERS_DEEP + 1]; /* n_layers; the last one is walked */
	size_t n_layers;
	bool is_leaf; /* nothing was met since the directory was entered */
	hb_gone_fn fn;
	void *ctx;
	enum tree_flag how;
	int told; /* what `fn` said, if that ended the walk */
};

static bool is_above(const struct gone_walk *w, const char *path)
{
	struct path_part dir = path_dirname(path);

	if (path_part_is(dir, "."))
		dir.n = 0;
	for (size_t i = 0; i + 1 < w->n_layers; i++) {
		auto_fd int fd =
			content_find_dir(w->layers[i], path, dir.n, NULL);
		struct sys_attr attr;

		if (fd >= 0 &&
		    sys_attr_at(fd, path_basename(path).s, &attr) >= 0)
			return true;
	}
	return false;
}

static int visit_path(void *ctx, const struct tree_visit *visit,
		      struct hb_error *err)
{
	struct gone_walk *w = ctx;
	bool is_dir = S_ISDIR(visit->attr.mode);
	bool is_leaf = w->is_leaf;

	if (berth_is_name(visit->path))
		return TREE_SKIP;
	w->is_leaf = is_dir && visit->when == TREE_ENTER;
	/* One with something in it is named by that. */
	if (is_dir && (visit->when == TREE_ENTER || !is_leaf))
		return 0;
	if (is_above(w, visit->path))
		return 0;
	w->told = w->fn(w->ctx, w->resource, visit->path, err);
	return w->told < 0 ? w->told : 0;
}

/* Takes the descriptor. */
static int walk_layer(struct gone_walk *w, int fd, struct hb_error *err)
{
	int r;

	if (fd < 0)
		return fd;
	w->layers[w->n_layers++] = fd;
	w->is_leaf = false;
	r = tree_walk(fd, ".", w->how, visit_path, w, err);
	return r < 0 ? r : 0;
}

static int open_upper(const struct hb_session *s, size_t number)
{
	auto_fd int dir = -1;

	if (s->record.resources[number].is_in_base)
		return -HB_E_STATE;
	dir = berth_open(&s->record, number, s->dir, -1, NULL);
	return dir < 0 ? dir : sys_openat(dir, "upper", DIR_FLAGS, 0);
}

static int walk_layers(const struct hb_session *s, struct gone_walk *w,
		       struct hb_error *err)
{
	char path[PATH_MAX];
	uint64_t done = 0;
	int r = walk_layer(w, open_upper(s, w->resource), err);

	/* Moved to its layer by a mark that is half made. */
	if (r == -ENOENT && s->record.is_freezing)
		r = 0;
	if (r >= 0 && s->record.n_layers > 0)
		r = session_last_done(s, &done, err);
	for (size_t i = s->record.n_layers; r >= 0 && i > 0; i--) {
		const struct record_layer *layer = &s->record.layers[i - 1];

		if (!layer_counts(layer, done) || w->n_layers > LAYERS_DEEP)
			continue;
		(void)snprintf(path, sizeof(path), LAYERS_DIR "/%s/%s/r%zu",
			       s->record.family, layer->id, w->resource);
		r = walk_layer(w, sys_openat(s->store->dir, path, DIR_FLAGS, 0),
			       err);
	}
	return r;
}

int hb_session_gone(struct hb_session *session, hb_gone_fn fn, void *ctx,
		    struct hb_error *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && session->info.knows_gone &&
			   i < session->record.n_resources;
	     i++) {
		struct gone_walk w = {
			.resource = i,
			.fn = fn,
			.ctx = ctx,
			/* While a box runs nothing of it is touched. */
			.how = session->has_lock ? TREE_OURS : TREE_LENIENT,
		};
		struct hb_error why = { 0 };

		if (!session->infos[i].is_gone)
			continue;
		r = walk_layers(session, &w, &why);
		while (w.n_layers > 0)
			sys_close(w.layers[--w.n_layers]);
		if (r < 0 && w.told < 0 && err)
			*err = why;
		/* It lies in the directory, or cannot be read. */
		if (r < 0 && w.told >= 0)
			r = fn(ctx, i, NULL, err);
	}
	return r < 0 ? r : 0;
}
