/* SPDX-License-Identifier: Apache-2.0 */
#include "box/relayed.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/report.h"
#include "box/state.h"
#include "net/capture.h"
#include "net/fence.h"
#include "net/sniff.h"
#include "sys/file.h"
#include "sys/net/inet.h"
#include "sys/proc.h"
#include "sys/signal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define FIRST_OTHER 3
/* For a relay to tell its last events. */
#define LAST_MS 500
/* Descriptors of a relay beside connections, and of each connection. */
#define FDS_BESIDE  160
#define FDS_EACH    2
#define CONNECTIONS 4096
/* Events that are heard at a time, before it is the turn of others. */
#define NEWS_MAX 64
/*
 * Events of a box that are told, about 10 MB of the log: else a command could
 * push all that others did out of it.
 */
#define EVENTS_MAX 30000

enum {
	LINE,
	GONE,
	CLIENTS
};

static const struct in6_addr loopback_v4 = {
	.s6_addr = { [10] = 0xff, 0xff, 127, [15] = 1 }
};

static int listen_outside(struct relayed *r, uint16_t outside, uint16_t inside)
{
	const struct sys_inet at = { loopback_v4, outside };
	int fd;

	if (r->n_sockets == RELAY_SOCKETS)
		return -E2BIG;
	fd = sys_inet_listen(&at, SYS_INET_REUSE);
	if (fd >= 0)
		r->sockets[r->n_sockets++] =
			(struct relay_socket){ fd, RELAY_PUBLISHED, inside };
	return fd;
}

static int keep_rule(struct relayed *r, const struct net_rule *rule)
{
	struct net_rule *grown;

	if (r->n_rules >= r->n_first + NET_RULES_MAX)
		return -E2BIG;
	grown = reallocarray(r->rules, r->n_rules + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	r->rules = grown;
	r->rules[r->n_rules++] = *rule;
	return 0;
}

/* A port that is of use for a login, and that another program may have. */
static void tell_port(const struct relayed *r, uint16_t outside, int got)
{
	char text[HB_TEXT_SIZE];
	const struct hb_report report = {
		.kind = got < 0 ? HB_REPORT_SAID : HB_REPORT_NOTED,
		.text = text,
	};

	if (got >= 0)
		(void)snprintf(text, sizeof(text),
			       "net: port %u of this host leads to the "
			       "command, for its login",
			       outside);
	else
		(void)snprintf(text, sizeof(text),
			       "net: port %u of this host is taken (%s): a "
			       "login in the browser does not come back to "
			       "the command; end the program that has the "
			       "port, or log in with a code",
			       outside, hb_strerror(got));
	(void)report_send(r->listener, &report);
}

int relayed_init(struct relayed *r, const struct net_access *access,
		 const struct hb_listener *listener, struct hb_error *err)
{
	int got = 0;

	*r = (struct relayed){ .access = access,
			       .listener = listener,
			       .pidfd = -1,
			       .line = -1,
			       .go = -1,
			       .n_first = access->n_rules };
	for (size_t i = 0; i < RELAYED_CLIENTS; i++)
		r->clients[i].fd = -1;
	/* Without it an address would be another name's after a restart. */
	r->names = sys_shared_memory(sizeof(*r->names));
	if (!r->names)
		return hb_fail(err, -ENOMEM, "cannot keep names");
	for (size_t i = 0; got >= 0 && i < access->n_rules; i++)
		got = keep_rule(r, &access->rules[i]);
	if (got < 0)
		return hb_fail(err, got, "cannot keep the rules");
	for (size_t i = 0; i < access->n_ports; i++) {
		const struct net_port *port = &access->ports[i];

		got = listen_outside(r, port->outside, port->inside);
		if (port->may_lack)
			tell_port(r, port->outside, got);
		else if (got < 0) {
			hb_fix(err, "--port OTHER:%u", port->inside);
			return hb_fail(err, got, "cannot listen on port %u",
				       port->outside);
		}
	}
	return 0;
}

/* The host's own file, or nothing: it is read before the fence closes. */
static void read_own(const char *path, char text[RESOLV_SIZE])
{
	auto_fd int fd = sys_openat(AT_FDCWD, path, O_RDONLY, 0);
	ssize_t n = fd < 0 ? 0 : sys_read_full(fd, text, RESOLV_SIZE - 1);

	text[n > 0 ? n : 0] = '\0';
}

/* A number that changes with the file. */
static uint64_t stamp_of(const char *path)
{
	struct stat st;

	if (sys_fstatat(AT_FDCWD, path, &st, 0) < 0)
		return 0;
	return (uint64_t)st.st_ino * 31 + (uint64_t)st.st_size * 7 +
	       (uint64_t)st.st_mtim.tv_sec * 1000000007U +
	       (uint64_t)st.st_mtim.tv_nsec;
}

#define RESOLV_CONF "/etc/resolv.conf"

static unsigned most_connections(void)
{
	uint64_t n = sys_fd_limit();

	n = n > FDS_BESIDE ? (n - FDS_BESIDE) / FDS_EACH : 1;
	return n < CONNECTIONS ? (unsigned)n : CONNECTIONS;
}

static bool is_watched(const struct relayed *r)
{
	for (size_t i = 0; i < RELAYED_CLIENTS; i++)
		if (r->clients[i].fd >= 0 && r->clients[i].is_watching)
			return true;
	return false;
}

/* Nothing stays open but its own sockets; 0, 1 and 2 are taken, by nothing. */
static void shed(const struct relay_start *start)
{
	int keep[RELAY_SOCKETS + 1];
	int null = sys_openat(AT_FDCWD, "/dev/null", O_RDWR, 0);
	size_t n = 0;

	for (int i = 0; null >= 0 && i < FIRST_OTHER; i++)
		(void)sys_dup_to(null, i);
	for (size_t i = 0; i < start->n_sockets; i++)
		keep[n++] = start->sockets[i].fd;
	keep[n++] = start->line;
	fds_close_but(FIRST_OTHER, keep, n);
}

_Noreturn static void be_relay(const struct relayed *r, int line)
{
	static char text[RESOLV_SIZE], hosts[RESOLV_SIZE];
	static struct relay_start start;

	(void)sys_setsid();
	start = (struct relay_start){ .access = r->access,
				      .rules = r->rules,
				      .n_rules = r->n_rules,
				      .n_sockets = r->n_sockets,
				      .way = r->way,
				      .line = line,
				      .is_watched = is_watched(r),
				      .hosts = hosts,
				      .names = r->names };
	memcpy(start.sockets, r->sockets, sizeof(start.sockets));
	read_own(RESOLV_CONF, text);
	read_own("/etc/hosts", hosts);
	resolv_read(text, &start.resolv);
	shed(&start);
	sys_raise_fd_limit();
	start.most = most_connections();
	if (fence_close() < 0)
		sys_exit(1);
	relay_run(&start);
	sys_exit(0);
}

static int start(struct relayed *r)
{
	auto_fd int ours = -1;
	auto_fd int theirs = -1;
	int got;

	got = sys_socket_pair(&ours, &theirs);
	if (got < 0)
		return got;
	r->stamp = stamp_of(RESOLV_CONF);
	r->started = sys_now_ms();
	r->pid = sys_clone(0, &r->pidfd);
	if (r->pid == 0)
		be_relay(r, theirs);
	if (r->pid < 0) {
		got = r->pid;
		r->pid = 0;
		r->pidfd = -1;
		return got;
	}
	r->line = take_fd(&ours);
	return 0;
}

static void report_way(const struct relayed *r)
{
	char ports[128] = "";
	size_t used = 0;

	if (r->way != NET_WAY_LIST) {
		report_text(r->listener, HB_REPORT_CAUGHT,
			    "all ports (nf_tables, %s)", net_way_name(r->way));
		return;
	}
	for (size_t i = 0; i < r->n_sockets && used < sizeof(ports) - 8; i++)
		if (r->sockets[i].kind == RELAY_CATCH &&
		    (i == 0 || r->sockets[i].port != r->sockets[i - 1].port) &&
		    r->sockets[i].port != 53)
			used += (size_t)snprintf(ports + used,
						 sizeof(ports) - used, " %u",
						 r->sockets[i].port);
	(void)snprintf(ports + used, sizeof(ports) - used, " only");
	(void)report_send(r->listener,
			  &(struct hb_report){ .kind = HB_REPORT_CAUGHT,
					       .text = ports + 1,
					       .n = 1 });
}

static bool may_keep(const struct relayed *r, unsigned kind)
{
	return r && r->pid == 0 && r->n_sockets < RELAY_SOCKETS &&
	       kind <= RELAY_SPARE;
}

int relayed_take(struct relayed *r, const struct message *message,
		 const int *fds, size_t n, struct hb_error *err)
{
	const struct message_socket *what = message->sockets;
	int got = r ? 0 : -HB_E_CHILD;

	for (size_t i = 0; i < n; i++) {
		if (!may_keep(r, what[i].kind)) {
			sys_close(fds[i]);
			got = -HB_E_CHILD;
			continue;
		}
		r->sockets[r->n_sockets++] = (struct relay_socket){
			fds[i], (enum relay_socket_kind)what[i].kind,
			what[i].port
		};
	}
	if (message->value < 0 || message->value > NET_WAYS_END)
		got = -HB_E_CHILD;
	if (got >= 0 && message->value > 0) {
		r->way = (enum net_way)(message->value - 1);
		report_way(r);
		got = start(r);
	}
	return got < 0 ? hb_fail(err, got, "cannot start the relay") : 0;
}

void relayed_wants(const struct relayed *r, struct pollfd fds[RELAYED_FDS])
{
	for (size_t i = 0; i < RELAYED_FDS; i++)
		fds[i].fd = -1;
	if (!r)
		return;
	fds[LINE] = (struct pollfd){ .fd = r->line, .events = POLLIN };
	fds[GONE] = (struct pollfd){ .fd = r->line < 0 ? r->pidfd : -1,
				     .events = POLLIN };
	for (size_t i = 0; i < RELAYED_CLIENTS; i++)
		fds[CLIENTS + i] = (struct pollfd){
			.fd = r->clients[i].fd,
			.events = (short)(r->clients[i].is_listing
						  ? POLLIN | POLLOUT
						  : POLLIN)
		};
}

/* The relay may be in the hands of the box: its words are cut and cleaned. */
static const char *clean(char *text, size_t size)
{
	text[size - 1] = '\0';
	for (char *at = text; *at; at++)
		if (*at < ' ' || *at > '~' || *at == '"' || *at == '\\')
			*at = '?';
	return text;
}

static void report_event(struct relayed *r, struct net_event *e)
{
	static const char *const verdicts[NET_VERDICTS] = {
		[NET_VERDICT_ALLOW] = "allow", [NET_VERDICT_DENY] = "deny",
		[NET_VERDICT_FAIL] = "fail",   [NET_VERDICT_END] = "end",
		[NET_VERDICT_GAP] = "gap",
	};
	char address[INET6_ADDRSTRLEN] = "";
	struct hb_net net;

	if (e->verdict >= NET_VERDICTS || e->kind >= SNIFF_END)
		return;
	if (r->n_events >= EVENTS_MAX) {
		r->n_untold += e->verdict == NET_VERDICT_GAP ? e->n : 1;
		return;
	}
	r->n_events++;
	if (e->is_connected && IN6_IS_ADDR_V4MAPPED(&e->address))
		(void)inet_ntop(AF_INET, e->address.s6_addr + 12, address,
				sizeof(address));
	else if (e->is_connected)
		(void)inet_ntop(AF_INET6, &e->address, address,
				sizeof(address));
	net = (struct hb_net){
		.verdict = verdicts[e->verdict],
		.id = e->id,
		.host = clean(e->host, sizeof(e->host)),
		.port = e->port,
		.rule = clean(e->rule, sizeof(e->rule)),
		.address = address,
		.protocol = sniff_name((enum sniff_kind)e->kind),
		.cause = clean(e->cause, sizeof(e->cause)),
		.up = e->up,
		.down = e->down,
		.ms = e->ms,
		.n = e->n,
	};
	(void)report_send(
		r->listener,
		&(struct hb_report){ .kind = HB_REPORT_NET, .net = &net });
}

static int tell_relay(struct relayed *r, const struct net_record *record)
{
	return r->line < 0 ? 0
			   : sys_offer_record(r->line, record, sizeof(*record));
}

/* The lines of the file that count, as far as they fit into a record. */
static void send_servers(struct relayed *r)
{
	static char text[RESOLV_SIZE];
	struct net_record record = { .magic = NET_MAGIC, .word = NET_SERVERS };
	uint64_t stamp = stamp_of(RESOLV_CONF);
	size_t used = 0;

	if (stamp == r->stamp)
		return;
	r->stamp = stamp;
	read_own(RESOLV_CONF, text);
	for (const char *at = text; *at;) {
		size_t n = strcspn(at, "\n");
		bool counts = strncmp(at, "nameserver", 10) == 0 ||
			      strncmp(at, "search", 6) == 0 ||
			      strncmp(at, "domain", 6) == 0;

		if (counts && used + n + 1 < sizeof(record.text)) {
			memcpy(record.text + used, at, n);
			record.text[used + n] = '\n';
			used += n + 1;
		}
		at += n + (at[n] == '\n');
	}
	(void)tell_relay(r, &record);
}

static void pass_question(struct relayed *r, struct net_record *record)
{
	(void)clean(record->text, sizeof(record->text));
	for (size_t i = 0; i < RELAYED_CLIENTS; i++)
		if (r->clients[i].fd >= 0 && r->clients[i].is_watching)
			(void)sys_offer_record(r->clients[i].fd, record,
					       sizeof(*record));
}

/* An init that is dead by then has told its reason. */
static void let_go(struct relayed *r)
{
	const char byte = 1;

	if (r->go >= 0)
		(void)sys_send_record(r->go, &byte, sizeof(byte));
	fd_closep(&r->go);
}

static void take_news(struct relayed *r, struct net_news *news)
{
	if (news->record.magic != NET_MAGIC)
		return;
	switch (news->record.word) {
	case NET_EVENT:
		report_event(r, &news->event);
		break;
	case NET_ASK:
		pass_question(r, &news->record);
		break;
	case NET_STALE:
		send_servers(r);
		break;
	case NET_DONE:
		r->has_begun = true;
		let_go(r);
		break;
	default:
		break;
	}
}

/* 0: there is no more just now; -EPIPE: there never will be. */
static int hear_relay(struct relayed *r)
{
	struct net_news news;
	struct pollfd more = { .fd = r->line, .events = POLLIN };

	for (int i = 0; i < NEWS_MAX; i++) {
		if (sys_poll(&more, 1, 0) <= 0)
			return 0;
		if (sys_recv_record(r->line, &news, sizeof(news), NULL) <= 0)
			return -EPIPE;
		take_news(r, &news);
	}
	return 0;
}

/* It has hung up, so it is gone, or about to be. */
static int bury(struct relayed *r)
{
	int status = 0;

	fd_closep(&r->line);
	(void)sys_pidfd_kill(r->pidfd, SIGKILL);
	/* A keeper is not its parent: then the status is not ours to know. */
	if (sys_waitpid(r->pid, &status, 0) < 0)
		status = 0;
	fd_closep(&r->pidfd);
	r->pid = 0;
	return status;
}

static int lose_relay(struct relayed *r)
{
	int64_t lived = sys_now_ms() - r->started;
	int status = bury(r);
	char by[32] = "";
	int ms;

	if (!r->has_begun)
		return -HB_E_CHILD;
	ms = relay_rest_begin(&r->rest, lived);
	if (WIFSIGNALED(status))
		(void)snprintf(by, sizeof(by), " by signal %d",
			       WTERMSIG(status));
	if (r->rest.is_last_said)
		report_text(
			r->listener, HB_REPORT_SAID,
			"net: the relay has ended%s again: connections are "
			"cut, and it is tried every %d seconds from now on, "
			"without a line",
			by, REST_MAX_MS / 1000);
	else if (r->rest.is_said)
		report_text(r->listener, HB_REPORT_SAID,
			    "net: the relay has ended%s: connections are cut, "
			    "and it starts again",
			    by);
	return ms;
}

int relayed_restart(struct relayed *r)
{
	if (r->pid > 0)
		return 0;
	return start(r) < 0 ? REST_MIN_MS : 0;
}

static void tell_watched(struct relayed *r)
{
	struct net_record record = { .magic = NET_MAGIC,
				     .word = NET_WATCHED,
				     .other = is_watched(r) };

	(void)tell_relay(r, &record);
}

static void drop_client(struct relayed *r, struct relayed_client *c)
{
	bool was_watching = c->is_watching;

	fd_closep(&c->fd);
	*c = (struct relayed_client){ .fd = -1 };
	if (was_watching)
		tell_watched(r);
}

static void reply(struct relayed *r, struct relayed_client *c,
		  enum net_word word, const char *text)
{
	struct net_record record = { .magic = NET_MAGIC, .word = word };

	(void)snprintf(record.text, sizeof(record.text), "%s", text);
	if (sys_offer_record(c->fd, &record, sizeof(record)) < 0)
		drop_client(r, c);
}

static void refuse(struct relayed *r, struct relayed_client *c,
		   const struct hb_error *err)
{
	char text[NET_TEXT_MAX + 1];

	hb_error_format(err, text, sizeof(text));
	reply(r, c, NET_FAILED, text);
}

static bool is_caught(const struct relayed *r, const struct net_rule *rule)
{
	if (r->way != NET_WAY_LIST || rule->is_deny)
		return true;
	for (size_t i = 0; i < r->n_sockets; i++)
		if (r->sockets[i].kind == RELAY_CATCH &&
		    r->sockets[i].port >= rule->low &&
		    r->sockets[i].port <= rule->high)
			return true;
	return false;
}

static void change_rules(struct relayed *r, struct relayed_client *c,
			 const struct net_record *record)
{
	struct hb_error err = { 0 };
	struct net_rule rule;
	int got;

	got = net_rule_parse(record->text, record->word == NET_DENY, &rule,
			     &err);
	if (got >= 0 && rule.kind == NET_RULE_GROUP)
		got = hb_fail(&err, -HB_E_USAGE, "a group is no single rule");
	if (got >= 0 && !is_caught(r, &rule))
		got = hb_fail(&err, -EOPNOTSUPP,
			      "this kernel has no nf_tables: port %u is caught "
			      "only if a rule of the start has it",
			      rule.low);
	if (got >= 0)
		got = keep_rule(r, &rule);
	if (got < 0) {
		if (!err.code)
			(void)hb_fail(&err, got, "cannot keep the rule");
		refuse(r, c, &err);
		return;
	}
	/* After a relay that does not listen comes another, with the rule. */
	if (tell_relay(r, record) < 0)
		(void)sys_pidfd_kill(r->pidfd, SIGKILL);
	reply(r, c, NET_DONE, "");
}

/* The rule is the user's answer, and not the relay's word of it. */
static void take_answer(struct relayed *r, struct relayed_client *c,
			const struct net_record *answer)
{
	struct net_record record = {
		.magic = NET_MAGIC,
		.word = answer->word == NET_NO ? NET_DENY : NET_ALLOW,
	};
	struct net_rule rule;
	int n = snprintf(record.text, sizeof(record.text), "%s:%u",
			 answer->text, answer->port);
	int got = n < 0 || (size_t)n >= sizeof(record.text) ? -E2BIG : 0;

	if (got >= 0)
		got = net_rule_parse(record.text, answer->word == NET_NO, &rule,
				     NULL);
	if (got >= 0)
		got = keep_rule(r, &rule);
	if (got >= 0 && tell_relay(r, &record) < 0)
		(void)sys_pidfd_kill(r->pidfd, SIGKILL);
	if (!c->is_watching)
		reply(r, c, NET_DONE, "");
}

static void publish(struct relayed *r, struct relayed_client *c,
		    const struct net_record *record)
{
	struct hb_error err = { 0 };
	int fd = -EINVAL;

	if (record->port > 0 && record->other > 0)
		fd = listen_outside(r, record->other, record->port);
	if (fd < 0) {
		(void)hb_fail(&err, fd, "cannot listen on port %u",
			      record->other);
		refuse(r, c, &err);
		return;
	}
	if (r->line >= 0 &&
	    sys_send_record_fds(r->line, record, sizeof(*record), &fd, 1) < 0)
		(void)sys_pidfd_kill(r->pidfd, SIGKILL);
	reply(r, c, NET_DONE, "");
}

/* As many as the client takes now; the rest when it is ready. */
static void list_rules(struct relayed *r, struct relayed_client *c)
{
	while (c->next < r->n_rules) {
		const struct net_rule *rule = &r->rules[c->next];
		struct net_record record = {
			.magic = NET_MAGIC,
			.word = NET_RULE,
			.id = c->next < r->n_first ? NET_FROM_START
						   : NET_FROM_LIVE,
			.other = rule->is_deny,
		};
		int got;

		(void)snprintf(record.text, sizeof(record.text), "%s",
			       rule->text);
		got = sys_offer_record(c->fd, &record, sizeof(record));
		if (got == -EAGAIN)
			return;
		if (got < 0) {
			drop_client(r, c);
			return;
		}
		c->next++;
	}
	c->is_listing = false;
	reply(r, c, NET_DONE, "");
}

static void hear_client(struct relayed *r, struct relayed_client *c)
{
	struct net_record record;

	if (sys_recv_record(c->fd, &record, sizeof(record), NULL) <= 0 ||
	    record.magic != NET_MAGIC) {
		drop_client(r, c);
		return;
	}
	record.text[NET_TEXT_MAX] = '\0';
	switch (record.word) {
	case NET_ALLOW:
	case NET_DENY:
		change_rules(r, c, &record);
		break;
	case NET_PUBLISH:
		publish(r, c, &record);
		break;
	case NET_LIST:
		c->is_listing = true;
		c->next = 0;
		list_rules(r, c);
		break;
	case NET_WATCH:
		c->is_watching = true;
		tell_watched(r);
		break;
	case NET_YES:
	case NET_NO:
		take_answer(r, c, &record);
		break;
	default:
		drop_client(r, c);
		break;
	}
}

int relayed_serve(struct relayed *r, const struct pollfd fds[RELAYED_FDS])
{
	int got = 0;

	for (size_t i = 0; r && i < RELAYED_CLIENTS; i++) {
		struct relayed_client *c = &r->clients[i];

		if (c->fd >= 0 && c->fd == fds[CLIENTS + i].fd &&
		    fds[CLIENTS + i].revents & POLLOUT && c->is_listing)
			list_rules(r, c);
		if (c->fd >= 0 && c->fd == fds[CLIENTS + i].fd &&
		    fds[CLIENTS + i].revents & ~POLLOUT)
			hear_client(r, c);
	}
	if (r && fds[LINE].revents && r->line >= 0)
		got = hear_relay(r);
	return got < 0 ? lose_relay(r) : 0;
}

void relayed_client(struct relayed *r, int fd)
{
	for (size_t i = 0; r && i < RELAYED_CLIENTS; i++) {
		if (r->clients[i].fd >= 0)
			continue;
		r->clients[i] = (struct relayed_client){ .fd = fd };
		return;
	}
	sys_close(fd);
}

static void close_all(struct relayed *r)
{
	for (size_t i = 0; i < r->n_sockets; i++)
		fd_closep(&r->sockets[i].fd);
	r->n_sockets = 0;
	for (size_t i = 0; i < RELAYED_CLIENTS; i++)
		fd_closep(&r->clients[i].fd);
	fd_closep(&r->line);
	fd_closep(&r->pidfd);
	fd_closep(&r->go);
	sys_shared_memory_free(r->names, sizeof(*r->names));
	r->names = NULL;
	free(r->rules);
	r->rules = NULL;
	r->n_rules = 0;
}

void relayed_leave(struct relayed *r)
{
	close_all(r);
	r->pid = 0;
}

/* One more than the limit, at the end. */
static void report_untold(struct relayed *r)
{
	struct net_event gap = { .verdict = NET_VERDICT_GAP, .n = r->n_untold };

	if (r->n_untold == 0)
		return;
	r->n_events = 0;
	r->n_untold = 0;
	report_event(r, &gap);
}

void relayed_done(struct relayed *r)
{
	int64_t end = sys_now_ms() + LAST_MS, now;
	struct pollfd more = { .fd = r->line, .events = POLLIN };
	struct net_news news;

	if (r->line >= 0)
		sys_hang_up(r->line);
	while (r->line >= 0 && (now = sys_now_ms()) < end &&
	       sys_poll(&more, 1, (int)(end - now)) > 0 &&
	       sys_recv_record(r->line, &news, sizeof(news), NULL) > 0)
		take_news(r, &news);
	report_untold(r);
	if (r->pid > 0)
		(void)bury(r);
	close_all(r);
}
