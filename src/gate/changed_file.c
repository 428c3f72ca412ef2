/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/changed_file.h"

#include "base/auto.h"
#include "base/error.h"
#include "gate/scan/scan.h"
#include "sys/attr.h"
#include "sys/place.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define PIECE ((size_t)64 << 10)

static void close_sides(struct look *look)
{
	for (int i = 0; i < LOOK_SIDES; i++) {
		fd_closep(&look->fds[i]);
		look->errors[i] = 0;
		free(look->objects[i].data);
		look->objects[i] = (struct git_object){ 0 };
	}
}

void look_init(struct look *look, const struct gate_request *request)
{
	*look = (struct look){ .request = request };
	for (int i = 0; i < LOOK_SIDES; i++) {
		look->fds[i] = -1;
		content_walk_init(&look->walks[i]);
	}
}

void look_done(struct look *look)
{
	close_sides(look);
	for (int i = 0; i < LOOK_SIDES; i++)
		content_walk_done(&look->walks[i]);
}

void look_begin(struct look *look, const struct change *change)
{
	close_sides(look);
	look->change = *change;
	look->load = NULL;
}

/* The object of that side, loaded once. */
static int load(struct look *look, enum look_side side)
{
	int r;

	if (look->objects[side].data || look->errors[side] < 0)
		return look->errors[side];
	r = look->load(look->load_ctx, side, &look->objects[side]);
	if (r >= 0 && look->objects[side].type != GIT_BLOB)
		r = -EBADMSG;
	look->errors[side] = r < 0 ? r : 0;
	return look->errors[side];
}

void look_begin_objects(struct look *look, const struct change *change,
			look_load_fn load_object, void *ctx)
{
	look_begin(look, change);
	look->load = load_object;
	look->load_ctx = ctx;
	/* What cannot be read is not empty. */
	look->change.new.size = 1;
	if (look->change.new.type != ENTRY_NONE && load(look, LOOK_NEW) >= 0)
		look->change.new.size = look->objects[LOOK_NEW].size;
}

int look_end(struct look *look, struct hb_error *err)
{
	close_sides(look);
	return content_walk_leave(&look->walks[LOOK_NEW], err);
}

static struct content_place place_of(const struct look *look,
				     enum look_side side)
{
	const struct resource *q = look->request->resource;
	const struct change *c = &look->change;
	bool is_new = side == LOOK_NEW;

	return (struct content_place){
		.root = !is_new			 ? q->base
			: c->layer < q->n_layers ? q->layers[c->layer]
						 : -1,
		.in_layer = is_new,
		.path = c->path,
		.entry = is_new ? &c->new : &c->old,
	};
}

bool look_is_file(const struct look *look, enum look_side side)
{
	return place_of(look, side).entry->type == ENTRY_FILE;
}

bool look_is_fatal(int r)
{
	return r == -HB_E_BUSY || r == -ENOMEM || r == -EMFILE || r == -ENFILE;
}

static int open_object(struct look *look, enum look_side side,
		       struct hb_error *err)
{
	const struct git_object *object = &look->objects[side];
	int r = load(look, side);

	if (r >= 0 && look->fds[side] < 0)
		r = look->fds[side] =
			sys_sealed_file(object->data, object->size);
	if (look_is_fatal(r))
		return hb_fail(err, r, "cannot read the changes");
	return r < 0 ? r : look->fds[side];
}

int look_open(struct look *look, enum look_side side, struct hb_error *err)
{
	const struct content_place place = place_of(look, side);
	struct hb_error why = { 0 };

	if (look->load)
		return open_object(look, side, err);
	if (look->fds[side] < 0 && look->errors[side] == 0) {
		look->fds[side] =
			content_walk_open(&look->walks[side], &place, &why);
		if (look->fds[side] < 0)
			look->errors[side] = look->fds[side];
	}
	if (look->errors[side] < 0 && look_is_fatal(look->errors[side]) && err)
		*err = why;
	return look->errors[side] < 0 ? look->errors[side] : look->fds[side];
}

int look_text(struct look *look, enum look_side side, char **ret_text,
	      size_t *ret_n, struct hb_error *err)
{
	const struct change *c = &look->change;
	uint64_t size = side == LOOK_NEW ? c->new.size : c->old.size;
	auto_free char *text = NULL;
	int r = look->load ? load(look, side) : look_open(look, side, err);
	ssize_t n;

	if (r < 0)
		return r;
	if (look->load)
		size = look->objects[side].size;
	if (size > LOOK_TEXT_MAX)
		return -E2BIG;
	text = malloc(size + 1);
	if (!text)
		return hb_fail(err, -ENOMEM, "cannot read the changes");
	n = look_head(look, side, text, size, err);
	if (n < 0)
		return (int)n;
	text[n] = '\0';
	*ret_n = (size_t)n;
	*ret_text = take_ptr(&text);
	return 0;
}

ssize_t look_head(struct look *look, enum look_side side, char *buf,
		  size_t size, struct hb_error *err)
{
	int r = look->load ? load(look, side) : look_open(look, side, err);

	if (r < 0)
		return r;
	if (!look->load)
		return sys_pread_full(r, buf, size, 0);
	if (size > look->objects[side].size)
		size = look->objects[side].size;
	memcpy(buf, look->objects[side].data, size);
	return (ssize_t)size;
}

int look_scan(struct look *look, enum look_side side, scan_found_fn found,
	      void *ctx, struct hb_error *err)
{
	int r = look->load ? load(look, side) : look_open(look, side, err);

	if (r < 0)
		return r;
	if (!look->load)
		return scan_fd(look->scan, r, found, ctx, err);
	scan_begin(look->scan, found, ctx);
	r = scan_add(look->scan, look->objects[side].data,
		     look->objects[side].size, err);
	return r < 0 ? r : scan_end(look->scan, err);
}

static int add_file(struct look *look, struct sha256 *hash)
{
	auto_free char *piece = malloc(PIECE);
	int fd = look_open(look, LOOK_NEW, NULL);
	uint64_t at = 0;
	ssize_t n;

	if (!piece || fd < 0)
		return -EINVAL;
	while ((n = sys_pread_full(fd, piece, PIECE, at)) > 0) {
		sha256_add(hash, piece, (size_t)n);
		at += (uint64_t)n;
	}
	return (int)n;
}

void look_name(struct look *look, uint8_t ret_name[SHA256_SIZE])
{
	const struct entry *new = &look->change.new;
	char target[PATH_MAX + 1];
	struct sha256 hash;
	ssize_t n = -EINVAL;

	memset(ret_name, 0, SHA256_SIZE);
	sha256_init(&hash);
	if (new->type == ENTRY_LINK) {
		n = look_target(look, target, sizeof(target), NULL);
		if (n > 0)
			sha256_add(&hash, target, (size_t)n);
	} else if (new->type == ENTRY_FILE && look->load) {
		n = load(look, LOOK_NEW);
		if (n >= 0)
			sha256_add(&hash, look->objects[LOOK_NEW].data,
				   look->objects[LOOK_NEW].size);
	} else if (new->type == ENTRY_FILE &&new->size <= LOOK_NAMED_MAX) {
		n = add_file(look, &hash);
	}
	if (n >= 0)
		sha256_end(&hash, ret_name);
}

/* As content_target(). */
static ssize_t target_of_object(struct look *look, char *buf, size_t size)
{
	const struct git_object *object = &look->objects[LOOK_NEW];
	int r = load(look, LOOK_NEW);

	if (r < 0)
		return r;
	if (object->size >= size || memchr(object->data, '\0', object->size))
		return -ENAMETOOLONG;
	memcpy(buf, object->data, object->size + 1);
	return (ssize_t)object->size;
}

ssize_t look_target(struct look *look, char *buf, size_t size,
		    struct hb_error *err)
{
	const struct content_place place = place_of(look, LOOK_NEW);
	struct hb_error why = { 0 };
	ssize_t n = look->load ? target_of_object(look, buf, size)
			       : content_target(&place, buf, size, &why);

	if (n < 0 && look_is_fatal((int)n) && err)
		*err = why;
	return n;
}
