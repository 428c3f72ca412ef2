/* SPDX-License-Identifier: Apache-2.0 */
#include "session/layers.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "store/layout.h"
#include "store/store.h"
#include "sys/file.h"
#include "sys/proc.h"
#include "tree/tree.h"
#include "txn/history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A stack this high and a walk through it want more descriptors than usual. */
#define MANY_LAYERS 64

int session_last_done(const struct hb_session *s, uint64_t *ret_id,
		      struct hb_error *err)
{
	int r = history_last(s->dir, HISTORY_DONE, ret_id, err);

	if (r == -ENOENT) {
		*ret_id = 0;
		return 0;
	}
	return r;
}

bool layer_counts(const struct record_layer *layer, uint64_t last_done)
{
	if (layer->from != 0 && layer->from > last_done)
		return false;
	if (layer->from == 0 && layer->is_copy)
		return false;
	return layer->until == 0 || layer->until > last_done;
}

bool layer_is_there(const struct record_layer *layer, uint64_t last_done)
{
	if (layer_counts(layer, last_done))
		return true;
	/* It lies over the base of then, which an undo takes back. */
	return layer->is_copy && layer->after <= last_done &&
	       (layer->until == 0 || layer->until > last_done);
}

int session_count_layers(const struct hb_session *s, size_t *ret_n,
			 struct hb_error *err)
{
	uint64_t done = 0;
	int r = 0;

	*ret_n = 0;
	if (s->record.n_layers > 0)
		r = session_last_done(s, &done, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < s->record.n_layers; i++)
		*ret_n += layer_counts(&s->record.layers[i], done);
	return 0;
}

int session_find_mark(const struct hb_session *s, const char *mark,
		      size_t *ret_number, struct hb_error *err)
{
	struct suggestion suggestion;
	uint64_t done = 0;
	int r;

	r = session_last_done(s, &done, err);
	if (r < 0)
		return r;
	suggestion_init(&suggestion, mark);
	/* The newest of a name that was given again after a commit. */
	for (size_t i = s->record.n_layers; i > 0; i--) {
		const struct record_layer *layer = &s->record.layers[i - 1];

		if (layer->mark[0] == '\0' || !layer_is_there(layer, done))
			continue;
		if (strcmp(layer->mark, mark) == 0) {
			*ret_number = i - 1;
			return 0;
		}
		suggestion_offer(&suggestion, layer->mark);
	}
	if (suggestion.best)
		hb_fix(err, "did you mean '%s'?", suggestion.best);
	else
		hb_fix(err, "holdback status shows the marks");
	return hb_fail(err, -HB_E_USAGE, "session '%s' has no mark '%s'",
		       s->record.name, quoted(mark));
}

int layers_open(const struct hb_session *s, const char *layer,
		struct hb_error *err)
{
	char path[sizeof(LAYERS_DIR) + (size_t)2 * RECORD_ID_SIZE];

	(void)snprintf(path, sizeof(path), LAYERS_DIR "/%s/%s",
		       s->record.family, layer);
	return store_open_own(s->store->dir, path, err);
}

int layers_open_one(const struct hb_session *s, const char *layer,
		    size_t number, struct hb_error *err)
{
	char name[LAYOUT_RESOURCE_SIZE];
	auto_fd int place = layers_open(s, layer, err);
	int fd;

	if (place < 0)
		return place;
	layout_resource_dir(number, name);
	fd = sys_openat(place, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	return fd < 0 ? hb_fail(err, fd, "cannot open layer %s of session '%s'",
				layer, s->record.name)
		      : fd;
}

void layers_drop(const struct hb_session *s, const char *layer)
{
	char path[sizeof(LAYERS_DIR) + RECORD_ID_SIZE];
	auto_fd int family = -1;

	(void)snprintf(path, sizeof(path), LAYERS_DIR "/%s", s->record.family);
	family = store_open_own(s->store->dir, path, NULL);
	if (family >= 0 && record_is_id(layer))
		(void)tree_remove(family, layer, NULL);
}

int session_open_layers(struct hb_session *s, size_t number,
			struct hb_error *err)
{
	struct resource *resource = &s->resources[number];
	char name[LAYOUT_RESOURCE_SIZE];
	size_t n;
	uint64_t done = 0;
	int r;

	if (resource->layers || (resource->is_gone && resource->dir < 0))
		return 0;
	r = session_count_layers(s, &n, err);
	if (r >= 0 && s->record.n_layers > 0)
		r = session_last_done(s, &done, err);
	if (r < 0)
		return r;
	if (n > MANY_LAYERS)
		sys_raise_fd_limit();
	resource->layers = calloc(n + 1, sizeof(*resource->layers));
	resource->is_shared = calloc(n + 1, sizeof(*resource->is_shared));
	if (!resource->layers || !resource->is_shared)
		return hb_fail(err, -ENOMEM, "cannot open the layers");
	layout_resource_dir(number, name);
	resource->layers[0] = resource->upper;
	/* A copy is only read. */
	resource->is_shared[0] = s->taken != NULL;
	resource->n_layers = 1;
	for (size_t i = s->record.n_layers; i > 0; i--) {
		const struct record_layer *layer = &s->record.layers[i - 1];
		auto_fd int place = -1;
		int fd;

		if (!layer_counts(layer, done))
			continue;
		/* As many, so that a number means the same one everywhere. */
		place = resource->is_gone ? sys_dup_above(resource->upper, 3)
					  : layers_open(s, layer->id, err);
		fd = place < 0
			     ? place
			     : sys_openat(place, resource->is_gone ? "." : name,
					  O_RDONLY | O_DIRECTORY | O_NOFOLLOW,
					  0);
		if (fd < 0)
			return hb_fail(err, fd,
				       "cannot open layer %s of session '%s'",
				       layer->id, s->record.name);
		resource->is_shared[resource->n_layers] = true;
		resource->layers[resource->n_layers++] = fd;
	}
	return 0;
}

int session_layer_paths(const struct hb_session *s, size_t number,
			char ***ret_paths, size_t *ret_n, struct hb_error *err)
{
	char name[LAYOUT_RESOURCE_SIZE];
	char **paths, *at;
	uint64_t done = 0;
	size_t n, room;
	int r;

	r = session_count_layers(s, &n, err);
	if (r >= 0 && n > 0)
		r = session_last_done(s, &done, err);
	if (r < 0)
		return r;
	*ret_n = 0;
	*ret_paths = NULL;
	if (n == 0)
		return 0;
	room = strlen(s->store->path) + sizeof("/" LAYERS_DIR "/") +
	       (size_t)2 * RECORD_ID_SIZE + LAYOUT_RESOURCE_SIZE;
	paths = malloc(n * (sizeof(*paths) + room));
	if (!paths)
		return hb_fail(err, -ENOMEM, "cannot make the view");
	at = (char *)(paths + n);
	layout_resource_dir(number, name);
	for (size_t i = 0; i < s->record.n_layers; i++) {
		const struct record_layer *layer = &s->record.layers[i];

		if (!layer_counts(layer, done))
			continue;
		(void)snprintf(at, room, "%s/" LAYERS_DIR "/%s/%s/%s",
			       s->store->path, s->record.family, layer->id,
			       name);
		paths[(*ret_n)++] = at;
		at += room;
	}
	*ret_paths = paths;
	return 0;
}

bool session_drop_undone(struct hb_session *s, uint64_t last_done)
{
	bool has_dropped = false;

	for (size_t i = s->record.n_layers; i > 0; i--) {
		struct record_layer *layer = &s->record.layers[i - 1];

		if (layer->is_copy && layer->after > last_done &&
		    (layer->from == 0 || layer->from > last_done)) {
			record_remove_layer(&s->record, i - 1);
			has_dropped = true;
			continue;
		}
		has_dropped = has_dropped || layer->until > last_done ||
			      layer->from > last_done;
		if (layer->until > last_done)
			layer->until = 0;
		if (layer->after > last_done)
			layer->after = last_done;
		if (layer->from > last_done && layer->is_copy)
			layer->from = 0;
		else if (layer->from > last_done)
			record_remove_layer(&s->record, i - 1);
	}
	return has_dropped;
}
