/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/changed_file.h"

#include "base/auto.h"
#include "base/error.h"
#include "sys/attr.h"

#include <errno.h>
#include <stdlib.h>

static void close_sides(struct look *look)
{
	for (int i = 0; i < LOOK_SIDES; i++) {
		fd_closep(&look->fds[i]);
		look->errors[i] = 0;
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

int look_open(struct look *look, enum look_side side, struct hb_error *err)
{
	const struct content_place place = place_of(look, side);
	struct hb_error why = { 0 };

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
	int fd = look_open(look, side, err);
	ssize_t n;

	if (fd < 0)
		return fd;
	if (size > LOOK_TEXT_MAX)
		return -E2BIG;
	text = malloc(size + 1);
	if (!text)
		return hb_fail(err, -ENOMEM, "cannot read the changes");
	n = sys_pread_full(fd, text, size, 0);
	if (n < 0)
		return (int)n;
	text[n] = '\0';
	*ret_n = (size_t)n;
	*ret_text = take_ptr(&text);
	return 0;
}

ssize_t look_target(struct look *look, char *buf, size_t size,
		    struct hb_error *err)
{
	const struct content_place place = place_of(look, LOOK_NEW);
	struct hb_error why = { 0 };
	ssize_t n = content_target(&place, buf, size, &why);

	if (n < 0 && look_is_fatal((int)n) && err)
		*err = why;
	return n;
}
