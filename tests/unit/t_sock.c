/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/file.h"
#include "sys/sock.h"

#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MANY   40
#define RECORD 7

static int n_open(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* As a peer may, and sys_send_record_fds() may not. */
static void send_many(int fd, size_t n)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(MANY * sizeof(int))];
	} control = { 0 };
	int record = RECORD;
	struct iovec part = { .iov_base = &record, .iov_len = sizeof(record) };
	struct msghdr msg = { .msg_iov = &part,
			      .msg_iovlen = 1,
			      .msg_control = n ? &control : NULL,
			      .msg_controllen =
				      n ? CMSG_SPACE(n * sizeof(int)) : 0 };

	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	control.head.cmsg_len = CMSG_LEN(n * sizeof(int));
	for (size_t i = 0; i < n; i++)
		memcpy(CMSG_DATA(&control.head) + i * sizeof(int), &fd,
		       sizeof(fd));
	CHECK_INT(sendmsg(fd, &msg, 0), sizeof(record));
}

/* What is behind the array must not be touched. */
struct received {
	int fds[SYS_RECORD_FDS];
	int wall[MANY];
};

static void receive(bool with_credentials, size_t n)
{
	struct received got;
	int a, b, record = 0, before, r;
	size_t n_fds = 99;
	pid_t sender;

	CHECK_INT(sys_socket_pair(&a, &b), 0);
	if (with_credentials)
		CHECK_INT(sys_want_credentials(b), 0);
	memset(&got, 0x55, sizeof(got));
	send_many(a, n);
	before = n_open();
	r = sys_recv_record_fds(b, &record, sizeof(record), &sender, got.fds,
				&n_fds);
	for (size_t i = 0; i < MANY; i++)
		CHECK_INT(got.wall[i], 0x55555555);
	if (n > SYS_RECORD_FDS) {
		CHECK_INT(r, -EBADMSG);
		CHECK_INT(n_open(), before);
	} else {
		CHECK_INT(r, 1);
		CHECK_INT(record, RECORD);
		CHECK_INT(n_fds, n);
		CHECK_INT(n_open(), before + (int)n);
		for (size_t i = 0; i < n; i++)
			sys_close(got.fds[i]);
	}
	sys_close(a);
	sys_close(b);
}

static void no_more_descriptors_are_taken_than_there_is_room_for(void)
{
	for (size_t n = 0; n <= MANY; n++) {
		receive(false, n);
		receive(true, n);
	}
}

static void descriptors_beside_a_plain_record_are_closed(void)
{
	for (size_t n = 1; n <= MANY; n++) {
		int a, b, record = 0, before;

		CHECK_INT(sys_socket_pair(&a, &b), 0);
		send_many(a, n);
		before = n_open();
		CHECK_INT(sys_recv_record(b, &record, sizeof(record), NULL), 1);
		CHECK_INT(record, RECORD);
		CHECK_INT(n_open(), before);
		sys_close(a);
		sys_close(b);
	}
}

TESTS(T(no_more_descriptors_are_taken_than_there_is_room_for),
      T(descriptors_beside_a_plain_record_are_closed))
