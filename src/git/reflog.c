/* SPDX-License-Identifier: Apache-2.0 */
#include "git/reflog.h"

#include <string.h>

/* "NAME <MAIL> TIME ZONE": git takes no line without these. */
static bool is_person(const char *who, size_t n)
{
	const char *end = memrchr(who, '>', n);
	size_t at = end ? (size_t)(end - who) + 1 : n;

	if (at >= n || who[at] != ' ' || !memchr(who, '<', at))
		return false;
	at++;
	while (at < n && who[at] >= '0' && who[at] <= '9')
		at++;
	return n - at == 6 && who[at] == ' ' && strchr("+-", who[at + 1]);
}

static bool parse(const char *text, size_t n, struct reflog_line *ret)
{
	size_t digits = strcspn(text, " \n"), used = 2 * (digits + 1);
	const char *tab;

	if (used >= n || text[used - 1] != ' ' ||
	    !git_id_parse(text, digits, &ret->old) ||
	    !git_id_parse(text + digits + 1, digits, &ret->new))
		return false;
	ret->who = text + used;
	n -= used + (text[n - 1] == '\n');
	tab = memchr(ret->who, '\t', n);
	ret->who_len = tab ? (size_t)(tab - ret->who) : n;
	return is_person(ret->who, ret->who_len);
}

int reflog_next(const char **at, struct reflog_line *ret_line)
{
	while (**at) {
		const char *text = *at;
		size_t n = strcspn(text, "\n");

		n += text[n] == '\n';
		*at += n;
		ret_line->text = text;
		ret_line->len = n;
		if (text[n - 1] == '\n' && parse(text, n, ret_line))
			return 1;
	}
	return 0;
}
