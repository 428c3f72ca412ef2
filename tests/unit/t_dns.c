/* SPDX-License-Identifier: Apache-2.0 */
#include "net/names/dns.h"

#include "net/pool.h"
#include "net/range.h"
#include "net/rule.h"

#include "tap.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#define COUNT(a)  (sizeof(a) / sizeof((a)[0]))
#define CODE(out) ((out)[3] & 15)

struct world {
	struct pool pool;
	struct net_rule rules[2];
	struct dns_stub stub;
};

static struct world *world(void)
{
	static struct world w;

	pool_done(&w.pool);
	CHECK_INT(net_rule_parse("*.example.com", false, &w.rules[0], NULL), 0);
	CHECK_INT(net_rule_parse("intra", false, &w.rules[1], NULL), 0);
	w.stub = (struct dns_stub){ &w.pool, w.rules, COUNT(w.rules) };
	return &w;
}

static size_t asked(const struct world *w, const char *host, unsigned type,
		    unsigned char out[DNS_MESSAGE])
{
	unsigned char question[DNS_QUESTION];
	size_t n = dns_ask(question, 0x1234, host, (enum dns_type)type);

	return dns_answer(&w->stub, question, n, out);
}

static unsigned n_answers(const unsigned char *out)
{
	return (unsigned)out[6] << 8 | out[7];
}

static void each_name_has_an_address_of_its_own(void)
{
	unsigned char one[DNS_MESSAGE], two[DNS_MESSAGE], again[DNS_MESSAGE];
	const struct world *w = world();
	size_t n;

	n = asked(w, "a.example.com", DNS_A, one);
	CHECK_INT(n_answers(one), 1);
	CHECK_INT(one[n - 4], 198);
	CHECK_INT(one[n - 3], 18);
	CHECK_INT(one[n - 7], 60);
	CHECK_INT(asked(w, "a.example.com", DNS_A, again), (long long)n);
	CHECK(memcmp(one, again, n) == 0);
	CHECK_INT(asked(w, "b.example.com", DNS_A, two), (long long)n);
	CHECK(memcmp(one + n - 4, two + n - 4, 4) != 0);
	n = asked(w, "stranger.org", DNS_A, two);
	CHECK_INT(two[n - 3], 19);
	CHECK_INT(two[n - 7], 0);
	n = asked(w, "a.example.com", DNS_AAAA, two);
	CHECK_INT(two[n - 16], 0xfd);
}

static void an_address_has_the_name_that_was_asked_for(void)
{
	static const char reverse[] = "0.1.18.198.in-addr.arpa";
	unsigned char out[DNS_MESSAGE];
	const struct world *w = world();
	char nibbles[80] = "";
	struct in6_addr v6;
	struct in_addr v4;

	CHECK(pool_assign(&((struct world *)(uintptr_t)w)->pool,
			  "a.example.com", true, &v4, &v6));
	CHECK(asked(w, reverse, DNS_PTR, out) > 0);
	CHECK_INT(n_answers(out), 1);
	CHECK(memmem(out, DNS_MESSAGE, "\1a\7example\3com", 14));
	for (int i = 31; i >= 0; i--)
		(void)snprintf(nibbles + 2 * (31 - i), 3, "%x.",
			       v6.s6_addr[i / 2] >> (i % 2 ? 0 : 4) & 15);
	(void)snprintf(nibbles + 64, 9, "ip6.arpa");
	CHECK(asked(w, nibbles, DNS_PTR, out) > 0);
	CHECK_INT(n_answers(out), 1);
	CHECK(asked(w, "1.2.3.4.in-addr.arpa", DNS_PTR, out) > 0);
	CHECK_INT(CODE(out), DNS_CODE_NO_NAME);
}

static void names_without_a_place_are_refused(void)
{
	static const struct {
		const char *host;
		unsigned type, code, n;
	} all[] = {
		{ "a.example.com", 65, 0, 0 },
		{ "a.example.com", 15, 0, 0 },
		{ "single", DNS_A, 3, 0 },
		{ "intra", DNS_A, 0, 1 },
		{ "localhost", DNS_A, 0, 1 },
		{ "a.localhost", DNS_AAAA, 0, 1 },
		{ "x.onion", DNS_A, 3, 0 },
		{ "x.invalid", DNS_A, 3, 0 },
		{ "use-application-dns.net", DNS_A, 3, 0 },
		{ "resolver.arpa", DNS_A, 3, 0 },
		{ "127.0.0.1", DNS_A, 3, 0 },
		{ "0x7f.1", DNS_A, 3, 0 },
	};
	unsigned char out[DNS_MESSAGE];
	const struct world *w = world();

	for (size_t i = 0; i < COUNT(all); i++) {
		CHECK(asked(w, all[i].host, all[i].type, out) > 0);
		CHECK_INT(CODE(out), all[i].code);
		CHECK_INT(n_answers(out), all[i].n);
	}
}

static void bad_questions_are_answered_as_such_or_not_at_all(void)
{
	unsigned char question[DNS_QUESTION], out[DNS_MESSAGE];
	const struct world *w = world();
	size_t n = dns_ask(question, 7, "a.example.com", DNS_A);

	for (size_t i = 0; i < 12; i++)
		CHECK_INT(dns_answer(&w->stub, question, i, out), 0);
	for (size_t i = 12; i < n; i++) {
		CHECK(dns_answer(&w->stub, question, i, out) >= 12);
		CHECK_INT(CODE(out), 1);
	}
	question[2] |= 0x80;
	CHECK_INT(dns_answer(&w->stub, question, n, out), 0);
	question[2] = 1;
	question[13] = '.'; /* a dot inside of a label */
	CHECK(dns_answer(&w->stub, question, n, out) > 0);
	CHECK_INT(CODE(out), 1);
	question[13] = 0;
	CHECK(dns_answer(&w->stub, question, n, out) > 0);
	CHECK_INT(CODE(out), 1);
	question[13] = 'a';
	question[n - 1] = 3; /* class CHAOS */
	CHECK(dns_answer(&w->stub, question, n, out) > 0);
	CHECK_INT(CODE(out), 5);
}

static void extensions_are_answered(void)
{
	static const unsigned char options[] = { 0, 0, 41, 16, 0, 0,
						 0, 0, 0,  0,  0 };
	unsigned char question[DNS_QUESTION], out[DNS_MESSAGE];
	const struct world *w = world();
	size_t n = dns_ask(question, 7, "a.example.com", DNS_A);

	question[11] = 1;
	memcpy(question + n, options, sizeof(options));
	CHECK(dns_answer(&w->stub, question, n + sizeof(options), out) > n);
	CHECK_INT(out[11], 1);
	CHECK_INT(CODE(out), 0);
}

/* An answer with `n` addresses behind an alias. */
static size_t reply(unsigned char *out, uint16_t id, const char *host, size_t n,
		    size_t room)
{
	static const unsigned char alias[] = { 0xc0, 12, 0, 5, 0, 1,	0,
					       0,    0,	 9, 0, 2, 0xc0, 12 };
	static const unsigned char record[] = { 0xc0, 12, 0, 1, 0,   1, 0,  0,
						0,    30, 0, 4, 203, 0, 113 };
	size_t size = dns_ask(out, id, host, DNS_A);

	out[2] = 0x81;
	out[6] = (unsigned char)((n + 1) >> 8);
	out[7] = (unsigned char)(n + 1);
	memcpy(out + size, alias, sizeof(alias));
	size += sizeof(alias);
	for (size_t i = 0; i < n && size + 16 <= room; i++) {
		memcpy(out + size, record, sizeof(record));
		size += sizeof(record);
		out[size++] = (unsigned char)i;
	}
	return size;
}

static void answers_to_our_question_count(void)
{
	static unsigned char in[DNS_STREAM];
	struct dns_reply r = { .ttl = UINT32_MAX };
	size_t n = reply(in, 9, "www.example.com", 2, sizeof(in));

	CHECK(!dns_take(in, n, 8, "www.example.com", DNS_A, &r));
	CHECK(!dns_take(in, n, 9, "example.com", DNS_A, &r));
	CHECK(!dns_take(in, n, 9, "www.example.com", DNS_AAAA, &r));
	CHECK_INT(r.n, 0);
	CHECK(dns_take(in, n, 9, "WWW.example.com", DNS_A, &r));
	CHECK_INT(r.n, 2);
	CHECK_INT(r.ttl, 30);
	CHECK(!r.is_truncated);
	in[2] |= 2;
	CHECK(dns_take(in, n, 9, "www.example.com", DNS_A, &r));
	CHECK(r.is_truncated);
	in[2] = 1; /* a question, not an answer */
	CHECK(!dns_take(in, n, 9, "www.example.com", DNS_A, &r));
}

static void ten_thousand_records_are_cut(void)
{
	static unsigned char in[200000];
	struct dns_reply r = { .ttl = UINT32_MAX };
	size_t n = reply(in, 9, "a.b", 10000, sizeof(in));

	CHECK(dns_take(in, n, 9, "a.b", DNS_A, &r));
	CHECK_INT(r.n, DNS_ADDRESSES);
	for (size_t i = 0; i < n && i < 600; i++)
		(void)dns_take(in, i, 9, "a.b", DNS_A, &r);
}

static void a_circle_of_pointers_ends(void)
{
	unsigned char in[DNS_QUESTION] = { 0 };
	struct dns_reply r = { .ttl = UINT32_MAX };
	size_t n = dns_ask(in, 9, "a.b", DNS_A);

	in[2] = 0x81;
	in[7] = 1;
	in[n] = 0xc0;
	in[n + 1] = (unsigned char)n;
	CHECK(dns_take(in, n + 14, 9, "a.b", DNS_A, &r));
	CHECK_INT(r.n, 0);
}

static void strangers_cannot_take_the_address_of_an_allowed_name(void)
{
	struct world *w = world();
	struct in6_addr v6, first_v6, mapped;
	struct in_addr v4, first;
	char host[32];
	bool is_ours;

	CHECK(pool_assign(&w->pool, "a.example.com", true, &first, &first_v6));
	for (int i = 0; i < 3 * POOL_OTHERS; i++) {
		(void)snprintf(host, sizeof(host), "n%d.org", i);
		CHECK(pool_assign(&w->pool, host, false, &v4, &v6));
	}
	mapped = net_address_of_v4(first);
	CHECK(strcmp(pool_find(&w->pool, &mapped, &is_ours), "a.example.com") ==
	      0);
	CHECK(is_ours);
	CHECK(strcmp(pool_find(&w->pool, &first_v6, &is_ours),
		     "a.example.com") == 0);
	/* The ring has forgotten the first of its names, and its address. */
	mapped = net_address_of_v4(v4);
	CHECK(strcmp(pool_find(&w->pool, &mapped, &is_ours), host) == 0);
	for (int i = 0; i < POOL_LISTED - 1; i++) {
		(void)snprintf(host, sizeof(host), "l%d.org", i);
		CHECK(pool_assign(&w->pool, host, true, &v4, &v6));
	}
	CHECK(!pool_assign(&w->pool, "more.org", true, &v4, &v6));
	CHECK(pool_assign(&w->pool, "l7.org", true, &v4, &v6));
	mapped.s6_addr[12] = 203;
	CHECK(!pool_find(&w->pool, &mapped, &is_ours));
	CHECK(!is_ours);
	pool_done(&w->pool);
}

static void addresses_last_longer_than_who_gives_them(void)
{
	static pool_kept kept;
	struct pool pool = { 0 };
	struct in_addr v4, again;
	struct in6_addr v6, mapped;
	bool is_ours;

	pool_restore(&pool, &kept);
	CHECK(pool_assign(&pool, "a.example", true, &v4, &v6));
	CHECK(pool_assign(&pool, "other.example", false, &v4, &v6));
	CHECK(pool_assign(&pool, "b.example", true, &v4, &v6));
	pool_done(&pool);
	/* What the next finds if this died in the middle of a name. */
	memcpy(kept[2], "..", 3);
	memset(kept[3], 'x', sizeof(kept[3]));
	pool_restore(&pool, &kept);
	CHECK(strcmp(pool_find(&pool, &v6, &is_ours), "b.example") == 0);
	CHECK(pool_assign(&pool, "b.example", true, &again, &v6));
	CHECK(again.s_addr == v4.s_addr);
	CHECK(pool_assign(&pool, "c.example", true, &v4, &v6));
	CHECK_INT((int)(ntohl(v4.s_addr) & 0xff), 4);
	CHECK(strcmp(kept[4], "c.example") == 0);
	mapped = v6;
	mapped.s6_addr[15] = 2;
	CHECK(!pool_find(&pool, &mapped, &is_ours));
	mapped.s6_addr[15] = 3;
	CHECK(!pool_find(&pool, &mapped, &is_ours));
	pool_done(&pool);
}

TESTS(T(addresses_last_longer_than_who_gives_them),
      T(each_name_has_an_address_of_its_own),
      T(an_address_has_the_name_that_was_asked_for),
      T(names_without_a_place_are_refused),
      T(bad_questions_are_answered_as_such_or_not_at_all),
      T(extensions_are_answered), T(answers_to_our_question_count),
      T(ten_thousand_records_are_cut), T(a_circle_of_pointers_ends),
      T(strangers_cannot_take_the_address_of_an_allowed_name))
