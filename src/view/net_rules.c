/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/quote.h"
#include "holdback/net.h"
#include "net/host_group.h"
#include "net/rule.h"
#include "plan/network/network.h"
#include "plan/settings.h"
#include "plan/view.h"
#include "sys/file.h"
#include "view/prepare.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/*
 * Reads the answers off the rules that a box would be given, so that they
 * cannot say anything else than what would happen.
 */

#define WORDS_SIZE (QUOTE_SHOWN + 32)

static void say_origin(const struct setting_item *item, char words[WORDS_SIZE],
		       struct hb_config_value *ret)
{
	if (!item)
		return;
	*ret = (struct hb_config_value){
		.key = setting_name(item->key),
		.value = item->value,
		.source = setting_source_name(item->origin.source),
		.file = item->origin.file,
		.line = item->origin.line,
		.words = setting_origin_words(&item->origin, item->key, words,
					      WORDS_SIZE),
	};
}

void hb_net_groups(hb_net_rule_fn tell, void *context)
{
	const struct net_group_row *row;

	for (size_t i = 0; (row = net_group_row_at(i)) != NULL; i++) {
		const struct hb_net_rule rule = { .text = row->rule,
						  .group = row->group,
						  .is_open = row->is_open };

		tell(context, &rule);
	}
}

/* Up to the network; nothing of the host is changed. */
static int plan_rules(struct run *run, const struct hb_run_options *options,
		      struct hb_error *err)
{
	int r = run_configure(run, options, NULL, err);

	if (r < 0)
		return r;
	run->may_lack_command = true;
	if (run->options->argv)
		(void)run_find_command(run, NULL);
	r = run_look(run, NULL, err);
	if (r >= 0)
		r = view_build(&run->request, &run->host, &run->plan, err);
	return r < 0 ? r : run_plan_network(run, err);
}

static void tell_rules(const struct network *n, hb_net_rule_fn tell,
		       void *context)
{
	for (size_t i = 0; i < n->access.n_rules; i++) {
		const struct network_origin *from = &n->origins[i];
		struct hb_net_rule rule = {
			.text = n->rules[i].text,
			.is_deny = n->rules[i].is_deny,
			.group = from->group,
			.is_open = !n->rules[i].is_deny &&
				   n->rules[i].kind == NET_RULE_NAME &&
				   net_group_open_row(&n->rules[i]),
		};
		char words[WORDS_SIZE];

		say_origin(from->item, words, &rule.by);
		tell(context, &rule);
	}
}

int hb_net_rules(const struct hb_run_options *options, hb_net_rule_fn tell,
		 void *context, const char **ret_net, struct hb_error *err)
{
	struct run run = { 0 };
	int r = plan_rules(&run, options, err);

	if (r >= 0) {
		*ret_net = key_nets[settings_net(&run.settings)];
		tell_rules(&run.network, tell, context);
	}
	run_done(&run);
	return r;
}

/* The rule that the words would be, which has the name and the port. */
static int parse_host(const char *text, struct net_rule *ret,
		      struct hb_error *err)
{
	int r = net_rule_parse(text, false, ret, err);

	if (r < 0)
		return r;
	if (ret->kind == NET_RULE_GROUP || ret->is_below ||
	    ret->low != ret->high || ret->reach != REACH_PUBLIC ||
	    (ret->kind == NET_RULE_ADDRESS
		     ? ret->range.bits != sizeof(ret->range.address) * 8
		     : ret->has_range)) {
		hb_fix(err, "write HOST or HOST:PORT");
		return hb_fail(err, -HB_E_USAGE, "'%s' is not one host",
			       quoted(text));
	}
	return 0;
}

bool hb_net_is_host(const char *text)
{
	struct net_rule rule;

	if (strchr(text, '/') || text[0] == '.' ||
	    parse_host(text, &rule, NULL) < 0)
		return false;
	if (rule.kind == NET_RULE_NAME && !strchr(text, ':') &&
	    !strchr(rule.host, '.'))
		return false;
	return sys_faccessat(AT_FDCWD, text, F_OK) < 0;
}

enum what {
	WHAT_NONE,
	WHAT_HOST,
	WHAT_ALLOWED,
	WHAT_DENIED,
	WHAT_SPECIAL,
	WHAT_REFUSED,
};

static const struct {
	const char *name, *words;
} whats[] = {
	[WHAT_NONE] = { "none", "there is no network" },
	[WHAT_HOST] = { "host", "the network is the host's: nothing decides" },
	[WHAT_ALLOWED] = { "allowed", "a rule allows it" },
	[WHAT_DENIED] = { "denied", "a rule denies it" },
	[WHAT_SPECIAL] = { "refused", "the rule is too wide for this address" },
	[WHAT_REFUSED] = { "refused", "no rule names it" },
};

static enum what decide(const struct run *run, const struct net_rule *asked,
			const struct net_rule **ret_rule)
{
	const struct net_access *access = &run->network.access;
	enum net_mode mode = settings_net(&run->settings);
	const struct net_rule *rule = NULL;
	bool is_name = asked->kind == NET_RULE_NAME;

	if (mode == NET_NONE || mode == NET_HOST)
		return mode == NET_NONE ? WHAT_NONE : WHAT_HOST;
	rule = net_rules_decide(access->rules, access->n_rules,
				is_name ? asked->host : NULL,
				&asked->range.address, asked->low);
	*ret_rule = rule;
	if (!rule)
		return WHAT_REFUSED;
	if (rule->is_deny)
		return WHAT_DENIED;
	return !is_name && net_rule_refuses(rule, &asked->range.address)
		       ? WHAT_SPECIAL
		       : WHAT_ALLOWED;
}

static void answer(const struct run *run, const char *text,
		   const struct net_rule *asked,
		   void (*tell)(void *context, const struct hb_net_why *why),
		   void *context)
{
	const struct settings *s = &run->settings;
	const struct setting_item net = { KEY_NET, s->net,
					  s->origins[KEY_NET] };
	const struct setting_item *item = &net;
	const struct net_rule *rule = NULL;
	enum what what = decide(run, asked, &rule);
	struct hb_net_why why = {
		.host = asked->kind == NET_RULE_NAME ? asked->host : text,
		.port = asked->low,
		.what = whats[what].name,
		.words = whats[what].words,
	};
	char words[WORDS_SIZE];

	if (rule) {
		size_t i = (size_t)(rule - run->network.access.rules);

		why.rule = rule->text;
		why.group = run->network.origins[i].group;
		item = run->network.origins[i].item;
	}
	if (what != WHAT_REFUSED)
		say_origin(item, words, &why.by);
	tell(context, &why);
}

int hb_net_why(const struct hb_run_options *options, const char *host,
	       void (*tell)(void *context, const struct hb_net_why *why),
	       void *context, struct hb_error *err)
{
	struct net_rule asked;
	struct run run = { 0 };
	int r = parse_host(host, &asked, err);

	if (r >= 0)
		r = plan_rules(&run, options, err);
	if (r >= 0)
		answer(&run, host, &asked, tell, context);
	run_done(&run);
	return r;
}
