/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/scan/scan.h"

#include "base/error.h"
#include "gate/scan/scan_filter.h"
#include "gate/scan/scan_rules.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"

#include "secrets_text.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * The stream goes through a window:
 *
 *	| kept: KEEP bytes at least | not looked at yet | room | pad |
 *	0                             next                len    WINDOW
 *
 * A. Every position from the first byte on is looked at once, in steps of
 *    FILTER_STEP, for bytes that come in parts of any size.
 * B. Where a format cannot be told for lack of bytes, `next` stays, and the
 *    bytes stay, until there are more.  No format looks further than
 *    SCAN_SPAN_MAX and a little, so the window always suffices.
 * C. A guess is told when it is certain that no better finding is about the
 *    same bytes.
 *
 * t_scan: every_boundary holds A and B, a_format_beats_a_guess C.
 */
static_assert(FILTER_BEFORE + SCAN_BEHIND <= SCAN_KEEP,
	      "the start of a match is kept, and what is looked at before it");

/* UTF-16 with a mark at its beginning is read as the text that it is. */
enum width {
	WIDTH_UNKNOWN,
	WIDTH_BYTES,
	WIDTH_LITTLE,
	WIDTH_BIG,
};

struct guess {
	bool is_there;
	struct scan_finding finding;
	uint64_t from, to; /* of the secret, in the stream */
};

struct scan {
	struct scan_rules rules;
	struct scan_filter filter;

	scan_found_fn found;
	void *ctx;
	uint64_t base; /* where the window is in the stream */
	size_t len, next;
	size_t entry;	  /* how many formats were tried at `next` */
	size_t line_at;	  /* up to where lines were counted */
	uint64_t line;	  /* the line of that */
	uint64_t sure_to; /* where the last certain secret ends */
	const struct scan_kind *sure;
	struct guess guess;
	enum width width;
	bool has_half; /* of a unit of UTF-16 */
	uint8_t half;
	uint8_t bytes[SCAN_WINDOW + FILTER_PAD];
};

int scan_new_rules(const char *name, const void *text, size_t n,
		   struct scan **ret, struct hb_error *err)
{
	struct scan *scan = calloc(1, sizeof(*scan));
	int r;

	if (!scan)
		return hb_fail(err, -ENOMEM, "cannot look for secrets");
	r = rules_read(&scan->rules, name, text, n, err);
	if (r >= 0)
		r = filter_init(&scan->filter, &scan->rules, err);
	if (r < 0) {
		scan_free(scan);
		return r;
	}
	*ret = scan;
	return 0;
}

int scan_new(struct scan **ret, struct hb_error *err)
{
	return scan_new_rules("secrets.rules", secrets_text,
			      sizeof(secrets_text) - 1, ret, err);
}

void scan_free(struct scan *scan)
{
	if (!scan)
		return;
	filter_done(&scan->filter);
	rules_done(&scan->rules);
	free(scan);
}

const struct scan_kind *scan_name(const struct scan *scan, const char *path)
{
	return rules_name(&scan->rules, path);
}

const struct scan_kind *scan_kind_at(const struct scan *scan, size_t i)
{
	return i < scan->rules.kind_count ? &scan->rules.kinds[i].public : NULL;
}

void scan_begin(struct scan *scan, scan_found_fn found, void *ctx)
{
	scan->found = found;
	scan->ctx = ctx;
	scan->base = 0;
	scan->len = scan->next = scan->entry = scan->line_at = 0;
	scan->line = 1;
	scan->sure = NULL;
	scan->sure_to = 0;
	scan->guess.is_there = false;
	scan->width = WIDTH_UNKNOWN;
	scan->has_half = false;
}

static size_t count_lines(const uint8_t *bytes, size_t n)
{
	const uint64_t ones = UINT64_MAX / 255, low = ones * 0x7f;
	size_t all = 0, i = 0;

	/* Eight at a time, each with a sum of its own, before one is full. */
	while (n - i >= 8) {
		uint64_t sums = 0;

		for (int k = 0; k < 255 && n - i >= 8; k++, i += 8) {
			uint64_t v;

			memcpy(&v, bytes + i, sizeof(v));
			v ^= ones * '\n';
			sums += ~(((v & low) + low) | v | low) >> 7;
		}
		for (; sums; sums >>= 8)
			all += sums & 0xff;
	}
	for (; i < n; i++)
		all += bytes[i] == '\n';
	return all;
}

/* The line of a position in the window; formats are not found in order. */
static uint64_t line_of(struct scan *scan, size_t at)
{
	if (at >= scan->line_at)
		scan->line += count_lines(scan->bytes + scan->line_at,
					  at - scan->line_at);
	else
		scan->line -= count_lines(scan->bytes + at, scan->line_at - at);
	scan->line_at = at;
	return scan->line;
}

static int tell_guess(struct scan *scan, struct hb_error *err)
{
	if (!scan->guess.is_there)
		return 0;
	scan->guess.is_there = false;
	return scan->found(scan->ctx, &scan->guess.finding, err);
}

static int take_match(struct scan *scan, const struct rule_format *format,
		      const struct scan_match *m, struct hb_error *err)
{
	struct scan_finding finding = {
		.kind = &scan->rules.kinds[format->kind].public,
		.line = line_of(scan, m->from),
	};
	uint64_t from = scan->base + m->from, to = scan->base + m->to;
	bool is_same = scan->guess.is_there && from < scan->guess.to &&
		       to > scan->guess.from;
	int r;

	sha256_of(scan->bytes + m->from, m->to - m->from, finding.digest);
	if (!finding.kind->is_guess) {
		if (is_same)
			scan->guess.is_there = false;
		/* Two ways to see the same: "_authToken=npm_...". */
		if (from < scan->sure_to && scan->sure == finding.kind)
			return 0;
		r = tell_guess(scan, err);
		if (r < 0)
			return r;
		scan->sure = finding.kind;
		scan->sure_to = to > scan->sure_to ? to : scan->sure_to;
		return scan->found(scan->ctx, &finding, err);
	}
	if (is_same || from < scan->sure_to)
		return 0;
	r = tell_guess(scan, err);
	scan->guess = (struct guess){ true, finding, from, to };
	return r;
}

/* All formats at `next`: 1, or 0 if there are too few bytes. */
static int try_here(struct scan *scan, bool is_all, struct hb_error *err)
{
	const struct scan_text t = { scan->bytes, scan->len, is_all };
	const uint8_t *at = scan->bytes + scan->next;
	const struct filter_entry *e;

	for (; (e = filter_entry(&scan->filter, at, &scan->entry));
	     scan->entry++) {
		const struct rule_format *format =
			&scan->rules.formats[e->format];
		enum scan_answer answer;
		struct scan_match m;
		int r;

		if (e->offset > scan->next)
			continue;
		answer = rules_match(&scan->rules, format, &t,
				     scan->next - e->offset, &m);
		if (answer == SCAN_MORE)
			return 0;
		r = answer == SCAN_YES ? take_match(scan, format, &m, err) : 0;
		if (r < 0)
			return r;
	}
	scan->entry = 0;
	return 1;
}

/* Forgets what is before `keep`. */
static void move_window(struct scan *scan, size_t keep)
{
	(void)line_of(scan, keep);
	memmove(scan->bytes, scan->bytes + keep, scan->len - keep);
	scan->base += keep;
	scan->len -= keep;
	scan->next -= keep < scan->next ? keep : scan->next;
	scan->line_at = 0;
}

/* Looks at what there is. */
static int look(struct scan *scan, bool is_all, struct hb_error *err)
{
	int r;

	memset(scan->bytes + scan->len, 0, FILTER_PAD);
	for (;;) {
		scan->next = filter_next(&scan->filter, scan->bytes, scan->next,
					 scan->len);
		if (scan->next + FILTER_LOOK > scan->len)
			break;
		r = try_here(scan, is_all, err);
		if (r < 0)
			return r;
		if (r == 0)
			break;
		scan->next += FILTER_STEP;
	}
	if (scan->guess.is_there &&
	    scan->base + scan->next > scan->guess.to + SCAN_KEEP)
		return tell_guess(scan, err);
	return 0;
}

/* The same, and makes room. */
static int look_on(struct scan *scan, struct hb_error *err)
{
	int r = look(scan, false, err);

	if (r < 0)
		return r;
	if (scan->next > SCAN_KEEP)
		move_window(scan, scan->next - SCAN_KEEP);
	return 0;
}

/* Of UTF-16 its bytes; what is none becomes a NUL.  Returns their number. */
static size_t narrow(struct scan *scan, uint8_t *bytes, size_t n)
{
	size_t high = scan->width == WIDTH_LITTLE, out = 0, i = 0;

	if (scan->has_half && n) {
		uint8_t unit[2] = { scan->half, bytes[0] };

		bytes[out++] = unit[high] ? 0 : unit[!high];
		i = 1;
		scan->has_half = false;
	}
	for (; i + 1 < n; i += 2)
		bytes[out++] = bytes[i + high] ? 0 : bytes[i + !high];
	if (i < n) {
		scan->half = bytes[i];
		scan->has_half = true;
	}
	return out;
}

/* `n` bytes more are in the room behind `len`: looks when that is full. */
static int take_bytes(struct scan *scan, size_t n, struct hb_error *err)
{
	uint8_t *bytes = scan->bytes + scan->len;

	if (scan->width > WIDTH_BYTES) {
		n = narrow(scan, bytes, n);
	} else if (scan->width == WIDTH_UNKNOWN && scan->len + n >= 2) {
		static const uint8_t little[] = { 0xff, 0xfe };
		static const uint8_t big[] = { 0xfe, 0xff };

		scan->width = memcmp(scan->bytes, little, 2) == 0 ? WIDTH_LITTLE
			      : memcmp(scan->bytes, big, 2) == 0  ? WIDTH_BIG
								  : WIDTH_BYTES;
		if (scan->width != WIDTH_BYTES) {
			n = narrow(scan, scan->bytes, scan->len + n);
			scan->len = 0;
		}
	}
	scan->len += n;
	return scan->len < SCAN_WINDOW ? 0 : look_on(scan, err);
}

int scan_add(struct scan *scan, const void *bytes, size_t n,
	     struct hb_error *err)
{
	const uint8_t *from = bytes;

	while (n) {
		size_t room = SCAN_WINDOW - scan->len,
		       part = n < room ? n : room;
		int r;

		assert(room > 0); /* by B */
		memcpy(scan->bytes + scan->len, from, part);
		r = take_bytes(scan, part, err);
		if (r < 0)
			return r;
		from += part;
		n -= part;
	}
	return 0;
}

/* Nothing goes over this place: what is before it is all. */
static int close_part(struct scan *scan, struct hb_error *err)
{
	int r = look(scan, true, err);

	return r < 0 ? r : tell_guess(scan, err);
}

int scan_skip(struct scan *scan, uint64_t n, struct hb_error *err)
{
	int r;

	if (n == 0)
		return 0;
	r = close_part(scan, err);
	move_window(scan, scan->len);
	scan->next = 0;
	scan->base += n;
	/* Half a unit ends with the first NUL, or does not matter. */
	scan->has_half = false;
	if (scan->width == WIDTH_UNKNOWN)
		scan->width = WIDTH_BYTES;
	return r;
}

int scan_end(struct scan *scan, struct hb_error *err)
{
	return close_part(scan, err);
}

static int scan_bytes(struct scan *scan, int fd, uint64_t at, uint64_t end,
		      struct hb_error *err)
{
	while (at < end) {
		size_t room = SCAN_WINDOW - scan->len;
		ssize_t n;
		int r;

		assert(room > 0); /* by B */
		if (room > end - at)
			room = (size_t)(end - at);
		n = sys_pread_full(fd, scan->bytes + scan->len, room, at);
		if (n < 0)
			return hb_fail(err, (int)n, "cannot read");
		if (n == 0)
			break;
		at += (uint64_t)n;
		r = take_bytes(scan, (size_t)n, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int scan_parts(struct scan *scan, int fd, uint64_t size,
		      struct hb_error *err)
{
	uint64_t at = 0;

	while (at < size) {
		uint64_t data = sys_next_data(fd, at, size), hole;
		int r = scan_skip(scan, data - at, err);

		if (r < 0)
			return r;
		hole = sys_next_hole(fd, data, size);
		/*
		 * A program that made a hole here meanwhile must not keep us.
		 */
		if (hole <= data)
			hole = size;
		r = scan_bytes(scan, fd, data, hole, err);
		if (r < 0)
			return r;
		at = hole;
	}
	return 0;
}

int scan_fd(struct scan *scan, int fd, scan_found_fn found, void *ctx,
	    struct hb_error *err)
{
	struct stat st;
	uint64_t size;
	int r;

	r = sys_fstat(fd, &st);
	if (r < 0)
		return hb_fail(err, r, "cannot look at the file");
	scan_begin(scan, found, ctx);
	size = (uint64_t)st.st_size;
	if ((uint64_t)st.st_blocks * 512 < size)
		r = scan_parts(scan, fd, size, err);
	else
		r = scan_bytes(scan, fd, 0, size, err);
	return r < 0 ? r : scan_end(scan, err);
}
