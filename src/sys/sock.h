/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SYS_SOCK_H
#define HB_SYS_SOCK_H

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
 * A TCP socket that listens on a port of the loopback, which the kernel
 * chooses; and whether one can be connected to.
 */
int sys_tcp_listen(int *ret_port);
int sys_tcp_reach(int port);

/* One record, whole or not at all.  -EPIPE when nobody is there any more. */
int sys_send_record(int fd, const void *record, size_t size);

/* The same, but -EAGAIN rather than wait. */
int sys_offer_record(int fd, const void *record, size_t size);

/*
 * One record of exactly `size` bytes.  1: a record, 0: end of file, -EBADMSG:
 * some other size.  *ret_pid, if not NULL, is the sender as seen from here, 0
 * if not told.
 */
int sys_recv_record(int fd, void *record, size_t size, pid_t *ret_pid);

#endif
