/* SPDX-License-Identifier: Apache-2.0 */
#include "base/kv.h"

#include "base/auto.h"
#include "base/error.h"

#include "tap.h"

#include <errno.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void a_file_is_read_line_by_line(void)
{
	static const char text[] = "# a comment = no entry\n"
				   "\n"
				   "  \t # another\n"
				   "a=1\n"
				   "\tkey.with-0  =  some text, # kept \t\n"
				   "empty =\n"
				   "quoted = \"a\\nb \\\"c\\\"\"  \n"
				   "eq = a=b=\"c\"\n"
				   "nul = \"x\\000y\"\n"
				   "last = no end of line";
	static const struct kv_entry want[] = {
		{ "a", "1", 1, 4 },
		{ "key.with-0", "some text, # kept", 17, 5 },
		{ "empty", "", 0, 6 },
		{ "quoted", "a\nb \"c\"", 7, 7 },
		{ "eq", "a=b=\"c\"", 7, 8 },
		{ "nul", "x\0y", 3, 9 },
		{ "last", "no end of line", 14, 10 },
	};
	auto_kv_reader struct kv_reader k = { 0 };
	struct hb_error err = { 0 };
	struct kv_entry e;

	kv_reader_init(&k, "file", text, strlen(text));
	for (size_t i = 0; i < COUNT(want); i++) {
		CHECK_INT(kv_next(&k, &e, &err), 1);
		CHECK(strcmp(e.key, want[i].key) == 0);
		CHECK_INT(e.len, want[i].len);
		CHECK(memcmp(e.value, want[i].value, e.len + 1) == 0);
		CHECK_INT(e.line, want[i].line);
		CHECK(kv_is_string(&e) == (i != 5));
	}
	CHECK_INT(kv_next(&k, &e, &err), 0);
	CHECK_INT(kv_next(&k, &e, &err), 0);
	CHECK_INT(err.code, 0);
}

static void nothing_is_an_empty_file(void)
{
	auto_kv_reader struct kv_reader k = { 0 };
	struct kv_entry e;

	kv_reader_init(&k, "file", "", 0);
	CHECK_INT(kv_next(&k, &e, NULL), 0);
}

struct fault {
	const char *line;
	const char *text;
};

static void faults_name_their_line(void)
{
	static const struct fault all[] = {
		{ "novalue", "f:2: there is no '='" },
		{ "= x", "f:2: the text before '=' is no key" },
		{ "Key = x", "f:2: the text before '=' is no key" },
		{ "0key = x", "f:2: the text before '=' is no key" },
		{ "a_b = x", "f:2: the text before '=' is no key" },
		{ "a b = x", "f:2: the text before '=' is no key" },
		{ "\"a\" = x", "f:2: the text before '=' is no key" },
		{ "a = \"x", "f:2: the quoted value is malformed" },
		{ "a = \"x\" # no", "f:2: the quoted value is malformed" },
		{ "a = \"\\q\"", "f:2: the quoted value is malformed" },
		{ "a = x\r", "f:2: there is an unquoted control character" },
		{ "# \033[2J", "f:2: there is an unquoted control character" },
		{ "a = \"\177\"",
		  "f:2: there is an unquoted control character" },
	};
	char text[128];
	struct kv_entry e;

	for (size_t i = 0; i < COUNT(all); i++) {
		auto_kv_reader struct kv_reader k = { 0 };
		struct hb_error err = { 0 };

		(void)snprintf(text, sizeof(text), "ok = 1\n%s\nok = 2\n",
			       all[i].line);
		kv_reader_init(&k, "f", text, strlen(text));
		CHECK_INT(kv_next(&k, &e, &err), 1);
		CHECK_INT(kv_next(&k, &e, &err), -HB_E_CONFIG);
		CHECK(strcmp(err.text, all[i].text) == 0);
		/* What comes after a fault is never believed. */
		CHECK_INT(kv_next(&k, &e, NULL), -HB_E_CONFIG);
	}
}

static void a_nul_is_never_read_over(void)
{
	static const char text[] = "a = x\0y\n";
	auto_kv_reader struct kv_reader k = { 0 };
	struct kv_entry e;

	kv_reader_init(&k, "f", text, sizeof(text) - 1);
	CHECK_INT(kv_next(&k, &e, NULL), -HB_E_CONFIG);
}

/* Reads all of `n` bytes that begin with `start`; the rest is `fill`. */
static int read_filled(const char *start, char fill, size_t n)
{
	auto_buf struct buf b = BUF_INIT(KV_FILE_MAX * 2);
	auto_kv_reader struct kv_reader k = { 0 };
	struct kv_entry e;
	int r;

	CHECK_INT(buf_add_str(&b, start), 0);
	CHECK_INT(buf_add_fill(&b, fill, n - b.len), 0);
	kv_reader_init(&k, "f", b.data, b.len);
	do
		r = kv_next(&k, &e, NULL);
	while (r > 0);
	return r;
}

static void limits_are_exact(void)
{
	auto_buf struct buf b = BUF_INIT(KV_FILE_MAX);
	auto_kv_reader struct kv_reader k = { 0 };
	char key[KV_KEY_MAX + 8];
	struct kv_entry e;
	size_t n = 0;

	CHECK_INT(read_filled("a = ", 'x', KV_LINE_MAX), 0);
	CHECK_INT(read_filled("a = ", 'x', KV_LINE_MAX + 1), -HB_E_CONFIG);
	CHECK_INT(read_filled("a = x", '\n', KV_FILE_MAX), 0);
	CHECK_INT(read_filled("a = x", '\n', KV_FILE_MAX + 1), -HB_E_CONFIG);

	memset(key, 'k', sizeof(key));
	memcpy(key + KV_KEY_MAX, "=x", 3);
	CHECK_INT(read_filled(key, ' ', KV_KEY_MAX + 4), 0);
	memcpy(key + KV_KEY_MAX, "k=x", 4);
	CHECK_INT(read_filled(key, ' ', KV_KEY_MAX + 4), -HB_E_CONFIG);

	for (size_t i = 0; i <= KV_COUNT_MAX; i++)
		CHECK_INT(buf_add_str(&b, "a=\n"), 0);
	kv_reader_init(&k, "f", b.data, b.len);
	while (kv_next(&k, &e, NULL) == 1)
		n++;
	CHECK_INT(n, KV_COUNT_MAX);
	CHECK_INT(kv_next(&k, &e, NULL), -HB_E_CONFIG);
}

static void what_is_written_reads_back(void)
{
	auto_buf struct buf b = BUF_INIT(KV_FILE_MAX);
	auto_kv_reader struct kv_reader k = { 0 };
	struct kv_writer w;
	struct kv_entry e;
	char all[256];

	kv_writer_init(&w, &b);
	for (int i = 0; i < 256; i++) {
		char c = (char)i;

		all[i] = c;
		CHECK_INT(kv_add(&w, "one", &c, 1), 0);
	}
	CHECK_INT(kv_add(&w, "all", all, sizeof(all)), 0);
	CHECK_INT(kv_add(&w, "none", NULL, 0), 0);
	CHECK_INT(kv_add_str(&w, "hash", "# x"), 0);
	CHECK_INT(kv_add_fmt(&w, "number", "%d", -5), 0);

	kv_reader_init(&k, "f", b.data, b.len);
	for (int i = 0; i < 256; i++) {
		CHECK_INT(kv_next(&k, &e, NULL), 1);
		CHECK_INT(e.len, 1);
		CHECK_INT((unsigned char)e.value[0], i);
	}
	CHECK_INT(kv_next(&k, &e, NULL), 1);
	CHECK(e.len == 256 && memcmp(e.value, all, 256) == 0);
	CHECK_INT(kv_next(&k, &e, NULL), 1);
	CHECK(strcmp(e.key, "none") == 0 && e.len == 0);
	CHECK_INT(kv_next(&k, &e, NULL), 1);
	CHECK(strcmp(e.value, "# x") == 0);
	CHECK_INT(kv_next(&k, &e, NULL), 1);
	CHECK(strcmp(e.value, "-5") == 0);
	CHECK_INT(kv_next(&k, &e, NULL), 0);
}

static void plain_values_stay_readable(void)
{
	auto_buf struct buf b = BUF_INIT(KV_FILE_MAX);
	struct kv_writer w;

	kv_writer_init(&w, &b);
	CHECK_INT(kv_add_str(&w, "path", "/home/u/my project"), 0);
	CHECK_INT(kv_add_str(&w, "odd", " x"), 0);
	CHECK(strcmp(buf_str(&b),
		     "path = /home/u/my project\nodd = \" x\"\n") == 0);
}

static void unreadable_files_are_not_written(void)
{
	auto_buf struct buf b = BUF_INIT(KV_FILE_MAX * 2);
	auto_free char *big = malloc(KV_LINE_MAX);
	struct kv_writer w;
	size_t n = 0;

	CHECK(big != NULL);
	memset(big, 'x', KV_LINE_MAX);
	kv_writer_init(&w, &b);
	CHECK_INT(kv_add(&w, "a", big, KV_LINE_MAX - 4), 0);
	CHECK_INT(kv_add(&w, "a", big, KV_LINE_MAX - 3), -E2BIG);
	/* Kept, and no half of a line stays. */
	CHECK_INT(kv_add_str(&w, "a", "x"), -E2BIG);
	CHECK_INT(b.len, KV_LINE_MAX + 1);

	buf_done(&b);
	kv_writer_init(&w, &b);
	while (kv_add(&w, "a", big, KV_LINE_MAX - 5) == 0)
		n++;
	CHECK_INT(n, KV_FILE_MAX / KV_LINE_MAX);
	CHECK_INT(b.len, KV_FILE_MAX);

	buf_done(&b);
	kv_writer_init(&w, &b);
	for (n = 0; kv_add(&w, "a", "x", 1) == 0;)
		n++;
	CHECK_INT(n, KV_COUNT_MAX);
}

static void readers_of_entries_speak_alike(void)
{
	auto_kv_reader struct kv_reader k = { 0 };
	struct hb_error err = { 0 };
	struct kv_entry e;

	kv_reader_init(&k, "a\nb", "\nx = 1\n", 7);
	CHECK_INT(kv_next(&k, &e, &err), 1);
	CHECK_INT(kv_fail(&k, &e, &err, "unknown key '%s'", e.key),
		  -HB_E_CONFIG);
	CHECK(strcmp(err.text, "\"a\\012b\":2: unknown key 'x'") == 0);
}

TESTS(T(a_file_is_read_line_by_line), T(nothing_is_an_empty_file),
      T(faults_name_their_line), T(a_nul_is_never_read_over),
      T(limits_are_exact), T(what_is_written_reads_back),
      T(plain_values_stay_readable), T(unreadable_files_are_not_written),
      T(readers_of_entries_speak_alike))
