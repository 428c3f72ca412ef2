/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include "tap.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

static void pieces_stand_in_order(void)
{
	auto_buf struct buf b = { 0 };

	buf_init(&b, 100);
	CHECK_INT(buf_add_str(&b, "ab"), 0);
	CHECK_INT(buf_add_char(&b, '-'), 0);
	CHECK_INT(buf_add_fmt(&b, "%d/%s", 42, "x"), 0);
	CHECK_INT(buf_add(&b, "\0z", 2), 0);
	CHECK_INT(buf_add_fill(&b, '.', 3), 0);
	CHECK_INT(b.len, 12);
	CHECK(memcmp(b.data, "ab-42/x\0z...", 13) == 0);
}

static void an_empty_buffer_is_an_empty_string(void)
{
	auto_buf struct buf b = { 0 };

	CHECK(strcmp(buf_str(&b), "") == 0);
	buf_init(&b, 10);
	CHECK(strcmp(buf_str(&b), "") == 0);
	CHECK_INT(buf_add(&b, NULL, 0), 0);
	CHECK(strcmp(buf_str(&b), "") == 0);
	CHECK_INT(b.len, 0);
}

static void the_limit_is_exact(void)
{
	auto_buf struct buf b = BUF_INIT(4);

	CHECK_INT(buf_add_str(&b, "1234"), 0);
	CHECK_INT(b.error, 0);
	CHECK_INT(buf_add(&b, "", 0), 0);
	CHECK_INT(buf_add_char(&b, '5'), -E2BIG);
	CHECK(strcmp(buf_str(&b), "1234") == 0);
}

static void a_piece_past_the_limit_is_not_added_in_part(void)
{
	auto_buf struct buf b = { 0 };

	buf_init(&b, 4);
	CHECK_INT(buf_add_fmt(&b, "%s", "12345"), -E2BIG);
	CHECK_INT(b.len, 0);
	buf_done(&b);
	buf_init(&b, 4);
	CHECK_INT(buf_add_fill(&b, 'x', SIZE_MAX), -E2BIG);
	CHECK_INT(b.len, 0);
}

static void failure_is_kept(void)
{
	auto_buf struct buf b = { 0 };
	char *taken = NULL;

	buf_init(&b, 4);
	CHECK_INT(buf_add_str(&b, "ab"), 0);
	CHECK_INT(buf_add_str(&b, "cde"), -E2BIG);
	CHECK_INT(buf_add_char(&b, 'c'), -E2BIG);
	CHECK_INT(buf_add_fmt(&b, "%d", 1), -E2BIG);
	CHECK_INT(buf_add_fill(&b, ' ', 1), -E2BIG);
	CHECK_INT(buf_fail(&b, -EINVAL), -E2BIG);
	CHECK_INT(buf_take(&b, &taken, NULL), -E2BIG);
	CHECK(taken == NULL);
	CHECK(strcmp(buf_str(&b), "ab") == 0);

	/* A new life starts without it. */
	buf_done(&b);
	CHECK_INT(buf_add_str(&b, "abcd"), 0);
}

static void a_writer_can_refuse(void)
{
	auto_buf struct buf b = { 0 };

	buf_init(&b, 4);
	CHECK_INT(buf_fail(&b, -EINVAL), -EINVAL);
	CHECK_INT(buf_add_char(&b, 'c'), -EINVAL);
}

static void growing_keeps_every_byte(void)
{
	auto_buf struct buf b = { 0 };

	buf_init(&b, 100000);
	for (int i = 0; i < 100000; i++)
		CHECK_INT(buf_add_char(&b, (char)('a' + i % 26)), 0);
	for (int i = 0; i < 100000; i++)
		CHECK(b.data[i] == 'a' + i % 26);
	CHECK(b.data[100000] == '\0');
}

static void cutting_leaves_the_start(void)
{
	auto_buf struct buf b = { 0 };

	buf_init(&b, 10);
	CHECK_INT(buf_add_str(&b, "abcdef"), 0);
	buf_cut(&b, 2);
	CHECK(strcmp(buf_str(&b), "ab") == 0);
	CHECK_INT(buf_add_str(&b, "12345678"), 0);
	CHECK(strcmp(buf_str(&b), "ab12345678") == 0);
}

static void what_is_taken_belongs_to_the_taker(void)
{
	auto_buf struct buf b = { 0 };
	char *taken = NULL;
	size_t n = 99;

	buf_init(&b, 10);
	CHECK_INT(buf_add_str(&b, "abc"), 0);
	CHECK_INT(buf_take(&b, &taken, &n), 0);
	CHECK_INT(n, 3);
	CHECK(strcmp(taken, "abc") == 0);
	CHECK(b.data == NULL && b.len == 0);
	free(taken);

	/* Also when there is nothing: the taker need not ask. */
	CHECK_INT(buf_take(&b, &taken, &n), 0);
	CHECK(taken != NULL && taken[0] == '\0' && n == 0);
	free(taken);
}

TESTS(T(pieces_stand_in_order), T(an_empty_buffer_is_an_empty_string),
      T(the_limit_is_exact), T(a_piece_past_the_limit_is_not_added_in_part),
      T(failure_is_kept), T(a_writer_can_refuse), T(growing_keeps_every_byte),
      T(cutting_leaves_the_start), T(what_is_taken_belongs_to_the_taker))
