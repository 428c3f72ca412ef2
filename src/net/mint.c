/* SPDX-License-Identifier: Apache-2.0 */
#include "net/relay_state.h"
#include "sys/file.h"

#include <errno.h>

/*
 * Sockets of the box, made outside of it from nothing but two of them.  One
 * connects to the listener of the other.  The socket that is accepted, and then
 * dissolved by connect(AF_UNSPEC), is a new one of the same namespace.  So no
 * process is needed inside to reach a port of the box.
 */

/* Those who knock at the mint and are not us; more wait. */
#define STRANGERS 64

/* The accepted end of the spare socket's connection, or less than 0. */
static int accept_own(struct relay *r)
{
	struct sys_inet own, peer;
	int fd = -EAGAIN;

	if (sys_inet_own(r->spare, &own) < 0)
		return -ENOTCONN;
	for (int i = 0; i < STRANGERS; i++) {
		fd = sys_inet_accept(r->mint);
		if (fd < 0 ||
		    (sys_inet_peer(fd, &peer) >= 0 && peer.port == own.port))
			return fd;
		sys_close(fd); /* a process of the box */
		fd = -EAGAIN;
	}
	return fd;
}

int mint_connect(struct relay *r, int fd, const struct sys_inet *to)
{
	struct sys_inet mint;
	int got = sys_inet_own(r->mint, &mint);

	if (got < 0)
		return got;
	return sys_inet_connect_spare(fd, !sys_inet_is_v4(&mint), to);
}

static int breed(struct relay *r)
{
	struct sys_inet mint;
	int fd = sys_inet_own(r->mint, &mint);

	/* On the loopback it is done when it returns. */
	if (fd >= 0)
		fd = mint_connect(r, r->spare, &mint);
	if (fd >= 0)
		fd = accept_own(r);
	(void)sys_inet_dissolve(r->spare);
	if (fd < 0)
		return fd;
	if (sys_inet_dissolve(fd) < 0 ||
	    (!sys_inet_is_v4(&mint) && sys_inet_reach_both(fd) < 0)) {
		sys_close(fd);
		return -ENOTCONN;
	}
	return fd;
}

int mint_socket(struct relay *r)
{
	return r->mint < 0 || r->spare < 0 ? -ENOENT : breed(r);
}
