/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/diff/binary.h"

#include "base/error.h"
#include "cli/diff/git2.h"
#include "cli/diff/paint.h"
#include "cli/diff/sides.h"

#include <errno.h>
#include <git2.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

/*
 * The form that `git apply` reads: "literal SIZE" or "delta SIZE", then zlib's
 * output in lines of up to 52 bytes, then an empty line.  A line is a letter
 * for its number of bytes, and five characters for every four of them.
 */
#define LINE_BYTES 52
#define LINE_CHARS (1 + LINE_BYTES / 4 * 5 + 1)
#define DEFLATED   ((size_t)64 << 10)

static const char alphabet[] = "0123456789"
			       "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			       "abcdefghijklmnopqrstuvwxyz"
			       "!#$%&()*+-;<=>?@^_`{|}~";

struct encoder {
	struct paint *paint;
	uint8_t line[LINE_BYTES];
	size_t n;
};

static void end_line(struct encoder *e)
{
	char text[LINE_CHARS];
	size_t used = 0;

	if (e->n == 0)
		return;
	memset(e->line + e->n, 0, LINE_BYTES - e->n);
	text[used++] = (char)(e->n <= 26 ? 'A' + e->n - 1 : 'a' + e->n - 27);
	for (size_t i = 0; i < e->n; i += 4) {
		uint32_t word = (uint32_t)e->line[i] << 24 |
				(uint32_t)e->line[i + 1] << 16 |
				(uint32_t)e->line[i + 2] << 8 | e->line[i + 3];

		for (int k = 4; k >= 0; k--) {
			text[used + (size_t)k] = alphabet[word % 85];
			word /= 85;
		}
		used += 5;
	}
	text[used++] = '\n';
	paint_raw(e->paint, text, used);
	e->n = 0;
}

static int encode(struct encoder *e, const uint8_t *bytes, size_t n,
		  struct hb_error *err)
{
	while (n > 0) {
		size_t take = LINE_BYTES - e->n;

		if (take > n)
			take = n;
		memcpy(e->line + e->n, bytes, take);
		e->n += take;
		bytes += take;
		n -= take;
		if (e->n == LINE_BYTES)
			end_line(e);
	}
	return paint_flow(e->paint, err);
}

static void end_part(struct encoder *e)
{
	end_line(e);
	paint_raw(e->paint, "\n", 1);
}

/* One content, whole, through zlib as it is read. */
struct squeeze {
	z_stream z;
	struct encoder encoder;
	uint8_t out[DEFLATED];
};

static int push(struct squeeze *q, int how, struct hb_error *err)
{
	int r, z;

	do {
		q->z.next_out = q->out;
		q->z.avail_out = sizeof(q->out);
		z = deflate(&q->z, how);
		if (z == Z_STREAM_ERROR)
			return hb_fail(err, -EIO, "cannot compress a change");
		r = encode(&q->encoder, q->out, sizeof(q->out) - q->z.avail_out,
			   err);
		if (r < 0)
			return r;
	} while (q->z.avail_out == 0);
	return 0;
}

static int squeeze_piece(void *ctx, const char *bytes, size_t n,
			 struct hb_error *err)
{
	struct squeeze *q = ctx;
	union {
		const char *in;
		uint8_t *out; /* zlib wants it so, and does not write */
	} piece = { bytes };

	/* A piece is a chunk, or what may be in memory: it fits. */
	q->z.next_in = piece.out;
	q->z.avail_in = (uInt)n;
	return push(q, Z_NO_FLUSH, err);
}

static int paint_literal(struct sides *s, enum hb_side which,
			 struct paint *paint, struct hb_error *err)
{
	struct squeeze *q = calloc(1, sizeof(*q));
	char head[48];
	int n, r = 0;

	if (!q || deflateInit(&q->z, Z_DEFAULT_COMPRESSION) != Z_OK) {
		free(q);
		return hb_fail(err, -ENOMEM, "cannot compress a change");
	}
	q->encoder.paint = paint;
	n = snprintf(head, sizeof(head), "literal %llu\n",
		     (unsigned long long)(s->of[which].is_there
						  ? s->of[which].size
						  : 0));
	paint_raw(paint, head, (size_t)n);
	if (s->of[which].is_there)
		r = sides_stream(s, which, squeeze_piece, q, err);
	if (r >= 0)
		r = push(q, Z_FINISH, err);
	if (r >= 0)
		end_part(&q->encoder);
	(void)deflateEnd(&q->z);
	free(q);
	return r;
}

struct found {
	struct paint *paint;
	bool is_painted;
	int error;
	struct hb_error *err;
};

static int paint_found(const git_diff_binary_file *file, struct found *f)
{
	struct encoder e = { .paint = f->paint };
	char head[48];
	int n;

	n = snprintf(head, sizeof(head), "%s %zu\n",
		     file->type == GIT_DIFF_BINARY_DELTA ? "delta" : "literal",
		     file->inflatedlen);
	paint_raw(f->paint, head, (size_t)n);
	f->error =
		encode(&e, (const uint8_t *)file->data, file->datalen, f->err);
	end_part(&e);
	return f->error;
}

static int take_binary(const git_diff_delta *delta,
		       const git_diff_binary *binary, void *ctx)
{
	struct found *f = ctx;
	int r;

	(void)delta;
	if (!binary->contains_data ||
	    binary->new_file.type == GIT_DIFF_BINARY_NONE ||
	    binary->old_file.type == GIT_DIFF_BINARY_NONE)
		return 0;
	f->is_painted = true;
	r = paint_found(&binary->new_file, f);
	return r < 0 ? r : paint_found(&binary->old_file, f);
}

/* What differs, if libgit2 finds that shorter; it says which it is. */
static int paint_difference(const struct sides *s, struct paint *paint,
			    bool *ret_is_painted, struct hb_error *err)
{
	const struct side *old = &s->of[HB_SIDE_OLD];
	const struct side *new = &s->of[HB_SIDE_NEW];
	git_diff_options options = GIT_DIFF_OPTIONS_INIT;
	struct found f = { .paint = paint, .err = err };
	int r;

	options.flags = GIT_DIFF_FORCE_BINARY | GIT_DIFF_SHOW_BINARY;
	r = git_diff_buffers(old->bytes, (size_t)old->size, NULL, new->bytes,
			     (size_t) new->size, NULL, &options, NULL,
			     take_binary, NULL, NULL, &f);
	if (f.error < 0)
		return f.error;
	if (r < 0)
		return git2_fail(r, "cannot compare two files", err);
	*ret_is_painted = f.is_painted;
	return 0;
}

int binary_patch(struct sides *s, struct paint *paint, struct hb_error *err)
{
	bool is_painted = false;
	int r = 0;

	paint_words(paint, PAINT_PLAIN, "GIT binary patch");
	if (s->of[HB_SIDE_OLD].is_whole && s->of[HB_SIDE_NEW].is_whole)
		r = paint_difference(s, paint, &is_painted, err);
	if (r < 0 || is_painted)
		return r;
	r = paint_literal(s, HB_SIDE_NEW, paint, err);
	return r < 0 ? r : paint_literal(s, HB_SIDE_OLD, paint, err);
}
