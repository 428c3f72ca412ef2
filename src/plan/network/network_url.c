/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/network/network_url.h"

#include "base/env.h"
#include "base/error.h"
#include "base/num.h"
#include "base/quote.h"
#include "net/rule.h"
#include "plan/environment/env.h"

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

/* "[LOGIN@]HOST[:PORT][/…]" */
static bool parse_rest(const char *text, uint16_t port, struct network_url *ret)
{
	size_t n = strcspn(text, "/?#");
	const char *at = memrchr(text, '@', n);

	*ret = (struct network_url){ .port = port,
				     .is_http = port == HTTP_PORT };
	if (at) {
		ret->login = text;
		ret->n_login = (size_t)(at - text);
		n -= (size_t)(at + 1 - text);
		text = at + 1;
	}
	return set_place(text, n, ret);
}

bool network_url_parse(const char *text, struct network_url *ret)
{
	if (begins(text, HTTP))
		return parse_rest(text + strlen(HTTP), HTTP_PORT, ret);
	if (begins(text, HTTPS))
		return parse_rest(text + strlen(HTTPS), NET_PORT_USUAL, ret);
	return false;
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
		if (network_url_parse(one, ret)) {
			ret->login = NULL; /* it lies in the copy */
			return at + n;
		}
		at += strlen("http");
	}
	return NULL;
}

int network_proxy_parse(const char *text, struct network_url *ret,
			struct hb_error *err)
{
	bool has_scheme = strstr(text, "://") != NULL;
	bool is_proxy = has_scheme
				? network_url_parse(text, ret) && ret->is_http
				: parse_rest(text, HTTP_PORT, ret);

	if (is_proxy)
		return 0;
	hb_fix(err, "write http://HOST:PORT, or none");
	/* A login may be in it. */
	return strchr(text, '@')
		       ? hb_fail(err, -HB_E_USAGE, "the value is no HTTP proxy")
		       : hb_fail(err, -HB_E_USAGE, "'%s' is no HTTP proxy",
				 quoted(text));
}

static int hex_value(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c | 0x20) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* A byte, or less than 0; `*at` is behind it then. */
static int next_byte(const char **at, const char *end)
{
	int high, low;

	if (**at != '%')
		return (unsigned char)*(*at)++;
	if (end - *at < 3)
		return -1;
	high = hex_value((*at)[1]);
	low = hex_value((*at)[2]);
	*at += 3;
	return high < 0 || low < 0 ? -1 : high << 4 | low;
}

static void put_base64(const unsigned char *in, size_t n, char *out)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/=";

	for (size_t i = 0; i < n; i += 3) {
		unsigned bits = (unsigned)in[i] << 16;

		bits |= i + 1 < n ? (unsigned)in[i + 1] << 8 : 0;
		bits |= i + 2 < n ? in[i + 2] : 0;
		*out++ = digits[bits >> 18];
		*out++ = digits[bits >> 12 & 63];
		*out++ = digits[i + 1 < n ? bits >> 6 & 63 : 64];
		*out++ = digits[i + 2 < n ? bits & 63 : 64];
	}
	*out = '\0';
}

bool network_login(const struct network_url *url, char out[NET_LOGIN_MAX])
{
	unsigned char bytes[NET_LOGIN_MAX / 4 * 3 - 3];
	const char *at = url->login, *end;
	size_t n = 0;

	if (!at || !memchr(at, ':', url->n_login))
		return false;
	end = at + url->n_login;
	while (at < end) {
		int byte = next_byte(&at, end);

		if (byte < ' ' || byte == 0x7f || n == sizeof(bytes))
			return false;
		bytes[n++] = (unsigned char)byte;
	}
	put_base64(bytes, n, out);
	return true;
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

const char *network_no_proxy(char *const *envp)
{
	const char *list = env_get(envp, "NO_PROXY");

	return list && list[0] ? list : env_get(envp, "no_proxy");
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
