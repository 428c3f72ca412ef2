/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzzes: base
 *
 * The input is read as a file, and each entry is written again: the second
 * file must read back to the same keys and bytes.  Then the whole input is
 * written as one value, which must read back as well.
 */
#include "base/kv.h"
#include "fuzz.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Writes what can be read, up to the first fault. */
static void copy_entries(const void *text, size_t n, struct buf *out)
{
	auto_kv_reader struct kv_reader k = { 0 };
	struct kv_writer w;
	struct kv_entry e;

	kv_reader_init(&k, "in", text, n);
	kv_writer_init(&w, out);
	while (kv_next(&k, &e, NULL) == 1) {
		MUST(e.value[e.len] == '\0');
		/* Quotes can make a line longer than a line may be. */
		if (kv_add(&w, e.key, e.value, e.len) < 0)
			break;
	}
}

static void compare(const void *text, size_t n, const struct buf *copy)
{
	auto_kv_reader struct kv_reader a = { 0 }, b = { 0 };
	struct kv_entry e, f;
	int r;

	kv_reader_init(&a, "in", text, n);
	kv_reader_init(&b, "copy", buf_str(copy), copy->len);
	while ((r = kv_next(&b, &f, NULL)) == 1) {
		MUST(kv_next(&a, &e, NULL) == 1);
		MUST(strcmp(e.key, f.key) == 0);
		MUST(e.len == f.len);
		MUST(memcmp(e.value, f.value, e.len) == 0);
	}
	/* What was written is never refused. */
	MUST(r == 0);
	MUST(copy->error < 0 || kv_next(&a, &e, NULL) != 1);
}

static void one_value(const void *value, size_t n)
{
	auto_buf struct buf out = BUF_INIT(KV_FILE_MAX);
	auto_kv_reader struct kv_reader k = { 0 };
	struct kv_writer w;
	struct kv_entry e;

	kv_writer_init(&w, &out);
	if (kv_add(&w, "key", value, n) < 0)
		return;
	kv_reader_init(&k, "one", out.data, out.len);
	MUST(kv_next(&k, &e, NULL) == 1);
	MUST(strcmp(e.key, "key") == 0);
	MUST(e.len == n && (n == 0 || memcmp(e.value, value, n) == 0));
	MUST(kv_next(&k, &e, NULL) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_buf struct buf out = BUF_INIT(KV_FILE_MAX * 2);

	copy_entries(data, size, &out);
	compare(data, size, &out);
	one_value(data, size);
	return 0;
}
