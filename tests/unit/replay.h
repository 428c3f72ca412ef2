/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TEST_REPLAY_H
#define HB_TEST_REPLAY_H

#include "tap.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A short run of a target of tests/fuzz, without a fuzzer: each file of its
 * corpus, and changed ones, always the same.  `make fuzz` goes on from there.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REPLAY_FILES 64
#define REPLAY_SIZE  8192

struct replay {
	struct {
		uint8_t bytes[REPLAY_SIZE];
		size_t n;
	} files[REPLAY_FILES];
	size_t n;
	uint64_t state;
};

/* xorshift64 */
static size_t replay_below(struct replay *r, size_t limit)
{
	r->state ^= r->state << 13;
	r->state ^= r->state >> 7;
	r->state ^= r->state << 17;
	return limit ? (size_t)(r->state % limit) : 0;
}

/* On the heap and as large as it is, so that a sanitizer sees the end of it. */
static void replay_one(const uint8_t *data, size_t n)
{
	uint8_t *copy = malloc(n ? n : 1);

	CHECK(copy != NULL);
	if (n > 0)
		memcpy(copy, data, n);
	CHECK_INT(LLVMFuzzerTestOneInput(copy, n), 0);
	free(copy);
}

static void replay_read(struct replay *r, const char *dir)
{
	DIR *all = opendir(dir);
	const struct dirent *entry;

	CHECK(all != NULL);
	r->state = 0x9e3779b97f4a7c15U;
	while (r->n < REPLAY_FILES && (entry = readdir(all))) {
		char path[4096];
		FILE *file;

		if (entry->d_name[0] == '.')
			continue;
		(void)snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
		file = fopen(path, "re");
		CHECK(file != NULL);
		r->files[r->n].n =
			fread(r->files[r->n].bytes, 1, REPLAY_SIZE, file);
		(void)fclose(file);
		r->n++;
	}
	(void)closedir(all);
	CHECK(r->n > 0);
}

/* Other bytes, a part twice, a part of another file, an end that is missing. */
static size_t replay_change(struct replay *r, uint8_t bytes[REPLAY_SIZE],
			    size_t n)
{
	static const char odd[] = "\"'\\/*?[]{}:,.=#!\n\r\t \0\177\377\303\342";
	const size_t from = replay_below(r, n), file = replay_below(r, r->n);
	size_t len = replay_below(r, 32);

	if (n == 0)
		return 0;
	switch (replay_below(r, 4)) {
	case 0:
		bytes[from] = (uint8_t)odd[replay_below(r, sizeof(odd) - 1)];
		return n;
	case 1:
		bytes[from] ^= (uint8_t)(1U << replay_below(r, 8));
		return n;
	case 2: {
		size_t at = replay_below(r, r->files[file].n);

		if (len > r->files[file].n - at)
			len = r->files[file].n - at;
		if (len > REPLAY_SIZE - n)
			len = REPLAY_SIZE - n;
		memmove(bytes + from + len, bytes + from, n - from);
		memcpy(bytes + from, r->files[file].bytes + at, len);
		return n + len;
	}
	default:
		if (len > n - from)
			len = n - from;
		memmove(bytes + from, bytes + from + len, n - from - len);
		return n - len;
	}
}

static void replay(const char *dir, size_t rounds)
{
	static uint8_t bytes[REPLAY_SIZE];
	struct replay *r = calloc(1, sizeof(*r));

	CHECK(r != NULL);
	replay_read(r, dir);
	replay_one(bytes, 0);
	for (size_t i = 0; i < r->n; i++)
		replay_one(r->files[i].bytes, r->files[i].n);
	for (size_t i = 0; i < rounds; i++) {
		const size_t file = i % r->n;
		size_t n = r->files[file].n;

		memcpy(bytes, r->files[file].bytes, n);
		for (size_t k = replay_below(r, 6) + 1; k > 0; k--)
			n = replay_change(r, bytes, n);
		replay_one(bytes, n);
	}
	free(r);
}

#endif
