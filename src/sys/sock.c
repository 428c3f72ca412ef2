/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/sock.h"

#include "base/auto.h"
#include "sys/result.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* More than one box ever has waiting at once; the kernel has its own limit. */
#define BACKLOG 4096

union control {
	struct cmsghdr head; /* for its alignment */
	char room[CMSG_SPACE(sizeof(struct ucred)) +
		  CMSG_SPACE(SYS_RECORD_FDS * sizeof(int))];
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

int sys_send_to(const char *name, const void *text, size_t n)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t len = strlen(name);
	auto_fd int fd = -1;

	if (len == 0 || len >= sizeof(to.sun_path))
		return -EINVAL;
	memcpy(to.sun_path, name, len);
	if (name[0] == '@')
		to.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	return RESULT(sendto(
		fd, text, n, MSG_DONTWAIT | MSG_NOSIGNAL, (void *)&to,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)));
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

int sys_send_record_fds(int fd, const void *record, size_t size, const int *fds,
			size_t n)
{
	union control control = { 0 };
	/* sendmsg() does not write. */
	struct iovec part = { .iov_base = (void *)(uintptr_t)record,
			      .iov_len = size };
	struct msghdr msg = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t sent;

	if (n > SYS_RECORD_FDS)
		return -E2BIG;
	if (n > 0) {
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(n * sizeof(int));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(&control.head), fds, n * sizeof(int));
	}
	do
		sent = sendmsg(fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (sent < 0 && errno == EINTR);
	if (sent < 0)
		return -errno;
	return (size_t)sent == size ? 0 : -EBADMSG;
}

/* Descriptors of one header: to the caller's array, or closed. */
static void take_fds(const struct cmsghdr *c, int *ret_fds, size_t *n)
{
	size_t sent = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

	for (size_t i = 0; i < sent; i++) {
		int fd;

		memcpy(&fd, CMSG_DATA(c) + i * sizeof(fd), sizeof(fd));
		if (ret_fds && *n < SYS_RECORD_FDS)
			ret_fds[*n] = fd;
		else
			(void)close(fd);
		++*n;
	}
}

/*
 * Takes what came beside a record.  `*ret_n` is how many descriptors were sent:
 * those that are not wanted, or too many, are closed.
 */
static void take_control(struct msghdr *msg, pid_t *ret_pid, int *ret_fds,
			 size_t *ret_n)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c;
	     c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SCM_CREDENTIALS && ret_pid) {
			struct ucred cred;

			memcpy(&cred, CMSG_DATA(c), sizeof(cred));
			*ret_pid = cred.pid;
		}
		if (c->cmsg_type == SCM_RIGHTS)
			take_fds(c, ret_fds, ret_n);
	}
}

static int recv_with(int fd, void *record, size_t size, pid_t *ret_pid,
		     int *ret_fds, size_t *ret_n)
{
	union control control = { 0 };
	struct iovec part = { .iov_base = record, .iov_len = size };
	struct msghdr msg = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control.room),
	};
	size_t n_fds = 0, n_kept;
	bool is_whole;
	ssize_t n;

	do
		n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (ret_pid)
		*ret_pid = 0;
	take_control(&msg, ret_pid, ret_fds, &n_fds);
	n_kept = n_fds < SYS_RECORD_FDS ? n_fds : SYS_RECORD_FDS;
	is_whole = (size_t)n == size && !(msg.msg_flags & MSG_TRUNC) &&
		   (!ret_fds ||
		    (n_fds <= SYS_RECORD_FDS && !(msg.msg_flags & MSG_CTRUNC)));
	if (!is_whole) {
		for (size_t i = 0; ret_fds && i < n_kept; i++)
			(void)close(ret_fds[i]);
		return n == 0 ? 0 : -EBADMSG;
	}
	if (ret_n)
		*ret_n = n_fds;
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

int sys_recv_record(int fd, void *record, size_t size, pid_t *ret_pid)
{
	return recv_with(fd, record, size, ret_pid, NULL, NULL);
}

int sys_recv_record_fds(int fd, void *record, size_t size, pid_t *ret_pid,
			int ret_fds[SYS_RECORD_FDS], size_t *ret_n)
{
	*ret_n = 0;
	return recv_with(fd, record, size, ret_pid, ret_fds, ret_n);
}

int sys_peer(int fd, struct sys_peer *ret_peer)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
		return -errno;
	ret_peer->pid = cred.pid;
	ret_peer->uid = cred.uid;
	return 0;
}

bool sys_is_socket_path(const char *path)
{
	return strlen(path) < sizeof(((struct sockaddr_un *)NULL)->sun_path);
}

/* There is no bindat(): the directory is reached by its magic link. */
static int fill_name(struct sockaddr_un *name, int dirfd, const char *path)
{
	size_t size = sizeof(name->sun_path);
	int n;

	name->sun_family = AF_UNIX;
	n = path[0] == '/' ? snprintf(name->sun_path, size, "%s", path)
			   : snprintf(name->sun_path, size,
				      "/proc/self/fd/%d/%s", dirfd, path);
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

static int record_socket(int flags)
{
	return RESULT(
		socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0));
}

int sys_listen_at(int dirfd, const char *name)
{
	struct sockaddr_un address;
	auto_fd int fd = -1;
	int r;

	r = fill_name(&address, dirfd, name);
	if (r < 0)
		return r;
	/* The client may be gone again before we look. */
	fd = record_socket(SOCK_NONBLOCK);
	if (fd < 0)
		return fd;
	if (bind(fd, (void *)&address, sizeof(address)) < 0)
		return -errno;
	if (listen(fd, BACKLOG) < 0)
		return -errno;
	return take_fd(&fd);
}

int sys_listen_again(int fd)
{
	return RESULT(listen(fd, BACKLOG));
}

int sys_connect_at(int dirfd, const char *name)
{
	struct sockaddr_un address;
	auto_fd int fd = -1;
	int r;

	r = fill_name(&address, dirfd, name);
	if (r < 0)
		return r;
	fd = record_socket(0);
	if (fd < 0)
		return fd;
	do
		r = connect(fd, (void *)&address, sizeof(address));
	while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : take_fd(&fd);
}

int sys_accept(int fd)
{
	return RESULT(accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

void sys_hang_up(int fd)
{
	(void)shutdown(fd, SHUT_WR);
}
