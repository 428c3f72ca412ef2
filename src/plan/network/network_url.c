/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/network/network_url.h"

#include "base/env.h"
#include "base/error.h"
#include "base/num.h"
#include "base/quote.h"
#include "net/rule.h"
#include "plan/env.h"

#include <stdio.h>
#include <string.h>

#define HTTP	  "http://"
#define HTTPS	  "https://"
#define HTTP_PORT 80
#define PORT_SIZE 8
/* Around a URL in a sentence, or in JSON. */
#define URL_ENDS    " \t\r\n\"'`<>(){},;\\"
#define NAME_CHARS  "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"
#define LABEL_CHARS "abcdefghijklmnopqrstuvwxyz-0123456789"

/* The user's shell, unlike curl, has no opinion about letter case. */
static const char *const proxies[] = { "HTTPS_PROXY", "https_proxy",
				       "ALL_PROXY", "all_proxy" };

static bool begins(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool is_loopback(const struct net_range *address)
{
	static const char *const ranges[] = { "127.0.0.0/8", "::1", "0.0.0.0" };
	struct net_range range;

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (net_range_parse(ranges[i], strlen(ranges[i]), &range) &&
		    net_range_has(&range, &address->address))
			return true;
	return false;
}

static bool set_host(const char *host, size_t n, struct network_url *url)
{
	struct net_range address;

	if (n >= sizeof(url->host))
		return false;
	if (!memchr(host, '/', n) && net_range_parse(host, n, &address)) {
		memcpy(url->host, host, n);
		url->host[n] = '\0';
		url->is_address = true;
		url->is_loopback = is_loopback(&address);
		return true;
	}
	if (!hostname_normalize(host, n, url->host))
		return false;
	url->is_loopback = strcmp(url->host, "localhost") == 0 ||
			   hostname_is_below(url->host, "localhost");
	return true;
}

/* "HOST[:PORT]", "[ADDRESS][:PORT]" */
static bool set_place(const char *from, size_t n, struct network_url *url)
{
	const char *end = from + n, *host = from, *after;
	char port[PORT_SIZE];
	int64_t number;
	bool is_set;

	if (n > 0 && from[0] == '[') {
		after = memchr(from, ']', n);
		if (!after)
			return false;
		is_set = set_host(host + 1, (size_t)(after - host - 1), url);
		after++;
	} else {
		after = memchr(from, ':', n);
		after = after ? after : end;
		is_set = set_host(host, (size_t)(after - host), url);
	}
	if (!is_set || after == end)
		return is_set;
	n = (size_t)(end - after - 1);
	if (*after != ':' || n >= sizeof(port))
		return false;
	memcpy(port, after + 1, n);
	port[n] = '\0';
	if (num_int(port, 1, UINT16_MAX, &number) < 0)
		return false;
	url->port = (uint16_t)number;
	return true;
}

bool network_url_parse(const char *text, struct network_url *ret)
{
	const char *at;
	size_t n;

	*ret = (struct network_url){ .port = NET_PORT_USUAL };
	if (begins(text, HTTP)) {
		ret->is_http = true;
		ret->port = HTTP_PORT;
		text += strlen(HTTP);
	} else if (begins(text, HTTPS)) {
		text += strlen(HTTPS);
	} else {
		return false;
	}
	n = strcspn(text, "/?#");
	at = memrchr(text, '@', n);
	if (at) {
		ret->has_login = true;
		n -= (size_t)(at + 1 - text);
		text = at + 1;
	}
	return set_place(text, n, ret);
}

const char *network_url_find(const char *text, struct network_url *ret)
{
	const char *at = text;

	while ((at = strstr(at, "http")) != NULL) {
		char one[HOSTNAME_SIZE + 64];
		size_t n = strcspn(at, URL_ENDS);

		/* All that counts stands in front. */
		if (n >= sizeof(one))
			n = sizeof(one) - 1;
		memcpy(one, at, n);
		one[n] = '\0';
		if (network_url_parse(one, ret))
			return at + n;
		at += strlen("http");
	}
	return NULL;
}

int network_proxy_parse(const char *text, struct network_url *ret,
			struct hb_error *err)
{
	char full[NET_RULE_MAX];
	int n = snprintf(full, sizeof(full), "%s%s",
			 strstr(text, "://") ? "" : HTTP, text);

	if (n < 0 || (size_t)n >= sizeof(full) ||
	    !network_url_parse(full, ret) || !ret->is_http) {
		hb_fix(err, "write http://HOST:PORT, or none");
		return hb_fail(err, -HB_E_USAGE, "'%s' is no HTTP proxy",
			       quoted(text));
	}
	if (ret->has_login) {
		hb_fix(err, "write the proxy without a login, or none");
		return hb_fail(err, -HB_E_USAGE,
			       "a proxy that wants a login cannot be used");
	}
	return 0;
}

const char *network_host_proxy(char *const *envp, const char **ret_name)
{
	for (size_t i = 0; i < sizeof(proxies) / sizeof(proxies[0]); i++) {
		const char *value = env_get(envp, proxies[i]);

		*ret_name = proxies[i];
		if (value && value[0])
			return value;
	}
	return NULL;
}

bool network_has_variable(const char *value)
{
	return strchr(value, '$') != NULL;
}

bool network_is_url_variable(const char *value)
{
	return value[0] == '$' && !value[1 + strspn(value + 1, NAME_CHARS)];
}

bool network_fill(const char *value, const char *label, char *out, size_t size)
{
	const char *dollar = strchr(value, '$');
	const char *rest = dollar + 1 + strspn(dollar + 1, NAME_CHARS "*");
	size_t n = strlen(label);
	int len;

	if (n == 0 || n > HOSTNAME_LABEL || strspn(label, LABEL_CHARS) != n)
		return false;
	/* Services of all regions have the name without one. */
	if (*rest == '-' && strcmp(label, "global") == 0) {
		label = "";
		rest++;
	}
	len = snprintf(out, size, "%.*s%s%s", (int)(dollar - value), value,
		       label, rest);
	return len > 0 && (size_t)len < size;
}

int network_check_variable(const char *value, struct hb_error *err)
{
	const char *dollar = strchr(value, '$');
	size_t n = strspn(dollar + 1, NAME_CHARS);
	char text[NET_RULE_MAX + 1];
	struct net_rule rule;

	if (n == 0 || strchr(dollar + 1, '$')) {
		hb_fix(err, "write $NAME once, in capital letters");
		return hb_fail(err, -HB_E_USAGE, "'%s' names no variable",
			       quoted(value));
	}
	if (network_is_url_variable(value))
		return 0;
	if (!network_fill(value, "x", text, sizeof(text)))
		return hb_fail(err, -HB_E_USAGE, "the rule is too long");
	return net_rule_parse(text, false, &rule, err);
}

int network_each_variable(const char *value, const struct plan *plan,
			  char *const *envp, network_variable_fn *fn, void *ctx)
{
	const char *name = strchr(value, '$') + 1;
	size_t n = strspn(name, NAME_CHARS);
	bool is_all = name[n] == '*';
	int r = 0;

	for (; r >= 0 && *envp; envp++) {
		size_t len = strcspn(*envp, "=");
		char copy[64];

		if (!(*envp)[len] || len >= sizeof(copy) || len < n ||
		    (!is_all && len != n) || strncmp(*envp, name, n) != 0 ||
		    !(*envp)[len + 1] || !plan_passes(plan, *envp))
			continue;
		memcpy(copy, *envp, len);
		copy[len] = '\0';
		r = fn(ctx, copy, *envp + len + 1);
	}
	return r;
}
