/* SPDX-License-Identifier: Apache-2.0 */
#include "git/pack/inflate.h"

#include "base/auto.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define BITS_MAX     15 /* of a code */
#define LITERALS_MAX 288
#define LENGTHS_USED 286
#define DISTANCES    30
#define INPUT_SIZE   4096
#define END_OF_BLOCK 256
#define WINDOW	     ((size_t)32 << 10) /* that data may refer back to */

struct stream {
	inflate_read_fn read;
	void *ctx;
	uint64_t at; /* of the input behind `in` */
	unsigned char in[INPUT_SIZE];
	size_t pos, len;
	uint32_t bits; /* taken from `in` and not used, the next one lowest */
	unsigned n_bits;
	unsigned char *out;
	size_t n, room;
	inflate_sink_fn sink; /* for what `out` has no room for; or NULL */
	void *sink_ctx;
};

/* A canonical code: how many of each length, and their symbols in order. */
struct code {
	uint16_t n_of[BITS_MAX + 1];
	uint16_t symbols[LITERALS_MAX];
};

static int next_byte(struct stream *s)
{
	ssize_t got;

	if (s->pos == s->len) {
		got = s->read(s->ctx, s->in, sizeof(s->in), s->at);
		if (got <= 0)
			return got < 0 ? (int)got : -EBADMSG;
		s->at += (uint64_t)got;
		s->pos = 0;
		s->len = (size_t)got;
	}
	return s->in[s->pos++];
}

/* Up to 16 bits as a number. */
static int take_bits(struct stream *s, unsigned n)
{
	int value;

	while (s->n_bits < n) {
		int byte = next_byte(s);

		if (byte < 0)
			return byte;
		s->bits |= (uint32_t)byte << s->n_bits;
		s->n_bits += 8;
	}
	value = (int)(s->bits & ((1U << n) - 1));
	s->bits >>= n;
	s->n_bits -= n;
	return value;
}

/*
 * From the length of each symbol's code; 0: it has none.  A code with too many
 * of a length is refused, one with too few only if it `must_be_whole`.
 */
static int make_code(struct code *code, const uint8_t *lengths, size_t n,
		     bool must_be_whole)
{
	uint16_t at[BITS_MAX + 1] = { 0 };
	int left = 1;

	memset(code->n_of, 0, sizeof(code->n_of));
	for (size_t i = 0; i < n; i++)
		code->n_of[lengths[i]]++;
	for (unsigned bits = 1; bits <= BITS_MAX; bits++) {
		left = 2 * left - code->n_of[bits];
		if (left < 0)
			return -EBADMSG;
	}
	if (left > 0 && must_be_whole)
		return -EBADMSG;
	for (unsigned bits = 1; bits < BITS_MAX; bits++)
		at[bits + 1] = (uint16_t)(at[bits] + code->n_of[bits]);
	for (size_t i = 0; i < n; i++)
		if (lengths[i] != 0)
			code->symbols[at[lengths[i]]++] = (uint16_t)i;
	return 0;
}

/* Codes of one length are consecutive numbers, the first bit highest. */
static int take_symbol(struct stream *s, const struct code *code)
{
	int value = 0, first = 0, index = 0;

	for (unsigned bits = 1; bits <= BITS_MAX; bits++) {
		int n = code->n_of[bits];
		int bit = take_bits(s, 1);

		if (bit < 0)
			return bit;
		value |= bit;
		if (value - first < n)
			return code->symbols[index + value - first];
		index += n;
		first = (first + n) << 1;
		value <<= 1;
	}
	return -EBADMSG;
}

/* Makes room: all but the window goes. */
static int empty(struct stream *s)
{
	int r = s->sink ? s->sink(s->sink_ctx, s->out, s->room - WINDOW)
			: -EFBIG;

	if (r < 0)
		return r;
	memmove(s->out, s->out + s->room - WINDOW, WINDOW);
	s->n = WINDOW;
	return 0;
}

static int put(struct stream *s, int byte)
{
	int r = s->n == s->room ? empty(s) : 0;

	if (r < 0)
		return r;
	s->out[s->n++] = (unsigned char)byte;
	return 0;
}

static int copy_back(struct stream *s, size_t distance, size_t n)
{
	if (distance > s->n)
		return -EBADMSG;
	for (; n > 0; n--) {
		int r = put(s, s->out[s->n - distance]);

		if (r < 0)
			return r;
	}
	return 0;
}

/* A symbol with further bits behind it stands for a range of numbers. */
struct range {
	uint16_t first;
	uint8_t bits;
};

static int take_range(struct stream *s, const struct range *range)
{
	int more = take_bits(s, range->bits);

	return more < 0 ? more : range->first + more;
}

static const struct range length_ranges[LENGTHS_USED - END_OF_BLOCK - 1] = {
	{ 3, 0 },   { 4, 0 },	{ 5, 0 },   { 6, 0 },	{ 7, 0 },   { 8, 0 },
	{ 9, 0 },   { 10, 0 },	{ 11, 1 },  { 13, 1 },	{ 15, 1 },  { 17, 1 },
	{ 19, 2 },  { 23, 2 },	{ 27, 2 },  { 31, 2 },	{ 35, 3 },  { 43, 3 },
	{ 51, 3 },  { 59, 3 },	{ 67, 4 },  { 83, 4 },	{ 99, 4 },  { 115, 4 },
	{ 131, 5 }, { 163, 5 }, { 195, 5 }, { 227, 5 }, { 258, 0 },
};

static const struct range distance_ranges[DISTANCES] = {
	{ 1, 0 },     { 2, 0 },	    { 3, 0 },	   { 4, 0 },	  { 5, 1 },
	{ 7, 1 },     { 9, 2 },	    { 13, 2 },	   { 17, 3 },	  { 25, 3 },
	{ 33, 4 },    { 49, 4 },    { 65, 5 },	   { 97, 5 },	  { 129, 6 },
	{ 193, 6 },   { 257, 7 },   { 385, 7 },	   { 513, 8 },	  { 769, 8 },
	{ 1025, 9 },  { 1537, 9 },  { 2049, 10 },  { 3073, 10 },  { 4097, 11 },
	{ 6145, 11 }, { 8193, 12 }, { 12289, 12 }, { 16385, 13 }, { 24577, 13 },
};

static int take_block(struct stream *s, const struct code *literals,
		      const struct code *distances)
{
	for (;;) {
		int symbol = take_symbol(s, literals), n, r;

		if (symbol < 0 || symbol == END_OF_BLOCK)
			return symbol < 0 ? symbol : 0;
		if (symbol < END_OF_BLOCK) {
			r = put(s, symbol);
		} else {
			if (symbol >= LENGTHS_USED)
				return -EBADMSG;
			n = take_range(
				s, &length_ranges[symbol - END_OF_BLOCK - 1]);
			r = n < 0 ? n : take_symbol(s, distances);
			if (r >= DISTANCES)
				r = -EBADMSG;
			if (r >= 0)
				r = take_range(s, &distance_ranges[r]);
			if (r >= 0)
				r = copy_back(s, (size_t)r, (size_t)n);
		}
		if (r < 0)
			return r;
	}
}

static int take_stored(struct stream *s)
{
	int header[4], n, byte, r = 0;

	s->bits = 0;
	s->n_bits = 0;
	for (size_t i = 0; i < 4; i++) {
		header[i] = next_byte(s);
		if (header[i] < 0)
			return header[i];
	}
	n = header[0] | header[1] << 8;
	if (n != (~(header[2] | header[3] << 8) & 0xffff))
		return -EBADMSG;
	for (; n > 0 && r >= 0; n--) {
		byte = next_byte(s);
		r = byte < 0 ? byte : put(s, byte);
	}
	return r;
}

static int take_fixed(struct stream *s)
{
	struct code literals, distances;
	uint8_t lengths[LITERALS_MAX];

	memset(lengths, 8, 144);
	memset(lengths + 144, 9, 112);
	memset(lengths + 256, 7, 24);
	memset(lengths + 280, 8, 8);
	(void)make_code(&literals, lengths, LITERALS_MAX, true);
	memset(lengths, 5, DISTANCES);
	(void)make_code(&distances, lengths, DISTANCES, false);
	return take_block(s, &literals, &distances);
}

/* The lengths of both codes, as one list, itself in a code. */
static int take_lengths(struct stream *s, const struct code *code,
			uint8_t *lengths, size_t n)
{
	static const struct {
		uint8_t least, bits;
	} repeats[] = { { 3, 2 }, { 3, 3 }, { 11, 7 } };
	size_t at = 0;

	while (at < n) {
		int symbol = take_symbol(s, code), more;
		uint8_t length = 0;
		size_t times;

		if (symbol < 0)
			return symbol;
		if (symbol < 16) {
			lengths[at++] = (uint8_t)symbol;
			continue;
		}
		if (symbol == 16 && at == 0)
			return -EBADMSG;
		if (symbol == 16)
			length = lengths[at - 1];
		more = take_bits(s, repeats[symbol - 16].bits);
		if (more < 0)
			return more;
		times = repeats[symbol - 16].least + (size_t)more;
		if (times > n - at)
			return -EBADMSG;
		memset(lengths + at, length, times);
		at += times;
	}
	return 0;
}

static int take_dynamic(struct stream *s)
{
	static const uint8_t order[19] = { 16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
					   11, 4,  12, 3, 13, 2, 14, 1, 15 };
	uint8_t lengths[LITERALS_MAX + 32] = { 0 };
	struct code literals, distances;
	int n_literals = take_bits(s, 5), n_distances = 0, n = 0, r;

	if (n_literals >= 0)
		n_distances = take_bits(s, 5);
	if (n_literals >= 0 && n_distances >= 0)
		n = take_bits(s, 4);
	if (n_literals < 0 || n_distances < 0 || n < 0)
		return n_literals < 0	 ? n_literals
		       : n_distances < 0 ? n_distances
					 : n;
	n_literals += 257;
	n_distances += 1;
	if (n_literals > LENGTHS_USED || n_distances > DISTANCES)
		return -EBADMSG;
	for (int i = 0; i < n + 4; i++) {
		r = take_bits(s, 3);
		if (r < 0)
			return r;
		lengths[order[i]] = (uint8_t)r;
	}
	r = make_code(&literals, lengths, 19, true);
	memset(lengths, 0, sizeof(lengths));
	if (r >= 0)
		r = take_lengths(s, &literals, lengths,
				 (size_t)n_literals + (size_t)n_distances);
	if (r < 0)
		return r;
	/* Without an end no block ends. */
	if (lengths[END_OF_BLOCK] == 0)
		return -EBADMSG;
	/* zlib writes a code of one symbol, with one bit, for a lone one. */
	r = make_code(&literals, lengths, (size_t)n_literals, false);
	if (r >= 0)
		r = make_code(&distances, lengths + n_literals,
			      (size_t)n_distances, false);
	return r < 0 ? r : take_block(s, &literals, &distances);
}

static int take_all(struct stream *s)
{
	int first = next_byte(s), second = first < 0 ? first : next_byte(s);
	int is_last = 0, kind, r = 0;

	if (second < 0)
		return second;
	/* Method 8, a window of 32 KiB at most, no dictionary, a check. */
	if ((first & 0x0f) != 8 || first >> 4 > 7 || second & 0x20 ||
	    (first << 8 | second) % 31 != 0)
		return -EBADMSG;
	while (r >= 0 && !is_last) {
		is_last = take_bits(s, 1);
		kind = is_last < 0 ? is_last : take_bits(s, 2);
		if (kind == 0)
			r = take_stored(s);
		else if (kind == 1)
			r = take_fixed(s);
		else if (kind == 2)
			r = take_dynamic(s);
		else
			r = kind < 0 ? kind : -EBADMSG;
	}
	return r;
}

int inflate_bytes(inflate_read_fn read, void *ctx, uint64_t offset,
		  unsigned char *out, size_t room, size_t *ret_n)
{
	struct stream s = {
		.read = read, .ctx = ctx, .at = offset, .out = out, .room = room
	};
	int r = take_all(&s);

	*ret_n = s.n;
	return r;
}

int inflate_each(inflate_read_fn read, void *ctx, inflate_sink_fn sink,
		 void *sink_ctx)
{
	auto_free unsigned char *out = malloc(2 * WINDOW);
	struct stream s = { .read = read,
			    .ctx = ctx,
			    .out = out,
			    .room = 2 * WINDOW,
			    .sink = sink,
			    .sink_ctx = sink_ctx };
	int r = out ? take_all(&s) : -ENOMEM;

	return r < 0 ? r : sink(sink_ctx, out, s.n);
}
