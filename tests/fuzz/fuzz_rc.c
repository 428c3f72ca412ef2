/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzzes: plan
 *
 * The first byte is the kind of the file, the rest the file: what the filter
 * writes is read again, has nothing more to leave out, and is the same once
 * more.
 */
#include "base/buf.h"
#include "fuzz.h"
#include "plan/filter/rc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_buf struct buf once = BUF_INIT(LIMIT);
	auto_buf struct buf twice = BUF_INIT(LIMIT);
	struct rc first = { 0 }, second = { 0 };
	char *text = size > 0 ? malloc(size) : NULL;

	if (!text)
		return 0;
	first.kind = second.kind = data[0] % (RC_MISE + 1);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	if (rc_filter(&first, text, size - 1, &once) >= 0) {
		if (rc_filter(&second, buf_str(&once), once.len, &twice) < 0)
			abort();
		if (second.n_left_out != 0 || once.len != twice.len ||
		    memcmp(buf_str(&once), buf_str(&twice), once.len) != 0)
			abort();
	}
	free(text);
	return 0;
}
