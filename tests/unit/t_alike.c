/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeout: 300
 *
 * What is alike in upper and base: which of it goes, which is noted, and that
 * neither a crash nor a damaged list changes what the view shows.
 */
#include "changes/alike/alike.h"

#include "changes/alike/alike_list.h"
#include "sys/fault.h"
#include "world.h"

#include "tap.h"

#include <signal.h>

#define LIST "alike"

static void check_text(const char *got, const char *want)
{
	if (strcmp(got, want) != 0)
		printf("# got:\n%s\n# expected:\n%s\n", got, want);
	CHECK(strcmp(got, want) == 0);
}

static int note(const struct world *w)
{
	return alike_note(&w->resources[0], false, NULL);
}

static int drop(const struct world *w)
{
	return alike_drop(&w->resources[0], NULL, NULL);
}

static void put_copied_dir(int dir, const char *path)
{
	put_dir(dir, path);
	set_origin(dir, path);
}

/* Each kind of copy once; directories have their times at the end. */
static void build(struct world *w)
{
	static const char *const dirs[] = { "all",    "d", "gone/in", "gone",
					    "locked", "m", "opaque" };
	int b, u;

	world_init(w, 1, false);
	b = w->base[0];
	u = w->upper[0];
	put_dir(b, "gone");
	put_copied_dir(u, "gone");
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		char path[64];

		if (strcmp(dirs[i], "gone") != 0) {
			put_dir(b, dirs[i]);
			put_copied_dir(u, dirs[i]);
		}
		(void)snprintf(path, sizeof(path), "%s/f", dirs[i]);
		lay_file(b, path, "same", 0644, WORLD_OLD);
		lay_file(u, path, "same", 0644,
			 strncmp(dirs[i], "gone", 4) == 0 ? WORLD_NEW
							  : WORLD_OLD);
	}
	lay_file(b, "d/touched", "same", 0644, WORLD_OLD);
	lay_file(u, "d/touched", "same", 0644, WORLD_NEW);
	lay_file(b, "d/other", "old", 0644, WORLD_OLD);
	lay_file(u, "d/other", "new", 0644, WORLD_OLD);
	lay_file(b, "d/mode", "same", 0644, WORLD_OLD);
	lay_file(u, "d/mode", "same", 0600, WORLD_OLD);
	lay_file(b, "d/twice", "same", 0644, WORLD_OLD);
	lay_file(u, "d/twice", "same", 0644, WORLD_OLD);
	CHECK_INT(linkat(u, "d/twice", u, "d/again", 0), 0);
	lay_file(u, "d/new", "new", 0644, WORLD_NEW);
	put_whiteout(u, "d/none");
	set_opaque(u, "opaque");
	CHECK_INT(fchmodat(u, "m", 0700, 0), 0);
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		set_mtime(b, dirs[i], WORLD_OLD);
		set_mtime(u, dirs[i], WORLD_OLD);
	}
	set_mtime(u, "d", WORLD_NEW);
	CHECK_INT(fchmodat(b, "locked", 0555, 0), 0);
	CHECK_INT(fchmodat(u, "locked", 0555, 0), 0);
	set_mtime(u, ".", WORLD_NEW);
}

static void list_names(int dir, const char *prefix, struct buf *out)
{
	struct dirent **names = NULL;
	int n = scandirat(dir, ".", &names, NULL, alphasort);

	CHECK(n >= 0);
	for (int i = 0; i < n; i++) {
		const char *name = names[i]->d_name;
		char path[600];
		struct stat st;

		if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0) {
			(void)snprintf(path, sizeof(path), "%.300s%.255s",
				       prefix, name);
			(void)buf_add_fmt(out, "%s ", path);
			CHECK_INT(fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW),
				  0);
			if (S_ISDIR(st.st_mode)) {
				int fd = world_dir(dir, name);

				(void)snprintf(path, sizeof(path),
					       "%.300s%.255s/", prefix, name);
				list_names(fd, path, out);
				(void)close(fd);
			}
		}
		free(names[i]);
	}
	free(names);
}

static void check_upper(const struct world *w, const char *want)
{
	struct buf out = BUF_INIT(4096);

	list_names(w->upper[0], "", &out);
	check_text(buf_str(&out), want);
	buf_done(&out);
}

static bool is_there(int dir, const char *name, struct stat *ret)
{
	return dir >= 0 && fstatat(dir, name, ret, AT_SYMLINK_NOFOLLOW) == 0;
}

static void show_dir(int upper, int base, const char *prefix, bool with_times,
		     struct buf *out);

/* What an overlay shows of one name. */
static void show_name(int upper, int base, const char *name, const char *prefix,
		      bool with_times, struct buf *out)
{
	struct stat u, b;
	bool has_upper = is_there(upper, name, &u);
	bool has_base = is_there(base, name, &b);
	const struct stat *st = has_upper ? &u : &b;
	char path[600], text[64] = "";
	int fd;

	if (has_upper && S_ISCHR(u.st_mode))
		return;
	(void)snprintf(path, sizeof(path), "%.300s%.255s/", prefix, name);
	(void)buf_add_fmt(out, "%s %o %d", path, st->st_mode, (int)st->st_uid);
	if (with_times || !S_ISDIR(st->st_mode))
		(void)buf_add_fmt(out, " %lld.%ld",
				  (long long)st->st_mtim.tv_sec,
				  st->st_mtim.tv_nsec);
	if (!S_ISDIR(st->st_mode)) {
		fd = openat(has_upper ? upper : base, name,
			    O_RDONLY | O_CLOEXEC);
		CHECK(read(fd, text, sizeof(text) - 1) >= 0);
		(void)close(fd);
		(void)buf_add_fmt(out, " %s\n", text);
		return;
	}
	(void)buf_add_char(out, '\n');
	if (has_base && S_ISDIR(b.st_mode) &&
	    !(has_upper && strcmp(name, "opaque") == 0))
		base = world_dir(base, name);
	else
		base = -1;
	upper = has_upper ? world_dir(upper, name) : -1;
	show_dir(upper, base, path, with_times, out);
	(void)close(upper);
	(void)close(base);
}

static void show_dir(int upper, int base, const char *prefix, bool with_times,
		     struct buf *out)
{
	int dirs[2] = { upper, base };

	for (int i = 0; i < 2; i++) {
		struct dirent **names = NULL;
		int n = dirs[i] < 0 ? 0
				    : scandirat(dirs[i], ".", &names, NULL,
						alphasort);

		for (int k = 0; k < n; k++) {
			const char *name = names[k]->d_name;
			struct stat st;

			/* What the upper has was shown then. */
			if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
			    !(i == 1 && is_there(upper, name, &st)))
				show_name(upper, base, name, prefix, with_times,
					  out);
			free(names[k]);
		}
		free(names);
	}
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The view as text, in an order that does not tell which side has what. */
static char *view(const struct world *w, bool with_times)
{
	struct buf out = BUF_INIT(65536), sorted = BUF_INIT(65536);
	char *lines[256], *rest, *line, *text = NULL;
	size_t n = 0, len;

	show_dir(w->upper[0], w->base[0], "", with_times, &out);
	rest = out.data;
	while ((line = strsep(&rest, "\n")) && n < 256)
		lines[n++] = line;
	qsort(lines, n, sizeof(lines[0]), compare_lines);
	for (size_t i = 0; i < n; i++)
		(void)buf_add_fmt(&sorted, "%s\n", lines[i]);
	CHECK_INT(buf_take(&sorted, &text, &len), 0);
	buf_done(&out);
	return text;
}

#define NOTED                                                                  \
	"d d/again d/mode d/new d/none d/other d/touched d/twice gone gone/f " \
	"gone/in gone/in/f locked locked/f m opaque opaque/f "

/* As root the directory without write permission is no obstacle. */
#define NOTED_BY_ROOT                                                          \
	"d d/again d/mode d/new d/none d/other d/touched d/twice gone gone/f " \
	"gone/in gone/in/f locked m opaque opaque/f "

static const char *noted(void)
{
	return geteuid() == 0 ? NOTED_BY_ROOT : NOTED;
}

static void what_equals_below_in_everything_goes(void)
{
	struct world w;
	char *before, *after;

	build(&w);
	before = view(&w, true);
	CHECK_INT(note(&w), 0);
	check_upper(&w, noted());
	after = view(&w, true);
	check_text(after, before);
	CHECK_INT(note(&w), 0);
	check_upper(&w, noted());
	CHECK_INT(drop(&w), 0);
	check_upper(&w, noted());
	free(before);
	free(after);
	world_done(&w);
}

/* The user edits one, and removes a directory with two. */
static void meddle(const struct world *w)
{
	int gone = world_dir(w->base[0], "gone");

	put_file(w->base[0], "d/touched", "edited");
	put_file(w->base[0], "d/mode", "edited");
	put_file(w->base[0], "d/other", "edited");
	put_file(w->base[0], "opaque/f", "edited");
	tree_empty(gone);
	(void)close(gone);
	CHECK_INT(unlinkat(w->base[0], "gone", AT_REMOVEDIR), 0);
}

static void a_later_change_of_the_base_wins(void)
{
	struct world w;
	struct stat st;

	build(&w);
	CHECK_INT(note(&w), 0);
	meddle(&w);
	CHECK_INT(drop(&w), 0);
	CHECK(!is_there(w.upper[0], "d/touched", &st));
	CHECK(!is_there(w.upper[0], "gone", &st));
	CHECK(is_there(w.upper[0], "d/mode", &st));
	CHECK(is_there(w.upper[0], "d/other", &st));
	CHECK(is_there(w.upper[0], "opaque/f", &st));
	CHECK(is_there(w.upper[0], "d", &st));
	CHECK_INT(st.st_mtim.tv_sec, WORLD_NEW);
	world_done(&w);
}

/* From the first box on: the note outlives another one. */
static void a_note_stays_while_the_upper_is_as_it_was(void)
{
	struct world w;
	struct stat st;

	build(&w);
	CHECK_INT(note(&w), 0);
	meddle(&w);
	CHECK_INT(note(&w), 0);
	CHECK_INT(drop(&w), 0);
	CHECK(!is_there(w.upper[0], "d/touched", &st));
	world_done(&w);
}

static void what_was_written_since_is_not_dropped(void)
{
	struct world w;
	struct stat st;

	build(&w);
	CHECK_INT(note(&w), 0);
	put_file(w.upper[0], "d/touched", "same");
	meddle(&w);
	CHECK_INT(drop(&w), 0);
	CHECK(is_there(w.upper[0], "d/touched", &st));
	CHECK_INT(note(&w), 0);
	CHECK_INT(drop(&w), 0);
	CHECK(is_there(w.upper[0], "d/touched", &st));
	world_done(&w);
}

/* A list that is not whole, or not ours, says nothing. */
static void a_damaged_list_is_none(void)
{
	struct world w;
	struct stat st, list;
	char byte;
	int fd;

	build(&w);
	CHECK_INT(note(&w), 0);
	meddle(&w);
	CHECK(is_there(w.dir[0], LIST, &list));
	for (off_t at = 0; at < list.st_size; at += 7) {
		fd = openat(w.dir[0], LIST, O_RDWR | O_CLOEXEC);
		CHECK(pread(fd, &byte, 1, at) == 1);
		byte = (char)(byte ^ 1);
		CHECK(pwrite(fd, &byte, 1, at) == 1);
		CHECK_INT(drop(&w), 0);
		CHECK(is_there(w.upper[0], "d/touched", &st));
		byte = (char)(byte ^ 1);
		CHECK(pwrite(fd, &byte, 1, at) == 1);
		(void)close(fd);
	}
	fd = openat(w.dir[0], LIST, O_RDWR | O_CLOEXEC);
	CHECK_INT(ftruncate(fd, list.st_size - 1), 0);
	(void)close(fd);
	CHECK_INT(drop(&w), 0);
	CHECK(is_there(w.upper[0], "d/touched", &st));
	CHECK_INT(unlinkat(w.dir[0], LIST, 0), 0);
	CHECK_INT(symlinkat("/dev/zero", w.dir[0], LIST), 0);
	CHECK_INT(drop(&w), 0);
	CHECK_INT(unlinkat(w.dir[0], LIST, 0), 0);
	CHECK_INT(mkfifoat(w.dir[0], LIST, 0600), 0);
	CHECK_INT(drop(&w), 0);
	CHECK_INT(note(&w), 0);
	CHECK_INT(drop(&w), 0);
	CHECK(is_there(w.upper[0], "d/touched", &st));
	world_done(&w);
}

/* A list with a good sum and paths that lead out of the upper. */
static void a_path_that_leads_out_is_not_followed(void)
{
	static const char *const paths[] = { "..", "../base0", "../base0/x" };
	struct spilled r = { .change = { .kind = ALIKE_OTHER, .path = "." } };
	struct spill list;
	struct world w;
	struct stat st;

	build(&w);
	lay_file(w.base[0], "x", "precious", 0644, WORLD_OLD);
	CHECK_INT(alike_list_begin(&list, w.dir[0], LIST, NULL), 0);
	CHECK_INT(spill_add(&list, &r, NULL), 0);
	for (size_t i = 0; i < 3; i++) {
		CHECK(is_there(w.base[0], i == 2 ? "x" : ".", &st));
		r.change.kind = ALIKE_SAME;
		r.change.path = paths[i];
		r.change.new = (struct entry){
			.type = i == 2 ? ENTRY_FILE : ENTRY_DIR,
			.ino = st.st_ino,
			.mode = st.st_mode & 07777,
			.uid = st.st_uid,
			.gid = st.st_gid,
			.ctime = st.st_ctim,
		};
		CHECK_INT(spill_add(&list, &r, NULL), 0);
	}
	CHECK_INT(alike_list_end(&list, NULL), 0);
	spill_done(&list);
	CHECK_INT(drop(&w), 0);
	CHECK(is_there(w.base[0], "x", &st));
	world_done(&w);
}

/* In a child, which may die of it; false: it was not reached. */
static bool act_in_child(const struct world *w,
			 int (*act)(const struct world *), enum fault_mode mode,
			 unsigned n)
{
	int status;
	pid_t pid;

	(void)fflush(stdout);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		fault_arm(mode, n);
		(void)act(w);
		_exit(fault_passages() >= n ? 1 : 0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	return WIFSIGNALED(status) || WEXITSTATUS(status) == 1;
}

static const enum fault_mode modes[] = { FAULT_KILL, FAULT_KILL_AFTER,
					 FAULT_EIO, FAULT_ENOSPC, FAULT_DEAD };

#define N_MODES (sizeof(modes) / sizeof(modes[0]))

/* At any call: the view is the same, and the next one ends as if nothing was.
 */
static void noting_can_be_killed_anywhere(void)
{
	unsigned n_faults = 0;

	for (size_t i = 0; i < N_MODES; i++) {
		bool hit = true;

		for (unsigned n = 1; hit; n++) {
			char *before[2], *after[2];
			struct world w;

			build(&w);
			before[0] = view(&w, false);
			before[1] = view(&w, true);
			hit = act_in_child(&w, note, modes[i], n);
			n_faults += hit;
			after[0] = view(&w, false);
			check_text(after[0], before[0]);
			/* Whatever comes next begins with one of the two. */
			CHECK_INT(n % 2 ? drop(&w) : note(&w), 0);
			after[1] = view(&w, true);
			check_text(after[1], before[1]);
			CHECK_INT(note(&w), 0);
			check_upper(&w, noted());
			for (int k = 0; k < 2; k++) {
				free(before[k]);
				free(after[k]);
			}
			world_done(&w);
		}
	}
	printf("# %u faults\n", n_faults);
	CHECK(n_faults > 50);
}

static void dropping_can_be_killed_anywhere(void)
{
	struct buf want = BUF_INIT(4096);
	unsigned n_faults = 0;
	struct world w;

	build(&w);
	CHECK_INT(note(&w), 0);
	meddle(&w);
	CHECK_INT(drop(&w), 0);
	list_names(w.upper[0], "", &want);
	world_done(&w);
	for (size_t i = 0; i < N_MODES; i++) {
		bool hit = true;

		for (unsigned n = 1; hit; n++) {
			build(&w);
			CHECK_INT(note(&w), 0);
			meddle(&w);
			hit = act_in_child(&w, drop, modes[i], n);
			n_faults += hit;
			CHECK_INT(drop(&w), 0);
			check_upper(&w, buf_str(&want));
			world_done(&w);
		}
	}
	buf_done(&want);
	printf("# %u faults\n", n_faults);
	CHECK(n_faults > 20);
}

TESTS(T(what_equals_below_in_everything_goes),
      T(a_later_change_of_the_base_wins),
      T(a_note_stays_while_the_upper_is_as_it_was),
      T(what_was_written_since_is_not_dropped), T(a_damaged_list_is_none),
      T(a_path_that_leads_out_is_not_followed),
      T(noting_can_be_killed_anywhere), T(dropping_can_be_killed_anywhere))
