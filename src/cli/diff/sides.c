/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/diff/sides.h"

#include "base/auto.h"
#include "base/error.h"

#include <errno.h>
#include <string.h>

/* As much as git looks at to tell text from other things. */
#define LOOKED_AT ((size_t)8000)
#define CHUNK	  ((size_t)128 << 10)

#define MODE_LINK 0120000U
#define MODE_FILE 0100644U
#define MODE_PROG 0100755U

void sides_init(struct sides *s, struct hb_changes *changes)
{
	*s = (struct sides){ .changes = changes };
}

void sides_done(struct sides *s)
{
	free(s->room[HB_SIDE_OLD]);
	free(s->room[HB_SIDE_NEW]);
	*s = (struct sides){ 0 };
}

static struct side describe(const struct hb_object *object)
{
	bool is_link = object->type == HB_TYPE_LINK;

	return (struct side){
		.is_there = is_link || object->type == HB_TYPE_FILE,
		.is_link = is_link,
		.mode = is_link		      ? MODE_LINK
			: object->mode & 0100 ? MODE_PROG
					      : MODE_FILE,
		.size = object->size,
	};
}

static int read_whole(struct sides *s, enum hb_side which, struct hb_error *err)
{
	struct side *side = &s->of[which];
	ssize_t n = 0;

	if (!s->room[which]) {
		s->room[which] = malloc(SIDES_WHOLE);
		if (!s->room[which])
			return hb_fail(err, -ENOMEM, "cannot read a change");
	}
	side->bytes = s->room[which];
	if (side->size > 0)
		n = hb_changes_read(s->changes, which, side->bytes,
				    (size_t)side->size, 0, NULL);
	if (n >= 0 && (uint64_t)n != side->size)
		n = -HB_E_BUSY;
	if (n < 0)
		side->error = (int)n;
	side->is_whole = n >= 0;
	return 0;
}

int sides_load(struct sides *s, const struct hb_change *change,
	       bool with_content, struct hb_error *err)
{
	s->of[HB_SIDE_OLD] = describe(&change->old);
	s->of[HB_SIDE_NEW] = describe(&change->new);
	for (int i = 0; with_content && i < 2; i++) {
		int r;

		if (!s->of[i].is_there || s->of[i].size > SIDES_WHOLE)
			continue;
		r = read_whole(s, (enum hb_side)i, err);
		if (r < 0)
			return r;
	}
	return 0;
}

uint64_t sides_count_lines(const struct side *side)
{
	const char *at = side->bytes, *end;
	uint64_t n = 0;

	if (!side->is_there || side->size == 0)
		return 0;
	end = at + side->size;
	while (at < end && (at = memchr(at, '\n', (size_t)(end - at)))) {
		at++;
		n++;
	}
	return n + (end[-1] != '\n');
}

bool sides_are_both(const struct sides *s)
{
	return s->of[HB_SIDE_OLD].is_there && s->of[HB_SIDE_NEW].is_there;
}

bool sides_are_whole(const struct sides *s)
{
	for (int i = 0; i < 2; i++)
		if (s->of[i].is_there && !s->of[i].is_whole)
			return false;
	return true;
}

bool sides_are_text(const struct sides *s)
{
	uint64_t lines = 0;

	if (!sides_are_whole(s))
		return false;
	for (int i = 0; i < 2; i++) {
		const struct side *side = &s->of[i];
		size_t looked = LOOKED_AT;

		if (!side->is_there)
			continue;
		if (side->size < looked)
			looked = (size_t)side->size;
		if (looked > 0 && memchr(side->bytes, '\0', looked))
			return false;
		lines += sides_count_lines(side);
	}
	/* One text alone is not compared. */
	return !sides_are_both(s) || lines <= SIDES_LINES;
}

int sides_stream(struct sides *s, enum hb_side which, side_fn fn, void *ctx,
		 struct hb_error *err)
{
	const struct side *side = &s->of[which];
	auto_free char *chunk = NULL;
	uint64_t at = 0;
	int r;

	if (side->is_whole)
		return fn(ctx, side->bytes, (size_t)side->size, err);
	chunk = malloc(CHUNK);
	if (!chunk)
		return hb_fail(err, -ENOMEM, "cannot read a change");
	while (at < side->size) {
		uint64_t left = side->size - at;
		size_t want = left < CHUNK ? (size_t)left : CHUNK;
		ssize_t n;

		n = hb_changes_read(s->changes, which, chunk, want, at, err);
		if (n < 0)
			return (int)n;
		if ((size_t)n != want)
			return hb_fail(err, -HB_E_BUSY,
				       "a file changes while it is read");
		r = fn(ctx, chunk, (size_t)n, err);
		if (r < 0)
			return r;
		at += (uint64_t)n;
	}
	return 0;
}

static int add_sha1(void *ctx, const char *bytes, size_t n,
		    struct hb_error *err)
{
	(void)err;
	sha1_add(ctx, bytes, n);
	return 0;
}

int sides_git_name(struct sides *s, enum hb_side which,
		   char ret_hex[SHA1_HEX_SIZE], struct hb_error *err)
{
	const struct side *side = &s->of[which];
	struct sha1 h;
	int r;

	memset(ret_hex, '0', SHA1_HEX_SIZE - 1);
	ret_hex[SHA1_HEX_SIZE - 1] = '\0';
	if (!side->is_there)
		return 0;
	sha1_init_blob(&h, side->size);
	r = sides_stream(s, which, add_sha1, &h, err);
	if (r < 0)
		return r;
	sha1_end_hex(&h, ret_hex);
	return 0;
}

static int add_sha256(void *ctx, const char *bytes, size_t n,
		      struct hb_error *err)
{
	(void)err;
	sha256_add(ctx, bytes, n);
	return 0;
}

int sides_sha256(struct sides *s, enum hb_side which,
		 char ret_hex[SHA256_HEX_SIZE], struct hb_error *err)
{
	uint8_t digest[SHA256_SIZE] = { 0 };
	struct sha256 h;
	int r;

	if (s->of[which].is_there) {
		sha256_init(&h);
		r = sides_stream(s, which, add_sha256, &h, err);
		if (r < 0)
			return r;
		sha256_end(&h, digest);
	}
	sha256_hex(digest, ret_hex);
	return 0;
}
