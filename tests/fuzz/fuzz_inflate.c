/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzzes: git
 *
 * The input is read as zlib data: the output stays in its room, and the same
 * data in less room gives the same first bytes.
 */
#include "fuzz.h"
#include "git/pack/inflate.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#define ROOM 65536

struct input {
	const uint8_t *data;
	size_t size;
};

static ssize_t read_input(void *ctx, void *buf, size_t size, uint64_t offset)
{
	const struct input *in = ctx;
	size_t n;

	if (offset >= in->size)
		return 0;
	n = in->size - (size_t)offset;
	if (n > size)
		n = size;
	memcpy(buf, in->data + offset, n);
	return (ssize_t)n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static unsigned char out[ROOM], less[ROOM / 2];
	struct input in = { .data = data, .size = size };
	size_t n, n_less;
	int r = inflate_bytes(read_input, &in, 0, out, sizeof(out), &n);
	int r_less =
		inflate_bytes(read_input, &in, 0, less, sizeof(less), &n_less);

	MUST(r == 0 || r == -EBADMSG || r == -EFBIG);
	MUST(n <= sizeof(out) && n_less <= sizeof(less));
	MUST(n_less == (n < sizeof(less) ? n : sizeof(less)));
	MUST(memcmp(out, less, n_less) == 0);
	MUST(n > sizeof(less) ? r_less == -EFBIG : r_less == r);
	return 0;
}
