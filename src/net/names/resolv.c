/* SPDX-License-Identifier: Apache-2.0 */
#include "net/names/resolv.h"

#include "net/range.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define BLANKS	     " \t\r"
#define ADDRESS_SIZE 64

/* The next word of the line that `*at` points into; false at its end. */
static bool next_word(const char **at, const char **ret, size_t *ret_n)
{
	*at += strspn(*at, BLANKS);
	if (!**at || **at == '\n' || **at == '#' || **at == ';')
		return false;
	*ret = *at;
	*ret_n = strcspn(*at, BLANKS "\n#");
	*at += *ret_n;
	return *ret_n > 0;
}

static const char *next_line(const char *at)
{
	at += strcspn(at, "\n");
	return *at ? at + 1 : at;
}

static bool parse_address(const char *word, size_t n, struct in6_addr *ret)
{
	char text[ADDRESS_SIZE];
	struct in_addr v4;

	if (n >= sizeof(text))
		return false;
	memcpy(text, word, n);
	text[n] = '\0';
	if (inet_pton(AF_INET, text, &v4) == 1) {
		*ret = net_address_of_v4(v4);
		return true;
	}
	return inet_pton(AF_INET6, text, ret) == 1;
}

static bool is_word(const char *word, size_t n, const char *expected)
{
	return n == strlen(expected) && memcmp(word, expected, n) == 0;
}

static void read_search(const char *at, struct resolv *ret)
{
	const char *word;
	size_t n;

	ret->n_search = 0; /* the last line counts */
	while (ret->n_search < RESOLV_SEARCH && next_word(&at, &word, &n))
		if (hostname_normalize(word, n, ret->search[ret->n_search]))
			ret->n_search++;
}

void resolv_read(const char *text, struct resolv *ret)
{
	const char *at, *word;
	size_t n;

	*ret = (struct resolv){ 0 };
	for (; *text; text = next_line(text)) {
		at = text;
		if (!next_word(&at, &word, &n))
			continue;
		if (is_word(word, n, "search") || is_word(word, n, "domain"))
			read_search(at, ret);
		else if (is_word(word, n, "nameserver") &&
			 ret->n_servers < RESOLV_SERVERS &&
			 next_word(&at, &word, &n) &&
			 parse_address(word, n, &ret->servers[ret->n_servers]))
			ret->n_servers++;
	}
	if (ret->n_servers == 0)
		ret->servers[ret->n_servers++] = net_address_of_v4(
			(struct in_addr){ htonl(INADDR_LOOPBACK) });
}

void resolv_hosts(const char *text, const char *host, struct dns_reply *reply)
{
	const char *at, *word;
	struct in6_addr address;
	size_t n;

	for (; *text && reply->n < DNS_ADDRESSES; text = next_line(text)) {
		at = text;
		if (!next_word(&at, &word, &n) ||
		    !parse_address(word, n, &address))
			continue;
		while (next_word(&at, &word, &n)) {
			if (n != strlen(host) ||
			    strncasecmp(word, host, n) != 0)
				continue;
			reply->addresses[reply->n++] = address;
			break;
		}
	}
}
