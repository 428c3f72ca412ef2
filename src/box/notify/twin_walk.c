/* SPDX-License-Identifier: Apache-2.0 */
#include "box/notify/twin_walk.h"

#include "base/auto.h"
#include "base/path.h"
#include "box/notify/made_links.h"
#include "sys/dir.h"
#include "sys/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

int twin_next_entry(struct twin_level *l, const struct k_dirent **ret)
{
	for (;;) {
		const struct k_dirent *e;

		if (l->at >= l->n) {
			ssize_t n = sys_getdents(l->from, l->block,
						 TWIN_BLOCK_SIZE);

			if (n <= 0)
				return (int)n;
			l->n = (size_t)n;
			l->at = 0;
		}
		e = (const struct k_dirent *)(const void *)(l->block + l->at);
		l->at += e->reclen;
		if (path_is_dots(e->name))
			continue;
		*ret = e;
		return 1;
	}
}

static void close_level(struct twin_level *l)
{
	fd_closep(&l->from);
	fd_closep(&l->to);
}

static int take_entry(struct twin_walk *w, const struct twin_deeds *deeds,
		      const struct k_dirent *e)
{
	struct twin_level *l = &w->levels[w->depth - 1], *next = l + 1;
	struct stat st;
	bool is_dir = e->type == DT_DIR;
	int r;

	if (e->type == DT_UNKNOWN)
		is_dir = sys_fstatat(l->from, e->name, &st,
				     AT_SYMLINK_NOFOLLOW) >= 0 &&
			 S_ISDIR(st.st_mode);
	if (!is_dir)
		return deeds->file(w, l, e->name);
	if (w->depth == TWIN_DEPTH_MAX)
		return -E2BIG;
	next->from = next->to = -1;
	next->at = next->n = 0;
	(void)snprintf(next->name, sizeof(next->name), "%s", e->name);
	next->path = made_links_path(l->path, e->name);
	r = deeds->enter(w, l, next->name, next);
	if (r != 0) {
		close_level(next);
		return r < 0 ? r : 0;
	}
	w->depth++;
	return 0;
}

int twin_walk(struct twin_walk *w, const struct twin_deeds *deeds, int from,
	      int to)
{
	int r = 0;

	w->levels = calloc(TWIN_DEPTH_MAX, sizeof(*w->levels));
	if (!w->levels) {
		fd_closep(&from);
		fd_closep(&to);
		return -ENOMEM;
	}
	w->levels[0].from = from;
	w->levels[0].to = to;
	w->depth = 1;
	while (r >= 0 && w->depth > 0) {
		struct twin_level *l = &w->levels[w->depth - 1];
		const struct k_dirent *e = NULL;

		r = twin_next_entry(l, &e);
		if (r > 0) {
			r = take_entry(w, deeds, e);
			continue;
		}
		if (r == 0 && deeds->leave)
			r = deeds->leave(w, l, w->depth > 1 ? l - 1 : NULL);
		close_level(l);
		w->depth--;
	}
	while (w->depth > 0)
		close_level(&w->levels[--w->depth]);
	free(w->levels);
	w->levels = NULL;
	return r;
}
