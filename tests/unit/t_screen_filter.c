/* SPDX-License-Identifier: Apache-2.0 */
#include "box/screen_filter.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAME(a, b) CHECK(strcmp(a, b) == 0)

static char held[SCREEN_HELD_MAX + SCREEN_COPY_MAX];
static char out[1 << 20];

static size_t pass(struct screen_filter *f, const char *in, size_t n,
		   size_t piece)
{
	size_t got = 0;

	for (size_t i = 0; i < n; i += piece)
		got += screen_filter(f, in + i, n - i < piece ? n - i : piece,
				     out + got);
	return got;
}

/* In pieces of every size up to its length. */
static void becomes(const char *in, const char *want)
{
	for (size_t piece = 1; piece <= strlen(in); piece++) {
		struct screen_filter f;
		size_t n;

		screen_filter_init(&f, held, SCREEN_HELD_MAX, false);
		n = pass(&f, in, strlen(in), piece);
		out[n] = '\0';
		SAME(out, want);
		CHECK_INT(f.state, SCREEN_GROUND);
	}
}

static void all_else_passes(void)
{
	static const char *const rows[] = {
		"text\r\n\ttext \a\b",
		"\033[1;38;2;255;0;10mcolour\033[m",
		"\033[?1049h\033[2J\033[1;1H\033[?1000;1006h\033[?1049l",
		"\033]0;a title?\007\033]2;a title;?\033\\",
		"\033]8;;http://x/?q\033\\link\033]8;;\033\\",
		"\033]4;1;rgb:00/11/22\007\033]104\007\033]112\033\\",
		"\033Pq#0;2;0;0;0sixel?\033\\",
		"\033_Ga=T,f=100;AAAA\033\\",
		"\033_other\033\\\033^pm\033\\",
		"\033]1337;File=name=x:AAAA==\007",
		"\033]133;A\007\033]P0123456after\033]R",
		"\033(0lqk\033(B\016x\017",
		"\033[6n\033[c\033[>c\033[5n\033[?u\033[14t\033Z",
		"gr\303\274n \342\200\235 \360\237\230\200 \302\251 \302\240",
		"\033[2\n1H\033[3\030x\033[4\033[5m",
		"\033\033[A\033P1$r0m\033\\",
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		becomes(rows[i], rows[i]);
}

/* Bytes of `parts` in an order that is the same in every run. */
static size_t mix(unsigned seed, char *in, size_t size)
{
	static const char *const parts[] = {
		"plain text of some length, longer than a word\r\n",
		"\033[1;32m",
		"\033[K",
		"\033[",
		"\033",
		"m",
		"H",
		"\005",
		"\016",
		"\302",
		"\303\274",
		"\233",
		"\233 1;2m",
		"\033[21t",
		"\033[?2004h",
		"\033[?25l",
		"\033[6n",
		"\033]0;t",
		"\007",
		"\033[1;2;3;4;5;6;7;8;9;10;11;12;13;14;15;16;17;18;19;20;21m",
		"\033P",
		"\033\\",
		"\030",
		"1234567",
		"x",
	};
	size_t n = 0;

	while (size - n >= 80) {
		const char *part;

		seed = seed * 1103515245 + 12345;
		part = parts[seed / 65536 % (sizeof(parts) / sizeof(parts[0]))];
		memcpy(in + n, part, strlen(part));
		n += strlen(part);
	}
	return n;
}

static void many_bytes_at_once_are_as_one_by_one(void)
{
	static char in[1000], one_by_one[8000], other[SCREEN_HELD_MAX];

	for (unsigned seed = 1; seed <= 3000; seed++) {
		struct screen_filter a, b;
		size_t n = mix(seed, in, 100 + seed % 900), n_a, n_b;

		screen_filter_init(&a, held, SCREEN_HELD_MAX, false);
		screen_filter_init(&b, other, SCREEN_HELD_MAX, false);
		n_a = pass(&a, in, n, 1);
		memcpy(one_by_one, out, n_a);
		n_b = pass(&b, in, n, 1 + seed % n);
		CHECK_INT(n_b, n_a);
		CHECK(memcmp(out, one_by_one, n_a) == 0);
		CHECK_INT(b.state, a.state);
		CHECK_INT(b.has_escape, a.has_escape);
		CHECK_INT(b.has_asked, a.has_asked);
		CHECK_INT(b.is_open, a.is_open);
		CHECK_INT(b.modes, a.modes);
		CHECK_INT(b.marks, a.marks);
		CHECK_INT(b.n_held, a.n_held);
	}
}

/* It is put back at the end: terminals have another set of characters then. */
static void a_shift_in_the_middle_of_text_is_noticed(void)
{
	static const char in[] = "0123456\01678901234567890";
	struct screen_filter f;

	screen_filter_init(&f, held, SCREEN_HELD_MAX, false);
	CHECK_INT(screen_filter(&f, in, sizeof(in), out), sizeof(in));
	CHECK(f.has_escape);
}

static void questions_for_text_are_dropped(void)
{
	static const char *const rows[] = {
		"\033[21t",
		"\033[20t",
		"\033[0021t",
		"\033[2\n1t",
		"\033[21;0t",
		"\233"
		"21t",
		"\302\233"
		"21t",
		"\033[>q",
		"\033[>0q",
		"\033[1;1;1;1;1;1*y",
		"\033[1$w",
		"\033P$qm\033\\",
		"\033P+q544e\033\\",
		"\220$qm\234",
		"\033]4;1;?\007",
		"\033]10;?\033\\",
		"\033]011;?\007",
		"\033]11;?;?\007",
		"\235"
		"11;?\007",
		"\302\235"
		"11;?\302\234",
		"\033]50;?\007",
		"\033]21;foreground=?\033\\",
		"\033]52;c;?\007",
		"\033]52;c;aGk=\007",
		"\033]51;A\007",
		"\033]60\033\\",
		"\033]60;\033\\",
		"\033]1337;ReportVariable=cHdk\007",
		"\033]1337;Copy=:aGk=\007",
		"\033_Ga=T,t=f;L2V0Yw==\033\\",
		"\005",
	};
	char text[128], want[16];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		(void)snprintf(text, sizeof(text), "a%sb", rows[i]);
		(void)snprintf(want, sizeof(want), "ab");
		becomes(text, want);
	}
	/* In a string, as some terminals pass it on to others. */
	becomes("\033Ptmux;\033\033[21t\033\\", "\033Ptmux;\033\030\033\\");
	becomes("\033P\033]11;?\007\033\\", "\033P\030\033\\");
	/* What is dropped joins nothing to what stands around it. */
	becomes("\033\033]11;?\007[21t", "\033\030[21t");
	becomes("\033[2\033]11;?\0071t", "\033[2\0301t");
	becomes("\033[2\0051m", "\033[21m");
}

static void nothing_is_asked_without_an_answer(void)
{
	struct screen_filter f;
	const char in[] = "a\033[6n\033[c\033Zb";
	size_t n;

	screen_filter_init(&f, held, SCREEN_HELD_MAX, false);
	f.is_silent = true;
	n = pass(&f, in, strlen(in), 3);
	CHECK_INT(n, 2);
	CHECK(!f.has_asked);
	f.is_silent = false;
	(void)pass(&f, in, strlen(in), 3);
	CHECK(f.has_asked);
}

static size_t copy(struct screen_filter *f, size_t n)
{
	static char in[SCREEN_COPY_MAX * 2];

	memset(in, 'A', sizeof(in));
	memcpy(in, "\033]52;c;", 7);
	in[n + 7] = '\007';
	screen_filter_init(f, held, sizeof(held), true);
	return pass(f, in, n + 8, 4096);
}

static void clipboard_is_set_if_allowed_and_small(void)
{
	struct screen_filter f;

	CHECK_INT(copy(&f, 1000), 1008);
	CHECK(f.has_copied && !f.has_no_copied);
	CHECK_INT(copy(&f, SCREEN_COPY_MAX), SCREEN_COPY_MAX + 8);
	CHECK_INT(copy(&f, SCREEN_COPY_MAX + SCREEN_HELD_MAX + 1), 0);
	CHECK(!f.has_copied && f.has_no_copied);
}

static void too_long_is_dropped(void)
{
	static char in[70000];
	struct screen_filter f;
	size_t n;

	memset(in, '0', sizeof(in));
	memcpy(in, "\033[", 2);
	memcpy(in + sizeof(in) - 4, "21tx", 4);
	screen_filter_init(&f, held, SCREEN_HELD_MAX, false);
	n = pass(&f, in, sizeof(in), 1000);
	CHECK_INT(n, 1);
	memcpy(in, "\033]11;", 5);
	memcpy(in + sizeof(in) - 4, ";?\007x", 4);
	n = pass(&f, in, sizeof(in), 1000);
	CHECK_INT(n, 1);
	CHECK_INT(out[0], 'x');
}

static void ends(const char *in, const char *want)
{
	struct screen_filter f;
	char end[SCREEN_END_MAX];
	size_t n;

	screen_filter_init(&f, held, SCREEN_HELD_MAX, false);
	(void)pass(&f, in, strlen(in), 5);
	n = screen_filter_end(&f, end);
	end[n < sizeof(end) ? n : 0] = '\0';
	SAME(end, want);
	CHECK_INT(screen_filter_end(&f, end), 0);
}

static void the_end_puts_back_what_was_changed(void)
{
#define HEAD "\030\033\\"
#define TAIL "\033[0m\033(B\017\033[?25h"
	ends("mere text\r\n", "");
	ends("\033[31mred", HEAD TAIL);
	ends("\033_never ends", HEAD TAIL);
	ends("\033", HEAD TAIL);
	ends("\016lines", HEAD TAIL);
	ends("\033[?1049h\033[?25l\033[?1000h",
	     HEAD "\033[?1049l\033[?25h\033[?1000l" TAIL);
	ends("\033[?1049h\033[?1049l", HEAD TAIL);
	ends("\033[?1002;1006;2004h\033[2;3r\033=", HEAD
	     "\033[?1002l\033[?1006l\033[?2004l\0337\033[r\0338\033>" TAIL);
}

static void the_end_of_everything_fits(void)
{
	struct screen_filter f;
	char end[SCREEN_END_MAX];

	screen_filter_init(&f, held, SCREEN_HELD_MAX, false);
	f.has_escape = true;
	f.modes = f.marks = UINT32_MAX;
	CHECK(screen_filter_end(&f, end) < SCREEN_END_MAX);
}

TESTS(T(all_else_passes), T(many_bytes_at_once_are_as_one_by_one),
      T(a_shift_in_the_middle_of_text_is_noticed),
      T(questions_for_text_are_dropped), T(nothing_is_asked_without_an_answer),
      T(clipboard_is_set_if_allowed_and_small), T(too_long_is_dropped),
      T(the_end_puts_back_what_was_changed), T(the_end_of_everything_fits))
