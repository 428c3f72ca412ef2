/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "base/report.h"
#include "box/knock.h"
#include "holdback/net.h"
#include "net/control.h"
#include "net/host_group.h"
#include "net/rule.h"
#include "plan/network/network_value.h"
#include "store/live.h"
#include "store/record.h"
#include "store/store.h"
#include "sys/sock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * The client of a box whose network is by name: net/control.h has the words.
 * All rules are checked here before the first is sent, and once more by the
 * supervisor.
 */

static int fail_closed(const char *name, struct hb_error *err)
{
	hb_fix(err, "start it with --net allow");
	return hb_fail(err, -HB_E_STATE,
		       "the network of session '%s' is not by name", name);
}

static int open_line(const struct hb_store *store, const char *ref, char *name,
		     int *ret_line, struct hb_error *err)
{
	struct hb_error why = { 0 };
	auto_fd int fd = live_find(store, ref, name, &why);
	int r = fd;

	if (fd >= 0)
		r = knock_net(fd, ret_line, &why);
	if (r < 0 && why.code == 0) {
		hb_fix(err, "for all runs to come: --keep");
		return hb_fail(err, -HB_E_STATE, "nothing runs in session '%s'",
			       name);
	}
	return hb_pass(err, &why, r);
}

static int send_word(int line, enum net_word word, const char *text,
		     const struct net_port *port, struct hb_error *err)
{
	struct net_record record = { .magic = NET_MAGIC, .word = word };
	int r;

	(void)snprintf(record.text, sizeof(record.text), "%s", text);
	if (port) {
		record.port = port->inside;
		record.other = port->outside;
	}
	r = sys_send_record(line, &record, sizeof(record));
	/* A line that is closed says so when it is read. */
	if (r == -EPIPE || r == -ECONNRESET)
		return 0;
	return r < 0 ? hb_fail(err, r, "cannot speak with the network") : 0;
}

/* 1: a record; 0: the other end is closed. */
static int receive(int line, unsigned looks, struct net_record *ret,
		   struct hb_error *err)
{
	int r = knock_await(line, looks, err);
	ssize_t n;

	if (r < 0)
		return r == -EAGAIN ? 0 : r;
	n = sys_recv_record(line, ret, sizeof(*ret), NULL);
	if (n <= 0 || ret->magic != NET_MAGIC)
		return 0;
	ret->text[NET_TEXT_MAX] = '\0';
	return 1;
}

/* Until the last answer. */
static int hear(int line, const char *name, hb_net_rule_fn tell, void *context,
		struct hb_error *err)
{
	struct net_record record;
	int r;

	while ((r = receive(line, KNOCK_LOOKS, &record, err)) > 0) {
		const struct hb_net_rule rule = {
			.text = record.text,
			.is_deny = record.other,
			.is_live = record.id == NET_FROM_LIVE,
		};

		if (record.word == NET_DONE)
			return 0;
		if (record.word == NET_FAILED)
			return hb_fail(err, -HB_E_STATE, "%s", record.text);
		if (record.word == NET_RULE && tell)
			tell(context, &rule);
	}
	return r < 0 ? r : fail_closed(name, err);
}

/* One rule after the other, each with its answer. */
struct sending {
	int line;
	enum net_word word;
	const char *name;
	struct hb_error *err;
};

/* Of type net_group_fn. */
static int send_row(void *ctx, const struct net_group_row *row)
{
	const struct sending *s = ctx;
	int r = send_word(s->line, s->word, row->rule, NULL, s->err);

	return r < 0 ? r : hear(s->line, s->name, NULL, NULL, s->err);
}

static int send_rule(struct sending *s, const char *text)
{
	const struct net_group_row row = { .rule = text };

	if (text[0] == NET_GROUP_SIGIL)
		return net_group_each(text + 1, send_row, s);
	return send_row(s, &row);
}

static int check(enum hb_net_order order, const char *text,
		 struct net_port *ret_port, struct hb_error *err)
{
	if (order == HB_NET_PUBLISH)
		return network_ports_parse(text, ret_port, err);
	if (order == HB_NET_LIST)
		return 0;
	if (strchr(text, '$'))
		return hb_fail(err, -HB_E_USAGE,
			       "a session that runs has no variables");
	return network_check(order == HB_NET_DENY ? KEY_DENY : KEY_ALLOW, text,
			     err);
}

int hb_net_order(struct hb_store *store, const char *ref,
		 enum hb_net_order order, const char *text, hb_net_rule_fn tell,
		 void *context, struct hb_error *err)
{
	char name[RECORD_NAME_MAX + 1] = "";
	struct net_port port = { 0 };
	auto_fd int line = -1;
	struct sending s = { .name = name, .err = err };
	int r = check(order, text, &port, err);

	if (r >= 0)
		r = open_line(store, ref, name, &line, err);
	if (r < 0)
		return r;
	s.line = line;
	s.word = order == HB_NET_DENY ? NET_DENY : NET_ALLOW;
	if (order == HB_NET_ALLOW || order == HB_NET_DENY)
		return send_rule(&s, text);
	r = send_word(line, order == HB_NET_LIST ? NET_LIST : NET_PUBLISH, "",
		      &port, err);
	return r < 0 ? r : hear(line, name, tell, context, err);
}

/* Of the listener, which says no where it cannot ask. */
static bool is_wanted(const struct hb_store *store, const char *name,
		      const struct net_record *asked)
{
	char text[NET_TEXT_MAX + 64];
	const struct hb_report report = { .kind = HB_REPORT_ASKED,
					  .session = name,
					  .text = text };

	(void)snprintf(text, sizeof(text),
		       "the command wants to reach %s:%u; allow it?",
		       asked->text, asked->port);
	return report_send(store->listener, &report);
}

int hb_net_watch(struct hb_store *store, const char *ref, struct hb_error *err)
{
	char name[RECORD_NAME_MAX + 1] = "";
	struct net_record record;
	auto_fd int line = -1;
	bool has_begun = false;
	int r = open_line(store, ref, name, &line, err);

	if (r >= 0)
		r = send_word(line, NET_WATCH, "", NULL, err);
	/* Its last answer says that the watch has begun. */
	if (r >= 0)
		r = send_word(line, NET_LIST, "", NULL, err);
	while (r >= 0 && (r = receive(line, 0, &record, err)) > 0) {
		if (record.word == NET_DONE && !has_begun) {
			has_begun = true;
			store_say(store, "hosts without a rule are asked about "
					 "here, until the session ends");
		}
		if (record.word != NET_ASK)
			continue;
		record.word =
			is_wanted(store, name, &record) ? NET_YES : NET_NO;
		(void)sys_send_record(line, &record, sizeof(record));
	}
	if (r < 0)
		return r;
	return has_begun ? 0 : fail_closed(name, err);
}
