/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzzes: txn
 *
 * The input is read as a damaged journal, as it is and with the sums put right.
 * The records that journal_next() names must be those that a plain look
 * at every offset finds, in the same order, and no other.
 */
#include "base/auto.h"
#include "base/buf.h"
#include "fuzz.h"
#include "tree/bytes.h"
#include "txn/journal.h"
#include "txn/record.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD_SIZE 64
#define AROUND	  12
#define INPUT_MAX 8192

/* A directory for the file, removed at the end. */
static char where[4096];

static int dir = -1;

static void remove_directory(void)
{
	(void)unlinkat(dir, "journal", 0);
	(void)rmdir(where);
}

static void open_directory(void)
{
	const char *tmp = getenv("TMPDIR");

	if (dir >= 0)
		return;
	(void)snprintf(where, sizeof(where), "%s/fuzz_journal.XXXXXX",
		       tmp && *tmp ? tmp : "/tmp");
	MUST(mkdtemp(where) != NULL);
	MUST(atexit(remove_directory) == 0);
	dir = open(where, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	MUST(dir >= 0);
}

/* Not cut to nothing first: some file systems write such a file out. */
static void write_journal(const uint8_t *p, size_t size)
{
	auto_fd int fd = -1;

	open_directory();
	fd = openat(dir, "journal", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	MUST(fd >= 0 && write(fd, p, size) == (ssize_t)size);
	MUST(ftruncate(fd, (off_t)size) == 0);
}

/* The length of the whole record at the offset, 0: there is none. */
static size_t whole_at(const uint8_t *p, size_t size, size_t at,
		       uint32_t n_resources)
{
	struct op op;
	size_t len;

	if (at > size || size - at < AROUND)
		return 0;
	len = bytes_get32(p + at);
	if (len == 0 || len > size - at - AROUND ||
	    bytes_get32(p + at + 8 + len) != len ||
	    bytes_get32(p + at + 4) != record_sum(p + at + 8, len) ||
	    record_decode(p + at + 8, len, n_resources, &op) < 0)
		return 0;
	return len;
}

/* The operation is that of the next whole record behind `*at`, which moves. */
static void must_be_next(const struct op *op, const uint8_t *p, size_t size,
			 size_t *at, uint32_t n_resources)
{
	auto_buf struct buf out = BUF_INIT(JOURNAL_RECORD_MAX);
	size_t len = 0;

	while (*at < size && (len = whole_at(p, size, *at, n_resources)) == 0)
		++*at;
	MUST(len > 0);
	MUST(record_encode(op, &out) == 0);
	MUST(out.len == len && memcmp(out.data, p + *at + 8, len) == 0);
	*at += len + AROUND;
}

static void look(const uint8_t *p, size_t size)
{
	auto_journal struct journal *j = NULL;
	size_t at = HEAD_SIZE, n = 0;
	uint32_t n_resources;
	struct op op;

	write_journal(p, size);
	if (journal_open_damaged(dir, "journal", &j, NULL) < 0)
		return;
	n_resources = journal_head(j)->n_resources;
	while (journal_next(j, &op, NULL) == 1) {
		must_be_next(&op, p, size, &at, n_resources);
		MUST(++n <= size / AROUND);
	}
	while (at < size && whole_at(p, size, at, n_resources) == 0)
		at++;
	MUST(at >= size);
	MUST(journal_next(j, &op, NULL) == 0);
}

/* Gives every place that has two lengths the sum that fits. */
static void mend(uint8_t *p, size_t size)
{
	if (size >= HEAD_SIZE)
		bytes_put32(p + 60, record_sum(p, 60));
	for (size_t at = HEAD_SIZE; at < size && size - at >= AROUND; at++) {
		size_t len = bytes_get32(p + at);

		if (len == 0 || len > size - at - AROUND ||
		    bytes_get32(p + at + 8 + len) != len)
			continue;
		bytes_put32(p + at + 4, record_sum(p + at + 8, len));
		at += len + AROUND - 1;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_free uint8_t *copy = NULL;

	if (size == 0 || size > INPUT_MAX)
		return 0;
	look(data, size);
	copy = malloc(size);
	MUST(copy != NULL);
	memcpy(copy, data, size);
	mend(copy, size);
	look(copy, size);
	return 0;
}
