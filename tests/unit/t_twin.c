/* SPDX-License-Identifier: Apache-2.0 */
#include "box/notify/twin.h"

#include "changes/resource.h"
#include "strategy/moved.h"
#include "sys/fault.h"
#include "tap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The rename of a directory by a twin is killed, and fails, at each call that
 * changes something.  Then it is recovered, as the next worker does and as the
 * session does.  The directory has one of its names, whole, and nothing hidden
 * is left.  On directories of any file system: the steps are the same there.
 */

#define FILES	4
#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

/* In memory: the record is synced in each of some thousand rounds. */
static char top[] = "/dev/shm/holdback-twin.XXXXXX";
static int dir = -1;

static void write_file(const char *path, const char *text)
{
	int fd = openat(dir, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
			0640);

	CHECK(fd >= 0);
	CHECK_INT(write(fd, text, strlen(text)), (long)strlen(text));
	CHECK_INT(close(fd), 0);
}

/* "upper" is where the names lie; the record is beside it. */
static void begin(int n_files)
{
	char path[64];

	(void)memcpy(top + sizeof(top) - 7, "XXXXXX", 6);
	CHECK(mkdtemp(top) != NULL);
	dir = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(dir >= 0);
	CHECK_INT(mkdirat(dir, "upper", 0700), 0);
	CHECK_INT(mkdirat(dir, "upper/p", 0700), 0);
	CHECK_INT(mkdirat(dir, "upper/d", 0750), 0);
	CHECK_INT(mkdirat(dir, "upper/d/sub", 0700), 0);
	CHECK_INT(mkdirat(dir, "upper/d/sub/none", 0700), 0);
	CHECK_INT(symlinkat("f0", dir, "upper/d/link"), 0);
	for (int i = 0; i < n_files; i++) {
		(void)snprintf(path, sizeof(path), "upper/d/%sf%d",
			       i % 2 ? "sub/" : "", i);
		write_file(path, path);
	}
	CHECK_INT(fchmodat(dir, "upper/d/sub", 0500, 0), 0);
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static int open_one(const char *path, const struct stat *st, int type,
		    struct FTW *at)
{
	(void)at;
	return type == FTW_D || type == FTW_DNR
		       ? chmod(path, st->st_mode | 0700)
		       : 0;
}

static void end(void)
{
	CHECK_INT(close(dir), 0);
	CHECK_INT(nftw(top, open_one, 16, FTW_PHYS), 0);
	CHECK_INT(nftw(top, remove_one, 16, FTW_PHYS | FTW_DEPTH), 0);
}

static bool exists(const char *path)
{
	struct stat st;

	return fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       !S_ISCHR(st.st_mode);
}

/* All of it, with one name for each file. */
static void check_whole(const char *name, int n_files)
{
	char path[128];
	struct stat st;

	for (int i = 0; i < n_files; i++) {
		(void)snprintf(path, sizeof(path), "upper/%s/%sf%d", name,
			       i % 2 ? "sub/" : "", i);
		CHECK_INT(fstatat(dir, path, &st, 0), 0);
		CHECK_INT(st.st_nlink, 1);
		CHECK_INT(st.st_mode, S_IFREG | 0640);
	}
	(void)snprintf(path, sizeof(path), "upper/%s/sub/none", name);
	CHECK(exists(path));
	(void)snprintf(path, sizeof(path), "upper/%s/link", name);
	CHECK(exists(path));
	(void)snprintf(path, sizeof(path), "upper/%s", name);
	CHECK_INT(fstatat(dir, path, &st, 0), 0);
	CHECK_INT(st.st_mode, S_IFDIR | 0750);
	(void)snprintf(path, sizeof(path), "upper/%s/sub", name);
	CHECK_INT(fstatat(dir, path, &st, 0), 0);
	CHECK_INT(st.st_mode, S_IFDIR | 0500);
}

static void check_nothing_hidden(const char *path)
{
	int fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fdopendir(fd);

	CHECK(list != NULL);
	for (struct dirent *e; (e = readdir(list));)
		CHECK(strncmp(e->d_name, MOVING_HIDDEN,
			      strlen(MOVING_HIDDEN)) != 0);
	CHECK_INT(closedir(list), 0);
}

/* The one or the other; `is_new` if it has the new name. */
static void check_one(bool *ret_is_new, int n_files)
{
	*ret_is_new = exists("upper/p/e");
	CHECK_INT(exists("upper/d"), !*ret_is_new);
	check_whole(*ret_is_new ? "p/e" : "d", n_files);
	check_nothing_hidden("upper");
	check_nothing_hidden("upper/p");
}

static void open_twin(struct twin *t)
{
	*t = (struct twin){
		.old_dir = openat(dir, "upper", O_PATH | O_CLOEXEC),
		.new_dir = openat(dir, "upper/p", O_PATH | O_CLOEXEC),
		.old_name = "d",
		.new_name = "e",
		.record = openat(dir, MOVED_RECORD,
				 O_RDWR | O_CREAT | O_CLOEXEC, 0600),
		.entries_max = TWIN_ENTRIES_MAX,
		.bytes_max = TWIN_BYTES_MAX,
	};
	CHECK(t->old_dir >= 0 && t->new_dir >= 0 && t->record >= 0);
	(void)snprintf(t->moving.source, PATH_MAX, "d");
	(void)snprintf(t->moving.target, PATH_MAX, "p/e");
}

static void close_twin(const struct twin *t)
{
	CHECK_INT(close(t->old_dir), 0);
	CHECK_INT(close(t->new_dir), 0);
	CHECK_INT(close(t->record), 0);
}

/* In a child, which dies at its n-th passage; false: it came to its end. */
static bool is_killed(enum fault_mode mode, unsigned n, int (*work)(void))
{
	int status = 0;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		fault_arm(mode, n);
		_exit(work() < 0 ? 2 : 0);
	}
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK(!WIFEXITED(status) || WEXITSTATUS(status) != 2);
	return WIFSIGNALED(status);
}

static int rename_once(void)
{
	struct twin t;
	int r;

	open_twin(&t);
	r = twin_rename(&t);
	twin_forget(&t);
	return r;
}

/* As the next worker does: also what it says is true. */
static int recover_once(void)
{
	struct twin t;
	int r;

	open_twin(&t);
	r = twin_recover(&t);
	if (r == TWIN_DONE)
		twin_forget(&t);
	return r;
}

static int settle_once(void)
{
	struct resource resource = { .dir = dir };
	int r;

	resource.upper =
		openat(dir, "upper", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = moved_settle(&resource, NULL);
	(void)close(resource.upper);
	return r;
}

static const enum fault_mode kills[] = { FAULT_KILL, FAULT_KILL_AFTER };

/* Both answers must have been found on the way, or the loop shows nothing. */
static void kill_everywhere(int (*mend)(void))
{
	unsigned n_old = 0, n_new = 0;

	for (size_t m = 0; m < N_OF(kills); m++) {
		bool goes_on = true;

		for (unsigned n = 1; goes_on; n++) {
			bool is_new;

			begin(FILES);
			goes_on = is_killed(kills[m], n, rename_once);
			CHECK(mend() >= 0);
			check_one(&is_new, FILES);
			n_old += !is_new;
			n_new += is_new;
			end();
		}
	}
	CHECK(n_old > 10 && n_new > 10);
}

static void the_next_worker_ends_it(void)
{
	kill_everywhere(recover_once);
}

static void the_session_ends_it(void)
{
	kill_everywhere(settle_once);
}

/* What mends is killed as well, at every call, and called again. */
static void kill_mender(int (*mend)(void), unsigned first)
{
	bool is_killed_first = true;

	for (unsigned n = first; is_killed_first; n += 5) {
		bool goes_on = true;

		for (unsigned k = 1; goes_on; k++) {
			bool is_new;

			begin(FILES);
			is_killed_first = is_killed(FAULT_KILL, n, rename_once);
			goes_on = is_killed(FAULT_KILL, k, mend);
			CHECK(mend() >= 0);
			check_one(&is_new, FILES);
			end();
		}
	}
}

static void a_worker_that_recovers_can_be_killed(void)
{
	kill_mender(recover_once, 1);
	kill_mender(recover_once, 3);
}

static void a_session_that_settles_can_be_killed(void)
{
	kill_mender(settle_once, 1);
	kill_mender(settle_once, 3);
}

static void a_failure_leaves_the_source_or_the_target(void)
{
	static const struct {
		enum fault_mode mode;
		int error;
	} faults[] = {
		{ FAULT_EIO, TWIN_NOT_OURS },
		{ FAULT_ENOSPC, -ENOSPC },
		{ FAULT_EDQUOT, -EDQUOT },
	};

	for (size_t f = 0; f < N_OF(faults); f++) {
		unsigned n_passed = 1;

		for (unsigned n = 1; n <= n_passed; n++) {
			struct twin t;
			bool is_new;
			int r;

			begin(FILES);
			open_twin(&t);
			fault_arm(faults[f].mode, n);
			r = twin_rename(&t);
			n_passed = n == 1 ? 60 : n_passed;
			fault_arm(FAULT_NONE, 0);
			CHECK(r == TWIN_DONE || r == faults[f].error);
			/* What could not be removed is no failure. */
			if (r == TWIN_DONE)
				check_nothing_hidden("upper/p");
			else
				check_one(&is_new, FILES);
			CHECK_INT(exists("upper/p/e"), r == TWIN_DONE);
			close_twin(&t);
			end();
		}
	}
}

#define MANY 600

struct writer {
	unsigned n_asked;
};

/* Another process at work in the source, between two looks. */
static bool write_meanwhile(void *ctx)
{
	struct writer *w = ctx;

	if (++w->n_asked != 2)
		return true;
	write_file("upper/d/late", "late");
	write_file("upper/d/new", "replaced");
	CHECK_INT(renameat(dir, "upper/d/new", dir, "upper/d/f0"), 0);
	CHECK_INT(mkdirat(dir, "upper/d/later", 0700), 0);
	write_file("upper/d/later/x", "x");
	return true;
}

static void what_is_written_meanwhile_goes_along(void)
{
	struct writer w = { 0 };
	struct twin t;
	struct stat st;

	begin(MANY);
	open_twin(&t);
	t.is_wanted = write_meanwhile;
	t.ctx = &w;
	CHECK_INT(twin_rename(&t), TWIN_DONE);
	CHECK(w.n_asked > 1);
	CHECK(!exists("upper/d"));
	CHECK(exists("upper/p/e/late") && exists("upper/p/e/later/x"));
	CHECK_INT(fstatat(dir, "upper/p/e/f0", &st, 0), 0);
	CHECK_INT(st.st_size, (long)strlen("replaced"));
	close_twin(&t);
	end();
}

/*
 * Others at work
 * --------------
 *
 * Another process knows the target as soon as it is there, and the source until
 * then.  It comes before each call that changes something.  Its last word is
 * true at the end, as it is after a rename that takes no time.
 */

static bool had_effect; /* the other process could do its work */

/* The path of `name` in the directory, as it is called now. */
static const char *now(const char *name)
{
	static char path[2][64];
	static unsigned at;

	at = !at;
	(void)snprintf(path[at], sizeof(path[at]), "upper/%s/%s",
		       exists("upper/p/e") ? "p/e" : "d", name);
	return path[at];
}

static void delete_file(void)
{
	had_effect = unlinkat(dir, now("f0"), 0) == 0;
}

/* By a descriptor of the source, which it had before. */
static void delete_in_source(void)
{
	had_effect = unlinkat(dir, "upper/d/f0", 0) == 0;
}

static void replace_file(void)
{
	write_file("upper/other", "replaced");
	had_effect = renameat(dir, "upper/other", dir, now("f0")) == 0;
}

static void add_file(void)
{
	write_file(now("f9"), "added");
	had_effect = true;
}

static void append_to_file(void)
{
	int fd = openat(dir, now("f0"), O_WRONLY | O_APPEND | O_CLOEXEC);

	had_effect = fd >= 0 && write(fd, "more", 4) == 4;
	if (fd >= 0)
		CHECK_INT(close(fd), 0);
}

static void rename_file(void)
{
	had_effect = renameat(dir, now("f0"), dir, now("f9")) == 0;
}

static void replace_by_another(void)
{
	had_effect = renameat(dir, now("f2"), dir, now("f0")) == 0;
}

static void rename_below(void)
{
	had_effect = renameat(dir, now("sub/none"), dir, now("none")) == 0;
}

static long size_of(const char *path)
{
	struct stat st;

	return fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0
		       ? (long)st.st_size
		       : -1;
}

#define OLD_SIZE ((long)strlen("upper/d/f0"))
#define GONE	 (-1L)

/* What the other does, and then the size of f0, f2, f9, none and sub/none. */
static const struct other {
	void (*work)(void);
	long f0, f2, f9;
	bool has_none, has_sub_none;
} others[] = {
	{ delete_file, GONE, 10, GONE, false, true },
	{ delete_in_source, GONE, 10, GONE, false, true },
	{ replace_file, 8, 10, GONE, false, true },
	{ add_file, 10, 10, 5, false, true },
	{ append_to_file, 14, 10, GONE, false, true },
	{ rename_file, GONE, 10, 10, false, true },
	{ replace_by_another, 10, GONE, GONE, false, true },
	{ rename_below, 10, 10, GONE, true, false },
};

static void check_other(const struct other *o)
{
	CHECK_INT(size_of("upper/p/e/f0"), had_effect ? o->f0 : OLD_SIZE);
	CHECK_INT(size_of("upper/p/e/f2"), had_effect ? o->f2 : OLD_SIZE);
	CHECK_INT(size_of("upper/p/e/f9"), had_effect ? o->f9 : GONE);
	CHECK_INT(exists("upper/p/e/none"), had_effect && o->has_none);
	CHECK_INT(exists("upper/p/e/sub/none"), !had_effect || o->has_sub_none);
	CHECK_INT(size_of("upper/p/e/sub/f1"), OLD_SIZE + 4);
	CHECK(!exists("upper/d"));
	check_nothing_hidden("upper/p");
}

static void the_last_word_of_others_is_true(void)
{
	for (size_t i = 0; i < N_OF(others); i++) {
		unsigned n_passed = 1, n_effects = 0;

		for (unsigned n = 1; n <= n_passed; n++) {
			struct twin t;

			begin(FILES);
			CHECK_INT(fchmodat(dir, "upper/d/sub", 0700, 0), 0);
			open_twin(&t);
			had_effect = false;
			fault_other(others[i].work);
			fault_arm(FAULT_OTHER, n);
			CHECK_INT(twin_rename(&t), TWIN_DONE);
			n_passed = fault_passages();
			fault_arm(FAULT_NONE, 0);
			check_other(&others[i]);
			n_effects += had_effect;
			close_twin(&t);
			end();
		}
		CHECK(n_effects > 10);
	}
}

/* Nothing of two versions is lost if the worker dies as well. */
static bool has_size(const char *a, const char *b, long size)
{
	return size_of(a) == size || size_of(b) == size;
}

static int rename_beside_another(void)
{
	struct twin t;
	int r;

	open_twin(&t);
	r = twin_rename(&t);
	/* Not, if the other has made the target. */
	return r == -ENOTEMPTY ? 0 : r;
}

/* The other comes, and then the worker dies; in the child. */
static unsigned dies_behind;

static void replace_and_die(void)
{
	replace_file();
	fault_arm(FAULT_KILL, dies_behind);
}

static void a_new_version_outlives_a_killed_worker(int (*mend)(void))
{
	bool goes_on = true;

	for (unsigned n = 1; goes_on; n++) {
		for (dies_behind = 1; dies_behind < 4; dies_behind++) {
			fault_other(replace_and_die);
			begin(FILES);
			goes_on = is_killed(FAULT_OTHER, n,
					    rename_beside_another);
			CHECK(mend() >= 0);
			if (goes_on)
				CHECK(has_size("upper/d/f0", "upper/p/e/f0",
					       8));
			CHECK(has_size("upper/d/f2", "upper/p/e/f2", OLD_SIZE));
			end();
		}
	}
}

static void a_new_version_is_kept_by_the_next_worker(void)
{
	a_new_version_outlives_a_killed_worker(recover_once);
}

static void a_new_version_is_kept_by_the_session(void)
{
	a_new_version_outlives_a_killed_worker(settle_once);
}

/* Another makes the target; the rename fails then, also if it is killed. */
static void make_target_and_die(void)
{
	(void)mkdirat(dir, "upper/p/e", 0700);
	write_file("upper/p/e/x", "x");
	fault_arm(FAULT_KILL, dies_behind);
}

static void a_target_of_others_gets_nothing(int (*mend)(void))
{
	unsigned n_refused = 0;

	for (unsigned n = 1; n < 40; n++) {
		for (dies_behind = 1; dies_behind < 20; dies_behind++) {
			begin(FILES);
			fault_other(make_target_and_die);
			(void)is_killed(FAULT_OTHER, n, rename_beside_another);
			(void)is_killed(FAULT_KILL, dies_behind, mend);
			CHECK(mend() >= 0);
			CHECK_INT(exists("upper/d"), !exists("upper/p/e/f0"));
			check_whole(exists("upper/d") ? "d" : "p/e", FILES);
			check_nothing_hidden("upper/p");
			n_refused += exists("upper/d");
			end();
		}
	}
	CHECK(n_refused > 10);
}

static void a_target_of_others_and_the_next_worker(void)
{
	a_target_of_others_gets_nothing(recover_once);
}

static void a_target_of_others_and_the_session(void)
{
	a_target_of_others_gets_nothing(settle_once);
}

/* The record is on the disk before the step that it tells of. */
static void each_step_is_synced_before_it_is_made(void)
{
	static const char *const wanted[] = {
		"pwrite pwrite fsync mkdirat",
		"pwrite fsync renameat2",
	};
	struct twin t;
	const char *last;

	begin(0);
	open_twin(&t);
	fault_arm(FAULT_OTHER, 1000);
	CHECK_INT(twin_rename(&t), TWIN_DONE);
	for (size_t i = 0; i < N_OF(wanted); i++)
		CHECK(strstr(fault_trace(), wanted[i]) != NULL);
	last = strrchr(fault_trace(), ' ');
	CHECK(last && strcmp(last, " fsync") == 0);
	fault_arm(FAULT_NONE, 0);
	close_twin(&t);
	end();
}

static bool is_gone(void *ctx)
{
	struct writer *w = ctx;

	return ++w->n_asked < 2;
}

static void a_caller_that_is_gone_ends_it(void)
{
	struct writer w = { 0 };
	struct twin t;
	bool is_new;

	begin(MANY);
	open_twin(&t);
	t.is_wanted = is_gone;
	t.ctx = &w;
	CHECK_INT(twin_rename(&t), TWIN_NOT_OURS);
	check_one(&is_new, MANY);
	CHECK(!is_new);
	close_twin(&t);
	end();
}

static void limits_are_asked_first(void)
{
	struct twin t;
	bool is_new;

	begin(FILES);
	open_twin(&t);
	t.entries_max = FILES;
	fault_arm(FAULT_EIO, 1000);
	CHECK_INT(twin_rename(&t), TWIN_NOT_OURS);
	t.entries_max = TWIN_ENTRIES_MAX;
	t.bytes_max = 1;
	CHECK_INT(twin_rename(&t), TWIN_NOT_OURS);
	CHECK_INT(fault_passages(), 0);
	fault_arm(FAULT_NONE, 0);
	check_one(&is_new, FILES);
	close_twin(&t);
	end();
}

/* A new directory at the old name is none of ours. */
static void an_answered_rename_is_not_done_twice(void)
{
	struct twin t;

	begin(FILES);
	open_twin(&t);
	CHECK_INT(twin_rename(&t), TWIN_DONE);
	CHECK_INT(mkdirat(dir, "upper/d", 0700), 0);
	write_file("upper/d/mine", "mine");
	CHECK_INT(twin_recover(&t), TWIN_DONE);
	CHECK(exists("upper/d/mine"));
	CHECK_INT(settle_once(), 0);
	CHECK(exists("upper/d/mine"));
	close_twin(&t);
	end();
}

/* The record lies in a file that a power cut may have spoiled. */
static void a_record_that_leads_out_is_not_followed(void)
{
	static const struct {
		const char *source, *target, *hidden;
	} bad[] = {
		{ "../upper/d", "p/e", MOVING_HIDDEN "0" },
		{ "d", "p/../../e", MOVING_HIDDEN "0" },
		{ "/d", "p/e", MOVING_HIDDEN "0" },
		{ "d", "p/e", "d" },
		{ "d", "p/e", MOVING_HIDDEN "/../d" },
		{ "", "p/e", MOVING_HIDDEN "0" },
	};

	for (size_t i = 0; i < N_OF(bad); i++) {
		struct moving m = { .step = MOVING_SWAP };

		(void)snprintf(m.source, PATH_MAX, "%s", bad[i].source);
		(void)snprintf(m.target, PATH_MAX, "%s", bad[i].target);
		(void)snprintf(m.hidden, sizeof(m.hidden), "%s", bad[i].hidden);
		CHECK(!moving_is_sound(&m));
	}
}

TESTS(T(the_next_worker_ends_it), T(the_session_ends_it),
      T(a_worker_that_recovers_can_be_killed),
      T(a_session_that_settles_can_be_killed),
      T(a_failure_leaves_the_source_or_the_target),
      T(what_is_written_meanwhile_goes_along),
      T(the_last_word_of_others_is_true),
      T(a_new_version_is_kept_by_the_next_worker),
      T(a_new_version_is_kept_by_the_session),
      T(a_target_of_others_and_the_next_worker),
      T(a_target_of_others_and_the_session),
      T(each_step_is_synced_before_it_is_made),
      T(a_caller_that_is_gone_ends_it), T(limits_are_asked_first),
      T(an_answered_rename_is_not_done_twice),
      T(a_record_that_leads_out_is_not_followed))
