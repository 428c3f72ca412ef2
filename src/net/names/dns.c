/* SPDX-License-Identifier: Apache-2.0 */
#include "net/names/dns.h"

#include "net/pool.h"
#include "net/range.h"
#include "net/rule.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#define HEADER	    12
#define RAW_NAME    256
#define STEPS_MAX   128 /* labels and pointers of one name */
#define RECORDS_MAX 256 /* looked at in one answer */
#define CLASS_IN    1
#define LABEL_MAX   63
#define POINTER	    0xc0
#define TTL_LISTED  60

#define FLAG_ANSWER    0x8000U
#define FLAG_OPCODE    0x7800U
#define FLAG_TRUNCATED 0x0200U
#define FLAG_WANTED    0x0100U /* recursion, by the box */
#define FLAG_AVAILABLE 0x0080U

enum code {
	CODE_OK = 0,
	CODE_FORMAT = 1,
	CODE_FAILED = 2,
	CODE_NO_NAME = DNS_CODE_NO_NAME,
	CODE_REFUSED = 5,
};

/* A reader that is bad once stays so; then its values are 0. */
struct reader {
	const unsigned char *at;
	size_t n, pos;
	bool is_bad;
};

static unsigned get16(struct reader *r)
{
	if (r->n - r->pos < 2) {
		r->is_bad = true;
		return 0;
	}
	r->pos += 2;
	return (unsigned)r->at[r->pos - 2] << 8 | r->at[r->pos - 1];
}

static uint32_t get32(struct reader *r)
{
	uint32_t high = get16(r);

	return high << 16 | get16(r);
}

/* A dot or an end inside of a label would make it another name. */
static bool copy_label(const unsigned char *from, unsigned n, char *out)
{
	for (unsigned i = 0; i < n; i++) {
		if (from[i] == '.' || from[i] == 0)
			return false;
		out[i] = (char)from[i];
	}
	out[n] = '.';
	return true;
}

/* A name as text; pointers count as steps, so that a circle ends. */
static void get_name(struct reader *r, char out[RAW_NAME], bool may_point)
{
	size_t pos = r->pos, size = 0;
	bool has_jumped = false;

	for (unsigned steps = 0; steps < STEPS_MAX && pos < r->n; steps++) {
		unsigned n = r->at[pos++];

		if (n == 0) {
			out[size ? size - 1 : 0] = '\0';
			if (!has_jumped)
				r->pos = pos;
			return;
		}
		if (n >= POINTER) {
			if (!may_point || pos >= r->n)
				break;
			if (!has_jumped)
				r->pos = pos + 1;
			has_jumped = true;
			pos = (size_t)(n & ~(unsigned)POINTER) << 8 |
			      r->at[pos];
			continue;
		}
		if (n > LABEL_MAX || r->n - pos < n ||
		    size + n + 1 > HOSTNAME_MAX + 1 ||
		    !copy_label(r->at + pos, n, out + size))
			break;
		size += n + 1;
		pos += n;
	}
	r->is_bad = true;
	out[0] = '\0';
}

static size_t put16(unsigned char *out, unsigned v)
{
	out[0] = (unsigned char)(v >> 8);
	out[1] = (unsigned char)v;
	return 2;
}

/* A normalized name needs at most its length and two bytes. */
static size_t put_name(unsigned char *out, const char *host)
{
	size_t size = 0;

	while (*host) {
		size_t n = strcspn(host, ".");

		out[size++] = (unsigned char)n;
		memcpy(out + size, host, n);
		size += n;
		host += n + (host[n] == '.');
	}
	out[size++] = 0;
	return size;
}

/* The name is that of the question. */
static size_t put_record(unsigned char *out, unsigned type, unsigned ttl,
			 const void *data, size_t n)
{
	size_t size = put16(out, POINTER << 8 | HEADER);

	size += put16(out + size, type);
	size += put16(out + size, CLASS_IN);
	size += put16(out + size, 0);
	size += put16(out + size, ttl);
	size += put16(out + size, (unsigned)n);
	memcpy(out + size, data, n);
	return size + n;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* 32 digits from the last to the first, a dot behind each. */
static bool parse_nibbles(const char *host, struct in6_addr *ret)
{
	for (unsigned i = 0; i < 32; i++) {
		int v = hex_digit(host[62 - 2 * i]);

		if (v < 0 || host[63 - 2 * i] != '.')
			return false;
		if (i % 2 == 0)
			ret->s6_addr[i / 2] = (unsigned char)(v << 4);
		else
			ret->s6_addr[i / 2] |= (unsigned char)v;
	}
	return true;
}

/* "4.3.2.1.in-addr.arpa", and IPv6's nibbles. */
static bool parse_reverse(const char *host, struct in6_addr *ret)
{
	static const char v4_end[] = ".in-addr.arpa", v6_end[] = "ip6.arpa";
	size_t n = strlen(host);
	char text[INET_ADDRSTRLEN];
	struct in_addr v4;

	if (n == 64 + sizeof(v6_end) - 1 && strcmp(host + 64, v6_end) == 0)
		return parse_nibbles(host, ret);
	if (n < sizeof(v4_end) || n - (sizeof(v4_end) - 1) >= sizeof(text))
		return false;
	n -= sizeof(v4_end) - 1;
	if (strcmp(host + n, v4_end) != 0)
		return false;
	memcpy(text, host, n);
	text[n] = '\0';
	if (inet_pton(AF_INET, text, &v4) != 1)
		return false;
	v4.s_addr = __builtin_bswap32(v4.s_addr);
	*ret = net_address_of_v4(v4);
	return true;
}

static size_t answer_reverse(const struct dns_stub *stub, const char *host,
			     unsigned char *out, enum code *code)
{
	unsigned char data[RAW_NAME] = { 0 };
	struct in6_addr address;
	const char *known = NULL;
	bool is_ours;

	if (parse_reverse(host, &address))
		known = pool_find(stub->pool, &address, &is_ours);
	if (!known) {
		*code = CODE_NO_NAME;
		return 0;
	}
	return put_record(out, DNS_PTR, 1, data, put_name(data, known));
}

static bool is_or_below(const char *host, const char *domain)
{
	return strcmp(host, domain) == 0 || hostname_is_below(host, domain);
}

/*
 * Names that no resolver has.  A single label is a rule's: there is no search
 * list inside.
 */
static bool is_nowhere(const struct dns_stub *stub, const char *host)
{
	/* The first asks browsers to leave DNS over HTTPS off. */
	static const char *const nowhere[] = { "use-application-dns.net",
					       "resolver.arpa", "invalid",
					       "onion" };

	for (size_t i = 0; i < sizeof(nowhere) / sizeof(nowhere[0]); i++)
		if (is_or_below(host, nowhere[i]))
			return true;
	return !strchr(host, '.') && strcmp(host, "localhost") != 0 &&
	       !net_rules_know(stub->rules, stub->n_rules, host);
}

/* The record behind the question, if there is one; sets the code. */
static size_t answer(const struct dns_stub *stub, const char *host,
		     unsigned type, unsigned char *out, enum code *code)
{
	struct in6_addr v6 = IN6ADDR_LOOPBACK_INIT;
	struct in_addr v4 = { htonl(INADDR_LOOPBACK) };
	bool is_listed = net_rules_know(stub->rules, stub->n_rules, host);
	/* An address that may be another name's later is not remembered. */
	unsigned ttl = is_listed ? TTL_LISTED : 0;

	if (type == DNS_PTR)
		return answer_reverse(stub, host, out, code);
	if (is_nowhere(stub, host)) {
		*code = CODE_NO_NAME;
		return 0;
	}
	/* HTTPS, MX, TXT, ...: there is such a name, and no such record. */
	if (type != DNS_A && type != DNS_AAAA)
		return 0;
	if (!is_or_below(host, "localhost") &&
	    !pool_assign(stub->pool, host, is_listed, &v4, &v6)) {
		*code = CODE_FAILED;
		return 0;
	}
	return type == DNS_A ? put_record(out, type, ttl, &v4, sizeof(v4))
			     : put_record(out, type, ttl, &v6, sizeof(v6));
}

struct question {
	unsigned flags, type, class;
	char name[RAW_NAME];
	size_t end;	  /* in the message */
	bool has_options; /* EDNS */
	bool is_bad;
};

static void read_question(const unsigned char *in, size_t n,
			  struct question *ret)
{
	struct reader r = { .at = in, .n = n, .pos = 2 };
	unsigned n_questions, n_answers, n_more;
	char skipped[RAW_NAME];

	ret->flags = get16(&r);
	n_questions = get16(&r);
	n_answers = get16(&r);
	n_answers += get16(&r);
	n_more = get16(&r);
	get_name(&r, ret->name, false);
	ret->type = get16(&r);
	ret->class = get16(&r);
	ret->end = r.pos;
	ret->is_bad = r.is_bad || n_questions != 1 || n_answers != 0 ||
		      (ret->flags & FLAG_OPCODE) != 0;
	ret->has_options = false;
	if (n_more > 0 && !ret->is_bad) {
		get_name(&r, skipped, false);
		ret->has_options = !r.is_bad && get16(&r) == DNS_OPT;
	}
}

static size_t put_options(unsigned char *out)
{
	static const unsigned char options[11] = { 0, 0, DNS_OPT,
						   DNS_MESSAGE >> 8,
						   DNS_MESSAGE & 0xff };

	memcpy(out, options, sizeof(options));
	return sizeof(options);
}

size_t dns_answer(const struct dns_stub *stub, const unsigned char *in,
		  size_t n, unsigned char out[DNS_MESSAGE])
{
	struct question q;
	enum code code = CODE_OK;
	char host[HOSTNAME_SIZE];
	size_t size = HEADER, more = 0;

	/* An answer to an answer, and two resolvers talk for ever. */
	if (n < HEADER || in[2] & FLAG_ANSWER >> 8)
		return 0;
	read_question(in, n, &q);
	memcpy(out, in, HEADER);
	memset(out + 4, 0, HEADER - 4);
	if (q.is_bad) {
		code = CODE_FORMAT;
	} else {
		memcpy(out + HEADER, in + HEADER, q.end - HEADER);
		size = q.end;
		(void)put16(out + 4, 1);
		if (q.class != CLASS_IN)
			code = CODE_REFUSED;
		else if (!hostname_normalize(q.name, strlen(q.name), host))
			code = CODE_NO_NAME;
		else
			more = answer(stub, host, q.type, out + size, &code);
	}
	size += more;
	(void)put16(out + 6, more > 0);
	if (q.has_options) {
		size += put_options(out + size);
		(void)put16(out + 10, 1);
	}
	(void)put16(out + 2, FLAG_ANSWER | FLAG_AVAILABLE |
				     (q.flags & FLAG_WANTED) | code);
	return size;
}

size_t dns_ask(unsigned char out[DNS_QUESTION], uint16_t id, const char *host,
	       enum dns_type type)
{
	size_t size;

	if (strlen(host) > HOSTNAME_MAX)
		return 0;
	memset(out, 0, HEADER);
	(void)put16(out, id);
	(void)put16(out + 2, FLAG_WANTED);
	(void)put16(out + 4, 1);
	size = HEADER + put_name(out + HEADER, host);
	size += put16(out + size, type);
	size += put16(out + size, CLASS_IN);
	return size;
}

static void take_address(const unsigned char *data, enum dns_type type,
			 uint32_t ttl, struct dns_reply *reply)
{
	struct in_addr v4;

	if (reply->n == DNS_ADDRESSES)
		return;
	if (type == DNS_A) {
		memcpy(&v4, data, sizeof(v4));
		reply->addresses[reply->n++] = net_address_of_v4(v4);
	} else {
		memcpy(&reply->addresses[reply->n++], data,
		       sizeof(struct in6_addr));
	}
	if (ttl < reply->ttl)
		reply->ttl = ttl;
}

bool dns_take(const unsigned char *in, size_t n, uint16_t id, const char *host,
	      enum dns_type type, struct dns_reply *reply)
{
	struct reader r = { .at = in, .n = n };
	unsigned flags, n_questions, n_answers, named, kind, class, size;
	char name[RAW_NAME];
	uint32_t ttl;

	if (get16(&r) != id || r.is_bad)
		return false;
	flags = get16(&r);
	n_questions = get16(&r);
	n_answers = get16(&r);
	(void)get32(&r);
	get_name(&r, name, false);
	named = get16(&r);
	class = get16(&r);
	if (r.is_bad || !(flags & FLAG_ANSWER) || n_questions != 1 ||
	    strcasecmp(name, host) != 0 || named != type || class != CLASS_IN)
		return false;
	reply->is_truncated = flags & FLAG_TRUNCATED;
	reply->code = flags & 15;
	/* A chain of other names may come first: its end is what counts. */
	for (unsigned i = 0; i < n_answers && i < RECORDS_MAX; i++) {
		get_name(&r, name, true);
		kind = get16(&r);
		class = get16(&r);
		ttl = get32(&r);
		size = get16(&r);
		if (r.is_bad || r.n - r.pos < size)
			break;
		if (class == CLASS_IN && kind == (unsigned)type &&
		    size == (type == DNS_A ? 4U : 16U))
			take_address(in + r.pos, type, ttl, reply);
		r.pos += size;
	}
	return true;
}
