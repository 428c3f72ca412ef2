/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quote.h"

#include "base/buf.h"
#include "base/utf8.h"

#include "tap.h"

#include <errno.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct pair {
	const char *name;
	const char *shown;
};

static const struct pair pairs[] = {
	{ "plain.txt", "plain.txt" },
	{ "with space", "with space" },
	{ "it's", "it's" },
	{ "-dash", "-dash" },
	{ "gr\303\274n \346\227\245 \360\237\230\200",
	  "gr\303\274n \346\227\245 \360\237\230\200" },
	{ "", "\"\"" },
	{ " lead", "\" lead\"" },
	{ "trail ", "\"trail \"" },
	{ "a\"b", "\"a\\\"b\"" },
	{ "a\\b", "\"a\\\\b\"" },
	{ "a\nb", "\"a\\012b\"" },
	{ "tab\t1", "\"tab\\0111\"" },
	{ "\033[31mred", "\"\\033[31mred\"" },
	{ "\177", "\"\\177\"" },
	/* C1 as UTF-8: CSI, which some terminals obey. */
	{ "\302\233m", "\"\\302\\233m\"" },
	{ "\302\200", "\"\\302\\200\"" },
	{ "\302\237", "\"\\302\\237\"" },
	{ "\302\241", "\302\241" },
	/* Not UTF-8: stray, overlong, cut off, surrogate, too large. */
	{ "a\200b", "\"a\\200b\"" },
	{ "\300\257", "\"\\300\\257\"" },
	{ "\303", "\"\\303\"" },
	{ "\355\240\200", "\"\\355\\240\\200\"" },
	{ "\364\220\200\200", "\"\\364\\220\\200\\200\"" },
	{ "\377", "\"\\377\"" },
	/* U+202E right-to-left override, U+2066 isolate, U+200B, U+FEFF. */
	{ "a\342\200\256b", "\"a\\342\\200\\256b\"" },
	{ "\342\201\246", "\"\\342\\201\\246\"" },
	{ "a\342\200\213", "\"a\\342\\200\\213\"" },
	{ "\357\273\277x", "\"\\357\\273\\277x\"" },
};

static void hostile_names_cannot_speak(void)
{
	auto_buf struct buf b = BUF_INIT(256);

	for (size_t i = 0; i < COUNT(pairs); i++) {
		const struct pair *p = &pairs[i];

		buf_cut(&b, 0);
		CHECK_INT(quote_name(p->name, strlen(p->name), &b), 0);
		if (strcmp(buf_str(&b), p->shown) != 0)
			printf("# row %zu: %s\n", i, p->shown);
		CHECK(strcmp(buf_str(&b), p->shown) == 0);
		CHECK(quote_is_needed(p->name, strlen(p->name)) ==
		      (p->shown[0] == '"'));
	}
}

static void every_byte_comes_back(void)
{
	auto_buf struct buf b = BUF_INIT(1 << 12), back = BUF_INIT(1 << 12);

	for (unsigned int i = 0; i < 65536; i++) {
		const char name[2] = { (char)(i >> 8), (char)i };

		buf_cut(&b, 0);
		buf_cut(&back, 0);
		CHECK_INT(quote_name(name, 2, &b), 0);
		CHECK_INT(unquote_name(b.data, b.len, &back), 0);
		CHECK(back.len == 2 && memcmp(back.data, name, 2) == 0);

		buf_cut(&b, 0);
		buf_cut(&back, 0);
		CHECK_INT(quote_name_always(name, 2, &b), 0);
		CHECK(b.data[0] == '"');
		CHECK_INT(unquote_name(b.data, b.len, &back), 0);
		CHECK(back.len == 2 && memcmp(back.data, name, 2) == 0);
	}
}

static void what_is_shown_is_printable(void)
{
	auto_buf struct buf b = BUF_INIT(64);
	uint32_t code = 0;
	char name[5] = { 0 };
	size_t len;

	for (uint32_t i = 0; i < 0x110000; i++) {
		/* Four bytes suffice for any number below 0x200000. */
		name[0] = (char)(0xf0 | i >> 18);
		name[1] = (char)(0x80 | (i >> 12 & 0x3f));
		name[2] = (char)(0x80 | (i >> 6 & 0x3f));
		name[3] = (char)(0x80 | (i & 0x3f));
		len = utf8_next(name, 4, &code);
		CHECK_INT(len, i < 0x10000 ? 0 : 4);
		CHECK(len == 0 || code == i);
		buf_cut(&b, 0);
		CHECK_INT(quote_name(name, 4, &b), 0);
		CHECK((b.data[0] == '"') == (len == 0 || utf8_is_hidden(i)));
	}
}

static void handwritten_escapes_are_understood(void)
{
	static const char text[] =
		"\"\\a\\b\\t\\n\\v\\f\\r\\\"\\\\\\000\\377\"";
	static const char want[] = "\a\b\t\n\v\f\r\"\\\0\377";
	auto_buf struct buf b = BUF_INIT(64);

	CHECK_INT(unquote_name(text, strlen(text), &b), 0);
	CHECK_INT(b.len, sizeof(want) - 1);
	CHECK(memcmp(b.data, want, b.len) == 0);
}

static void bare_text_stands_for_itself(void)
{
	auto_buf struct buf b = BUF_INIT(64);

	CHECK_INT(unquote_name("a\\b\"", 4, &b), 0);
	CHECK(strcmp(buf_str(&b), "a\\b\"") == 0);
}

static void broken_quotes_leave_no_trace(void)
{
	static const char *const bad[] = {
		"\"",	     "\"a",	"\"a\\\"",	"\"a\"b",   "\"a\" ",
		"\"\\x41\"", "\"\\8\"", "\"\\400\"",	"\"\\77\"", "\"\\1",
		"\"\\12",    "\"\\",	"\"\\0018\"\"", "\"\\'\"",
	};
	auto_buf struct buf b = BUF_INIT(64);

	CHECK_INT(buf_add_str(&b, "kept"), 0);
	for (size_t i = 0; i < COUNT(bad); i++)
		CHECK_INT(unquote_name(bad[i], strlen(bad[i]), &b), -EINVAL);
	CHECK_INT(unquote_name("\"a\0b\"", 5, &b), -EINVAL);
	CHECK_INT(unquote_name("a\0b", 3, &b), -EINVAL);
	CHECK(strcmp(buf_str(&b), "kept") == 0);
	CHECK_INT(b.error, 0);
}

static void messages_have_room_for_the_start(void)
{
	char out[16];

	CHECK(strcmp(quote_shown("short", out, 16), "short") == 0);
	CHECK(strcmp(quote_shown("a\nb", out, 16), "\"a\\012b\"") == 0);
	CHECK(strcmp(quote_shown("0123456789abcdefghij", out, 16),
		     "0123456789a...") == 0);
	CHECK(strcmp(quote_shown("\001\002\003\004\005", out, 16),
		     "\"\\001\\002\"...") == 0);
	/* A character is shown whole or not at all. */
	CHECK(strcmp(quote_shown("0123456789\303\274\303\274xxxx", out, 16),
		     "0123456789...") == 0);
	memset(out, '#', sizeof(out));
	(void)quote_shown("\377\377\377\377", out, 8);
	CHECK(out[8] == '#');
}

static void a_full_buffer_is_reported(void)
{
	auto_buf struct buf b = BUF_INIT(3);

	CHECK_INT(quote_name("a\nb", 3, &b), -E2BIG);
	buf_done(&b);
	CHECK_INT(unquote_name("\"abcd\"", 6, &b), -E2BIG);
	buf_done(&b);
	CHECK_INT(unquote_name("abcd", 4, &b), -E2BIG);
}

TESTS(T(hostile_names_cannot_speak), T(every_byte_comes_back),
      T(what_is_shown_is_printable), T(handwritten_escapes_are_understood),
      T(bare_text_stands_for_itself), T(broken_quotes_leave_no_trace),
      T(messages_have_room_for_the_start), T(a_full_buffer_is_reported))
