/* SPDX-License-Identifier: Apache-2.0 */
#include "box/relayed.h"

#include "base/error.h"
#include "base/report.h"
#include "sys/file.h"
#include "sys/sock.h"

#include "tap.h"

#include <string.h>

#define EVENTS 30500 /* more than are told */

struct told {
	unsigned n, n_gaps;
	uint64_t n_left_out;
	char host[64];
};

static bool hear(void *context, const struct hb_report *report)
{
	struct told *told = context;

	if (report->kind != HB_REPORT_NET)
		return false;
	told->n++;
	(void)snprintf(told->host, sizeof(told->host), "%s", report->net->host);
	if (strcmp(report->net->verdict, "gap") == 0) {
		told->n_gaps++;
		told->n_left_out += report->net->n;
	}
	return false;
}

/* As if a relay had sent it. */
static void send_event(struct relayed *r, int relay, enum net_verdict verdict,
		       const char *host, uint64_t n)
{
	static struct net_news news;
	struct pollfd fds[RELAYED_FDS];

	memset(&news, 0, sizeof(news));
	news.record.magic = NET_MAGIC;
	news.record.word = NET_EVENT;
	news.event.verdict = verdict;
	news.event.n = n;
	(void)snprintf(news.event.host, sizeof(news.event.host), "%s", host);
	CHECK(sys_send_record(relay, &news, sizeof(news)) >= 0);
	relayed_wants(r, fds);
	CHECK(poll(fds, RELAYED_FDS, -1) > 0);
	CHECK(relayed_serve(r, fds) == 0);
}

static void begin(struct relayed *r, struct told *told,
		  struct hb_listener *listener, int *relay)
{
	static const struct net_access nothing;

	*told = (struct told){ 0 };
	*listener = (struct hb_listener){ .hear = hear, .context = told };
	CHECK(relayed_init(r, &nothing, listener, NULL) == 0);
	CHECK(sys_socket_pair(&r->line, relay) == 0);
}

static void a_box_has_a_share_of_the_log_and_the_rest_is_counted(void)
{
	static struct relayed r;
	struct hb_listener listener;
	struct told told;
	int relay = -1;

	begin(&r, &told, &listener, &relay);
	for (int i = 0; i < EVENTS; i++)
		send_event(&r, relay, NET_VERDICT_DENY, "a.example", 0);
	send_event(&r, relay, NET_VERDICT_GAP, "", 7);
	CHECK(told.n == 30000 && told.n_gaps == 0);
	sys_close(relay);
	relayed_done(&r);
	CHECK(told.n == 30001 && told.n_gaps == 1);
	CHECK(told.n_left_out == EVENTS - 30000 + 7);
}

static void words_of_a_relay_are_cleaned(void)
{
	static struct relayed r;
	struct hb_listener listener;
	struct told told;
	int relay = -1;

	begin(&r, &told, &listener, &relay);
	send_event(&r, relay, NET_VERDICT_DENY, "a\033[2J\"\\b\n\377", 0);
	CHECK(strcmp(told.host, "a?[2J??b??") == 0);
	send_event(&r, relay, NET_VERDICTS, "no.such", 0);
	CHECK(told.n == 1);
	sys_close(relay);
	relayed_done(&r);
	CHECK(told.n == 1);
}

TESTS(T(a_box_has_a_share_of_the_log_and_the_rest_is_counted),
      T(words_of_a_relay_are_cleaned))
