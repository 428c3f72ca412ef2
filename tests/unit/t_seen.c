/* SPDX-License-Identifier: Apache-2.0 */
#include "store/seen.h"

#include "base/auto.h"
#include "base/error.h"
#include "changes/conflict.h"
#include "sys/fault.h"

#include "tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MANY 5000

static char top[4096];
static int dir;

static void begin(void)
{
	const char *tmp = getenv("TMPDIR");

	(void)snprintf(top, sizeof(top), "%s/seen.XXXXXX", tmp ? tmp : "/tmp");
	CHECK(mkdtemp(top));
	dir = open(top, O_RDONLY | O_DIRECTORY);
	CHECK(dir >= 0);
}

static void end(void)
{
	(void)unlinkat(dir, "seen", 0);
	CHECK_INT(close(dir), 0);
	CHECK_INT(rmdir(top), 0);
}

/* Adds paths named by `prefix` and a number that is their inode, too. */
static void add(const char *prefix, unsigned n, uint64_t ino, bool drop_older)
{
	struct seen_file old;
	struct seen_log log;

	CHECK_INT(seen_open(dir, &old, NULL), 0);
	seen_log_begin(dir, &old, &log);
	for (unsigned i = 0; i < n; i++) {
		char path[64];
		struct seen seen = { .path = path,
				     .base_ino = ino + i,
				     .base_ctime = { (time_t)i, 7 },
				     .layer_ino = i + 1,
				     .layer_ctime = { 8, (long)i } };

		(void)snprintf(path, sizeof(path), "%s%u", prefix, i);
		CHECK_INT(seen_log_add(&log, &seen, NULL), 0);
	}
	CHECK_INT(seen_log_end(&log, drop_older, NULL), 0);
	seen_done(&old);
}

static bool find(const char *prefix, unsigned i, struct seen *ret)
{
	struct seen_file seen;
	char path[64];
	bool found;

	(void)snprintf(path, sizeof(path), "%s%u", prefix, i);
	CHECK_INT(seen_open(dir, &seen, NULL), 0);
	found = seen_find(&seen, path, ret);
	seen_done(&seen);
	return found;
}

static void what_was_added_is_found(void)
{
	struct seen_file seen;
	struct seen got;

	begin();
	CHECK(!find("p", 0, &got));
	add("p", MANY, 1000, false);
	CHECK_INT(seen_open(dir, &seen, NULL), 0);
	/* Who looks nothing up has read nothing. */
	CHECK(!seen.is_read && seen.n == 0);
	CHECK(!seen_find(&seen, "q", &got));
	CHECK_INT(seen.n, MANY);
	for (unsigned i = 0; i < MANY; i++) {
		char path[64];

		(void)snprintf(path, sizeof(path), "p%u", i);
		CHECK(seen_find(&seen, path, &got));
		CHECK(got.base_ino == 1000 + i && got.layer_ino == i + 1);
		CHECK_INT(got.conflict, CONFLICT_NONE);
		CHECK(got.base_ctime.tv_sec == i &&
		      got.base_ctime.tv_nsec == 7);
		CHECK(got.layer_ctime.tv_sec == 8);
		CHECK(got.layer_ctime.tv_nsec == (long)i);
	}
	CHECK(!seen_find(&seen, "p", &got) && !seen_find(&seen, "", &got));
	seen_done(&seen);
	end();
}

static void a_conflict_that_came_back_is_found(void)
{
	const struct seen back = { .path = "p1",
				   .base_ctime = { 5, 6 },
				   .conflict = CONFLICT_MISSING };
	struct seen_file old;
	struct seen_log log;
	struct seen got;

	begin();
	add("p", 3, 1, false);
	CHECK_INT(seen_open(dir, &old, NULL), 0);
	seen_log_begin(dir, &old, &log);
	CHECK_INT(seen_log_add(&log, &back, NULL), 0);
	CHECK_INT(seen_log_end(&log, false, NULL), 0);
	seen_done(&old);
	CHECK(find("p", 1, &got));
	CHECK_INT(got.conflict, CONFLICT_MISSING);
	CHECK(got.base_ino == 0 && got.layer_ino == 0);
	CHECK(got.base_ctime.tv_sec == 5 && got.base_ctime.tv_nsec == 6);
	CHECK(find("p", 2, &got) && got.conflict == CONFLICT_NONE);
	/* The next commit of it ends that. */
	add("p", 2, 7, false);
	CHECK(find("p", 1, &got) && got.conflict == CONFLICT_NONE);
	end();
}

static void the_latest_counts(void)
{
	struct seen got;

	begin();
	add("p", 10, 1, false);
	add("p", 5, 100, false);
	CHECK(find("p", 4, &got) && got.base_ino == 104);
	CHECK(find("p", 5, &got) && got.base_ino == 6);
	end();
}

static void the_older_ones_can_be_dropped(void)
{
	struct seen got;

	begin();
	add("old", 10, 1, false);
	add("new", 10, 50, true);
	CHECK(!find("old", 1, &got));
	CHECK(find("new", 9, &got) && got.base_ino == 59);
	add("none", 0, 0, true);
	CHECK(!find("new", 9, &got));
	end();
}

static void a_torn_end_is_cut_off(void)
{
	struct seen got;
	struct stat st;
	auto_fd int fd = -1;

	begin();
	add("p", 10, 1, false);
	fd = openat(dir, "seen", O_RDWR);
	CHECK(fd >= 0 && fstat(fd, &st) == 0);
	for (off_t size = st.st_size - 1; size > st.st_size - 60; size--) {
		CHECK_INT(ftruncate(fd, size), 0);
		CHECK(find("p", 8, &got) && !find("p", 9, &got));
	}
	/* What comes after it is found: the rest is not in between. */
	add("q", 3, 70, false);
	CHECK(find("p", 8, &got) && find("q", 2, &got) && got.base_ino == 72);
	end();
}

static void a_flipped_byte_is_not_believed(void)
{
	struct seen got;
	struct stat st;
	auto_fd int fd = -1;
	unsigned char byte;

	begin();
	add("p", 3, 1, false);
	fd = openat(dir, "seen", O_RDWR);
	CHECK(fd >= 0 && fstat(fd, &st) == 0);
	for (off_t at = 8; at < st.st_size; at++) {
		CHECK_INT(pread(fd, &byte, 1, at), 1);
		byte ^= 0x10;
		CHECK_INT(pwrite(fd, &byte, 1, at), 1);
		/* One of them is gone, and none is another than it was. */
		for (unsigned i = 0; i < 3; i++)
			CHECK(!find("p", i, &got) || got.base_ino == 1 + i);
		CHECK(!find("p", 2, &got));
		byte ^= 0x10;
		CHECK_INT(pwrite(fd, &byte, 1, at), 1);
	}
	end();
}

static void a_file_with_another_head_is_empty(void)
{
	struct seen got;
	auto_fd int fd = -1;

	begin();
	fd = openat(dir, "seen", O_WRONLY | O_CREAT, 0600);
	CHECK_INT(write(fd, "something else", 14), 14);
	CHECK(!find("p", 0, &got));
	add("p", 3, 1, false);
	CHECK(find("p", 2, &got) && got.base_ino == 3);
	end();
}

/*
 * Whichever call fails while it is begun, either the log says so before
 * anything was to be told, or what is told later is found.
 */
static void no_fault_at_the_begin_hides_what_follows(void)
{
	static const enum fault_mode modes[] = { FAULT_EIO, FAULT_ENOSPC };
	const struct seen seen = { .path = "p0", .base_ino = 7 };

	for (size_t m = 0; m < 2; m++) {
		unsigned n_passed = 0;

		for (unsigned n = 1; n == 1 || n <= n_passed; n++) {
			struct seen_file old;
			struct seen_log log;
			struct seen got;
			int r;

			begin();
			CHECK_INT(seen_open(dir, &old, NULL), 0);
			seen_log_begin(dir, &old, &log);
			fault_arm(modes[m], n);
			r = seen_log_open(&log, 10, NULL);
			if (n == 1)
				n_passed = 4;
			CHECK(n > 3 || r < 0);
			/* The fault of the end is none of the begin. */
			if (r < 0)
				r = seen_log_open(&log, 10, NULL);
			CHECK_INT(r, 0);
			(void)seen_log_add(&log, &seen, NULL);
			(void)seen_log_sync(&log, NULL);
			fault_arm(FAULT_NONE, 0);
			CHECK_INT(seen_log_add(&log, &seen, NULL), 0);
			CHECK_INT(seen_log_end(&log, false, NULL), 0);
			seen_done(&old);
			CHECK(find("p", 0, &got) && got.base_ino == 7);
			end();
		}
	}
}

/* And gives what is left of it back. */
static void the_log_keeps_room(void)
{
	struct seen_file old;
	struct seen_log log;
	struct stat st;

	begin();
	CHECK_INT(seen_open(dir, &old, NULL), 0);
	seen_log_begin(dir, &old, &log);
	CHECK_INT(seen_log_open(&log, MANY, NULL), 0);
	CHECK_INT(fstatat(dir, "seen", &st, 0), 0);
	CHECK(st.st_blocks * 512 >= (blkcnt_t)MANY * 256);
	CHECK_INT(st.st_size, 8);
	CHECK_INT(seen_log_end(&log, false, NULL), 0);
	CHECK_INT(fstatat(dir, "seen", &st, 0), 0);
	CHECK(st.st_blocks * 512 < (blkcnt_t)MANY * 256);
	seen_done(&old);
	end();
}

/* A log of the file system that has its size, and not what is in it. */
static void a_file_that_was_begun_is_empty(void)
{
	static const off_t sizes[] = { 0, 8, 4096 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct seen got;
		auto_fd int fd = -1;

		begin();
		fd = openat(dir, "seen", O_WRONLY | O_CREAT, 0600);
		CHECK_INT(ftruncate(fd, sizes[i]), 0);
		CHECK(!find("p", 0, &got));
		add("p", 3, 1, false);
		CHECK(find("p", 2, &got) && got.base_ino == 3);
		end();
	}
}

TESTS(T(what_was_added_is_found), T(a_conflict_that_came_back_is_found),
      T(the_latest_counts), T(the_older_ones_can_be_dropped),
      T(a_torn_end_is_cut_off), T(a_flipped_byte_is_not_believed),
      T(a_file_with_another_head_is_empty),
      T(no_fault_at_the_begin_hides_what_follows), T(the_log_keeps_room),
      T(a_file_that_was_begun_is_empty))
