/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzzes: txn
 *
 * The first line is a path, the rest a list of patterns.  A list that is added
 * to itself says the same: the last rule that matches is the same one.
 */
#include "base/buf.h"
#include "fuzz.h"
#include "git/ignore/ignorefile.h"
#include "sys/result.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_LIMIT 4096

static enum ignore_verdict judge(const char *list, size_t n, unsigned times,
				 const char *path, bool is_directory)
{
	struct ignore_file file = { 0 };
	enum ignore_verdict verdict;
	struct buf list_again = BUF_INIT(4 * SIZE_LIMIT);
	char *text = NULL;
	uint64_t work = UINT64_MAX;
	size_t len = 0;

	for (unsigned i = 0; i < times; i++) {
		(void)buf_add(&list_again, list, n);
		(void)buf_add_char(&list_again, '\n');
	}
	if (buf_take(&list_again, &text, &len) < 0)
		abort();
	if (ignore_file_parse(text, len, &file) < 0)
		abort();
	verdict = ignore_file_judge(&file, path, strlen(path), is_directory,
				    &work);
	ignore_file_done(&file);
	return verdict;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, '\n', size);
	char path[SIZE_LIMIT + 1];
	const char *list;
	size_t n;

	/* A mark of the order of bytes counts at the start alone. */
	if (!end || end == data || size > SIZE_LIMIT ||
	    memchr(data, '\0', (size_t)(end - data)) ||
	    memmem(data, size, "\357\273\277", 3))
		return 0;
	memcpy(path, data, (size_t)(end - data));
	path[end - data] = '\0';
	list = (const char *)end + 1;
	n = size - (size_t)(end - data) - 1;
	for (int is_directory = 0; is_directory < 2; is_directory++)
		if (judge(list, n, 1, path, is_directory) !=
		    judge(list, n, 2, path, is_directory))
			abort();
	return 0;
}
