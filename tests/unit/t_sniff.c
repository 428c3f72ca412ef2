/* SPDX-License-Identifier: Apache-2.0 */
#include "net/sniff.h"

#include "net/names/resolv.h"
#include "net/refusal.h"

#include "tap.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* A greeting of TLS with `n` extensions for names, in records of `piece`. */
static size_t greeting(const char *host, int n, size_t piece,
		       unsigned char *out)
{
	unsigned char hello[2048] = { 1 };
	size_t size = 4 + 2 + 32, m = strlen(host), at, left, used = 0;

	hello[size++] = 0; /* session */
	hello[size++] = 0;
	hello[size++] = 2; /* ciphers */
	size += 2;
	hello[size++] = 1; /* compression */
	size++;
	at = size;
	size += 2;
	memcpy(hello + size, "\0\x17\0\0", 4); /* some other extension */
	size += 4;
	for (int i = 0; i < n; i++) {
		memcpy(hello + size, "\0\0\0", 3);
		hello[size + 3] = (unsigned char)(m + 5);
		hello[size + 5] = (unsigned char)(m + 3);
		hello[size + 8] = (unsigned char)m;
		memcpy(hello + size + 9, host, m);
		size += 9 + m;
	}
	hello[at] = (unsigned char)((size - at - 2) >> 8);
	hello[at + 1] = (unsigned char)(size - at - 2);
	hello[2] = (unsigned char)((size - 4) >> 8);
	hello[3] = (unsigned char)(size - 4);
	for (at = 0; at < size; at += left) {
		left = size - at < piece ? size - at : piece;
		memcpy(out + used, "\x16\3\1", 3);
		out[used + 3] = (unsigned char)(left >> 8);
		out[used + 4] = (unsigned char)left;
		memcpy(out + used + 5, hello + at, left);
		used += 5 + left;
	}
	return used;
}

static void the_name_of_a_tls_greeting_is_found_in_any_pieces(void)
{
	static const size_t pieces[] = { 1, 7, 40, 2000 };
	unsigned char in[4096];
	char host[HOSTNAME_SIZE];

	for (size_t i = 0; i < COUNT(pieces); i++) {
		size_t n = greeting("Www.Example.com", 1, pieces[i], in);

		for (size_t part = 0; part < n; part++)
			CHECK_INT(sniff(in, part, host), SNIFF_MORE);
		CHECK_INT(sniff(in, n, host), SNIFF_TLS);
		CHECK(strcmp(host, "www.example.com") == 0);
	}
}

static void a_tls_greeting_without_one_name_has_none(void)
{
	unsigned char in[4096];
	char host[HOSTNAME_SIZE];

	CHECK_INT(sniff(in, greeting("a.b", 0, 2000, in), host), SNIFF_TLS);
	CHECK(!host[0]);
	CHECK_INT(sniff(in, greeting("a.b", 2, 2000, in), host), SNIFF_TLS);
	CHECK(!host[0]);
	CHECK_INT(sniff(in, greeting("127.0.0.1", 1, 2000, in), host),
		  SNIFF_TLS);
	CHECK(!host[0]);
	/* No greeting at all, and one that says it is longer than may be. */
	CHECK_INT(sniff((const void *)"\x16\3\1\0\4\2\0\0\0", 9, host),
		  SNIFF_TLS);
	CHECK_INT(sniff((const void *)"\x16\3\1\0\4\1\1\0\0", 9, host),
		  SNIFF_TLS);
	CHECK(!host[0]);
}

static void a_request_of_http_has_the_name_of_its_host(void)
{
	static const struct {
		const char *text;
		enum sniff_kind kind;
		const char *host;
	} all[] = {
		{ "GET / HTTP/1.1\r\nHost: Example.com:8080\r\n\r\n",
		  SNIFF_HTTP, "example.com" },
		{ "\r\n\r\nGET / HTTP/1.1\r\nhost:\texample.com \r\n\r\n",
		  SNIFF_HTTP, "example.com" },
		{ "MADE-UP /a HTTP/1.0\r\nA: b\r\nHost: a.b\r\n\r\n",
		  SNIFF_HTTP, "a.b" },
		{ "GET / HTTP/1.1\r\nHost: a.b\r\nHost: c.d\r\n\r\n",
		  SNIFF_HTTP, "" },
		{ "GET / HTTP/1.1\r\nX: y\r\n Host: c.d\r\nHost: a.b\r\n\r\n",
		  SNIFF_HTTP, "" },
		{ "GET / HTTP/1.1\nHost: c.d\r\nHost: a.b\r\n\r\n", SNIFF_HTTP,
		  "" },
		{ "GET http://c.d/ HTTP/1.1\r\nHost: a.b\r\n\r\n", SNIFF_HTTP,
		  "" },
		{ "CONNECT c.d:443 HTTP/1.1\r\nHost: a.b\r\n\r\n", SNIFF_HTTP,
		  "" },
		{ "GET / HTTP/1.1\r\nHost: [::1]\r\n\r\n", SNIFF_HTTP, "" },
		{ "GET / HTTP/1.1\r\nHost : c.d\r\n\r\n", SNIFF_HTTP, "" },
		{ "GET / HTTP/1.1\r\nA: b\r\n\r\n", SNIFF_HTTP, "" },
		{ "GET / HTTP/1.1\r\nHost: a.b\r\n", SNIFF_MORE, "" },
		{ "GET /", SNIFF_MORE, "" },
		{ "G", SNIFF_MORE, "" },
		{ "\r\n", SNIFF_MORE, "" },
		{ "", SNIFF_MORE, "" },
		{ "EHLO me\r\n", SNIFF_OTHER, "" },
		{ "SS", SNIFF_MORE, "" },
		{ "SSH-2.0-x", SNIFF_SSH, "" },
		{ "SSH-1.99-x", SNIFF_SSH, "" },
		{ "SSH-X / HTTP/1.1\r\nHost: a.example\r\n\r\n", SNIFF_HTTP,
		  "a.example" },
		{ "SSL", SNIFF_MORE, "" },
		{ "\x80\x2e\x01", SNIFF_OTHER, "" },
		{ "get / http", SNIFF_MORE, "" },
		{ "get it\r\n", SNIFF_OTHER, "" },
		{ "0032git-upload-pack /p.git\1", SNIFF_OTHER, "" },
	};
	char host[HOSTNAME_SIZE];

	for (size_t i = 0; i < COUNT(all); i++) {
		CHECK_INT(sniff((const unsigned char *)all[i].text,
				strlen(all[i].text), host),
			  all[i].kind);
		if (strcmp(host, all[i].host) != 0)
			printf("# %s\n", all[i].text);
		CHECK(strcmp(host, all[i].host) == 0);
	}
}

#define WORD33 "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

/* Each is a request to some server, which is none of ours to find out. */
static void a_request_in_disguise_has_no_name_but_its_own(void)
{
	static const struct {
		const char *text, *host;
	} all[] = {
		{ WORD33 " / HTTP/1.1\r\nHost: c.d\r\n\r\n", "c.d" },
		{ "get / HTTP/1.1\r\nHost: c.d\r\n\r\n", "c.d" },
		{ "X!1 / HTTP/1.1\r\nHost: c.d\r\n\r\n", "c.d" },
		{ "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "" },
		{ "GET http://c.d/\r\n\r\n", "" },
		{ " GET / HTTP/1.1\r\nHost: a.b\r\n\r\n", "" },
		{ "GET\t/ HTTP/1.1\r\nHost: a.b\r\n\r\n", "" },
		{ "GET\v/ HTTP/1.1\r\nHost: a.b\r\n\r\n", "" },
		{ "GET  / HTTP/1.1\r\nHost: a.b\r\n\r\n", "" },
		{ "GET / http/1.1\r\nHost: a.b\r\n\r\n", "" },
		{ "GET / HTTP/1.1 HTTP/1.1\r\nHost: a.b\r\n\r\n", "" },
		{ "GET / HTTP/1.1\r\nHost: a.b:80@c.d\r\n\r\n", "" },
		{ "GET / HTTP/1.1\r\nHost\v: c.d\r\n\r\n", "" },
		{ "GET / HTTP/1.1\r\n: c.d\r\nHost: a.b\r\n\r\n", "" },
	};
	char host[HOSTNAME_SIZE];

	for (size_t i = 0; i < COUNT(all); i++) {
		printf("# %zu\n", i);
		CHECK_INT(sniff((const unsigned char *)all[i].text,
				strlen(all[i].text), host),
			  SNIFF_HTTP);
		CHECK(strcmp(host, all[i].host) == 0);
	}
}

static void records_before_a_tls_greeting_hide_no_name(void)
{
	static const char *const firsts[] = { "\x14\3\3\0\1\1",
					      "\x15\3\1\0\2\1\1",
					      "\x17\3\3\0\1\1" };
	static const size_t sizes[] = { 6, 7, 6 };
	unsigned char in[4096];
	char host[HOSTNAME_SIZE];

	for (size_t i = 0; i < COUNT(firsts); i++) {
		size_t n = sizes[i];

		memcpy(in, firsts[i], n);
		n += greeting("c.d", 1, 2000, in + n);
		CHECK_INT(sniff(in, 1, host), SNIFF_MORE);
		CHECK_INT(sniff(in, n, host), SNIFF_TLS);
		CHECK(!host[0]);
	}
}

static void a_greeting_without_an_end_has_no_name(void)
{
	static unsigned char in[SNIFF_MAX];
	char host[HOSTNAME_SIZE];

	memset(in, 'A', sizeof(in));
	memcpy(in, "GET / HTTP/1.1\r\nHost: a.b\r\nX: ", 30);
	CHECK_INT(sniff(in, sizeof(in) - 1, host), SNIFF_MORE);
	CHECK_INT(sniff(in, sizeof(in), host), SNIFF_HTTP);
	CHECK(!host[0]);
	memmove(in + 2, in, sizeof(in) - 2);
	memcpy(in, "\r\n", 2);
	CHECK_INT(sniff(in, sizeof(in), host), SNIFF_HTTP);
	CHECK(!host[0]);
	memset(in, '\n', sizeof(in));
	CHECK_INT(sniff(in, sizeof(in), host), SNIFF_OTHER);
}

static void a_refusal_speaks_the_protocol_of_the_client(void)
{
	unsigned char out[REFUSAL_MAX];
	char words[REFUSAL_WORDS + 100];
	size_t n, packet;

	n = refusal_make(SNIFF_TLS, REFUSAL_DENIED, "no", out);
	CHECK_INT(n, 7);
	CHECK_INT(out[6], 49);
	CHECK_INT(refusal_make(SNIFF_TLS, REFUSAL_NO_NAME, "no", out), 7);
	CHECK_INT(out[6], 112);
	CHECK_INT(refusal_make(SNIFF_TLS, REFUSAL_FAILED, "no", out), 7);
	CHECK_INT(out[6], 80);
	n = refusal_make(SNIFF_HTTP, REFUSAL_DENIED, "no rule", out);
	out[n] = '\0';
	CHECK(strncmp((char *)out, "HTTP/1.1 403 ", 13) == 0);
	CHECK(strstr((char *)out, "Content-Length: 8\r\n"));
	CHECK(strcmp(strstr((char *)out, "\r\n\r\n"), "\r\n\r\nno rule\n") ==
	      0);
	memset(words, 'w', sizeof(words));
	words[sizeof(words) - 1] = '\0';
	CHECK(refusal_make(SNIFF_HTTP, REFUSAL_FAILED, words, out) <
	      REFUSAL_MAX);
	n = refusal_make(SNIFF_SSH, REFUSAL_DENIED, words, out);
	CHECK(n <= REFUSAL_MAX);
	packet = (size_t)out[20] << 8 | out[21];
	CHECK_INT(packet + 4 + 18, (long long)n);
	CHECK_INT((packet + 4) % 8, 0);
	CHECK(out[22] >= 4);
	CHECK_INT(refusal_make(SNIFF_OTHER, REFUSAL_DENIED, words, out), 0);
}

static void resolv_conf_is_read_as_resolvers_do(void)
{
	struct resolv r;

	resolv_read("# c\nnameserver 203.0.113.53\n nameserver\t2001:db8::1 x\n"
		    "nameserver nonsense\nsearch A.example b.example\n"
		    "options rotate\nnameserver 1.1.1.1\nnameserver 9.9.9.9\n",
		    &r);
	CHECK_INT(r.n_servers, 3);
	CHECK_INT(r.servers[0].s6_addr[15], 53);
	CHECK_INT(r.servers[1].s6_addr[0], 0x20);
	CHECK_INT(r.n_search, 2);
	CHECK(strcmp(r.search[0], "a.example") == 0);
	resolv_read("", &r);
	CHECK_INT(r.n_servers, 1);
	CHECK_INT(r.servers[0].s6_addr[12], 127);
}

static void a_hosts_file_has_all_addresses_of_a_name(void)
{
	static const char text[] = "127.0.0.1 localhost\n"
				   "10.0.0.5 a.b A.Example  # a.c\n"
				   "nonsense a.example\n"
				   "2001:db8::5\ta.example";
	struct dns_reply reply = { 0 };

	resolv_hosts(text, "a.example", &reply);
	CHECK_INT(reply.n, 2);
	CHECK_INT(reply.addresses[0].s6_addr[12], 10);
	CHECK_INT(reply.addresses[1].s6_addr[15], 5);
	reply.n = 0;
	resolv_hosts(text, "a.c", &reply);
	CHECK_INT(reply.n, 0);
}

TESTS(T(the_name_of_a_tls_greeting_is_found_in_any_pieces),
      T(a_tls_greeting_without_one_name_has_none),
      T(a_request_of_http_has_the_name_of_its_host),
      T(a_request_in_disguise_has_no_name_but_its_own),
      T(records_before_a_tls_greeting_hide_no_name),
      T(a_greeting_without_an_end_has_no_name),
      T(a_refusal_speaks_the_protocol_of_the_client),
      T(resolv_conf_is_read_as_resolvers_do),
      T(a_hosts_file_has_all_addresses_of_a_name))
