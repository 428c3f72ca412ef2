/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzzes: txn
 *
 * The input is read as one record's payload; what is accepted must be written
 * to the same bytes.  Then it is read as a whole journal, with the checksums
 * put right, so that what is behind them is reached.
 */
#include "fuzz.h"
#include "txn/journal.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/sha256.h"
#include "tree/bytes.h"
#include "txn/record.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HEAD_SIZE 64
#define TAIL_SIZE 56

static void one_record(const uint8_t *data, size_t size)
{
	auto_buf struct buf out = BUF_INIT(JOURNAL_RECORD_MAX);
	struct op op;

	if (record_decode(data, size, 3, &op) < 0)
		return;
	MUST(record_encode(&op, &out) == 0);
	MUST(out.len == size && memcmp(out.data, data, size) == 0);
}

/* Lengths stay as they are; sums are made to fit. */
static void mend(uint8_t *p, size_t size)
{
	struct sha256 h;
	size_t end = size - TAIL_SIZE;

	memcpy(p, "HBJOURN\n", 8);
	bytes_put32(p + 8, 1);
	bytes_put32(p + 12, HEAD_SIZE);
	bytes_put32(p + 60, record_sum(p, 60));
	for (size_t at = HEAD_SIZE; end - at >= 12;) {
		uint32_t len = bytes_get32(p + at);

		if (len > end - at - 12)
			break;
		bytes_put32(p + at + 4, record_sum(p + at + 8, len));
		at += 12 + (size_t)len;
	}
	sha256_init(&h);
	sha256_add(&h, p + HEAD_SIZE, end - HEAD_SIZE);
	sha256_add(&h, p, HEAD_SIZE);
	memcpy(p + end, "HBJTAIL\n", 8);
	bytes_put64(p + end + 8, end - HEAD_SIZE);
	sha256_end(&h, p + end + 16);
	bytes_put32(p + end + 52, record_sum(p + end, 52));
}

static void whole(const uint8_t *data, size_t size)
{
	auto_journal struct journal *j = NULL;
	auto_free uint8_t *copy = malloc(size);
	auto_fd int fd = memfd_create("journal", MFD_CLOEXEC);
	uint64_t n = 0;
	struct op op;

	MUST(copy && fd >= 0);
	memcpy(copy, data, size);
	mend(copy, size);
	MUST(write(fd, copy, size) == (ssize_t)size);
	if (journal_read(take_fd(&fd), &j, NULL) < 0)
		return;
	while (journal_next(j, &op, NULL) == 1)
		n++;
	MUST(n == journal_head(j)->n_ops);
	while (journal_prev(j, &op, NULL) == 1)
		n--;
	MUST(n == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	one_record(data, size);
	if (size >= HEAD_SIZE + TAIL_SIZE && size < 65536)
		whole(data, size);
	return 0;
}
