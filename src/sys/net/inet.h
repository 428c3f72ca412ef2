/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SYS_NET_INET_H
#define HB_SYS_NET_INET_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Sockets of the internet; conventions of sys/file.h.  Every socket is
 * close-on-exec and never waits: -EAGAIN.
 */

/* IPv4 is ::ffff:a.b.c.d; the port is in the host's order. */
struct sys_inet {
	struct in6_addr address;
	uint16_t port;
};

static inline bool sys_inet_is_v4(const struct sys_inet *at)
{
	return IN6_IS_ADDR_V4MAPPED(&at->address);
}

enum sys_inet_flag {
	SYS_INET_TRANSPARENT = 1 << 0, /* takes what tproxy gives to it */
	SYS_INET_REUSE = 1 << 1,       /* also where an old one lingers */
};

/* As many as a new namespace lets wait; a burst beyond waits a second. */
#define SYS_INET_BACKLOG 4096

/* A stream socket that listens there; flags: enum sys_inet_flag. */
int sys_inet_listen(const struct sys_inet *at, unsigned flags);

/*
 * A datagram socket that is bound there.  It tells which address was asked
 * (sys_inet_hear), and answers from any.
 */
int sys_inet_bind_datagrams(const struct sys_inet *at);

/* A stream or datagram socket of the family of `to`, connected or about to be:
 * -EINPROGRESS is 0. */
int sys_inet_dial(const struct sys_inet *to, bool is_stream, int *ret_fd);

/* An unbound stream socket; one of IPv6 reaches IPv4 as well. */
int sys_inet_spare(bool is_v6);

/* The same of one of IPv6 that was accepted and dissolved. */
int sys_inet_reach_both(int fd);

/* Connects such a socket; -EINPROGRESS is 0. */
int sys_inet_connect_spare(int fd, bool is_v6, const struct sys_inet *to);

/* Makes a stream socket unbound and unconnected again, for another use. */
int sys_inet_dissolve(int fd);

int sys_inet_accept(int fd);
int sys_inet_own(int fd, struct sys_inet *ret);
int sys_inet_peer(int fd, struct sys_inet *ret);

/* Where it was going before NAT redirected it. */
int sys_inet_original(int fd, struct sys_inet *ret);

/* 0 if an attempt to connect has worked; else why not. */
int sys_inet_failure(int fd);

/* Readable only when so many bytes are there; level-triggered waiting. */
void sys_inet_wait_for(int fd, int n);

/* Small pieces are sent at once. */
void sys_inet_no_delay(int fd);

/* The next close() resets the connection. */
void sys_inet_reset_on_close(int fd);

/* Whether its peer will send no more; bytes of before may be left. */
bool sys_inet_has_ended(int fd);

ssize_t sys_inet_recv(int fd, void *buf, size_t size);
ssize_t sys_inet_peek(int fd, void *buf, size_t size);
ssize_t sys_inet_send(int fd, const void *buf, size_t size);

/* Who sent a datagram, and the address that it was sent to. */
struct sys_datagram {
	struct sockaddr_storage from;
	socklen_t from_size;
	bool is_v6;
	struct in6_addr to; /* IPv4 in the first 4 bytes */
};
ssize_t sys_inet_hear(int fd, void *buf, size_t size,
		      struct sys_datagram *ret_about);
int sys_inet_answer(int fd, const void *buf, size_t size,
		    const struct sys_datagram *about);

/* Whether there is IPv6 here at all. */
bool sys_inet_has_v6(void);

/* Sources of events, level-triggered. */
#define SYS_EVENT_IN  0x001U
#define SYS_EVENT_OUT 0x004U
#define SYS_EVENT_ERR 0x008U
#define SYS_EVENT_HUP 0x010U
struct sys_event {
	uint32_t events;
	void *source;
};
int sys_events_open(void);
int sys_events_watch(int set, int fd, uint32_t events, void *source,
		     bool is_new);
void sys_events_forget(int set, int fd);

/* Up to `n` events, which is at most SYS_EVENTS_MAX; 0 after `ms`. */
#define SYS_EVENTS_MAX 128
int sys_events_wait(int set, struct sys_event *ret, int n, int ms);

#endif
