/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net_load serve ADDRESS PORT | connect HOST PORT N | rr HOST PORT N |
 *       down HOST PORT MIB | up HOST PORT MIB | many HOST PORT N
 *
 * The median in us, the speed in MB/s, or the time of all in ms.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static char buffer[1 << 20];

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static void one_client(int fd)
{
	char head[16] = "";
	ssize_t n = recv(fd, head, sizeof(head), MSG_WAITALL);
	long mib = atol(head + 1);

	if (n != sizeof(head))
		_exit(0);
	if (head[0] == 'D')
		for (long i = 0; i < mib; i++)
			if (send(fd, buffer, sizeof(buffer), 0) < 0)
				break;
	if (head[0] == 'U') {
		while (recv(fd, buffer, sizeof(buffer), 0) > 0)
			;
		(void)!send(fd, "k", 1, 0);
	}
	if (head[0] == 'R')
		while ((n = recv(fd, buffer, sizeof(buffer), 0)) > 0)
			(void)!send(fd, buffer, (size_t)n, 0);
	_exit(0);
}

/* PORT answers by a process for each; PORT+1 greets with a byte and closes;
 * PORT+2 is an echo of one process. */
static int serve(const char *address, int port)
{
	int l[3], ep = epoll_create1(0), one = 1;
	struct epoll_event e, events[256];

	signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < 3; i++) {
		struct sockaddr_in at = { .sin_family = AF_INET,
					  .sin_port =
						  htons((uint16_t)(port + i)) };

		inet_pton(AF_INET, address, &at.sin_addr);
		l[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		setsockopt(l[i], SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		if (bind(l[i], (struct sockaddr *)&at, sizeof(at)) < 0 ||
		    listen(l[i], 4096) < 0)
			return 1;
		e = (struct epoll_event){ .events = EPOLLIN, .data.fd = l[i] };
		epoll_ctl(ep, EPOLL_CTL_ADD, l[i], &e);
	}
	for (;;) {
		int n = epoll_wait(ep, events, 256, -1);

		for (int i = 0; i < n; i++) {
			int fd = events[i].data.fd, c;

			if (fd != l[0] && fd != l[1] && fd != l[2]) {
				ssize_t m = recv(fd, buffer, 65536, 0);

				if (m <= 0)
					close(fd);
				else
					(void)!send(fd, buffer, (size_t)m, 0);
				continue;
			}
			c = accept(fd, NULL, NULL);
			if (c < 0)
				continue;
			setsockopt(c, SOL_TCP, TCP_NODELAY, &one, sizeof(one));
			if (fd == l[0]) {
				if (fork() == 0)
					one_client(c);
				close(c);
			} else if (fd == l[1]) {
				(void)!send(c, "x", 1, 0);
				close(c);
			} else {
				e.data.fd = c;
				e.events = EPOLLIN;
				epoll_ctl(ep, EPOLL_CTL_ADD, c, &e);
			}
		}
	}
}

static struct sockaddr_storage to;
static socklen_t to_size;

static int dial(int flags)
{
	int fd = socket(to.ss_family, SOCK_STREAM | flags, 0), one = 1;

	setsockopt(fd, SOL_TCP, TCP_NODELAY, &one, sizeof(one));
	if (connect(fd, (struct sockaddr *)&to, to_size) < 0 &&
	    errno != EINPROGRESS) {
		perror("connect");
		exit(1);
	}
	return fd;
}

static int order(const void *a, const void *b)
{
	double d = *(const double *)a - *(const double *)b;

	return d < 0 ? -1 : d > 0;
}

static void show(double *t, int n)
{
	qsort(t, (size_t)n, sizeof(*t), order);
	printf("%.1f\n", t[n / 2]);
}

/* The median of `n` connections with a first byte each, in us. */
static int measure_connect(double *t, int n)
{
	char byte;

	for (int i = 0; i < n; i++) {
		double t0 = now_us();
		int fd = dial(0);

		if (recv(fd, &byte, 1, 0) != 1)
			return 1;
		t[i] = now_us() - t0;
		close(fd);
	}
	show(t, n);
	return 0;
}

static int measure_round_trip(double *t, int n)
{
	char head[16] = "R", byte;
	int fd = dial(0);

	(void)!send(fd, head, sizeof(head), 0);
	for (int i = 0; i < n; i++) {
		double t0 = now_us();

		(void)!send(fd, "x", 1, 0);
		if (recv(fd, &byte, 1, 0) != 1)
			return 1;
		t[i] = now_us() - t0;
	}
	show(t, n);
	return 0;
}

static int send_all(int fd, int mib)
{
	char byte;
	ssize_t m;

	for (int i = 0; i < mib; i++)
		for (size_t off = 0; off < sizeof(buffer); off += (size_t)m) {
			m = send(fd, buffer + off, sizeof(buffer) - off, 0);
			if (m <= 0)
				return 1;
		}
	shutdown(fd, SHUT_WR);
	return recv(fd, &byte, 1, 0) != 1;
}

static int measure_speed(char way, int mib)
{
	double t0 = now_us();
	char head[16] = "";
	int fd = dial(0);
	size_t total = (size_t)mib << 20, got = 0;
	ssize_t m;

	(void)snprintf(head, sizeof(head), "%c%d", way, mib);
	(void)!send(fd, head, sizeof(head), 0);
	if (way == 'U' && send_all(fd, mib) != 0)
		return 1;
	while (way == 'D' && (m = recv(fd, buffer, sizeof(buffer), 0)) > 0)
		got += (size_t)m;
	if (way == 'D' && got != total)
		return 1;
	printf("%.0f\n", (double)total / (now_us() - t0));
	return 0;
}

static int measure_many(int n)
{
	int *fds = calloc((size_t)n, sizeof(int)), bad = 0;
	double t0 = now_us();
	struct rlimit limit;

	if (!fds)
		return 1;
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	for (int i = 0; i < n; i++)
		fds[i] = dial(SOCK_NONBLOCK);
	for (int i = 0; i < 2 * n; i++) {
		struct pollfd p = { fds[i % n], i < n ? POLLOUT : POLLIN, 0 };

		poll(&p, 1, 5000);
		/* No text: that could be the beginning of a request. */
		bad += i < n ? send(p.fd, "\1hell", 5, 0) != 5
			     : recv(p.fd, buffer, 5, 0) != 5;
	}
	printf("%.1f\n", (now_us() - t0) / 1e3);
	return bad > 0;
}

int main(int argc, char **argv)
{
	struct addrinfo *a,
		hint = { .ai_socktype = SOCK_STREAM, .ai_family = AF_INET };
	double *t;
	int n;

	if (argc > 3 && strcmp(argv[1], "serve") == 0)
		return serve(argv[2], atoi(argv[3]));
	if (argc < 5 || getaddrinfo(argv[2], argv[3], &hint, &a) != 0)
		return 2;
	n = atoi(argv[4]);
	memcpy(&to, a->ai_addr, a->ai_addrlen);
	to_size = a->ai_addrlen;
	t = calloc((size_t)n, sizeof(*t));
	if (!t)
		return 1;
	if (strcmp(argv[1], "connect") == 0)
		return measure_connect(t, n);
	if (strcmp(argv[1], "rr") == 0)
		return measure_round_trip(t, n);
	if (strcmp(argv[1], "many") == 0)
		return measure_many(n);
	return measure_speed(strcmp(argv[1], "down") == 0 ? 'D' : 'U', n);
}
