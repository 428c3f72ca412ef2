/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/network/network_value.h"

#include "base/error.h"
#include "base/num.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "net/host_group.h"
#include "net/rule.h"
#include "plan/network/network_url.h"

#include <string.h>

static int check_group(const char *name, struct hb_error *err)
{
	const struct net_group_row *row;
	struct suggestion s;

	if (net_group_exists(name))
		return 0;
	suggestion_init(&s, name);
	for (size_t i = 0; (row = net_group_row_at(i)) != NULL; i++)
		suggestion_offer(&s, row->group);
	if (s.best)
		hb_fix(err, "did you mean '@%s'?", s.best);
	hb_fix(err, "'holdback net list --groups' lists them");
	return hb_fail(err, -HB_E_USAGE, "there is no group '@%s'",
		       quoted(name));
}

int network_port_parse(const char *text, uint16_t *ret, struct hb_error *err)
{
	int64_t port;

	if (num_int(text, 1, UINT16_MAX, &port) < 0) {
		hb_fix(err, "write a number from 1 to 65535");
		return hb_fail(err, -HB_E_USAGE, "'%s' is no port",
			       quoted(text));
	}
	*ret = (uint16_t)port;
	return 0;
}

/* "[OUTSIDE:]INSIDE" */
int network_ports_parse(const char *text, struct net_port *ret,
			struct hb_error *err)
{
	const char *colon = strchr(text, ':');
	char outside[8];
	int r;

	r = network_port_parse(colon ? colon + 1 : text, &ret->inside, err);
	if (r < 0)
		return r;
	ret->outside = ret->inside;
	if (!colon)
		return 0;
	if ((size_t)(colon - text) >= sizeof(outside))
		return network_port_parse(text, &ret->outside, err);
	memcpy(outside, text, (size_t)(colon - text));
	outside[colon - text] = '\0';
	return network_port_parse(outside, &ret->outside, err);
}

int network_login_parse(const char *text, struct net_port *ret,
			struct hb_error *err)
{
	const char *colon = strchr(text, ':');
	int r;

	if (!colon || colon == text) {
		hb_fix(err, "write WORD:PORT, such as login:1455");
		return hb_fail(err, -HB_E_USAGE, "'%s' names no word and port",
			       quoted(text));
	}
	*ret = (struct net_port){ .may_lack = true };
	r = network_port_parse(colon + 1, &ret->inside, err);
	ret->outside = ret->inside;
	return r;
}

static int check_rule(const char *value, bool is_deny, struct hb_error *err)
{
	struct net_rule rule;
	int r;

	if (!is_deny && network_has_variable(value))
		return network_check_variable(value, err);
	r = net_rule_parse(value, is_deny, &rule, err);
	if (r >= 0 && rule.kind == NET_RULE_GROUP)
		r = check_group(rule.host, err);
	return r;
}

/* Settings are shown and recorded, and so no place for a password. */
static int check_proxy(const char *value, struct hb_error *err)
{
	struct network_url url;
	int r = network_proxy_parse(value, &url, err);

	if (r < 0 || !url.login)
		return r;
	hb_fix(err, "write the proxy without its login, and set HTTPS_PROXY "
		    "with it");
	return hb_fail(err, -HB_E_USAGE,
		       "a login of a proxy would be recorded");
}

int network_check(enum setting_key key, const char *value, struct hb_error *err)
{
	struct net_port ports;

	if (key == KEY_ALLOW || key == KEY_DENY)
		return check_rule(value, key == KEY_DENY, err);
	if (key == KEY_PORT)
		return network_ports_parse(value, &ports, err);
	if (key == KEY_LOGIN_PORT)
		return network_login_parse(value, &ports, err);
	if (key == KEY_HOST_PORT)
		return network_port_parse(value, &ports.inside, err);
	if (key == KEY_NET_PROXY && strcmp(value, NETWORK_NO_PROXY) != 0)
		return check_proxy(value, err);
	return 0;
}
