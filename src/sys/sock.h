/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SYS_SOCK_H
#define HB_SYS_SOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Record sockets; conventions of sys/file.h. */

/*
 * A connected pair of SOCK_SEQPACKET sockets, both close-on-exec.
 */
int sys_socket_pair(int *ret_a, int *ret_b);

/* From here on `fd` also receives who sent a record (sys_recv_record). */
int sys_want_credentials(int fd);

/*
 * A socket under an abstract name that the kernel chooses, and whether a new
 * one can reach it.  Landlock keeps apart what was made before and after it.
 */
int sys_abstract_socket(void);
int sys_abstract_reach(int fd);

/*
 * Sends a datagram to the socket of that name, without waiting.  A name that
 * begins with '@' is abstract.
 */
int sys_send_to(const char *name, const void *text, size_t n);

/*
 * A TCP socket that listens on a port of the loopback, which the kernel
 * chooses; and whether one can be connected to.
 */
int sys_tcp_listen(int *ret_port);
int sys_tcp_reach(int port);

/* One record, whole or not at all.  -EPIPE when the peer is gone. */
int sys_send_record(int fd, const void *record, size_t size);

/* The same, but -EAGAIN rather than wait. */
int sys_offer_record(int fd, const void *record, size_t size);

/*
 * One record of exactly `size` bytes.  1: a record, 0: end of file, -EBADMSG:
 * some other size.  *ret_pid, if not NULL, is the sender as seen from here, 0
 * if not told.
 */
int sys_recv_record(int fd, void *record, size_t size, pid_t *ret_pid);

/* So many descriptors go with one record. */
#define SYS_RECORD_FDS 9

/*
 * The same with descriptors.  Sending never waits: -EAGAIN.  What is received
 * is the caller's to close, close-on-exec: the first *ret_n of `ret_fds`, 0 of
 * them unless 1 is returned.  A peer that sends more than SYS_RECORD_FDS has
 * sent no record: all of them are closed, -EBADMSG.
 */
int sys_send_record_fds(int fd, const void *record, size_t size, const int *fds,
			size_t n);
int sys_recv_record_fds(int fd, void *record, size_t size, pid_t *ret_pid,
			int ret_fds[SYS_RECORD_FDS], size_t *ret_n);

/* Who is at the other end: who called connect(), or listen(). */
struct sys_peer {
	pid_t pid; /* as seen from here */
	uid_t uid;
};
int sys_peer(int fd, struct sys_peer *ret_peer);

/*
 * A record socket that listens as `name` in `dirfd`, and a socket connected to
 * it.  `name` may also be absolute.  -ECONNREFUSED: it exists and no process
 * listens.
 */
int sys_listen_at(int dirfd, const char *name);

/* From here on sys_peer() of those who connect names us, who got it by fork. */
int sys_listen_again(int fd);
int sys_connect_at(int dirfd, const char *name);

/* Whether an absolute path is short enough to be connected to. */
bool sys_is_socket_path(const char *path);

/* The next who has connected; never waits: -EAGAIN. */
int sys_accept(int fd);

/* The other end sees that nothing more will come. */
void sys_hang_up(int fd);

#endif
