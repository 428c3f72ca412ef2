/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/net/inet.h"

#include "base/auto.h"
#include "sys/result.h"

#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

/* Not in every libc. */
#define K_IP_TRANSPARENT   19
#define K_IPV6_TRANSPARENT 75
#define K_IPV6_FREEBIND	   78
#define K_SO_ORIGINAL_DST  80

#define CONTROL_ROOM 256

union name {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static socklen_t name_of(const struct sys_inet *at, bool is_v6, union name *ret)
{
	*ret = (union name){ 0 };
	if (is_v6) {
		ret->v6.sin6_family = AF_INET6;
		ret->v6.sin6_port = htons(at->port);
		ret->v6.sin6_addr = at->address;
		return sizeof(ret->v6);
	}
	ret->v4.sin_family = AF_INET;
	ret->v4.sin_port = htons(at->port);
	memcpy(&ret->v4.sin_addr, at->address.s6_addr + 12, 4);
	return sizeof(ret->v4);
}

static int of_name(const union name *name, struct sys_inet *ret)
{
	if (name->any.sa_family == AF_INET6) {
		ret->address = name->v6.sin6_addr;
		ret->port = ntohs(name->v6.sin6_port);
		return 0;
	}
	if (name->any.sa_family != AF_INET)
		return -EAFNOSUPPORT;
	ret->address = (struct in6_addr){ .s6_addr = { [10] = 0xff, 0xff } };
	memcpy(ret->address.s6_addr + 12, &name->v4.sin_addr, 4);
	ret->port = ntohs(name->v4.sin_port);
	return 0;
}

static int set(int fd, int level, int option, int value)
{
	return RESULT(setsockopt(fd, level, option, &value, sizeof(value)));
}

static int new_socket(bool is_v6, int type)
{
	return RESULT(socket(is_v6 ? AF_INET6 : AF_INET,
			     type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

int sys_inet_listen(const struct sys_inet *at, unsigned flags)
{
	bool is_v6 = !sys_inet_is_v4(at);
	auto_fd int fd = -1;
	union name name = { 0 };
	socklen_t size = name_of(at, is_v6, &name);
	int r = 0;

	fd = new_socket(is_v6, SOCK_STREAM);
	if (fd < 0)
		return fd;
	if (is_v6)
		r = set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
	if (r >= 0 && flags & SYS_INET_TRANSPARENT)
		r = is_v6 ? set(fd, IPPROTO_IPV6, K_IPV6_TRANSPARENT, 1)
			  : set(fd, IPPROTO_IP, K_IP_TRANSPARENT, 1);
	if (r >= 0 && flags & SYS_INET_REUSE)
		r = set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (r >= 0)
		r = RESULT(bind(fd, &name.any, size));
	if (r >= 0)
		r = RESULT(listen(fd, SYS_INET_BACKLOG));
	return r < 0 ? r : take_fd(&fd);
}

int sys_inet_bind_datagrams(const struct sys_inet *at)
{
	bool is_v6 = !sys_inet_is_v4(at);
	auto_fd int fd = -1;
	union name name = { 0 };
	socklen_t size = name_of(at, is_v6, &name);
	int r;

	fd = new_socket(is_v6, SOCK_DGRAM);
	if (fd < 0)
		return fd;
	if (is_v6) {
		r = set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
		if (r >= 0)
			r = set(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
		/* For an answer from a foreign address a route is not enough
		 * here, as it is for IPv4. */
		if (r >= 0)
			r = set(fd, IPPROTO_IPV6, K_IPV6_FREEBIND, 1);
	} else {
		r = set(fd, IPPROTO_IP, IP_PKTINFO, 1);
	}
	if (r >= 0)
		r = RESULT(bind(fd, &name.any, size));
	return r < 0 ? r : take_fd(&fd);
}

static int begin_connect(int fd, const struct sys_inet *to, bool is_v6)
{
	union name name = { 0 };
	socklen_t size = name_of(to, is_v6, &name);
	int r = RESULT(connect(fd, &name.any, size));

	return r == -EINPROGRESS || r == -EINTR ? 0 : r;
}

int sys_inet_dial(const struct sys_inet *to, bool is_stream, int *ret_fd)
{
	bool is_v6 = !sys_inet_is_v4(to);
	auto_fd int fd = -1;
	int r;

	fd = new_socket(is_v6, is_stream ? SOCK_STREAM : SOCK_DGRAM);
	if (fd < 0)
		return fd;
	r = begin_connect(fd, to, is_v6);
	if (r < 0)
		return r;
	*ret_fd = take_fd(&fd);
	return 0;
}

int sys_inet_spare(bool is_v6)
{
	auto_fd int fd = new_socket(is_v6, SOCK_STREAM);
	int r = fd < 0 || !is_v6 ? fd : sys_inet_reach_both(fd);

	return r < 0 ? r : take_fd(&fd);
}

int sys_inet_reach_both(int fd)
{
	return set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
}

int sys_inet_connect_spare(int fd, bool is_v6, const struct sys_inet *to)
{
	if (!is_v6 && !sys_inet_is_v4(to))
		return -EAFNOSUPPORT;
	return begin_connect(fd, to, is_v6);
}

int sys_inet_dissolve(int fd)
{
	const struct sockaddr none = { .sa_family = AF_UNSPEC };

	return RESULT(connect(fd, &none, sizeof(none)));
}

int sys_inet_accept(int fd)
{
	return RESULT(accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

int sys_inet_own(int fd, struct sys_inet *ret)
{
	union name name = { 0 };
	socklen_t size = sizeof(name);
	int r = RESULT(getsockname(fd, &name.any, &size));

	return r < 0 ? r : of_name(&name, ret);
}

int sys_inet_peer(int fd, struct sys_inet *ret)
{
	union name name = { 0 };
	socklen_t size = sizeof(name);
	int r = RESULT(getpeername(fd, &name.any, &size));

	return r < 0 ? r : of_name(&name, ret);
}

int sys_inet_original(int fd, struct sys_inet *ret)
{
	union name name = { 0 };
	socklen_t size = sizeof(name);
	int r = RESULT(getsockname(fd, &name.any, &size));
	int level;

	if (r < 0)
		return r;
	level = name.any.sa_family == AF_INET ? IPPROTO_IP : IPPROTO_IPV6;
	size = sizeof(name);
	r = RESULT(getsockopt(fd, level, K_SO_ORIGINAL_DST, &name, &size));
	return r < 0 ? r : of_name(&name, ret);
}

int sys_inet_failure(int fd)
{
	socklen_t size = sizeof(int);
	int error = 0;
	int r = RESULT(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size));

	return r < 0 ? r : -error;
}

void sys_inet_wait_for(int fd, int n)
{
	(void)set(fd, SOL_SOCKET, SO_RCVLOWAT, n);
}

void sys_inet_no_delay(int fd)
{
	(void)set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
}

void sys_inet_reset_on_close(int fd)
{
	const struct linger hard = { .l_onoff = 1 };

	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
}

bool sys_inet_has_ended(int fd)
{
	struct tcp_info info = { 0 };
	socklen_t size = sizeof(info);

	return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
	       info.tcpi_state != TCP_ESTABLISHED &&
	       info.tcpi_state != TCP_FIN_WAIT1 &&
	       info.tcpi_state != TCP_FIN_WAIT2;
}

static ssize_t receive(int fd, void *buf, size_t size, int flags)
{
	ssize_t n;

	do
		n = RESULT(recv(fd, buf, size, flags));
	while (n == -EINTR);
	return n;
}

ssize_t sys_inet_recv(int fd, void *buf, size_t size)
{
	return receive(fd, buf, size, MSG_DONTWAIT);
}

ssize_t sys_inet_peek(int fd, void *buf, size_t size)
{
	return receive(fd, buf, size, MSG_DONTWAIT | MSG_PEEK);
}

ssize_t sys_inet_send(int fd, const void *buf, size_t size)
{
	ssize_t n;

	do
		n = RESULT(send(fd, buf, size, MSG_DONTWAIT | MSG_NOSIGNAL));
	while (n == -EINTR);
	return n;
}

union control {
	char room[CONTROL_ROOM];
	struct cmsghdr head;
};

ssize_t sys_inet_hear(int fd, void *buf, size_t size,
		      struct sys_datagram *ret_about)
{
	union control control;
	struct iovec bytes = { buf, size };
	struct msghdr m = { .msg_name = &ret_about->from,
			    .msg_namelen = sizeof(ret_about->from),
			    .msg_iov = &bytes,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	ssize_t n;

	do
		n = RESULT(recvmsg(fd, &m, MSG_DONTWAIT));
	while (n == -EINTR);
	if (n < 0)
		return n;
	ret_about->from_size = m.msg_namelen;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
			struct in_pktinfo info;

			memcpy(&info, CMSG_DATA(c), sizeof(info));
			memcpy(&ret_about->to, &info.ipi_addr, 4);
			ret_about->is_v6 = false;
			return n;
		}
		if (c->cmsg_level == IPPROTO_IPV6 &&
		    c->cmsg_type == IPV6_PKTINFO) {
			struct in6_pktinfo info;

			memcpy(&info, CMSG_DATA(c), sizeof(info));
			ret_about->to = info.ipi6_addr;
			ret_about->is_v6 = true;
			return n;
		}
	}
	return -EBADMSG;
}

int sys_inet_answer(int fd, const void *buf, size_t size,
		    const struct sys_datagram *about)
{
	union control control;
	struct sockaddr_storage to = about->from;
	struct iovec bytes = { (void *)(uintptr_t)buf, size };
	struct msghdr m = { .msg_name = &to,
			    .msg_namelen = about->from_size,
			    .msg_iov = &bytes,
			    .msg_iovlen = 1,
			    .msg_control = &control };
	struct in6_pktinfo v6 = { .ipi6_addr = about->to };
	struct in_pktinfo v4 = { 0 };
	size_t n = about->is_v6 ? sizeof(v6) : sizeof(v4);

	memcpy(&v4.ipi_spec_dst, &about->to, 4);
	memset(&control, 0, sizeof(control));
	m.msg_controllen = CMSG_SPACE(n);
	control.head.cmsg_level = about->is_v6 ? IPPROTO_IPV6 : IPPROTO_IP;
	control.head.cmsg_type = about->is_v6 ? IPV6_PKTINFO : IP_PKTINFO;
	control.head.cmsg_len = CMSG_LEN(n);
	memcpy(CMSG_DATA(&control.head),
	       about->is_v6 ? (void *)&v6 : (void *)&v4, n);
	return (int)RESULT(sendmsg(fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL));
}

bool sys_inet_has_v6(void)
{
	auto_fd int fd = new_socket(true, SOCK_STREAM);

	return fd >= 0;
}

int sys_events_open(void)
{
	return RESULT(epoll_create1(EPOLL_CLOEXEC));
}

int sys_events_watch(int set, int fd, uint32_t events, void *source,
		     bool is_new)
{
	struct epoll_event e = { .events = events, .data.ptr = source };

	return RESULT(
		epoll_ctl(set, is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &e));
}

void sys_events_forget(int set, int fd)
{
	(void)epoll_ctl(set, EPOLL_CTL_DEL, fd, NULL);
}

int sys_events_wait(int set, struct sys_event *ret, int n, int ms)
{
	struct epoll_event events[SYS_EVENTS_MAX];
	int r;

	r = RESULT(epoll_wait(set, events,
			      n < SYS_EVENTS_MAX ? n : SYS_EVENTS_MAX, ms));
	if (r == -EINTR)
		return 0;
	for (int i = 0; i < r; i++)
		ret[i] = (struct sys_event){ events[i].events,
					     events[i].data.ptr };
	return r;
}
