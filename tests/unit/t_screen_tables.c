/* SPDX-License-Identifier: Apache-2.0 */
/* Each row of the tables of the screen filter. */
#include "box/screen_filter.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define HEAD	      "\030\033\\"
#define TAIL	      "\033[0m\033(B\017\033[?25h"

static char held[SCREEN_HELD_MAX];
static char out[8192];

static void pass(struct screen_filter *f, bool is_silent, const char *in)
{
	screen_filter_init(f, held, sizeof(held), false);
	f->is_silent = is_silent;
	out[screen_filter(f, in, strlen(in), out)] = '\0';
}

static void a_question_for_text_is_dropped(void)
{
	static const char *const rows[] = {
		"\033[20t", "\033[21t", "\033[>q",  "\033[1*y",
		"\033[1$w", "\033[1$u", "\033[1&u", "\033[2;3$w",
	};
	struct screen_filter f;

	for (size_t i = 0; i < LENGTH(rows); i++) {
		pass(&f, false, rows[i]);
		CHECK_INT(strlen(out), 0);
		CHECK(!f.has_asked);
	}
}

static void a_question_passes_only_if_the_answer_can_arrive(void)
{
	static const char *const rows[] = {
		"\033[c",     "\033[>c",   "\033[=c",  "\033[6n",    "\033[?6n",
		"\033[14t",   "\033[1x",   "\033[?u",  "\033[?25$p", "\033[4$p",
		"\033[?1;1S", "\033[1\"v", "\033[1'|", "\033[1#|",
	};
	struct screen_filter f;

	for (size_t i = 0; i < LENGTH(rows); i++) {
		pass(&f, false, rows[i]);
		CHECK(strcmp(out, rows[i]) == 0);
		CHECK(f.has_asked);
		pass(&f, true, rows[i]);
		CHECK_INT(strlen(out), 0);
		CHECK(!f.has_asked);
	}
}

/* Of others a question mark is dropped. */
static void a_string_with_a_title_or_a_place_passes_whatever_it_says(void)
{
	static const unsigned rows[] = { 0, 1, 2, 7, 8, 9, 133, 633, 777 };
	struct screen_filter f;
	char in[32];

	for (size_t i = 0; i < LENGTH(rows); i++) {
		(void)snprintf(in, sizeof(in), "\033]%u;?\007", rows[i]);
		pass(&f, false, in);
		CHECK(strcmp(out, in) == 0);
	}
	pass(&f, false, "\033]10;?\007");
	CHECK_INT(strlen(out), 0);
}

static void a_string_that_reaches_files_or_commands_is_dropped(void)
{
	static const char *const rows[] = {
		"51;x",
		"60;x",
		"61;x",
		"5113;x",
		"5522;x",
		"1337;ReportVariable=x",
		"1337;RequestUpload=x",
		"1337;Copy=x",
		"1337;CopyToClipboard=x",
	};
	struct screen_filter f;
	char in[64];

	for (size_t i = 0; i < LENGTH(rows); i++) {
		(void)snprintf(in, sizeof(in), "\033]%s\007after", rows[i]);
		pass(&f, false, in);
		CHECK(strcmp(out, "after") == 0);
	}
}

static void ends(const char *in, const char *want)
{
	char end[SCREEN_END_MAX], all[SCREEN_END_MAX];
	struct screen_filter f;

	pass(&f, false, in);
	(void)snprintf(all, sizeof(all), "%s%s%s", HEAD, want, TAIL);
	end[screen_filter_end(&f, end)] = '\0';
	CHECK(strcmp(end, all) == 0);
}

static void each_mode_is_put_back(void)
{
	static const struct {
		unsigned number;
		bool is_set;
	} rows[] = {
		{ 1049, false }, { 1047, false }, { 47, false },
		{ 25, true },	 { 1, false },	  { 5, false },
		{ 6, false },	 { 7, true },	  { 9, false },
		{ 66, false },	 { 1000, false }, { 1001, false },
		{ 1002, false }, { 1003, false }, { 1004, false },
		{ 1005, false }, { 1006, false }, { 1015, false },
		{ 1016, false }, { 2004, false }, { 2026, false },
		{ 2031, false }, { 2048, false }, { 1007, false },
	};

	for (size_t i = 0; i < LENGTH(rows); i++) {
		char in[32], back[32], before = rows[i].is_set ? 'h' : 'l';
		char changed = rows[i].is_set ? 'l' : 'h';

		(void)snprintf(in, sizeof(in), "\033[?%u%c", rows[i].number,
			       changed);
		(void)snprintf(back, sizeof(back), "\033[?%u%c", rows[i].number,
			       before);
		ends(in, back);
		ends(back, "");
	}
}

static void what_is_no_mode_is_put_back_too(void)
{
	ends("\033[2;3r", "\0337\033[r\0338");
	ends("\033[4h", "\033[4l");
	ends("\033[>1u", "\033[<99u\033[=0u");
	ends("\033[=1u", "\033[<99u\033[=0u");
	ends("\033[>4;1m", "\033[>4m");
	ends("\033=", "\033>");
	ends("\033[3 q", "\033[0 q");
}

TESTS(T(a_question_for_text_is_dropped),
      T(a_question_passes_only_if_the_answer_can_arrive),
      T(a_string_with_a_title_or_a_place_passes_whatever_it_says),
      T(a_string_that_reaches_files_or_commands_is_dropped),
      T(each_mode_is_put_back), T(what_is_no_mode_is_put_back_too))
