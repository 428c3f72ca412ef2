/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzzes: base
 *
 * The input up to its first NUL is a pattern and what follows a path; both are
 * also names.  Beside what the sanitizers see: a name reads back from its
 * quotes to the same bytes and shows no control character; matching ends, and
 * folding case or being a directory never makes a match go away unless a class
 * is negated; a normal path stays what it is; json is never anything but valid
 * UTF-8.
 */
#include "base/buf.h"
#include "base/glob.h"
#include "base/json.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "fuzz.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define INPUT_MAX 4096

static void must_be_printable(const struct buf *b)
{
	uint32_t code = 0;
	size_t len;

	for (size_t i = 0; i < b->len; i += len) {
		len = utf8_next(b->data + i, b->len - i, &code);
		MUST(len > 0 && !utf8_is_hidden(code));
	}
}

static void check_quotes(const char *name, size_t n)
{
	auto_buf struct buf q = BUF_INIT(1 << 16), back = BUF_INIT(1 << 16);
	char shown[QUOTE_SHOWN];

	MUST(quote_name(name, n, &q) == 0);
	must_be_printable(&q);
	MUST(unquote_name(buf_str(&q), q.len, &back) == 0);
	MUST(back.len == n && (n == 0 || memcmp(back.data, name, n) == 0));

	/* As quoted text the same bytes may be anything but harmful. */
	(void)unquote_name(name, n, &back);

	(void)quote_shown(name, shown, sizeof(shown));
	MUST(strlen(shown) < sizeof(shown));
}

static void check_json(const char *s, size_t n)
{
	auto_buf struct buf b = BUF_INIT(1 << 16);
	struct json j;

	json_init(&j, &b);
	json_bytes(&j, s, n);
	MUST(json_end_text(&j) == 0);
	must_be_printable(&b);
}

static void check_path(const char *path)
{
	char once[INPUT_MAX + 2], twice[INPUT_MAX + 2];
	struct path_part part;
	int n;

	n = path_normalise(path, PATH_DOTS_FOLD, once, sizeof(once));
	MUST((n < 0) == (path[0] == '\0'));
	(void)path_basename(path);
	(void)path_dirname(path);
	if (n < 0)
		return;
	MUST((size_t)n == strlen(once));
	MUST(path_normalise(once, PATH_DOTS_FOLD, twice, sizeof(twice)) == n);
	MUST(strcmp(once, twice) == 0);
	MUST(path_is_absolute(once) == path_is_absolute(path));
	if (path_is_absolute(once)) {
		MUST(path_is_beneath(once, "/"));
		MUST(!path_has_dotdot(once));
	}
	if (path_has_dotdot(once))
		return;
	MUST(path_is_beneath(once, once));
	part = path_dirname(once);
	memcpy(twice, part.s, part.n);
	twice[part.n] = '\0';
	MUST(path_is_beneath(once, twice));
	/* Whoever refuses ".." gets the same where there is none. */
	n = path_normalise(path, PATH_DOTS_REFUSE, twice, sizeof(twice));
	MUST(path_has_dotdot(path) ? n < 0 : strcmp(once, twice) == 0);
}

static void check_glob(const char *pattern, const char *path)
{
	bool plain = glob_match(pattern, path, 0);
	bool negates = strstr(pattern, "[!") || strstr(pattern, "[^");

	MUST(!plain || glob_check(pattern, NULL) == 0);
	MUST(!plain || glob_match(pattern, path, GLOB_DIR));
	MUST(!plain || negates || glob_match(pattern, path, GLOB_FOLD));
	MUST(pattern[strcspn(pattern, "*?[\\/")] || strchr(path, '/') ||
	     strlen(pattern) > GLOB_PATTERN_MAX || !pattern[0] ||
	     plain == (strcmp(pattern, path) == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[INPUT_MAX + 2];
	const char *path;

	if (size > INPUT_MAX)
		return 0;
	memcpy(text, data, size);
	memset(text + size, 0, 2);
	path = text + strlen(text) + 1;
	if (path > text + size)
		path = text + size;

	check_quotes(text, size);
	check_json(text, size);
	check_path(text);
	check_path(path);
	check_glob(text, path);
	return 0;
}
