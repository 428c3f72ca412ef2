/* SPDX-License-Identifier: Apache-2.0 */
#include "net/hostname.h"

#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-' || c == '_';
}

/* "1", "0x7f": what inet_aton() reads as a part of an address. */
static bool is_number(const char *label)
{
	if (label[0] == '0' && label[1] == 'x')
		return true;
	for (; *label; label++)
		if (!is_digit(*label))
			return false;
	return true;
}

bool hostname_normalize(const char *in, size_t n, char out[HOSTNAME_SIZE])
{
	size_t label = 0, start = 0;

	if (n > 0 && in[n - 1] == '.')
		n--;
	if (n == 0 || n > HOSTNAME_MAX)
		return false;
	for (size_t i = 0; i < n; i++) {
		char c = in[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		out[i] = c;
		if (c == '.' && label > 0) {
			label = 0;
			start = i + 1;
		} else if (!is_letter(c) || ++label > HOSTNAME_LABEL) {
			return false;
		}
	}
	out[n] = '\0';
	return label > 0 && !is_number(out + start);
}

bool hostname_is_below(const char *host, const char *domain)
{
	size_t n = strlen(host), m = strlen(domain);

	return m > 0 && n > m + 1 && host[n - m - 1] == '.' &&
	       strcmp(host + n - m, domain) == 0;
}

bool hostname_is_listed(const char *host, const char *list)
{
	static const char ends[] = ", \t";
	char domain[HOSTNAME_SIZE];

	for (list += strspn(list, ends); *list; list += strspn(list, ends)) {
		size_t n = strcspn(list, ends), skip = 0;

		if (n == 1 && list[0] == '*')
			return true;
		skip += n > 1 && list[0] == '*' && list[1] == '.';
		skip += list[skip] == '.';
		if (hostname_normalize(list + skip, n - skip, domain) &&
		    (strcmp(host, domain) == 0 ||
		     hostname_is_below(host, domain)))
			return true;
		list += n;
	}
	return false;
}
