/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOLDBACK_NET_H
#define HOLDBACK_NET_H

#include "holdback/holdback.h"

#include <stdbool.h>
#include <stddef.h>

/* The network of a command, by the names that it asks for. */

struct hb_store;

/* One rule; all of it is borrowed for the length of the call. */
struct hb_net_rule {
	const char *text;
	bool is_deny;
	const char *group;	   /* that has it, or NULL */
	bool is_open;		   /* strangers can post there */
	bool is_live;		   /* it was added to a box that runs */
	struct hb_config_value by; /* no key: no setting said it */
};

typedef void (*hb_net_rule_fn)(void *context, const struct hb_net_rule *rule);

/* Tells the rules of each group that is built in. */
void hb_net_groups(hb_net_rule_fn tell, void *context);

/*
 * Tells the rules of a run with these options, if its network is by name.
 * `ret_net` is a word of --net.  Runs nothing.
 */
int hb_net_rules(const struct hb_run_options *options, hb_net_rule_fn tell,
		 void *context, const char **ret_net, struct hb_error *err);

/* What a run does with one host. */
struct hb_net_why {
	const char *host; /* a name or an address, normalized */
	unsigned port;
	const char *what;	   /* allowed, denied, refused, none, host */
	const char *words;	   /* the same in words for people */
	const char *rule;	   /* that decided, or NULL */
	const char *group;	   /* that has it, or NULL */
	struct hb_config_value by; /* no key: no setting said it */
};

/*
 * Whether this text is a name or an address, "HOST[:PORT]": neither a path nor
 * a file here.
 */
bool hb_net_is_host(const char *text);

/*
 * Tells once what a run with these options would do with "HOST[:PORT]"; the
 * port is 443 if none is said.  -HB_E_USAGE: the text is no host.
 */
int hb_net_why(const struct hb_run_options *options, const char *host,
	       void (*tell)(void *context, const struct hb_net_why *why),
	       void *context, struct hb_error *err);

/*
 * Adds a rule to the user's settings, for all runs to come: of the profile of
 * this name, or with NULL of every run.  The rule is checked.  1, or 0 if it
 * was there; then and otherwise `ret_file`, of PATH_MAX, is its file.
 */
int hb_net_keep(char *const *envp, const char *profile, bool is_deny,
		const char *rule, char *ret_file, struct hb_error *err);

/* What is asked of the network of a session that runs. */
enum hb_net_order {
	HB_NET_ALLOW,	/* text: a rule or a group, for new connections */
	HB_NET_DENY,	/* likewise */
	HB_NET_PUBLISH, /* text: "[OUTSIDE:]INSIDE" */
	HB_NET_LIST,	/* tells each rule */
};

/*
 * Asks it of the box of a session.  -HB_E_STATE: nothing runs in it, or its
 * network is not by name.  -HB_E_BUSY: it does not answer.
 */
int hb_net_order(struct hb_store *store, const char *ref,
		 enum hb_net_order order, const char *text, hb_net_rule_fn tell,
		 void *context, struct hb_error *err);

/*
 * Waits for questions about hosts that no rule names, until the box ends; its
 * run has `net-ask`.  Each is HB_REPORT_ASKED for the listener of the store:
 * yes lets this host and port pass from then on.  0: the box has ended.
 */
int hb_net_watch(struct hb_store *store, const char *ref, struct hb_error *err);

#endif
