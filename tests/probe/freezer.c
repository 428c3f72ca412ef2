/* SPDX-License-Identifier: Apache-2.0 */
#include "box/door.h"
#include "box/frozen.h"
#include "box/knock.h"
#include "holdback/error.h"
#include "sys/sock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/*
 * Freezes the box behind a door, from outside:
 *
 *	freezer SOCKET TIMES [wait]
 *
 * With a third word a freeze lasts until there is something on stdin.  A line
 * for each says how many threads were held, whether one ran meanwhile, and the
 * microseconds from begin to end.  If one ran, the freeze is made again, three
 * times at most, as by all that freeze a box.
 */
#define TRIES 3

static long long now_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

static int fail(const struct hb_error *err)
{
	(void)printf("failed %d %s (%s)\n", err->code, err->text, err->fix);
	return 1;
}

int main(int argc, char **argv)
{
	int times = argc > 2 ? atoi(argv[2]) : 1;
	int left = TRIES;
	char byte;
	struct door_greeting greeting;
	struct hb_error err = { 0 };
	int fds[SYS_RECORD_FDS];
	size_t n = 0;
	int door = argc > 1 ? sys_connect_at(AT_FDCWD, argv[1]) : -1;

	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	if (door < 0 || knock_greeting(door, 1, &greeting, fds, &n, &err) < 0)
		return fail(&err);
	n -= greeting.has_cgroup != 0;
	for (int i = 0; i < times; i++) {
		const struct freeze_way way = { .ns = greeting.ns,
						.namespaces =
							fds + DOOR_NAMESPACES,
						.n = n - DOOR_NAMESPACES };
		struct freeze f = FREEZE_NONE;
		long long begin = now_us();
		unsigned held;
		int r = freeze_begin(&f, &way, &err);

		if (r < 0)
			return fail(&err);
		held = f.n_threads;
		(void)printf("frozen %u\n", held);
		if (argc > 3)
			(void)!read(STDIN_FILENO, &byte, 1);
		r = freeze_check(&f, &err);
		if (r < 0) {
			freeze_end(&f);
			return fail(&err);
		}
		freeze_end(&f);
		(void)printf("held %u still %d us %lld\n", held, r,
			     now_us() - begin);
		left = r > 0 ? TRIES : left - 1;
		if (r == 0 && left > 0)
			i--;
	}
	return 0;
}
