/* SPDX-License-Identifier: Apache-2.0 */
#include "changes/alike/below.h"

#include "base/auto.h"
#include "tree/access.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* How far a layer goes on the way to a directory. */
enum reach {
	REACH_NONE,  /* it says nothing about it */
	REACH_DIR,   /* it has the directory */
	REACH_ALONE, /* and hides all that lies below it */
	REACH_GONE,  /* it has something else on the way: nothing is there */
};

/* One component, of what the layer has at `*dir`, which it takes. */
static int descend(int *dir, const char *name, enum reach *reach)
{
	struct entry e;
	int fd, r;

	r = entry_read_layer(*dir, name, &e, NULL);
	if (r < 0)
		return r;
	if (e.type == ENTRY_NONE && !e.is_whiteout) {
		*reach = *reach == REACH_ALONE ? REACH_GONE : REACH_NONE;
		return 0;
	}
	if (e.type != ENTRY_DIR) {
		*reach = REACH_GONE;
		return 0;
	}
	if (e.is_opaque)
		*reach = REACH_ALONE;
	fd = access_open_dir_path(*dir, name, &e, NULL);
	if (fd < 0)
		return fd;
	fd_closep(dir);
	*dir = fd;
	return 0;
}

/* The directory of `len` bytes of the path, in one layer. */
static int reach_dir(int layer, const char *path, size_t len, int *ret_dir,
		     enum reach *ret)
{
	auto_fd int dir = access_open_below(layer, "", 0, O_PATH, NULL);
	auto_free char *copy = strndup(path, len);
	enum reach reach = REACH_DIR;
	char *rest = copy, *name;
	int r = dir < 0 ? dir : copy ? 0 : -ENOMEM;

	while (r >= 0 && reach != REACH_NONE && reach != REACH_GONE &&
	       (name = strsep(&rest, "/")) && *name)
		r = descend(&dir, name, &reach);
	if (r < 0)
		return r;
	*ret = reach;
	if (reach == REACH_DIR || reach == REACH_ALONE)
		*ret_dir = take_fd(&dir);
	return 0;
}

int below_find(const int *layers, size_t n_layers, const struct sighting *s,
	       struct below *ret)
{
	size_t len = (size_t)(s->name - s->path);
	int r;

	for (size_t i = 0; i < n_layers; i++) {
		enum reach reach = REACH_NONE;
		auto_fd int dir = -1;
		struct entry e = { 0 };

		r = reach_dir(layers[i], s->path, len > 0 ? len - 1 : 0, &dir,
			      &reach);
		if (r >= 0 && dir >= 0)
			r = entry_read_layer(dir, s->name, &e, NULL);
		if (r < 0)
			return r;
		if (e.type != ENTRY_NONE) {
			ret->entry = e;
			ret->in_layer = true;
			ret->owned = ret->dir = take_fd(&dir);
			return 0;
		}
		if (e.is_whiteout || reach == REACH_ALONE ||
		    reach == REACH_GONE)
			return 0;
	}
	ret->entry = s->old;
	ret->dir = s->base_dir;
	return 0;
}

void below_done(struct below *below)
{
	fd_closep(&below->owned);
}
