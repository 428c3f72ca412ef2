/* SPDX-License-Identifier: Apache-2.0 */
#include "net/rule.h"

#include "base/error.h"
#include "base/num.h"
#include "base/quote.h"

#include <string.h>

/*
 *	(a) Text that is not understood is an error, never a weaker rule.
 *	(b) A rule that denies beats every rule that allows, in any order.
 *	(c) No rule leads to loopback, and none opens a special network that it
 *	    does not name.
 *
 * tests/unit/t_rule.c holds these, tests/fuzz/fuzz_rule.c the first.
 */

#define LOCAL "localhost"

/* Domains below which strangers get names. */
static const char *const shared[] = {
	"amazonaws.com",
	"appspot.com",
	"azureedge.net",
	"azurefd.net",
	"azurewebsites.net",
	"blob.core.windows.net",
	"cloudfront.net",
	"cloudfunctions.net",
	"codeberg.page",
	"deno.dev",
	"fastly.net",
	"firebaseapp.com",
	"fly.dev",
	"github.io",
	"githubusercontent.com",
	"gitlab.io",
	"glitch.me",
	"googleapis.com",
	"googleusercontent.com",
	"herokuapp.com",
	"hf.space",
	"netlify.app",
	"ngrok-free.app",
	"ngrok.app",
	"ngrok.io",
	"onrender.com",
	"pages.dev",
	"r2.dev",
	"railway.app",
	"repl.co",
	"replit.app",
	"run.app",
	"s3.amazonaws.com",
	"surge.sh",
	"trycloudflare.com",
	"vercel.app",
	"web.app",
	"workers.dev",
};

static int fail_form(const char *text, struct hb_error *err)
{
	hb_fix(err, "write HOST, *.HOST, HOST:PORT, ADDRESS or @GROUP");
	return hb_fail(err, -HB_E_USAGE, "'%s' is no name of a host",
		       quoted(text));
}

static int parse_ports(const char *text, struct net_rule *rule,
		       struct hb_error *err)
{
	int64_t port;

	if (strcmp(text, "*") == 0) {
		rule->low = 1;
		rule->high = UINT16_MAX;
		return 0;
	}
	if (num_int(text, 1, UINT16_MAX, &port) < 0) {
		hb_fix(err, "write a number from 1 to 65535, or * for each");
		return hb_fail(err, -HB_E_USAGE, "'%s' is no port",
			       quoted(text));
	}
	rule->low = rule->high = (uint16_t)port;
	return 0;
}

/* What stands behind '='. */
static int parse_reach(const char *text, struct net_rule *rule,
		       struct hb_error *err)
{
	if (strcmp(text, "private") == 0) {
		rule->reach = REACH_PRIVATE;
		return 0;
	}
	if (net_range_parse(text, strlen(text), &rule->range)) {
		rule->has_range = true;
		return 0;
	}
	hb_fix(err, "write =private, or =ADDRESS[/BITS]");
	return hb_fail(err, -HB_E_USAGE, "'%s' is no address", quoted(text));
}

static int parse_group(const char *name, struct net_rule *rule,
		       struct hb_error *err)
{
	size_t n = strlen(name);

	rule->kind = NET_RULE_GROUP;
	if (n == 0 || n > NET_GROUP_MAX ||
	    strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != n) {
		hb_fix(err, "write the group alone, such as @github");
		return hb_fail(err, -HB_E_USAGE, "'%s' is no name of a group",
			       quoted(name));
	}
	memcpy(rule->host, name, n + 1);
	return 0;
}

/* Loopback of the host is reached by a port that is named, never by a rule. */
static int check_loopback(const struct net_rule *rule, const char *text,
			  struct hb_error *err)
{
	const char *words = net_address_special(&rule->range.address,
						REACH_PRIVATE, &rule->range);

	if (!words || rule->is_deny)
		return 0;
	hb_fix(err, "for a port of this host: --host-port PORT");
	return hb_fail(err, -HB_E_USAGE, "'%s' is %s, which no rule opens",
		       quoted(text), words);
}

static int parse_name(const char *host, struct net_rule *rule,
		      struct hb_error *err)
{
	const char *name = host;

	if (name[0] == '*' && name[1] == '.') {
		rule->is_below = true;
		name += 2;
	}
	for (const char *c = name; *c; c++)
		if ((unsigned char)*c >= 0x80) {
			hb_fix(err, "write the name in ASCII, as xn--…");
			return hb_fail(err, -HB_E_USAGE,
				       "'%s' has letters beyond ASCII",
				       quoted(host));
		}
	if (strstr(host, "://")) {
		hb_fix(err,
		       "write the host alone, with :PORT if it is not 443");
		return hb_fail(err, -HB_E_USAGE, "'%s' is an address of a page",
			       quoted(host));
	}
	/* An option that is not read as such is no host. */
	if (name[0] == '-' ||
	    !hostname_normalize(name, strlen(name), rule->host))
		return fail_form(host, err);
	if (strcmp(rule->host, LOCAL) == 0 ||
	    hostname_is_below(rule->host, LOCAL)) {
		hb_fix(err, "for a port of this host: --host-port PORT");
		return hb_fail(err, -HB_E_USAGE,
			       "'%s' is the box itself, which no rule opens",
			       quoted(host));
	}
	if (rule->is_below && !strchr(rule->host, '.')) {
		hb_fix(err, "write at least two labels behind '*.'");
		return hb_fail(err, -HB_E_USAGE,
			       "'%s' is every name of a top domain",
			       quoted(host));
	}
	return 0;
}

/*
 * Cuts "HOST:PORT" and "[ADDRESS]:PORT" in place.  A text with more than one
 * colon and no brackets is an IPv6 address as a whole.
 */
static int cut(char *text, char **ret_host, char **ret_port,
	       struct hb_error *err)
{
	char *end;

	*ret_host = text;
	*ret_port = NULL;
	if (strstr(text, "://"))
		return 0;
	if (text[0] != '[') {
		end = strchr(text, ':');
		if (!end || strchr(end + 1, ':'))
			return 0;
		*end = '\0';
		*ret_port = end + 1;
		return 0;
	}
	end = strchr(text, ']');
	if (!end || (end[1] && end[1] != ':')) {
		hb_fix(err, "write [ADDRESS]:PORT");
		return hb_fail(err, -HB_E_USAGE, "'%s' has no ']' at its end",
			       quoted(text));
	}
	*ret_host = text + 1;
	*ret_port = end[1] ? end + 2 : NULL;
	*end = '\0';
	return 0;
}

/* The part before '='; what stands behind it is in the rule. */
static int parse_subject(char *text, struct net_rule *rule, bool has_reach,
			 struct hb_error *err)
{
	struct net_range range;
	char *host, *port;
	int r;

	r = cut(text, &host, &port, err);
	if (r >= 0 && port)
		r = parse_ports(port, rule, err);
	if (r < 0)
		return r;
	if (!net_range_parse(host, strlen(host), &range)) {
		if (text[0] == '[')
			return fail_form(host, err);
		rule->kind = NET_RULE_NAME;
		r = parse_name(host, rule, err);
		if (r >= 0 && rule->has_range)
			r = check_loopback(rule, rule->text, err);
		return r;
	}
	if (has_reach) {
		hb_fix(err, "write the address alone");
		return hb_fail(err, -HB_E_USAGE,
			       "'%s' is an address, which leads to itself",
			       quoted(host));
	}
	rule->kind = NET_RULE_ADDRESS;
	rule->has_range = true;
	rule->range = range;
	return check_loopback(rule, host, err);
}

int net_rule_parse(const char *text, bool is_deny, struct net_rule *ret,
		   struct hb_error *err)
{
	char copy[NET_RULE_MAX + 1], *reach;
	size_t n = strlen(text);
	int r;

	*ret = (struct net_rule){
		.is_deny = is_deny,
		.low = is_deny ? 1 : NET_PORT_USUAL,
		.high = is_deny ? UINT16_MAX : NET_PORT_USUAL,
	};
	if (n > NET_RULE_MAX)
		return hb_fail(err, -HB_E_USAGE,
			       "a rule of %zu bytes is too long", n);
	memcpy(ret->text, text, n + 1);
	if (text[0] == NET_GROUP_SIGIL)
		return parse_group(text + 1, ret, err);
	memcpy(copy, text, n + 1);
	reach = strchr(copy, '=');
	if (reach) {
		*reach++ = '\0';
		if (is_deny) {
			hb_fix(err, "write the host alone");
			return hb_fail(err, -HB_E_USAGE,
				       "a rule that denies has no '='");
		}
		r = parse_reach(reach, ret, err);
		if (r < 0)
			return r;
	}
	return parse_subject(copy, ret, reach != NULL, err);
}

static bool is_about(const struct net_rule *rule, const char *host)
{
	if (rule->kind != NET_RULE_NAME)
		return false;
	return rule->is_below ? hostname_is_below(host, rule->host)
			      : strcmp(host, rule->host) == 0;
}

const struct net_rule *net_rules_decide(const struct net_rule *rules, size_t n,
					const char *host,
					const struct in6_addr *address,
					uint16_t port)
{
	const struct net_rule *found = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct net_rule *rule = &rules[i];

		if (port < rule->low || port > rule->high)
			continue;
		if (host ? !is_about(rule, host)
			 : rule->kind != NET_RULE_ADDRESS ||
				    !net_range_has(&rule->range, address))
			continue;
		if (rule->is_deny)
			return rule;
		if (!found)
			found = rule;
	}
	return found;
}

bool net_rules_know(const struct net_rule *rules, size_t n, const char *host)
{
	for (size_t i = 0; i < n; i++)
		if (!rules[i].is_deny && is_about(&rules[i], host))
			return true;
	return false;
}

const char *net_rule_refuses(const struct net_rule *rule,
			     const struct in6_addr *address)
{
	if (rule->has_range && !net_range_has(&rule->range, address))
		return "not the address of the rule";
	return net_address_special(address, rule->reach,
				   rule->has_range ? &rule->range : NULL);
}

const char *net_rule_shared(const struct net_rule *rule)
{
	if (rule->kind != NET_RULE_NAME || !rule->is_below || rule->is_deny)
		return NULL;
	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
		if (strcmp(rule->host, shared[i]) == 0 ||
		    hostname_is_below(shared[i], rule->host))
			return shared[i];
	return NULL;
}
