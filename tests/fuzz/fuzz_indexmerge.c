/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzzes: git
 *
 * The input is three indexes, each with its length in front.  A merge ends, and
 * its result can be read.  Merged with itself, or where one side changed
 * nothing, an index stays as it is.
 */
#include "git/indexmerge.h"

#include "base/buf.h"
#include "fuzz.h"
#include "sys/result.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT ((size_t)1 << 20)

#define SUM_SIZE 20

struct input {
	const uint8_t *data;
	size_t size;
	uint8_t *copy;
};

static ssize_t read_input(void *ctx, void *buf, size_t size, uint64_t offset)
{
	const struct input *in = ctx;
	size_t n;

	if (offset >= in->size)
		return 0;
	n = in->size - (size_t)offset;
	n = n > size ? size : n;
	memcpy(buf, in->data + offset, n);
	return (ssize_t)n;
}

static struct indexmerge_side side(struct input *in)
{
	return (struct indexmerge_side){ read_input, in, in->size };
}

/*
 * The next index of the input: two bytes say how long it is.  Its sum is left
 * out, as git may: else no change of a byte would get past it.
 */
static struct input next(const uint8_t **data, size_t *size)
{
	struct input in = { *data, 0, NULL };
	size_t n;

	if (*size < 2)
		return in;
	n = (size_t)(*data)[0] << 8 | (*data)[1];
	n = n > *size - 2 ? *size - 2 : n;
	in.copy = malloc(n + 1);
	MUST(in.copy != NULL);
	memcpy(in.copy, *data + 2, n);
	if (n >= SUM_SIZE)
		memset(in.copy + n - SUM_SIZE, 0, SUM_SIZE);
	in.data = in.copy;
	in.size = n;
	*data += 2 + n;
	*size -= 2 + n;
	return in;
}

static int merge(struct input *then, struct input *base, struct input *session,
		 struct buf *out, struct indexmerge_result *result)
{
	const struct indexmerge_request q = { .then = side(then),
					      .base = side(base),
					      .session = side(session),
					      .id_size = 20,
					      .base_mtime = { 1000, 0 } };
	int r = indexmerge(&q, out, result);

	MUST(r == 0 || r == -EBADMSG || r == -EFBIG);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf first = BUF_INIT(LIMIT), second = BUF_INIT(LIMIT);
	struct input then = next(&data, &size), base = next(&data, &size);
	struct input session = next(&data, &size), made;
	struct indexmerge_result result;

	if (merge(&then, &base, &session, &first, &result) == 0 &&
	    result.n_conflicts == 0) {
		made = (struct input){ (const uint8_t *)first.data, first.len,
				       NULL };
		MUST(merge(&made, &made, &made, &second, &result) == 0);
		MUST(!result.is_changed && result.n_conflicts == 0);
		MUST(gitindex_is_same(
			     read_input, &made, made.size,
			     &(struct input){ (const uint8_t *)second.data,
					      second.len, NULL },
			     second.len) == 1);
	}
	buf_done(&first);
	buf_done(&second);
	first = (struct buf)BUF_INIT(LIMIT);
	if (merge(&then, &base, &then, &first, &result) == 0)
		MUST(!result.is_changed && result.n_conflicts == 0);
	buf_done(&first);
	free(then.copy);
	free(base.copy);
	free(session.copy);
	return 0;
}
