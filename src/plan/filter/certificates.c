/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/filter/certificates.h"

#include "base/buf.h"

#include <stdbool.h>
#include <string.h>

static const char *const labels[] = { "CERTIFICATE", "TRUSTED CERTIFICATE",
				      "X509 CERTIFICATE" };

#define DASHES "-----"
#define BASE64                                                           \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" \
	"+/=\r\n"

/* The next line, without its end; false behind the last one. */
static bool next_line(const char **at, const char *end, const char **ret,
		      size_t *ret_n)
{
	const char *stop;

	if (*at == end)
		return false;
	stop = memchr(*at, '\n', (size_t)(end - *at));
	if (!stop)
		stop = end;
	*ret = *at;
	*ret_n = (size_t)(stop - *at);
	*at = stop < end ? stop + 1 : end;
	while (*ret_n > 0 && strchr(" \t\r", (*ret)[*ret_n - 1]))
		--*ret_n;
	return true;
}

/* Whether the line is that of `word` and the label, between dashes. */
static bool is_mark(const char *line, size_t n, const char *word,
		    const char *label)
{
	const char *const parts[] = { DASHES, word, " ", label, DASHES };
	size_t at = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		size_t len = strlen(parts[i]);

		if (n - at < len || memcmp(line + at, parts[i], len) != 0)
			return false;
		at += len;
	}
	return at == n;
}

static const char *label_of(const char *line, size_t n)
{
	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
		if (is_mark(line, n, "BEGIN", labels[i]))
			return labels[i];
	return NULL;
}

static bool is_base64(const char *line, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!line[i] || !strchr(BASE64, line[i]))
			return false;
	return true;
}

/* Behind the first line of one: whether it ends as one. */
static bool read_one(const char **at, const char *end, const char *label)
{
	const char *line;
	size_t n;

	while (next_line(at, end, &line, &n)) {
		if (is_mark(line, n, "END", label))
			return true;
		if (!is_base64(line, n))
			break;
	}
	return false;
}

int certificates_filter(const char *text, size_t n, struct buf *out)
{
	const char *at = text, *end = text + n, *line;
	size_t len;
	int count = 0;

	while (next_line(&at, end, &line, &len)) {
		const char *label = label_of(line, len);
		const char *from = at;

		if (!label)
			continue;
		/* What is broken may hide the beginning of another. */
		if (!read_one(&at, end, label)) {
			at = from;
			continue;
		}
		(void)buf_add(out, line, (size_t)(at - line));
		if (at[-1] != '\n')
			(void)buf_add_char(out, '\n');
		count++;
	}
	return out->error ? out->error : count;
}
