/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SYS_SOCK_H
#define HB_SYS_SOCK_H

#include <stddef.h>
#include <sys/types.h>

/* Pipes and record sockets; conventions of sys/file.h. */

/* Both ends are close-on-exec. */
int sys_pipe(int *ret_rd, int *ret_wr);

/*
 * A connected pair of SOCK_SEQPACKET sockets, both close-on-exec.  `ret_a` also
 * receives the sender's credentials (sys_recv_record).
 */
int sys_socket_pair(int *ret_a, int *ret_b);

/* One record, whole or not at all.  -EPIPE when nobody is there any more. */
int sys_send_record(int fd, const void *record, size_t size);

/* The same, as the process `pid` of our namespace: needs CAP_SYS_ADMIN. */
int sys_send_record_as(int fd, const void *record, size_t size, pid_t pid);

/*
 * One record of exactly `size` bytes.  1: a record, 0: end of file, -EBADMSG:
 * some other size.  *ret_pid, if not NULL, is the sender as seen from here, 0
 * if not told.
 */
int sys_recv_record(int fd, void *record, size_t size, pid_t *ret_pid);

#endif
