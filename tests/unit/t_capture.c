/* SPDX-License-Identifier: Apache-2.0 */
#include "net/capture.h"

#include "sys/net/inet.h"
#include "sys/net/netlink.h"

#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The lengths of messages and attributes fit into each other. */
static unsigned walk(const struct capture *c, unsigned *ret_acks)
{
	struct k_nlmsg head;
	unsigned n = 0;

	*ret_acks = 0;
	for (size_t at = 0; at < c->size; at += (head.len + 3) & ~3U) {
		memcpy(&head, c->at + at, sizeof(head));
		CHECK(head.len >= sizeof(head) && at + head.len <= c->size);
		CHECK(head.flags & K_NLM_REQUEST);
		*ret_acks += (head.flags & K_NLM_ACK) != 0;
		n++;
	}
	return n;
}

static unsigned count(const struct capture *c, const char *word)
{
	const char *at = c->at;
	unsigned n = 0;

	while ((at = memmem(at, (size_t)(c->at + c->size - at), word,
			    strlen(word) + 1))) {
		at++;
		n++;
	}
	return n;
}

static void links_and_routes_are_one_datagram_each(void)
{
	static struct capture c;
	unsigned acks;

	capture_links(&c, true);
	CHECK_INT(walk(&c, &acks), 3);
	CHECK_INT(acks, 3);
	CHECK_INT(c.n_acks, 3);
	c = (struct capture){ 0 };
	capture_links(&c, false);
	CHECK_INT(walk(&c, &acks), 2);
	c = (struct capture){ 0 };
	capture_routes(&c, true);
	CHECK_INT(walk(&c, &acks), 2);
	CHECK_INT(c.n_acks, 2);
}

static void rules_are_one_batch_of_known_expressions(void)
{
	static struct capture c;
	unsigned acks;

	capture_rules(&c, NET_WAY_TPROXY, true);
	CHECK_INT(walk(&c, &acks), 6);
	CHECK_INT(acks, 4);
	CHECK_INT(c.n_acks, 4);
	CHECK_INT(count(&c, "meta"), 4);
	CHECK_INT(count(&c, "payload"), 3);
	CHECK_INT(count(&c, "cmp"), 8);
	CHECK_INT(count(&c, "immediate"), 6);
	CHECK_INT(count(&c, "tproxy"), 2);
	CHECK_INT(count(&c, "redir"), 0);
	c = (struct capture){ 0 };
	capture_rules(&c, NET_WAY_REDIRECT, false);
	CHECK_INT(walk(&c, &acks), 5);
	CHECK_INT(count(&c, "redir"), 1);
	CHECK_INT(count(&c, "tproxy"), 0);
	CHECK_INT(count(&c, "nat"), 1);
}

/* A connection to any address is accepted by the one listener, as that one. */
static int caught(enum net_way way)
{
	struct sys_inet at = { .port = CAPTURE_PORT }, found;
	struct sys_inet to = { .port = 8080 };
	struct capture c = { .size = 0 };
	struct pollfd wait = { .events = POLLIN };
	int fd;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
		return 77;
	capture_links(&c, true);
	if (sys_netlink(K_NETLINK_ROUTE, c.at, c.size, c.n_acks) < 0)
		return 77; /* no IPv6 */
	c = (struct capture){ .size = 0 };
	capture_routes(&c, true);
	if (sys_netlink(K_NETLINK_ROUTE, c.at, c.size, c.n_acks) < 0)
		return 1;
	c = (struct capture){ .size = 0 };
	capture_rules(&c, way, true);
	if (sys_netlink(K_NETLINK_NETFILTER, c.at, c.size, c.n_acks) < 0)
		return 77;
	at.address.s6_addr[15] = 1;
	wait.fd = sys_inet_listen(
		&at, way == NET_WAY_TPROXY ? SYS_INET_TRANSPARENT : 0);
	if (wait.fd < 0)
		return 2;
	to.address.s6_addr[0] = 0x20;
	to.address.s6_addr[15] = 9;
	if (sys_inet_dial(&to, true, &fd) < 0 || poll(&wait, 1, 5000) != 1)
		return 3;
	fd = sys_inet_accept(wait.fd);
	if (fd < 0 ||
	    (way == NET_WAY_TPROXY ? sys_inet_own(fd, &found)
				   : sys_inet_original(fd, &found)) < 0)
		return 4;
	return memcmp(&found.address, &to.address, 16) == 0 &&
			       found.port == to.port
		       ? 0
		       : 5;
}

static void each_address_is_caught_by_nf_tables(void)
{
	for (enum net_way way = NET_WAY_TPROXY; way < NET_WAY_LIST; way++) {
		int status = 0;
		pid_t pid = fork();

		if (pid == 0)
			_exit(caught(way));
		CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
		CHECK(WIFEXITED(status));
		if (WEXITSTATUS(status) == 77)
			printf("# this kernel has no %s\n", net_way_name(way));
		else
			CHECK_INT(WEXITSTATUS(status), 0);
	}
}

TESTS(T(each_address_is_caught_by_nf_tables),
      T(links_and_routes_are_one_datagram_each),
      T(rules_are_one_batch_of_known_expressions))
