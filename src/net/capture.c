/* SPDX-License-Identifier: Apache-2.0 */
#include "net/capture.h"

#include "net/pool.h"
#include "sys/net/netlink.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <string.h>

/*
 * No program, no library: one datagram of rtnetlink for the links, one for the
 * routes, one of nf_tables for the rules.  tests/unit/t_capture.c holds the
 * bytes, tests/net looks from inside.
 */

#define LO		  1 /* the first device of a namespace */
#define ALIGNED(n)	  (((n) + 3) & ~(size_t)3)
#define TABLE		  "holdback"
#define CHAIN		  "catch"
#define TABLES_TYPE(type) (K_NFNL_TABLES << 8 | (type))
/* Before the usual rules of each hook. */
#define PRIORITY_MANGLE (-150)
#define PRIORITY_DSTNAT (-100)

const char *net_way_name(enum net_way way)
{
	/* clang-format off */
#define NET_WAY_NAME(id, word) [NET_WAY_##id] = (word),
	static const char *const names[NET_WAYS_END] = {
		NET_WAYS(NET_WAY_NAME)
	};
#undef NET_WAY_NAME
	/* clang-format on */

	return names[way];
}

static void *put(struct capture *c, const void *data, size_t n)
{
	struct k_nlmsg head;
	char *p = c->at + c->size;

	assert(c->size + ALIGNED(n) <= sizeof(c->at));
	memset(p, 0, ALIGNED(n));
	if (data)
		memcpy(p, data, n);
	c->size += ALIGNED(n);
	memcpy(&head, c->at + c->last, sizeof(head));
	head.len = (uint32_t)(c->size - c->last);
	memcpy(c->at + c->last, &head, sizeof(head));
	return p;
}

static void begin(struct capture *c, unsigned type, unsigned flags,
		  const void *body, size_t n)
{
	struct k_nlmsg head = { .type = (uint16_t)type,
				.flags = (uint16_t)(K_NLM_REQUEST | flags) };

	if (flags & K_NLM_ACK)
		head.seq = ++c->n_acks;
	c->last = c->size;
	(void)put(c, &head, sizeof(head));
	(void)put(c, body, n);
}

static void attribute(struct capture *c, unsigned type, const void *data,
		      size_t n)
{
	struct k_nlattr head = { .len = (uint16_t)(sizeof(head) + n),
				 .type = (uint16_t)type };

	(void)put(c, &head, sizeof(head));
	(void)put(c, data, n);
}

/* An attribute with attributes inside, up to end(): its place. */
static size_t nest(struct capture *c, unsigned type)
{
	struct k_nlattr head = { .type = (uint16_t)(type | K_NLA_NESTED) };
	size_t at = c->size;

	(void)put(c, &head, sizeof(head));
	return at;
}

static void end(struct capture *c, size_t nested)
{
	struct k_nlattr head;

	memcpy(&head, c->at + nested, sizeof(head));
	head.len = (uint16_t)(c->size - nested);
	memcpy(c->at + nested, &head, sizeof(head));
}

static size_t own_address(int family, unsigned char ret[16])
{
	(void)inet_pton(family, family == AF_INET ? POOL_OWN_V4 : POOL_OWN_V6,
			ret);
	return family == AF_INET ? 4 : 16;
}

static void put_address(struct capture *c, int family)
{
	unsigned char own[16];
	size_t n = own_address(family, own);
	struct k_address a = {
		.family = (uint8_t)family,
		.prefix = (uint8_t)(8 * n),
		.flags = K_ADDRESS_NODAD | K_ADDRESS_PERMANENT,
		.index = LO,
	};

	begin(c, K_RTM_NEWADDR, K_NLM_CREATE | K_NLM_EXCL | K_NLM_ACK, &a,
	      sizeof(a));
	attribute(c, K_ADDRESS_LOCAL, own, n);
	attribute(c, K_ADDRESS_ADDRESS, own, n);
}

void capture_links(struct capture *c, bool has_v6)
{
	struct k_link up = { .index = LO,
			     .flags = K_LINK_UP,
			     .change = K_LINK_UP };

	/* First: coming up gives it 127.0.0.1 and ::1. */
	begin(c, K_RTM_NEWLINK, K_NLM_ACK, &up, sizeof(up));
	put_address(c, AF_INET);
	if (has_v6)
		put_address(c, AF_INET6);
}

static void put_route(struct capture *c, int family)
{
	unsigned char own[16];
	size_t n = own_address(family, own);
	const uint32_t lo = LO;
	struct k_route route = {
		.family = (uint8_t)family,
		.table = K_ROUTE_TABLE_LOCAL,
		.protocol = K_ROUTE_STATIC,
		.scope = family == AF_INET ? K_ROUTE_SCOPE_HOST : 0,
		.type = K_ROUTE_LOCAL,
	};

	begin(c, K_RTM_NEWROUTE, K_NLM_CREATE | K_NLM_EXCL | K_NLM_ACK, &route,
	      sizeof(route));
	attribute(c, K_ROUTE_OIF, &lo, sizeof(lo));
	attribute(c, K_ROUTE_PREFSRC, own, n);
}

void capture_routes(struct capture *c, bool has_v6)
{
	put_route(c, AF_INET);
	if (has_v6)
		put_route(c, AF_INET6);
}

static void attribute32(struct capture *c, unsigned type, uint32_t value)
{
	value = htonl(value);
	attribute(c, type, &value, sizeof(value));
}

static void attribute_text(struct capture *c, unsigned type, const char *s)
{
	attribute(c, type, s, strlen(s) + 1);
}

static void begin_tables(struct capture *c, unsigned type)
{
	struct k_nfgen body = { .family = K_NFPROTO_INET };

	begin(c, TABLES_TYPE(type), K_NLM_CREATE | K_NLM_ACK, &body,
	      sizeof(body));
}

static void put_mark(struct capture *c, unsigned type)
{
	struct k_nfgen body = { .resource = htons(K_NFNL_TABLES) };

	begin(c, type, 0, &body, sizeof(body));
}

/* An expression of a rule; what it loads it loads into register 1. */
enum expression_kind {
	LOAD_META,  /* from: the key */
	LOAD_BYTES, /* of the header of IP: n bytes, from there on */
	IS,	    /* else the rule ends here */
	IS_NOT,
	PORT,	 /* our listener's, into register 2 */
	ADDRESS, /* our listener's */
	TPROXY,	 /* to both */
	REDIRECT,
	ACCEPT,
};

struct expression {
	enum expression_kind kind;
	unsigned from, n;
	unsigned char value[16];
};

#define V4_DESTINATION 16
#define V6_DESTINATION 24

/* clang-format off */
static const struct expression of_v4[] = {
	{ LOAD_META, K_NFT_META_L4PROTO, 1, { 0 } },
	{ IS, 0, 1, { IPPROTO_TCP } },
	{ LOAD_META, K_NFT_META_NFPROTO, 1, { 0 } },
	{ IS, 0, 1, { K_NFPROTO_IPV4 } },
	/* What is the box's own stays inside. */
	{ LOAD_BYTES, V4_DESTINATION, 1, { 0 } },
	{ IS_NOT, 0, 1, { 127 } },
	{ LOAD_BYTES, V4_DESTINATION, 4, { 0 } },
	{ IS_NOT, 0, 4, { 198, 18, 0, 1 } },
	{ PORT, 0, 2, { 0, CAPTURE_PORT } },
};

static const struct expression of_v6[] = {
	{ LOAD_META, K_NFT_META_L4PROTO, 1, { 0 } },
	{ IS, 0, 1, { IPPROTO_TCP } },
	{ LOAD_META, K_NFT_META_NFPROTO, 1, { 0 } },
	{ IS, 0, 1, { K_NFPROTO_IPV6 } },
	{ LOAD_BYTES, V6_DESTINATION, 16, { 0 } },
	{ IS_NOT, 0, 16, { [15] = 1 } },
	{ IS_NOT, 0, 16, { 0xfd, 0x68, 0x62, 0x64, 0x6b, [15] = 1 } },
	{ PORT, 0, 2, { 0, CAPTURE_PORT } },
};

static const struct expression to_v4_tproxy[] = {
	{ ADDRESS, 0, 4, { 127, 0, 0, 1 } },
	{ TPROXY, K_NFPROTO_IPV4, 0, { 0 } },
	{ ACCEPT, 0, 0, { 0 } },
};

static const struct expression to_v6_tproxy[] = {
	{ ADDRESS, 0, 16, { [15] = 1 } },
	{ TPROXY, K_NFPROTO_IPV6, 0, { 0 } },
	{ ACCEPT, 0, 0, { 0 } },
};

static const struct expression to_redirect[] = {
	{ REDIRECT, 0, 0, { 0 } },
};
/* clang-format on */

static const char *const expression_names[] = {
	[LOAD_META] = "meta", [LOAD_BYTES] = "payload", [IS] = "cmp",
	[IS_NOT] = "cmp",     [PORT] = "immediate",	[ADDRESS] = "immediate",
	[TPROXY] = "tproxy",  [REDIRECT] = "redir",	[ACCEPT] = "immediate",
};

static void put_value(struct capture *c, unsigned type,
		      const struct expression *e)
{
	size_t data = nest(c, type);

	attribute(c, K_NFT_DATA_VALUE, e->value, e->n);
	end(c, data);
}

static void put_verdict(struct capture *c)
{
	size_t data = nest(c, K_NFT_IMMEDIATE_DATA);
	size_t verdict = nest(c, K_NFT_DATA_VERDICT);

	attribute32(c, K_NFT_VERDICT_CODE, K_NF_ACCEPT);
	end(c, verdict);
	end(c, data);
}

static void put_operands(struct capture *c, const struct expression *e)
{
	switch (e->kind) {
	case LOAD_META:
		attribute32(c, K_NFT_META_DREG, K_NFT_REG_1);
		attribute32(c, K_NFT_META_KEY, e->from);
		break;
	case LOAD_BYTES:
		attribute32(c, K_NFT_PAYLOAD_DREG, K_NFT_REG_1);
		attribute32(c, K_NFT_PAYLOAD_BASE, K_NFT_PAYLOAD_NETWORK);
		attribute32(c, K_NFT_PAYLOAD_OFFSET, e->from);
		attribute32(c, K_NFT_PAYLOAD_LEN, e->n);
		break;
	case IS:
	case IS_NOT:
		attribute32(c, K_NFT_CMP_SREG, K_NFT_REG_1);
		attribute32(c, K_NFT_CMP_OP,
			    e->kind == IS ? K_NFT_CMP_EQ : K_NFT_CMP_NEQ);
		put_value(c, K_NFT_CMP_DATA, e);
		break;
	case PORT:
	case ADDRESS:
		attribute32(c, K_NFT_IMMEDIATE_DREG,
			    e->kind == PORT ? K_NFT_REG_2 : K_NFT_REG_1);
		put_value(c, K_NFT_IMMEDIATE_DATA, e);
		break;
	case TPROXY:
		attribute32(c, K_NFT_TPROXY_FAMILY, e->from);
		attribute32(c, K_NFT_TPROXY_REG_ADDR, K_NFT_REG_1);
		attribute32(c, K_NFT_TPROXY_REG_PORT, K_NFT_REG_2);
		break;
	case REDIRECT:
		attribute32(c, K_NFT_REDIR_PROTO_MIN, K_NFT_REG_2);
		break;
	case ACCEPT:
		attribute32(c, K_NFT_IMMEDIATE_DREG, K_NFT_REG_VERDICT);
		put_verdict(c);
		break;
	}
}

static void put_expressions(struct capture *c, const struct expression *e,
			    size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t element = nest(c, K_NFT_LIST_ELEMENT), data;

		attribute_text(c, K_NFT_EXPR_NAME, expression_names[e[i].kind]);
		data = nest(c, K_NFT_EXPR_DATA);
		put_operands(c, &e[i]);
		end(c, data);
		end(c, element);
	}
}

#define EXPRESSIONS(table) (table), sizeof(table) / sizeof((table)[0])

static void put_rule(struct capture *c, enum net_way way, int family)
{
	bool is_v4 = family == AF_INET;
	size_t list;

	begin_tables(c, K_NFT_NEWRULE);
	attribute_text(c, K_NFT_RULE_TABLE, TABLE);
	attribute_text(c, K_NFT_RULE_CHAIN, CHAIN);
	list = nest(c, K_NFT_RULE_EXPRESSIONS);
	if (is_v4)
		put_expressions(c, EXPRESSIONS(of_v4));
	else
		put_expressions(c, EXPRESSIONS(of_v6));
	if (way == NET_WAY_REDIRECT)
		put_expressions(c, EXPRESSIONS(to_redirect));
	else if (is_v4)
		put_expressions(c, EXPRESSIONS(to_v4_tproxy));
	else
		put_expressions(c, EXPRESSIONS(to_v6_tproxy));
	end(c, list);
}

void capture_rules(struct capture *c, enum net_way way, bool has_v6)
{
	bool is_tproxy = way == NET_WAY_TPROXY;
	size_t hook;

	put_mark(c, K_NFNL_BATCH_BEGIN);
	begin_tables(c, K_NFT_NEWTABLE);
	attribute_text(c, K_NFT_TABLE_NAME, TABLE);
	begin_tables(c, K_NFT_NEWCHAIN);
	attribute_text(c, K_NFT_CHAIN_TABLE, TABLE);
	attribute_text(c, K_NFT_CHAIN_NAME, CHAIN);
	hook = nest(c, K_NFT_CHAIN_HOOK);
	attribute32(c, K_NFT_HOOK_NUMBER,
		    is_tproxy ? K_NF_PRE_ROUTING : K_NF_LOCAL_OUT);
	attribute32(c, K_NFT_HOOK_PRIORITY,
		    (uint32_t)(is_tproxy ? PRIORITY_MANGLE : PRIORITY_DSTNAT));
	end(c, hook);
	attribute_text(c, K_NFT_CHAIN_TYPE, is_tproxy ? "filter" : "nat");
	put_rule(c, way, AF_INET);
	if (has_v6)
		put_rule(c, way, AF_INET6);
	put_mark(c, K_NFNL_BATCH_END);
}
