/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_PLAN_NETWORK_H
#define HB_PLAN_NETWORK_H

#include "net/access.h"
#include "net/rule.h"
#include "plan/settings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hb_error;
struct plan;

/*
 * The network by name that settings ask for: rules with groups expanded, ports,
 * and the sentences about it at the start.  Pure.
 *
 * A value of `allow` is a rule (net/rule.h).  "$NAME" is a variable with a URL,
 * whose host is allowed.  If that is this host, its port is opened instead.  In
 * "a.$NAME.b" the variable is one label; a region called "global" has no label,
 * nor the dash behind it.  A variable that does not pass to the command adds
 * nothing.
 */
#define NETWORK_SAID_MAX 8
#define NETWORK_TEXT	 512
/* Ports of this host that are pointed out. */
#define NETWORK_HINTS_MAX 3

/* Where a rule came from; the item is borrowed from the settings. */
struct network_origin {
	const struct setting_item *item;
	const char *group; /* without its sigil; or NULL */
};

struct network {
	struct net_rule *rules;
	struct network_origin *origins; /* one for each rule of `access` */
	size_t n_allowed;		/* of the rules */
	struct net_port ports[NET_PORTS_MAX];
	uint16_t host_ports[NET_PORTS_MAX];
	char proxy_host[HOSTNAME_SIZE];
	char proxy_login[NET_LOGIN_MAX];
	struct net_access access; /* all of it, for the box */
	bool is_unverified; /* a profile's list that no session has proved */
	char uploads[NETWORK_TEXT]; /* "@github @npm": strangers can post */
	uint16_t hinted[NETWORK_HINTS_MAX];
	size_t n_hinted;
	char said[NETWORK_SAID_MAX][NETWORK_TEXT];
	size_t n_said;
};

/* What a run brings along; both end with NULL, and `argv` may be NULL. */
struct network_call {
	char *const *envp;
	char *const *argv; /* of the command */
};

/*
 * Fills `network`, which is zero, from settings that are a network by name.
 * `plan` says which variables pass.  network_done() frees it, also after a
 * failure.
 */
int network_build(const struct settings *s, const struct plan *plan,
		  const struct network_call *call, struct network *network,
		  struct hb_error *err);
void network_done(struct network *network);

/*
 * "net: 14 names" and what else is to be said of it before the command, without
 * the ways that the box found.  Returns `out`.
 */
const char *network_words(const struct network *network, char *out,
			  size_t size);

#endif
