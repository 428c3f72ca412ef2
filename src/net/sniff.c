/* SPDX-License-Identifier: Apache-2.0 */
#include "net/sniff.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define TLS_HANDSHAKE	0x16
#define TLS_RECORD_HEAD 5
#define TLS_HELLO	1
#define TLS_HELLO_HEAD	4
#define TLS_VERSION	2
#define TLS_RANDOM	32

const char *sniff_name(enum sniff_kind kind)
{
	/* clang-format off */
#define SNIFF_NAME(id, word) [SNIFF_##id] = (word),
	static const char *const names[SNIFF_END] = { SNIFF_KINDS(SNIFF_NAME) };
#undef SNIFF_NAME
	/* clang-format on */

	return names[kind];
}

struct span {
	const unsigned char *at; /* NULL: there were fewer bytes than asked */
	size_t n;
};

static struct span take(struct span *s, size_t n)
{
	struct span out = { s->at, n };

	if (n > s->n) {
		s->n = 0;
		return (struct span){ NULL, 0 };
	}
	s->at += n;
	s->n -= n;
	return out;
}

/* A length of `width` bytes, and so many bytes. */
static struct span take_vector(struct span *s, unsigned width)
{
	struct span head = take(s, width);
	size_t n = 0;

	for (unsigned i = 0; head.at && i < width; i++)
		n = n << 8 | head.at[i];
	return head.at ? take(s, n) : head;
}

/* One name of kind 0, and nothing behind it. */
static void read_server_name(struct span body, char *ret_host)
{
	struct span list = take_vector(&body, 2);
	struct span kind = take(&list, 1);
	struct span name = take_vector(&list, 2);

	if (!kind.at || kind.at[0] != 0 || !name.at || list.n != 0 ||
	    body.n != 0 ||
	    !hostname_normalize((const char *)name.at, name.n, ret_host))
		ret_host[0] = '\0';
}

/* Two such extensions are none: who reads the other one sees another name. */
static void find_server_name(struct span hello, char *ret_host)
{
	struct span extensions;
	bool is_found = false;

	(void)take(&hello, TLS_VERSION + TLS_RANDOM);
	(void)take_vector(&hello, 1); /* session */
	(void)take_vector(&hello, 2); /* ciphers */
	(void)take_vector(&hello, 1); /* compression */
	extensions = take_vector(&hello, 2);
	while (extensions.n > 0) {
		struct span type = take(&extensions, 2);
		struct span body = take_vector(&extensions, 2);

		if (!type.at || !body.at || type.at[0] || type.at[1])
			continue;
		if (is_found) {
			ret_host[0] = '\0';
			return;
		}
		is_found = true;
		read_server_name(body, ret_host);
	}
}

/* True: the greeting is whole, or can be none; its name is in `ret_host`. */
static bool read_hello(const unsigned char *whole, size_t size, char *ret_host)
{
	size_t hello;

	if (size >= 1 && whole[0] != TLS_HELLO)
		return true;
	if (size < TLS_HELLO_HEAD)
		return false;
	hello = (size_t)whole[1] << 16 | (size_t)whole[2] << 8 | whole[3];
	if (hello > SNIFF_MAX - TLS_HELLO_HEAD)
		return true;
	if (size < TLS_HELLO_HEAD + hello)
		return false;
	find_server_name((struct span){ whole + TLS_HELLO_HEAD, hello },
			 ret_host);
	return true;
}

/* The greeting may lie in several records. */
static enum sniff_kind sniff_tls(const unsigned char *in, size_t n,
				 char *ret_host)
{
	unsigned char whole[SNIFF_MAX];
	struct span left = { in, n };
	size_t size = 0;

	while (left.n >= TLS_RECORD_HEAD) {
		size_t record = (size_t)left.at[3] << 8 | left.at[4];
		size_t there = left.n - TLS_RECORD_HEAD;

		if (there > record)
			there = record;
		if (left.at[0] != TLS_HANDSHAKE || record == 0 ||
		    size + there > sizeof(whole))
			return SNIFF_TLS;
		memcpy(whole + size, left.at + TLS_RECORD_HEAD, there);
		size += there;
		if (read_hello(whole, size, ret_host))
			return SNIFF_TLS;
		if (there < record)
			break;
		(void)take(&left, TLS_RECORD_HEAD + record);
	}
	return n < SNIFF_MAX ? SNIFF_MORE : SNIFF_TLS;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Methods and names of headers are made of these. */
static bool is_token(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || (c && strchr("!#$%&'*+-.^_`|~", c));
}

static size_t count_tokens(const char *at, const char *end)
{
	size_t n = 0;

	while (at + n < end && is_token(at[n]))
		n++;
	return n;
}

/* "host" or "host:digits", with blanks around it. */
static bool read_host(const char *at, const char *end, char *ret_host)
{
	const char *colon;

	while (at < end && is_blank(*at))
		at++;
	while (at < end && is_blank(end[-1]))
		end--;
	colon = memchr(at, ':', (size_t)(end - at));
	for (const char *c = colon ? colon + 1 : end; c < end; c++)
		if (*c < '0' || *c > '9')
			return false;
	return hostname_normalize(at, (size_t)((colon ? colon : end) - at),
				  ret_host);
}

/* An end of a line that is not ours may be one to the server. */
static bool is_plain_line(const char *line, const char *stop)
{
	size_t n = (size_t)(stop - line);

	return !memchr(line, '\n', n) && !memchr(line, '\r', n) &&
	       !memchr(line, '\0', n);
}

/*
 * "METHOD /... HTTP/1.1".  "GET http://HOST/" beats the header in many
 * servers, so the header is about "/..." and "*" alone.  The names of HTTP/2
 * come later, and are not read.
 */
static bool is_plain_request(const char *line, const char *stop)
{
	static const char version[] = " HTTP/1.";
	size_t n = (size_t)(stop - line), m = sizeof(version) - 1;
	size_t at = count_tokens(line, stop) + 1, end = n > m ? n - m - 1 : 0;

	if (at == 1 || at >= end || line[at - 1] != ' ' ||
	    (line[at] != '/' && line[at] != '*'))
		return false;
	for (; at < end; at++)
		if (is_blank(line[at]))
			return false;
	return memcmp(line + end, version, m) == 0 && stop[-1] >= '0' &&
	       stop[-1] <= '9';
}

/* "Host : name" and a line that goes on are headers to some. */
static bool has_plain_key(const char *line, const char *stop)
{
	size_t n = count_tokens(line, stop);

	return n > 0 && line + n < stop && line[n] == ':';
}

static enum sniff_kind sniff_http(const char *in, size_t n, bool is_all,
				  char *ret_host)
{
	const char *end = memmem(in, n, "\r\n\r\n", 4), *line = in, *stop;
	bool is_found = false;

	if (!end)
		return is_all ? SNIFF_HTTP : SNIFF_MORE;
	end += 2;
	for (; line < end; line = stop + 2) {
		stop = memmem(line, (size_t)(end - line), "\r\n", 2);
		if (!is_plain_line(line, stop) ||
		    !(line == in ? is_plain_request(line, stop)
				 : has_plain_key(line, stop)))
			break;
		if (stop - line < 5 || strncasecmp(line, "host:", 5) != 0)
			continue;
		if (is_found || !read_host(line + 5, stop, ret_host))
			break;
		is_found = true;
	}
	if (line < end)
		ret_host[0] = '\0';
	return SNIFF_HTTP;
}

static bool has_word(const char *in, size_t n, const char *word)
{
	size_t m = strlen(word);

	for (size_t i = 0; i + m <= n; i++)
		if (strncasecmp(in + i, word, m) == 0)
			return true;
	return false;
}

/* Words, from which a request can still come. */
static bool is_text(const char *in, size_t n)
{
	size_t at = 0, word;

	while (at < n && is_blank(in[at]))
		at++;
	word = count_tokens(in + at, in + n);
	at += word;
	if (at < n && (word == 0 || (!is_blank(in[at]) && in[at] != '\r')))
		return false;
	while (at < n && ((unsigned char)in[at] >= ' ' || is_blank(in[at]) ||
			  in[at] == '\r'))
		at++;
	return at == n;
}

/*
 * Servers take requests that no standard has: any method, blanks in front, no
 * version.  A first line with a version or a URL is one, and sniff_http()
 * says whether its name can be trusted.
 */
static enum sniff_kind sniff_request(const char *in, size_t n, bool is_all)
{
	const char *stop = memchr(in, '\n', n);
	size_t line = stop ? (size_t)(stop - in) : n;
	bool is_words = is_text(in, line);

	if (has_word(in, line, "HTTP/") ||
	    (is_words && has_word(in, line, "://")))
		return SNIFF_HTTP;
	if (stop || !is_words)
		return SNIFF_OTHER;
	return is_all ? SNIFF_HTTP : SNIFF_MORE;
}

static const struct {
	const char *begins;
	enum sniff_kind kind;
} greetings[] = {
	{ "\x16", SNIFF_TLS },
	/* Other records before the greeting, which some servers pass over. */
	{ "\x14\x03", SNIFF_TLS },
	{ "\x15\x03", SNIFF_TLS },
	{ "\x17\x03", SNIFF_TLS },
	/* Not "SSH-" alone: to some servers that begins the method of a
	   request. */
	{ "SSH-2.0-", SNIFF_SSH },
	{ "SSH-1.", SNIFF_SSH },
};

enum sniff_kind sniff(const unsigned char *in, size_t n,
		      char ret_host[HOSTNAME_SIZE])
{
	enum sniff_kind kind = SNIFF_END;
	bool is_all = n >= SNIFF_MAX;
	size_t skip = 0;

	ret_host[0] = '\0';
	for (size_t i = 0; i < sizeof(greetings) / sizeof(greetings[0]); i++) {
		size_t m = strlen(greetings[i].begins);

		if (memcmp(in, greetings[i].begins, n < m ? n : m) == 0)
			kind = n < m ? SNIFF_MORE : greetings[i].kind;
	}
	if (kind == SNIFF_TLS)
		return sniff_tls(in, n, ret_host);
	if (kind == SNIFF_SSH || kind == SNIFF_MORE)
		return kind;
	/* Servers skip empty lines before a request. */
	while (skip < n && (in[skip] == '\r' || in[skip] == '\n'))
		skip++;
	if (skip == n)
		return is_all ? SNIFF_OTHER : SNIFF_MORE;
	kind = sniff_request((const char *)in + skip, n - skip, is_all);
	return kind == SNIFF_HTTP ? sniff_http((const char *)in + skip,
					       n - skip, is_all, ret_host)
				  : kind;
}
