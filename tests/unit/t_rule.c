/* SPDX-License-Identifier: Apache-2.0 */
#include "net/rule.h"

#include "base/error.h"

#include "tap.h"

#include <arpa/inet.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define ROOM	 8

/* Parses "allow" rules, and those that begin with '-' as ones that deny. */
static size_t parsed(const char *const *texts, struct net_rule rules[ROOM])
{
	struct hb_error err = { 0 };
	size_t n = 0;

	for (; texts[n]; n++) {
		bool is_deny = texts[n][0] == '-';

		CHECK_INT(net_rule_parse(texts[n] + is_deny, is_deny, &rules[n],
					 &err),
			  0);
	}
	return n;
}

static struct in6_addr address(const char *text)
{
	struct net_range range;

	CHECK(net_range_parse(text, strlen(text), &range));
	return range.address;
}

static const char *decided(const struct net_rule *rules, size_t n,
			   const char *host, uint16_t port)
{
	const struct net_rule *rule =
		net_rules_decide(rules, n, host, NULL, port);

	return rule ? rule->text : "none";
}

static const char *dialled(const struct net_rule *rules, size_t n,
			   const char *to, uint16_t port)
{
	struct in6_addr a = address(to);
	const struct net_rule *rule =
		net_rules_decide(rules, n, NULL, &a, port);

	return rule ? rule->text : "none";
}

#define IS(got, want) CHECK(strcmp((got), (want)) == 0)

static const struct {
	const char *text, *host;
	bool is_below;
	unsigned low, high;
	enum net_rule_kind kind;
	enum net_reach reach;
	unsigned bits; /* 0: no range */
} forms[] = {
	{ "Example.COM", "example.com", false, 443, 443, NET_RULE_NAME,
	  REACH_PUBLIC, 0 },
	{ "example.com.", "example.com", false, 443, 443, NET_RULE_NAME,
	  REACH_PUBLIC, 0 },
	{ "*.example.com", "example.com", true, 443, 443, NET_RULE_NAME,
	  REACH_PUBLIC, 0 },
	{ "example.com:8080", "example.com", false, 8080, 8080, NET_RULE_NAME,
	  REACH_PUBLIC, 0 },
	{ "*.a_b.c-d:*", "a_b.c-d", true, 1, 65535, NET_RULE_NAME, REACH_PUBLIC,
	  0 },
	{ "intra", "intra", false, 443, 443, NET_RULE_NAME, REACH_PUBLIC, 0 },
	{ "npm.corp:4873=private", "npm.corp", false, 4873, 4873, NET_RULE_NAME,
	  REACH_PRIVATE, 0 },
	{ "npm.corp=10.0.0.0/8", "npm.corp", false, 443, 443, NET_RULE_NAME,
	  REACH_PUBLIC, 104 },
	{ "npm.corp:22=fd00::1", "npm.corp", false, 22, 22, NET_RULE_NAME,
	  REACH_PUBLIC, 128 },
	{ "203.0.113.9", "", false, 443, 443, NET_RULE_ADDRESS, REACH_PUBLIC,
	  128 },
	{ "203.0.113.9:22", "", false, 22, 22, NET_RULE_ADDRESS, REACH_PUBLIC,
	  128 },
	{ "203.0.113.0/24:*", "", false, 1, 65535, NET_RULE_ADDRESS,
	  REACH_PUBLIC, 120 },
	{ "2001:db8::1", "", false, 443, 443, NET_RULE_ADDRESS, REACH_PUBLIC,
	  128 },
	{ "2001:db8::/32", "", false, 443, 443, NET_RULE_ADDRESS, REACH_PUBLIC,
	  32 },
	{ "[2001:db8::1]:22", "", false, 22, 22, NET_RULE_ADDRESS, REACH_PUBLIC,
	  128 },
	{ "[2001:db8::/32]", "", false, 443, 443, NET_RULE_ADDRESS,
	  REACH_PUBLIC, 32 },
	{ "169.254.169.254:80", "", false, 80, 80, NET_RULE_ADDRESS,
	  REACH_PUBLIC, 128 },
	{ "@github", "github", false, 443, 443, NET_RULE_GROUP, REACH_PUBLIC,
	  0 },
};

static void forms_are_read(void)
{
	for (size_t i = 0; i < COUNT(forms); i++) {
		struct hb_error err = { 0 };
		struct net_rule rule;

		CHECK_INT(net_rule_parse(forms[i].text, false, &rule, &err), 0);
		IS(rule.text, forms[i].text);
		IS(rule.host, forms[i].host);
		CHECK(rule.is_below == forms[i].is_below);
		CHECK_INT(rule.low, forms[i].low);
		CHECK_INT(rule.high, forms[i].high);
		CHECK_INT(rule.kind, forms[i].kind);
		CHECK_INT(rule.reach, forms[i].reach);
		CHECK_INT(rule.has_range, forms[i].bits > 0);
		if (forms[i].bits)
			CHECK_INT(rule.range.bits, forms[i].bits);
	}
}

#define L63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define N253                    \
	L63 "." L63 "." L63 "." \
	    "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static const struct {
	const char *text, *cause, *fix;
} bad_forms[] = {
	{ "", "'\"\"' is no name of a host", "write HOST," },
	{ "a..b", "'a..b' is no name of a host", "write HOST," },
	{ ".a.b", "'.a.b' is no name of a host", "write HOST," },
	{ "*", "'*' is no name of a host", "write HOST," },
	{ "*.", "'*.' is no name of a host", "write HOST," },
	{ "a.*.b", "'a.*.b' is no name of a host", "write HOST," },
	{ "--keep", "'--keep' is no name of a host", "write HOST," },
	{ "a b.c", "'a b.c' is no name of a host", "write HOST," },
	{ "user@a.b", "'user@a.b' is no name of a host", "write HOST," },
	{ "a.b/c", "'a.b/c' is no name of a host", "write HOST," },
	{ "1.2.3", "'1.2.3' is no name of a host", "write HOST," },
	{ "2130706433", "'2130706433' is no name of a host", "write HOST," },
	{ "0x7f.1", "'0x7f.1' is no name of a host", "write HOST," },
	{ "a.0x7f", "'a.0x7f' is no name of a host", "write HOST," },
	{ "203.0.113.0/33", "'203.0.113.0/33' is no name of a host",
	  "write HOST," },
	{ "2001:db8::/129", "'2001:db8::/129' is no name of a host",
	  "write HOST," },
	{ "[a.b]:1", "'a.b' is no name of a host", "write HOST," },
	{ N253 "c", "is no name of a host", "write HOST," },
	{ L63 "c.b", "is no name of a host", "write HOST," },
	{ "*.com", "'*.com' is every name of a top domain",
	  "write at least two labels" },
	{ "a.b:", "'\"\"' is no port", "write a number from 1" },
	{ "a.b:0", "'0' is no port", "write a number from 1" },
	{ "a.b:65536", "'65536' is no port", "write a number from 1" },
	{ "a.b:-1", "'-1' is no port", "write a number from 1" },
	{ "a.b:+1", "'+1' is no port", "write a number from 1" },
	{ "a.b:1-9", "'1-9' is no port", "write a number from 1" },
	{ "a.b:https", "'https' is no port", "write a number from 1" },
	{ "[fd00::1", "has no ']' at its end", "write [ADDRESS]:PORT" },
	{ "[fd00::1]1", "has no ']' at its end", "write [ADDRESS]:PORT" },
	{ "a.b=", "'\"\"' is no address", "write =private" },
	{ "a.b=public", "'public' is no address", "write =private" },
	{ "a.b=10.0.0.0/", "is no address", "write =private" },
	{ "10.0.0.1=private", "'10.0.0.1' is an address, which leads to itself",
	  "write the address alone" },
	{ "10.0.0.1=10.0.0.2", "leads to itself", "write the address alone" },
	{ "127.0.0.1:80",
	  "'127.0.0.1' is a loopback address, which no rule opens",
	  "--host-port PORT" },
	{ "::1", "'::1' is a loopback address", "--host-port PORT" },
	{ "::ffff:127.0.0.1", "is a loopback address", "--host-port PORT" },
	{ "0.0.0.0/0", "is an address of this host", "--host-port" },
	{ "a.b=127.0.0.1", "is a loopback address", "--host-port" },
	{ "localhost", "'localhost' is the box itself", "--host-port PORT" },
	{ "x.LOCALHOST.:80", "is the box itself", "--host-port PORT" },
	{ "https://a.b", "'https://a.b' is an address of a page",
	  "write the host alone" },
	{ "b\xc3\xbc"
	  "cher.example",
	  "has letters beyond ASCII", "as xn--" },
	{ "@", "'\"\"' is no name of a group", "such as @github" },
	{ "@GitHub", "'GitHub' is no name of a group", "such as @github" },
	{ "@github:22", "'github:22' is no name of a group",
	  "such as @github" },
	{ "@aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "is no name of a group",
	  "such as @github" },
};

static void bad_forms_have_a_cause_and_a_fix(void)
{
	for (size_t i = 0; i < COUNT(bad_forms); i++) {
		struct hb_error err = { 0 };
		struct net_rule rule;

		printf("# %s\n", bad_forms[i].text);
		CHECK_INT(net_rule_parse(bad_forms[i].text, false, &rule, &err),
			  -HB_E_USAGE);
		printf("# %s; %s\n", err.text, err.fix);
		CHECK(strstr(err.text, bad_forms[i].cause));
		CHECK(strstr(err.fix, bad_forms[i].fix));
	}
}

static void lengths_have_limits(void)
{
	char text[NET_RULE_MAX + 2];
	struct hb_error err = { 0 };
	struct net_rule rule;

	CHECK_INT(strlen(N253), HOSTNAME_MAX);
	CHECK_INT(net_rule_parse(N253, false, &rule, &err), 0);
	CHECK_INT(
		net_rule_parse("*." N253 ":65535=private", false, &rule, &err),
		0);
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	CHECK_INT(net_rule_parse(text, false, &rule, &err), -HB_E_USAGE);
	CHECK(strstr(err.text, "is too long"));
}

static void a_rule_that_denies_has_every_port(void)
{
	struct hb_error err = { 0 };
	struct net_rule rule;

	CHECK_INT(net_rule_parse("a.b", true, &rule, &err), 0);
	CHECK_INT(rule.low, 1);
	CHECK_INT(rule.high, 65535);
	CHECK_INT(net_rule_parse("127.0.0.1", true, &rule, &err), 0);
	CHECK_INT(net_rule_parse("0.0.0.0/0", true, &rule, &err), 0);
	CHECK_INT(net_rule_parse("a.b=private", true, &rule, &err),
		  -HB_E_USAGE);
	CHECK(strstr(err.text, "a rule that denies has no '='"));
}

static void names_are_decided_exactly(void)
{
	static const char *const texts[] = { "example.com", "*.example.org",
					     "git.example.net:22",
					     "any.example.net:*", NULL };
	struct net_rule rules[ROOM];
	size_t n = parsed(texts, rules);

	IS(decided(rules, n, "example.com", 443), "example.com");
	IS(decided(rules, n, "example.com", 80), "none");
	IS(decided(rules, n, "www.example.com", 443), "none");
	IS(decided(rules, n, "badexample.com", 443), "none");
	IS(decided(rules, n, "example.com.evil.test", 443), "none");
	IS(decided(rules, n, "example.org", 443), "none");
	IS(decided(rules, n, "a.example.org", 443), "*.example.org");
	IS(decided(rules, n, "a.b.example.org", 443), "*.example.org");
	IS(decided(rules, n, "badexample.org", 443), "none");
	IS(decided(rules, n, ".example.org", 443), "none");
	IS(decided(rules, n, "git.example.net", 22), "git.example.net:22");
	IS(decided(rules, n, "git.example.net", 443), "none");
	IS(decided(rules, n, "any.example.net", 1), "any.example.net:*");
	IS(decided(rules, n, "any.example.net", 65535), "any.example.net:*");
	IS(decided(rules, n, "any.example.net", 0), "none");
	CHECK(net_rules_know(rules, n, "git.example.net"));
	CHECK(!net_rules_know(rules, n, "example.org"));
}

static void deny_beats_allow_in_any_order(void)
{
	static const char *const texts[] = { "-bad.example.org",
					     "*.example.org",
					     "-odd.example.org:443",
					     "odd.example.org:*",
					     "203.0.113.0/24:*",
					     "-203.0.113.7",
					     NULL };
	struct net_rule rules[ROOM];
	size_t n = parsed(texts, rules);

	IS(decided(rules, n, "bad.example.org", 443), "bad.example.org");
	CHECK(net_rules_decide(rules, n, "bad.example.org", NULL, 443)
		      ->is_deny);
	IS(decided(rules, n, "good.example.org", 443), "*.example.org");
	IS(decided(rules, n, "odd.example.org", 443), "odd.example.org:443");
	IS(decided(rules, n, "odd.example.org", 80), "odd.example.org:*");
	IS(dialled(rules, n, "203.0.113.7", 443), "203.0.113.7");
	IS(dialled(rules, n, "203.0.113.8", 443), "203.0.113.0/24:*");
}

static void addresses_are_dialled_by_their_own_rules(void)
{
	static const char *const texts[] = { "203.0.113.0/25", "2001:db8::/33",
					     "example.com=203.0.113.200",
					     "@github", NULL };
	struct net_rule rules[ROOM];
	size_t n = parsed(texts, rules);

	IS(dialled(rules, n, "203.0.113.127", 443), "203.0.113.0/25");
	IS(dialled(rules, n, "203.0.113.128", 443), "none");
	IS(dialled(rules, n, "::ffff:203.0.113.1", 443), "203.0.113.0/25");
	IS(dialled(rules, n, "203.0.113.200", 443), "none");
	IS(dialled(rules, n, "2001:db8:7fff::1", 443), "2001:db8::/33");
	IS(dialled(rules, n, "2001:db8:8000::1", 443), "none");
	IS(decided(rules, n, "github", 443), "none");
}

/* The words that refuse an address to a rule; "" if it is let through. */
static const char *refused(const char *rule_text, const char *to)
{
	const char *const texts[] = { rule_text, NULL };
	struct net_rule rules[ROOM];
	struct in6_addr a = address(to);
	const char *words;

	(void)parsed(texts, rules);
	words = net_rule_refuses(&rules[0], &a);
	return words ? words : "";
}

static void special_addresses_are_refused_unless_said(void)
{
	/* The first and the last of each network, and what opens it. */
	static const struct {
		const char *first, *last, *words;
		bool is_private, is_never;
	} all[] = {
		{ "0.0.0.0", "0.255.255.255", "this host", false, true },
		{ "10.0.0.0", "10.255.255.255", "private", true, false },
		{ "100.64.0.0", "100.127.255.255", "private", true, false },
		{ "127.0.0.0", "127.255.255.255", "loopback", false, true },
		{ "169.254.0.0", "169.254.255.255", "link-local", false,
		  false },
		{ "172.16.0.0", "172.31.255.255", "private", true, false },
		{ "192.0.0.0", "192.0.0.255", "reserved", false, false },
		{ "192.168.0.0", "192.168.255.255", "private", true, false },
		{ "198.18.0.0", "198.19.255.255", "reserved", false, false },
		{ "224.0.0.0", "255.255.255.255", "multicast", false, false },
		{ "::", "::ffff:ffff", "loopback", false, true },
		{ "::ffff:10.0.0.0", "::ffff:10.1.2.3", "private", true,
		  false },
		{ "64:ff9b::", "64:ff9b::ffff:ffff", "translated", false,
		  false },
		{ "64:ff9b:1::", "64:ff9b:1:ffff::", "translated", false,
		  false },
		{ "2002::", "2002:ffff::", "tunnelled", false, false },
		{ "2001::", "2001:0:ffff::", "tunnelled", false, false },
		{ "fc00::", "fdff::", "private", true, false },
		{ "fe80::", "febf::", "link-local", false, false },
		{ "fec0::", "feff::", "reserved", false, false },
		{ "ff00::", "ffff::", "multicast", false, false },
	};

	for (size_t i = 0; i < COUNT(all); i++) {
		const char *const ends[] = { all[i].first, all[i].last };

		for (size_t k = 0; k < 2; k++) {
			char rule[NET_RULE_MAX];

			printf("# %s\n", ends[k]);
			CHECK(strstr(refused("a.b", ends[k]), all[i].words));
			CHECK(!*refused("a.b=private", ends[k]) ==
			      all[i].is_private);
			if (all[i].is_never)
				continue;
			(void)snprintf(rule, sizeof(rule), "a.b=%s", ends[k]);
			IS(refused(rule, ends[k]), "");
			(void)snprintf(rule, sizeof(rule), "%s", ends[k]);
			IS(refused(rule, ends[k]), "");
		}
	}
}

/* They lie in private networks, or look public. */
static void metadata_is_opened_by_its_address_alone(void)
{
	static const char *const all[] = { "100.100.100.200", "168.63.129.16",
					   "fd00:ec2::254", "fd20:ce::254" };
	static const char *const beside[] = { "100.100.100.201",
					      "168.63.129.17", "fd00:ec2::253",
					      "fd20:ce::255" };

	for (size_t i = 0; i < COUNT(all); i++) {
		char rule[NET_RULE_MAX];

		printf("# %s\n", all[i]);
		CHECK(*refused("a.b", all[i]));
		IS(refused("a.b=private", all[i]), "a metadata address");
		IS(refused("a.b=private", beside[i]), "");
		(void)snprintf(rule, sizeof(rule), "a.b=%s", all[i]);
		IS(refused(rule, all[i]), "");
		IS(refused(all[i], all[i]), "");
	}
	IS(refused("100.64.0.0/10", "100.100.100.200"), "a metadata address");
}

static void public_addresses_are_not_special(void)
{
	static const char *const all[] = {
		"1.0.0.0",	  "9.255.255.255",   "11.0.0.0",
		"100.63.255.255", "100.128.0.0",     "126.255.255.255",
		"128.0.0.0",	  "169.253.255.255", "169.255.0.0",
		"172.15.255.255", "172.32.0.0",	     "191.255.255.255",
		"192.0.1.0",	  "192.167.255.255", "192.169.0.0",
		"198.17.255.255", "198.20.0.0",	     "223.255.255.255",
		"2001:1::1",	  "2001:db8::1",     "2003::1",
		"2606:4700::1",	  "64:ff9b:2::1",    "64:ff9b::1:0:0",
		"fbff::1",
	};

	for (size_t i = 0; i < COUNT(all); i++) {
		printf("# %s\n", all[i]);
		IS(refused("a.b", all[i]), "");
	}
}

static void a_wide_range_opens_no_special_network_in_it(void)
{
	IS(refused("168.0.0.0/6", "168.1.2.3"), "");
	IS(refused("168.0.0.0/6", "169.254.169.254"), "a link-local address");
	IS(refused("64.0.0.0/2", "127.0.0.1"), "a loopback address");
	IS(refused("169.254.0.0/16", "169.254.169.254"), "");
	IS(refused("169.254.169.254", "169.254.169.254"), "");
	IS(refused("a.b=203.0.113.1", "203.0.113.2"),
	   "not the address of the rule");
	IS(refused("a.b=10.0.0.0/8", "10.1.2.3"), "");
	IS(refused("a.b=10.0.0.0/8", "203.0.113.2"),
	   "not the address of the rule");
}

static void a_wildcard_over_a_shared_host_is_noticed(void)
{
	static const struct {
		const char *text, *domain; /* NULL: it is not shared */
	} all[] = {
		{ "*.github.io", "github.io" },
		{ "*.githubusercontent.com", "githubusercontent.com" },
		{ "*.windows.net", "blob.core.windows.net" },
		{ "*.cloudfront.net:*", "cloudfront.net" },
		{ "github.io", NULL },
		{ "raw.githubusercontent.com", NULL },
		{ "*.example.com", NULL },
		{ "*.me.github.io", NULL },
		{ "-*.github.io", NULL },
	};

	for (size_t i = 0; i < COUNT(all); i++) {
		const char *const texts[] = { all[i].text, NULL };
		struct net_rule rules[ROOM];
		const char *domain;

		(void)parsed(texts, rules);
		domain = net_rule_shared(&rules[0]);
		printf("# %s\n", all[i].text);
		if (!all[i].domain)
			CHECK(!domain);
		else
			CHECK(domain && strcmp(domain, all[i].domain) == 0);
	}
}

static void a_list_of_no_proxy_names_hosts_and_all_below_them(void)
{
	static const struct {
		const char *list;
		bool is_in;
	} rows[] = {
		{ "a.example", true },
		{ ".a.example", true },
		{ "*.a.example", true },
		{ "x, .example", true },
		{ "*", true },
		{ "b.a.example", true },
		{ "", false },
		{ ",, ,", false },
		{ ".", false },
		{ "*.", false },
		{ "xa.example", false },
		{ "10.0.0.0/8", false },
		{ "c.b.a.example", false },
		{ "example.a", false },
		{ "a.example:80", false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CHECK(hostname_is_listed("b.a.example", rows[i].list) ==
		      rows[i].is_in);
}

TESTS(T(a_list_of_no_proxy_names_hosts_and_all_below_them), T(forms_are_read),
      T(bad_forms_have_a_cause_and_a_fix), T(lengths_have_limits),
      T(a_rule_that_denies_has_every_port), T(names_are_decided_exactly),
      T(deny_beats_allow_in_any_order),
      T(addresses_are_dialled_by_their_own_rules),
      T(special_addresses_are_refused_unless_said),
      T(metadata_is_opened_by_its_address_alone),
      T(public_addresses_are_not_special),
      T(a_wide_range_opens_no_special_network_in_it),
      T(a_wildcard_over_a_shared_host_is_noticed))
