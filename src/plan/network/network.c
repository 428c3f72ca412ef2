/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/network/network.h"

#include "base/error.h"
#include "base/quote.h"
#include "net/host_group.h"
#include "plan/environment/env.h"
#include "plan/network/network_url.h"
#include "plan/network/network_value.h"
#include "plan/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 *	(a) A value that passed network_check() is a rule, or fails here: none
 *	    is left out in silence, but for those that `strict` leaves out.
 *	(b) A rule that denies is never left out.
 *
 * tests/unit/t_network.c holds both.
 */

/* Profiles whose list a real session has proved. */
static const char *const verified[] = { NULL };

static bool is_verified(const char *profile)
{
	for (size_t i = 0; verified[i]; i++)
		if (strcmp(verified[i], profile) == 0)
			return true;
	return false;
}

static void say(struct network *n, const char *name, const char *words,
		const char *what)
{
	if (n->n_said < NETWORK_SAID_MAX)
		(void)snprintf(n->said[n->n_said++], NETWORK_TEXT, "%s %s%s",
			       quoted(name), words, what);
}

static int add_rule(struct network *n, const char *text, bool is_deny,
		    const struct setting_item *item, const char *group,
		    struct hb_error *err)
{
	int r;

	if (n->access.n_rules >= NET_RULES_MAX)
		return hb_fail(err, -HB_E_CONFIG, "more than %d rules",
			       NET_RULES_MAX);
	if (!n->rules) {
		n->rules = calloc(NET_RULES_MAX, sizeof(*n->rules));
		n->origins = calloc(NET_RULES_MAX, sizeof(*n->origins));
	}
	if (!n->rules || !n->origins)
		return hb_fail(err, -ENOMEM, "cannot keep the rules");
	r = net_rule_parse(text, is_deny, &n->rules[n->access.n_rules], err);
	if (r < 0)
		return r;
	n->origins[n->access.n_rules++] =
		(struct network_origin){ item, group };
	n->n_allowed += !is_deny;
	return 0;
}

/* What one item adds. */
struct adding {
	struct network *network;
	const struct setting_item *item;
	bool is_strict; /* groups where strangers can post are left out */
	struct hb_error *err;
};

/* Of type net_group_fn. */
static int add_row(void *ctx, const struct net_group_row *row)
{
	const struct adding *a = ctx;

	if (a->is_strict && net_group_is_open(row->group))
		return 0;
	return add_rule(a->network, row->rule, a->item->key == KEY_DENY,
			a->item, row->group, a->err);
}

static bool is_open(const char *text)
{
	struct net_rule rule;

	return net_rule_parse(text, false, &rule, NULL) >= 0 &&
	       rule.kind == NET_RULE_NAME && net_group_open_row(&rule);
}

static int add_item(struct adding *a)
{
	const char *value = a->item->value;

	if (value[0] == NET_GROUP_SIGIL)
		return net_group_each(value + 1, add_row, a);
	if (a->is_strict && is_open(value))
		return 0;
	return add_rule(a->network, value, a->item->key == KEY_DENY, a->item,
			NULL, a->err);
}

static int add_port(struct network *n, const char *value, bool is_login,
		    struct hb_error *err)
{
	struct net_port *port = &n->ports[n->access.n_ports];

	if (n->access.n_ports >= NET_PORTS_MAX)
		return hb_fail(err, -HB_E_CONFIG, "more than %d ports",
			       NET_PORTS_MAX);
	n->access.n_ports++;
	return is_login ? network_login_parse(value, port, err)
			: network_ports_parse(value, port, err);
}

/* Whether the word before the colon is the first of the command's own. */
static bool is_first_word(const char *value, char *const *argv)
{
	size_t n = strcspn(value, ":");

	return argv && argv[0] && argv[1] && strlen(argv[1]) == n &&
	       memcmp(argv[1], value, n) == 0;
}

static int add_host_port(struct network *n, uint16_t port, struct hb_error *err)
{
	for (size_t i = 0; i < n->access.n_host_ports; i++)
		if (n->host_ports[i] == port)
			return 0;
	if (n->access.n_host_ports >= NET_PORTS_MAX)
		return hb_fail(err, -HB_E_CONFIG, "more than %d ports",
			       NET_PORTS_MAX);
	n->host_ports[n->access.n_host_ports++] = port;
	return 0;
}

/* A host of a URL, unless a rule knows it already. */
static int add_url(struct adding *a, const char *name,
		   const struct network_url *url)
{
	struct network *n = a->network;
	char text[NET_RULE_MAX + 1];

	if (url->is_loopback) {
		(void)snprintf(text, sizeof(text), "%u", url->port);
		say(n, name, "leads to this host: --host-port ", text);
		return add_host_port(n, url->port, a->err);
	}
	if (!url->is_address && net_rules_decide(n->rules, n->access.n_rules,
						 url->host, NULL, url->port))
		return 0;
	(void)snprintf(text, sizeof(text),
		       strchr(url->host, ':') ? "[%s]:%u%s" : "%s:%u%s",
		       url->host, url->port, url->is_address ? "" : "=private");
	say(n, name, "adds ", text);
	return add_rule(n, text, false, a->item, NULL, a->err);
}

/* Of type network_variable_fn. */
static int add_variable(void *ctx, const char *name, const char *value)
{
	struct adding *a = ctx;
	struct network_url url;
	char text[NET_RULE_MAX + 1];

	if (network_is_url_variable(a->item->value)) {
		if (network_url_parse(value, &url))
			return add_url(a, name, &url);
		say(a->network, name, "is no URL, and adds no host", "");
		return 0;
	}
	if (network_fill(a->item->value, value, text, sizeof(text)))
		return add_rule(a->network, text, false, a->item, NULL, a->err);
	say(a->network, name, "is no part of a name, and adds no host", "");
	return 0;
}

static int add_items(const struct settings *s, const struct plan *plan,
		     char *const *envp, bool has_variables, struct network *n,
		     struct hb_error *err)
{
	enum setting_source said = s->origins[KEY_NET].source;
	bool is_strict = settings_net(s) == NET_STRICT;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < s->n_items; i++) {
		const struct setting_item *item = &s->items[i];
		struct adding a = { n, item, false, err };

		if (item->key != KEY_ALLOW && item->key != KEY_DENY)
			continue;
		if (network_has_variable(item->value) != has_variables)
			continue;
		a.is_strict = is_strict && item->key == KEY_ALLOW &&
			      item->origin.source < said;
		r = has_variables
			    ? network_each_variable(item->value, plan, envp,
						    add_variable, &a)
			    : add_item(&a);
		if (item->key == KEY_ALLOW &&
		    item->origin.source == SETTING_BUILT_IN &&
		    !is_verified(item->origin.file))
			n->is_unverified = true;
	}
	return r;
}

static int add_all_ports(const struct settings *s, char *const *argv,
			 struct network *n, struct hb_error *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < s->n_items; i++) {
		const struct setting_item *item = &s->items[i];
		uint16_t port;

		if (item->key == KEY_PORT || (item->key == KEY_LOGIN_PORT &&
					      is_first_word(item->value, argv)))
			r = add_port(n, item->value,
				     item->key == KEY_LOGIN_PORT, err);
		if (item->key != KEY_HOST_PORT)
			continue;
		r = network_port_parse(item->value, &port, err);
		if (r >= 0)
			r = add_host_port(n, port, err);
	}
	return r;
}

/* A login is the environment's: settings are shown and recorded. */
static bool is_same_place(const struct network_url *a,
			  const struct network_url *b)
{
	return a->port == b->port && strcmp(a->host, b->host) == 0;
}

/* The proxy of the host, if nothing else is said. */
static int add_proxy(const struct settings *s, char *const *envp,
		     struct network *n, struct hb_error *err)
{
	struct network_url url, host = { .port = 0 };
	const char *name = NULL, *value = network_host_proxy(envp, &name);
	bool has_host = value && network_proxy_parse(value, &host, NULL) >= 0;
	int r;

	if (s->net_proxy && strcmp(s->net_proxy, NETWORK_NO_PROXY) == 0)
		return 0;
	if (s->net_proxy) {
		r = network_proxy_parse(s->net_proxy, &url, err);
		if (r < 0)
			return r;
		name = "net-proxy";
	} else if (has_host) {
		url = host;
	} else {
		if (value)
			say(n, name, "is no proxy that can be used, and is not",
			    "");
		return 0;
	}
	memcpy(n->proxy_host, url.host, sizeof(n->proxy_host));
	n->access.proxy_host = n->proxy_host;
	n->access.proxy_port = url.port;
	if (!s->net_proxy)
		n->access.no_proxy = network_no_proxy(envp);
	if (has_host && is_same_place(&url, &host) &&
	    network_login(&host, n->proxy_login))
		n->access.proxy_login = n->proxy_login;
	say(n, name,
	    n->access.proxy_login
		    ? "leads to a proxy, with a login; the proxy looks names "
		      "up: no address is checked"
		    : "leads to a proxy, which looks names up: no address is "
		      "checked",
	    "");
	return 0;
}

/* A group once, or the host itself. */
static void add_upload(struct network *n, const char *sigil, const char *name)
{
	size_t used = strlen(n->uploads), len = strlen(name);
	char word[NET_RULE_MAX + 4];
	const char *found;

	(void)snprintf(word, sizeof(word), "%s%s", sigil, name);
	found = strstr(n->uploads, word);
	while (found && (found[strlen(word)] != ' ' && found[strlen(word)]))
		found = strstr(found + 1, word);
	if (found || used + len + 4 > sizeof(n->uploads))
		return;
	(void)snprintf(n->uploads + used, sizeof(n->uploads) - used, "%s%s",
		       used ? " " : "", word);
}

static void find_uploads(struct network *n)
{
	for (size_t i = 0; i < n->access.n_rules; i++) {
		const struct net_rule *rule = &n->rules[i];
		const char *group = n->origins[i].group;

		if (rule->is_deny || rule->kind != NET_RULE_NAME)
			continue;
		if (group && net_group_is_open(group))
			add_upload(n, "@", group);
		else if (!group && net_group_open_row(rule))
			add_upload(n, "", rule->host);
	}
}

static void find_shared(struct network *n)
{
	for (size_t i = 0; i < n->access.n_rules; i++) {
		const char *domain = net_rule_shared(&n->rules[i]);

		if (domain)
			say(n, n->rules[i].text,
			    "allows strangers: anybody can have a name below ",
			    domain);
	}
}

static bool has_wide_rule(const struct network *n)
{
	for (size_t i = 0; i < n->access.n_rules; i++)
		if (!n->rules[i].is_deny && n->rules[i].low < n->rules[i].high)
			return true;
	return false;
}

/*
 * A URL of localhost in a word or a variable: inside, that is the command
 * itself, and a program of this host may be meant.
 */
static void find_loopbacks(struct network *n, const char *text)
{
	struct network_url url;

	while (n->n_said < NETWORK_SAID_MAX &&
	       (text = network_url_find(text, &url)) != NULL) {
		char place[HOSTNAME_SIZE + 16], option[32];
		bool is_known = !url.is_loopback;

		for (size_t i = 0; i < n->access.n_host_ports; i++)
			is_known |= n->host_ports[i] == url.port;
		for (size_t i = 0; i < n->n_hinted; i++)
			is_known |= n->hinted[i] == url.port;
		if (is_known || n->n_hinted == NETWORK_HINTS_MAX)
			continue;
		n->hinted[n->n_hinted++] = url.port;
		(void)snprintf(place, sizeof(place),
			       strchr(url.host, ':') ? "[%s]:%u" : "%s:%u",
			       url.host, url.port);
		(void)snprintf(option, sizeof(option), "--host-port %u",
			       url.port);
		say(n, place,
		    "is the command's own; to reach this host's: ", option);
	}
}

static void find_hints(const struct network_call *call, const struct plan *plan,
		       struct network *n)
{
	for (size_t i = 1; call->argv && call->argv[0] && call->argv[i]; i++)
		find_loopbacks(n, call->argv[i]);
	for (size_t i = 0; call->envp[i]; i++)
		if (strchr(call->envp[i], '=') &&
		    plan_passes(plan, call->envp[i]))
			find_loopbacks(n, strchr(call->envp[i], '='));
}

int network_build(const struct settings *s, const struct plan *plan,
		  const struct network_call *call, struct network *network,
		  struct hb_error *err)
{
	int r;

	r = add_items(s, plan, call->envp, false, network, err);
	/* Behind the others, which may know its host already. */
	if (r >= 0)
		r = add_items(s, plan, call->envp, true, network, err);
	if (r >= 0)
		r = add_all_ports(s, call->argv, network, err);
	if (r >= 0)
		r = add_proxy(s, call->envp, network, err);
	if (r < 0)
		return r;
	find_hints(call, plan, network);
	find_uploads(network);
	find_shared(network);
	network->access.rules = network->rules;
	network->access.ports = network->ports;
	network->access.host_ports = network->host_ports;
	network->access.is_asking = s->net_asks;
	network->access.is_loose = s->net_is_loose;
	network->access.needs_all_ports =
		s->is_required && has_wide_rule(network);
	return 0;
}

void network_done(struct network *network)
{
	free(network->rules);
	free(network->origins);
	*network = (struct network){ 0 };
}

const char *network_words(const struct network *n, char *out, size_t size)
{
	size_t used;

	(void)snprintf(out, size, "%zu name%s", n->n_allowed,
		       n->n_allowed == 1 ? "" : "s");
	for (size_t i = 0; i < n->access.n_ports; i++) {
		used = strlen(out);
		/* Whether it is there is known later. */
		if (n->ports[i].may_lack)
			continue;
		(void)snprintf(out + used, size - used,
			       " · port %u is 127.0.0.1:%u here",
			       n->ports[i].inside, n->ports[i].outside);
	}
	for (size_t i = 0; i < n->access.n_host_ports; i++) {
		used = strlen(out);
		(void)snprintf(out + used, size - used,
			       " · this host's port %u", n->host_ports[i]);
	}
	used = strlen(out);
	if (n->access.is_loose)
		(void)snprintf(out + used, size - used,
			       " · names in TLS and HTTP are not compared");
	used = strlen(out);
	if (n->is_unverified)
		(void)snprintf(out + used, size - used, " · list unverified");
	used = strlen(out);
	if (n->uploads[0])
		(void)snprintf(out + used, size - used,
			       " · uploads possible: %s", n->uploads);
	return out;
}
