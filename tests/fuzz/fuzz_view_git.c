/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzzes: plan
 *
 * The input is a git configuration: what the filter writes is read again, has
 * no key that is left out and nothing more to cut, and is the same once more.
 */
#include "base/buf.h"
#include "fuzz.h"
#include "plan/filter/view_git.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_buf struct buf once = BUF_INIT(LIMIT);
	auto_buf struct buf twice = BUF_INIT(LIMIT);
	struct view_git first = { 0 }, second = { 0 };
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (view_git_filter(&first, text, size, &once) >= 0) {
		if (view_git_filter(&second, buf_str(&once), once.len, &twice) <
		    0)
			abort();
		if (second.n_left_out != 0 || once.len != twice.len ||
		    memcmp(buf_str(&once), buf_str(&twice), once.len) != 0)
			abort();
	}
	free(text);
	return 0;
}
