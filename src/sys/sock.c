/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/sock.h"

#include "base/auto.h"
#include "sys/result.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

union credentials {
	struct cmsghdr head; /* for its alignment */
	char room[CMSG_SPACE(sizeof(struct ucred))];
};

int sys_socket_pair(int *ret_a, int *ret_b)
{
	int s[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s) < 0)
		return -errno;
	*ret_a = s[0];
	*ret_b = s[1];
	return 0;
}

int sys_abstract_socket(void)
{
	struct sockaddr_un unnamed = { .sun_family = AF_UNIX };
	auto_fd int fd = -1;

	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (bind(fd, (void *)&unnamed, sizeof(unnamed.sun_family)) < 0)
		return -errno;
	return take_fd(&fd);
}

int sys_abstract_reach(int fd)
{
	struct sockaddr_un name;
	socklen_t len = sizeof(name);
	auto_fd int from = -1;

	if (getsockname(fd, (void *)&name, &len) < 0)
		return -errno;
	from = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (from < 0)
		return -errno;
	return RESULT(connect(from, (void *)&name, len));
}

int sys_want_credentials(int fd)
{
	const int on = 1;

	return RESULT(setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)));
}

static int send_with(int fd, const void *record, size_t size, int flags)
{
	ssize_t n;

	do
		n = send(fd, record, size, MSG_NOSIGNAL | flags);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return (size_t)n == size ? 0 : -EBADMSG;
}

int sys_send_record(int fd, const void *record, size_t size)
{
	return send_with(fd, record, size, 0);
}

int sys_offer_record(int fd, const void *record, size_t size)
{
	return send_with(fd, record, size, MSG_DONTWAIT);
}

int sys_recv_record(int fd, void *record, size_t size, pid_t *ret_pid)
{
	union credentials control = { 0 };
	struct iovec part = { .iov_base = record, .iov_len = size };
	struct msghdr msg = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control.room),
	};
	struct cmsghdr *c;
	ssize_t n;

	do
		n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (ret_pid)
		*ret_pid = 0;
	if (n == 0)
		return 0;
	if ((size_t)n != size || msg.msg_flags & MSG_TRUNC)
		return -EBADMSG;
	c = CMSG_FIRSTHDR(&msg);
	if (ret_pid && c && c->cmsg_level == SOL_SOCKET &&
	    c->cmsg_type == SCM_CREDENTIALS) {
		struct ucred cred;

		memcpy(&cred, CMSG_DATA(c), sizeof(cred));
		*ret_pid = cred.pid;
	}
	return 1;
}

static struct sockaddr_in loopback_port(int port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons((uint16_t)port),
	};
}

int sys_tcp_listen(int *ret_port)
{
	struct sockaddr_in at = loopback_port(0);
	socklen_t size = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int r;

	if (fd < 0)
		return -errno;
	r = bind(fd, (const struct sockaddr *)&at, sizeof(at));
	if (r == 0)
		r = listen(fd, 8);
	if (r == 0)
		r = getsockname(fd, (struct sockaddr *)&at, &size);
	if (r < 0) {
		r = -errno;
		(void)close(fd);
		return r;
	}
	*ret_port = ntohs(at.sin_port);
	return fd;
}

int sys_tcp_reach(int port)
{
	const struct sockaddr_in at = loopback_port(port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int r;

	if (fd < 0)
		return -errno;
	r = RESULT(connect(fd, (const struct sockaddr *)&at, sizeof(at)));
	(void)close(fd);
	return r;
}
