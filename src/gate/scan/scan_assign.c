/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/scan/scan_assign.h"

#include <string.h>

/*
 * KEY=VALUE in the ways that languages and formats write it:
 *
 *	key = "value"	"key": "value"	key := 'value'	x["key"] = "value"
 *	:key => "value"	<key>value</key>	key: str = "value"
 * KEY=value
 *
 * Every part has a limit, so that a keyword costs the same with any text behind
 * it.
 */
#define TAIL_MAX  ((size_t)40) /* of the name, after the keyword */
#define BLANK_MAX ((size_t)16)
#define TYPE_MAX  ((size_t)24)

static bool is_one_of(const char *bytes, uint8_t byte)
{
	return byte && strchr(bytes, byte);
}

/* Goes over at most `max` bytes that are among these, or are word bytes. */
static size_t over(const struct scan_text *t, size_t at, const char *bytes,
		   bool words, size_t max)
{
	size_t i = at;

	while (i < t->len && i - at < max &&
	       (is_one_of(bytes, t->bytes[i]) ||
		(words && is_word_byte(t->bytes[i]))))
		i++;
	return i;
}

/* The operator at `at`: its length, 0 for none. */
static size_t operator_at(const struct scan_text *t, size_t at)
{
	uint8_t c = t->bytes[at], next = at + 1 < t->len ? t->bytes[at + 1] : 0;

	if (c == ':' && next == '=')
		return 2;
	if (c == '=' && next == '>')
		return 2;
	if ((c == '=' || c == ':') && next == c)
		return 0;
	return c == '=' || c == ':' || c == '>' ? 1 : 0;
}

/* "str =" of "key: str = value": up to behind it, or where it began. */
static size_t over_type(const struct scan_text *t, size_t at)
{
	size_t i = over(t, at, "&<>[] ", true, TYPE_MAX);

	if (i == at || i >= t->len || t->bytes[i] != '=')
		return at;
	return over(t, i + 1, " \t", false, BLANK_MAX);
}

/* At an opening quote, with what may stand before it: b"", @"", \"". */
static size_t over_quote(const struct scan_text *t, size_t at, uint8_t *ret)
{
	size_t i = at;

	if (i + 1 < t->len && is_one_of("bBuUrRfF@\\", t->bytes[i]) &&
	    is_one_of("\"'`", t->bytes[i + 1]))
		i++;
	*ret = 0;
	if (i < t->len && is_one_of("\"'`", t->bytes[i]))
		*ret = t->bytes[i++];
	return *ret ? i : at;
}

enum scan_answer assign_value(const struct scan_text *t, size_t at,
			      size_t *ret_value, uint8_t *ret_quote)
{
	size_t i, n;

	i = over(t, at, "-.", true, TAIL_MAX);
	i = over(t, i, "\\\"'`])", false, 3);
	i = over(t, i, " \t", false, BLANK_MAX);
	/* What is still needed at most: operator, type, blanks and quotes. */
	if (i + 2 + TYPE_MAX + 3 * BLANK_MAX + 2 > t->len && !t->is_all)
		return SCAN_MORE;
	n = i < t->len ? operator_at(t, i) : 0;
	if (n == 0)
		return SCAN_NO;
	i = over(t, i + n, " \t", false, BLANK_MAX);
	if (n == 1 && t->bytes[i - 1] != '=')
		i = over_type(t, i);
	*ret_value = over_quote(t, i, ret_quote);
	return SCAN_YES;
}

enum scan_answer assign_ends(const struct scan_text *t, size_t at,
			     uint8_t quote)
{
	uint8_t c;

	if (at >= t->len)
		return !t->is_all ? SCAN_MORE : quote ? SCAN_NO : SCAN_YES;
	c = t->bytes[at];
	if (quote)
		return c == quote || c == '\\' ? SCAN_YES : SCAN_NO;
	return is_one_of(" \t\r\n;,&<#\"'`\\", c) || !c ? SCAN_YES : SCAN_NO;
}
