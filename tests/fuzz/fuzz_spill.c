/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzzes: txn
 *
 * The input is read as a run of records.  What can be read is sound, and is
 * written and read again to the same bytes.
 */
#include "base/buf.h"
#include "base/path.h"
#include "changes/spill.h"
#include "fuzz.h"
#include "sys/result.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void write_again(const struct spilled *s, const char *path)
{
	auto_buf struct buf out = BUF_INIT(PATH_TREE_MAX);
	auto_buf struct buf back = BUF_INIT(PATH_TREE_MAX);
	struct spilled t;

	MUST(spill_encode(s, 0, &out) == 0);
	MUST(spill_decode((const unsigned char *)out.data, out.len, &back,
			  &t) == (ssize_t)out.len);
	MUST(strcmp(t.change.path, path) == 0);
	MUST(t.change.kind == s->change.kind);
	MUST(t.change.what == s->change.what);
	MUST(t.change.flags == s->change.flags);
	MUST(t.conflict == s->conflict);
	MUST(t.change.old.ino == s->change.old.ino);
	MUST(t.change.new.mtime.tv_nsec == s->change.new.mtime.tv_nsec);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_buf struct buf path = BUF_INIT(PATH_TREE_MAX);
	struct spilled s;

	while (size > 0) {
		ssize_t n = spill_decode(data, size, &path, &s);

		if (n < 0)
			break;
		MUST(n > 0 && (size_t)n <= size);
		MUST(s.change.path[0] != '\0');
		MUST(strlen(s.change.path) == path.len);
		MUST(s.conflict < CONFLICT_END);
		write_again(&s, s.change.path);
		data += n;
		size -= (size_t)n;
	}
	return 0;
}
