/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzzes: txn
 *
 * The input is read as an index of either kind: paths stay within their limit
 * and have no NUL inside, and reading ends.  What can be read is the same as
 * itself, and differs from itself with another mode.
 */
#include "base/buf.h"
#include "fuzz.h"
#include "git/gitindex.h"
#include "sys/result.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

/* 1: all of it could be read. */
static int walk(struct input *in, struct gitindex *x, size_t id_size)
{
	struct gitindex_entry e;
	int r;

	if (gitindex_open(x, read_input, in, in->size, id_size) < 0)
		return 0;
	while ((r = gitindex_next(x, &e)) == 1) {
		MUST(e.path_len > 0 && e.path_len <= GITINDEX_PATH_MAX);
		MUST(strlen(e.path) == e.path_len);
		MUST(x->at <= in->size);
	}
	MUST(r == 0 || r == -EBADMSG);
	return r == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct gitindex x;
	struct input in = { .data = data, .size = size };
	int ok = walk(&in, &x, 20) | walk(&in, &x, 32);

	MUST(gitindex_is_same(read_input, &in, size, &in, size) == ok);
	return 0;
}
