/* SPDX-License-Identifier: Apache-2.0 */
#include "session/live/taken.h"

#include "base/auto.h"
#include "base/time.h"
#include "session/layers.h"
#include "session/session.h"
#include "sys/file.h"

#include <stdlib.h>
#include <string.h>

struct taken_object *taken_find(const struct taken_resource *r,
				const char *path)
{
	uint64_t hash = siphash(&r->taken->key, path, strlen(path));
	size_t low = 0, high = r->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (r->objects[middle].hash < hash)
			low = middle + 1;
		else
			high = middle;
	}
	return low < r->n && r->objects[low].hash == hash ? &r->objects[low]
							  : NULL;
}

int taken_open(struct hb_session *s, size_t resource, struct hb_error *err)
{
	struct resource *open = &s->resources[resource];
	int fd;

	if (open->is_gone)
		return 0;
	fd = layers_open_one(s, s->taken->id, resource, err);
	if (fd < 0)
		return fd;
	fd_closep(&open->upper);
	open->upper = fd;
	return 0;
}

void *taken_memory(struct hb_session *s, size_t resource)
{
	s->taken->resources[resource].seen = &s->memories[resource].seen;
	return &s->taken->resources[resource];
}

/*
 * All whiteouts of an upper are names of one inode, and each new one changes
 * its time.  So of a whiteout it is enough that a deletion was committed.
 */
static bool is_committed(const struct taken_object *o, const struct seen *seen)
{
	if (o->is_vague || o->is_fresh || seen->layer_ino == 0)
		return false;
	return o->is_whiteout
		       ? seen->base_ino == 0
		       : o->is_seen || (seen->layer_ino == o->upper_ino &&
					time_is_same(seen->layer_ctime,
						     o->upper_ctime));
}

bool taken_find_seen(void *ctx, const char *path, struct seen *ret_seen)
{
	const struct taken_resource *r = ctx;
	const struct taken_object *o;

	if (!seen_find(r->seen, path, ret_seen))
		return false;
	o = taken_find(r, path);
	if (o && is_committed(o, ret_seen)) {
		ret_seen->layer_ino = o->copy_ino;
		ret_seen->layer_ctime = o->copy_ctime;
	} else {
		ret_seen->layer_ino = 0;
		ret_seen->layer_ctime = (struct timespec){ 0 };
	}
	return true;
}

void taken_thaw(struct hb_session *s)
{
	if (s->taken && s->taken->is_frozen)
		s->box->thaw(s->box);
	if (s->taken)
		s->taken->is_frozen = false;
}

void taken_free(struct hb_session *s)
{
	struct taken *t = s->taken;

	if (!t)
		return;
	taken_thaw(s);
	if (t->id[0] != '\0')
		layers_drop(s, t->id);
	for (size_t i = 0; i < RECORD_RESOURCES_MAX; i++) {
		free(t->resources[i].objects);
		free(t->resources[i].fresh);
		free(t->resources[i].whole);
	}
	free(t);
	s->taken = NULL;
}
