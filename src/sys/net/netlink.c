/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/net/netlink.h"

#include "base/auto.h"
#include "sys/result.h"

#include <stdalign.h>
#include <string.h>
#include <sys/socket.h>

#define ANSWER_MAX 8192
#define ALIGNED(n) (((n) + 3) & ~(size_t)3)

/* The kernel's address: all zero behind the family. */
struct k_nladdr {
	uint16_t family, pad;
	uint32_t pid, groups;
};

/* What one datagram of answers says: how many there are, and the first fault.
 */
static unsigned take_answers(const char *at, size_t n, int *fault)
{
	struct k_nlmsg head;
	unsigned heard = 0;
	int32_t error;

	while (n >= sizeof(head)) {
		memcpy(&head, at, sizeof(head));
		if (head.len < sizeof(head) || head.len > n)
			break;
		if (head.type == K_NLM_TYPE_ERROR &&
		    head.len >= sizeof(head) + sizeof(error)) {
			memcpy(&error, at + sizeof(head), sizeof(error));
			heard++;
			if (*fault == 0)
				*fault = error;
		}
		if (ALIGNED(head.len) >= n)
			break;
		at += ALIGNED(head.len);
		n -= ALIGNED(head.len);
	}
	return heard;
}

int sys_netlink(int protocol, const void *messages, size_t size,
		unsigned n_acks)
{
	const struct k_nladdr kernel = { .family = AF_NETLINK };
	alignas(8) char answer[ANSWER_MAX];
	auto_fd int fd = -1;
	ssize_t n;
	int r = 0;

	fd = RESULT(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol));
	if (fd < 0)
		return fd;
	n = RESULT(sendto(fd, messages, size, 0, (const void *)&kernel,
			  sizeof(kernel)));
	if (n < 0)
		return (int)n;
	for (unsigned heard = 0; r == 0 && heard < n_acks;) {
		n = RESULT(recv(fd, answer, sizeof(answer), 0));
		if (n == -EINTR)
			continue;
		if (n < 0)
			return (int)n;
		heard += take_answers(answer, (size_t)n, &r);
	}
	return r;
}
