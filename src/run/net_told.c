/* SPDX-License-Identifier: Apache-2.0 */
#include "run/net_told.h"

#include "base/report.h"
#include "plan/network/network.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LINE_SIZE 2048
#define NAMED	  5 /* hosts in the line at the end */

/* How a refusal of this cause is lifted. */
static const struct {
	const char *cause;
	const char *fix;
} fixes[] = {
	{ "no rule allows it", "" },
	{ "it leads to a private address", "=private" },
};

static const char *fix_for(const char *cause)
{
	for (size_t i = 0; i < sizeof(fixes) / sizeof(fixes[0]); i++)
		if (strcmp(cause, fixes[i].cause) == 0)
			return fixes[i].fix;
	return NULL;
}

static void count(struct net_told *news, const struct hb_net *net)
{
	struct net_refused *r;

	if (strcmp(net->verdict, "deny") != 0 || !net->host[0])
		return;
	for (size_t i = 0; i < news->n_refused; i++)
		if (news->refused[i].port == net->port &&
		    strcmp(news->refused[i].host, net->host) == 0) {
			news->refused[i].n++;
			return;
		}
	if (news->n_refused == NET_TOLD_HOSTS) {
		news->n_more++;
		return;
	}
	r = &news->refused[news->n_refused++];
	(void)snprintf(r->host, sizeof(r->host), "%s", net->host);
	r->port = net->port;
	r->n = 1;
	r->fix = fix_for(net->cause);
}

/* The ways of a box have words of their own: "all ports (…)". */
static void tell_caught(const struct net_told *news,
			const struct hb_report *caught)
{
	char text[LINE_SIZE], words[LINE_SIZE / 2];
	const struct hb_report report = {
		.kind = caught->n ? HB_REPORT_WEAKENED : HB_REPORT_NOTED,
		.is_quiet = news->is_quiet,
		.text = text,
	};
	size_t n;

	(void)network_words(news->network, words, sizeof(words));
	/* The ports stand behind the number of names, before all else. */
	n = strcspn(words, " ");
	n += strcspn(words + n + 1, " ") + 1;
	(void)snprintf(text, sizeof(text),
		       caught->n ? "net: %.*s, ports %s: this kernel has no "
				   "nf_tables%s"
				 : "net: %.*s, %s%s",
		       (int)n, words, caught->text, words + n);
	(void)report_send(news->next, &report);
}

/* Of type hb_hear_fn. */
static bool hear(void *context, const struct hb_report *report)
{
	struct net_told *news = context;

	if (report->kind == HB_REPORT_NET && report->net)
		count(news, report->net);
	if (report->kind == HB_REPORT_CAUGHT)
		tell_caught(news, report);
	return report_send(news->next, report);
}

void net_told_init(struct net_told *news, const struct hb_listener *next,
		   const struct network *network, bool is_quiet)
{
	*news = (struct net_told){ .next = next,
				   .network = network,
				   .is_quiet = is_quiet };
	news->listener = (struct hb_listener){ .hear = hear, .context = news };
	if (next)
		news->listener.wants_progress = next->wants_progress;
}

static void add(char *text, const char *before, const char *words)
{
	size_t used = strlen(text);

	(void)snprintf(text + used, LINE_SIZE - used, "%s%s", before, words);
}

void net_told_end(const struct net_told *news)
{
	char text[LINE_SIZE] = "", one[HOSTNAME_SIZE + 64];
	uint64_t n = news->n_refused + news->n_more;
	const char *before = "; to allow: ";

	if (n == 0)
		return;
	(void)snprintf(text, sizeof(text),
		       "net: %" PRIu64 " host%s refused: ", n,
		       n == 1 ? " was" : "s were");
	for (size_t i = 0; i < news->n_refused && i < NAMED; i++) {
		const struct net_refused *r = &news->refused[i];

		(void)snprintf(one, sizeof(one), "%s:%u (%" PRIu64 ")", r->host,
			       r->port, r->n);
		add(text, i ? ", " : "", one);
	}
	for (size_t i = 0; i < news->n_refused && i < NAMED; i++) {
		const struct net_refused *r = &news->refused[i];

		if (!r->fix)
			continue;
		if (r->port == NET_PORT_USUAL)
			(void)snprintf(one, sizeof(one), "--allow %s%s",
				       r->host, r->fix);
		else
			(void)snprintf(one, sizeof(one), "--allow %s:%u%s",
				       r->host, r->port, r->fix);
		add(text, before, one);
		before = " ";
	}
	(void)report_send(news->next,
			  &(struct hb_report){ .kind = HB_REPORT_DENIED,
					       .is_quiet = news->is_quiet,
					       .text = text });
}
