/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_PLAN_NETWORK_URL_H
#define HB_PLAN_NETWORK_URL_H

#include "net/access.h"
#include "net/rule.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hb_error;
struct plan;

/*
 * Hosts in variables: URLs of services and of proxies, and names of regions.
 * Pure.  Variables are the user's own; their text is checked all the same.
 */
struct network_url {
	char host[HOSTNAME_SIZE]; /* a normalized name, or an address */
	uint16_t port;
	bool is_address;
	bool is_loopback;
	bool is_http;	   /* and not https */
	const char *login; /* in the text, up to '@'; NULL: there is none */
	size_t n_login;
};

/* "http[s]://[LOGIN@]HOST[:PORT][/…]" */
bool network_url_parse(const char *text, struct network_url *ret);

/*
 * The first such URL in a text, which may be anything.  Returns the text behind
 * it, or NULL if there is none; a login is left out.
 */
const char *network_url_find(const char *text, struct network_url *ret);

/* The same for a proxy, whose scheme is http or not said. */
int network_proxy_parse(const char *text, struct network_url *ret,
			struct hb_error *err);

/*
 * The login as a proxy wants it: %XX are bytes, and all of it is base64.  False
 * if there is none, it is too long, or has no ':' or a byte that is none of
 * text.
 */
bool network_login(const struct network_url *url, char out[NET_LOGIN_MAX]);

/* The proxy of the host for https, and the variable that says it; or NULL. */
const char *network_host_proxy(char *const *envp, const char **ret_name);

/* The hosts that the host reaches without it; or NULL. */
const char *network_no_proxy(char *const *envp);

/* Whether a value of `allow` has a variable in it. */
bool network_has_variable(const char *value);

/* Whether the variable is a URL: it is the whole value. */
bool network_is_url_variable(const char *value);

/* -HB_E_USAGE if what begins with '$' names no variable. */
int network_check_variable(const char *value, struct hb_error *err);

/*
 * Calls `fn` for each variable of `envp` that the value names and the plan
 * passes on.  "$NAME_*" names all that begin so.  A failure ends it.
 */
typedef int network_variable_fn(void *ctx, const char *name, const char *value);
int network_each_variable(const char *value, const struct plan *plan,
			  char *const *envp, network_variable_fn *fn,
			  void *ctx);

/* Puts one label in place of the variable; false: it is none. */
bool network_fill(const char *value, const char *label, char *out, size_t size);

#endif
