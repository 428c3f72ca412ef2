/* SPDX-License-Identifier: Apache-2.0 */
#include "git/kept/kept_file.h"
#include "git/kept/kept_refs.h"

#include "base/buf.h"
#include "git/gitrefs.h"
#include "git/reflog.h"
#include "git/refname.h"
#include "gitworld.h"
#include "sys/fault.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define LIMIT	 ((size_t)1 << 20)

static void a_record_is_read_back(void)
{
	struct kept_refs back = { 0 };
	struct gitworld w;

	world_init(&w, "git branch a; git branch b/c; git tag t; "
		       "git pack-refs --all; git branch d; "
		       "git symbolic-ref refs/remotes/o/HEAD refs/heads/d; "
		       "git worktree add -q ../other a; "
		       "echo x >>f1; git stash -q; echo y >>f2; git stash -q");
	CHECK(strcmp(kept_refs_value(&w.kept, "HEAD"),
		     "ref: refs/heads/master") == 0);
	CHECK(strcmp(kept_refs_value(&w.kept, "worktrees/other/HEAD"),
		     "ref: refs/heads/a") == 0);
	CHECK(strcmp(kept_refs_value(&w.kept, "refs/remotes/o/HEAD"),
		     "ref: refs/heads/d") == 0);
	CHECK_INT(w.kept.n_stash, 2);
	CHECK_INT(kept_refs_add_made(&w.kept, "refs/heads/d"), 0);
	CHECK_INT(kept_refs_store(w.top, ".git", 0, &w.kept), 0);
	CHECK_INT(kept_refs_load(w.top, ".git", 0, &back), 0);
	CHECK_INT(back.n, w.kept.n);
	for (size_t i = 0; i < back.n; i++) {
		CHECK(strcmp(back.refs[i].name, w.kept.refs[i].name) == 0);
		CHECK(strcmp(back.refs[i].value, w.kept.refs[i].value) == 0);
	}
	CHECK_INT(back.n_stash, 2);
	CHECK(strcmp(back.stash[1], w.kept.stash[1]) == 0);
	CHECK(kept_refs_is_made(&back, "refs/heads/d"));
	CHECK(!kept_refs_is_made(&back, "refs/heads/a"));
	/* git has the same. */
	for (size_t i = 0; i < back.n; i++)
		if (strncmp(back.refs[i].name, "refs/", 5) == 0 &&
		    strncmp(back.refs[i].value, "ref:", 4) != 0)
			CHECK(world_is(&w,
				       "test $(git -C base rev-parse %s) = %s",
				       back.refs[i].name, back.refs[i].value));
	CHECK(world_is(&w, "test $(git -C base for-each-ref | wc -l) = %zu",
		       back.n - 2));
	kept_refs_done(&back);
	CHECK_INT(kept_refs_load(w.top, "elsewhere", 0, &back), -ENOENT);
	world_done(&w);
}

static void a_torn_record_is_none(void)
{
	struct buf text = BUF_INIT(LIMIT);
	struct kept_refs refs = { 0 }, back = { 0 };

	CHECK_INT(kept_refs_add(&refs, "HEAD", "ref: refs/heads/x"), 0);
	CHECK_INT(kept_refs_write(&refs, &text), 0);
	CHECK_INT(kept_refs_parse(text.data, text.len, &back), 0);
	kept_refs_done(&back);
	for (size_t n = 0; n < text.len; n++)
		CHECK_INT(kept_refs_parse(text.data, n, &back), -EBADMSG);
	for (size_t i = 0; i < text.len; i++) {
		text.data[i] ^= 1;
		CHECK_INT(kept_refs_parse(text.data, text.len, &back),
			  -EBADMSG);
		text.data[i] ^= 1;
	}
	kept_refs_done(&refs);
	buf_done(&text);
}

static void names_clash_as_files_do(void)
{
	struct kept_refs refs = { 0 };

	CHECK_INT(kept_refs_add(&refs, "refs/heads/a/b", "x"), 0);
	CHECK_INT(kept_refs_add(&refs, "refs/heads/a-b", "x"), 0);
	CHECK_INT(kept_refs_add(&refs, "refs/heads/c", "x"), 0);
	kept_refs_sort(&refs);
	CHECK(kept_refs_clash(&refs, "refs/heads/a"));
	CHECK(kept_refs_clash(&refs, "refs/heads/c/d"));
	CHECK(kept_refs_clash(&refs, "refs/heads/a/b/c"));
	CHECK(!kept_refs_clash(&refs, "refs/heads/a/c"));
	CHECK(!kept_refs_clash(&refs, "refs/heads/a/b"));
	CHECK(!kept_refs_clash(&refs, "refs/heads/b"));
	kept_refs_done(&refs);
}

static void a_linked_or_foreign_head_has_no_record(void)
{
	struct kept_refs refs = { 0 };
	struct gitworld w;

	world_init(&w, ":");
	world_run(&w, "cd base/.git; mkdir reftable");
	CHECK_INT(kept_refs_look(w.top, "base/.git", &refs), -ENOTSUP);
	world_run(&w, "cd base/.git; rmdir reftable; mv HEAD x; ln -s x HEAD");
	CHECK_INT(kept_refs_look(w.top, "base/.git", &refs), -ENOTSUP);
	world_run(&w, "cd base/.git; rm HEAD; mkdir HEAD");
	CHECK_INT(kept_refs_look(w.top, "base/.git", &refs), -ENOTSUP);
	world_done(&w);
}

static void names_are_judged_as_git_does(void)
{
	static const char *const names[] = {
		"refs/heads/a",	    "refs/heads/a.lock", "refs/heads/.a",
		"refs/heads/a..b",  "refs/heads/a~b",	 "refs/heads/a^b",
		"refs/heads/a:b",   "refs/heads/a?b",	 "refs/heads/a*b",
		"refs/heads/a[b",   "refs/heads/a\\b",	 "refs/heads/a b",
		"refs/heads//b",    "refs/heads/b/",	 "refs/heads/a@{b",
		"refs/heads/@",	    "refs/heads/a.",	 "refs/heads/a.b",
		"refs/heads/-a",    "refs/heads/a\tb",	 "refs/heads/\303\244",
		"refs/heads/a\177", "refs/heads/a./b",	 "refs/heads/a.lock/b",
	};
	struct gitworld w;

	world_init(&w, ":");
	for (size_t i = 0; i < COUNT(names); i++) {
		bool is_valid =
			world_is(&w, "git check-ref-format '%s'", names[i]);

		if (refname_is_valid(names[i]) != is_valid)
			printf("# %s\n", names[i]);
		CHECK(refname_is_valid(names[i]) == is_valid);
	}
	for (size_t i = 0; i < COUNT(names); i++) {
		struct buf name = BUF_INIT(LIMIT);

		CHECK_INT(buf_add_str(&name, "refs/heads/"), 0);
		refname_add_component(&name, names[i] + strlen("refs/heads/"));
		CHECK_INT(name.error, 0);
		CHECK(refname_is_valid(name.data));
		buf_done(&name);
	}
	world_done(&w);
}

static void a_log_has_whole_lines_alone(void)
{
#define ID "0123456789012345678901234567890123456789"
	static const char text[] =
		ID " " ID " U <u@e> 1 +0000\tone\n"
		   "nonsense\n" ID " " ID " no person\ttwo\n" ID " " ID
		   " U <u@e> 2 +0000\n" ID " " ID " U <u@e> 3 +0000\tcut";
	struct reflog_line line;
	const char *at = text;

	CHECK_INT(reflog_next(&at, &line), 1);
	CHECK(strncmp(line.who, "U <u@e> 1 +0000\tone", line.who_len + 4) == 0);
	CHECK_INT(reflog_next(&at, &line), 1);
	CHECK_INT(line.who_len, 15);
	CHECK_INT(reflog_next(&at, &line), 0);
}

static bool is_two(void *ctx, uint64_t id)
{
	(void)ctx;
	return id == 2;
}

static bool is_stored(int dir, uint64_t id, const char *value)
{
	struct kept_refs back = { 0 };
	bool is = kept_refs_load(dir, ".git", id, &back) == 0 &&
		  strcmp(kept_refs_value(&back, "HEAD"), value) == 0;

	kept_refs_done(&back);
	return is;
}

static void store(int dir, uint64_t id, const char *value)
{
	struct kept_refs refs = { 0 };

	CHECK_INT(kept_refs_add(&refs, "HEAD", value), 0);
	CHECK_INT(kept_refs_store(dir, ".git", id, &refs), 0);
	kept_refs_done(&refs);
}

static void a_record_of_no_commit_is_swept(void)
{
	struct gitworld w;

	world_init(&w, "git init -q");
	store(w.top, 0, "ref: refs/heads/t0");
	store(w.top, 2, "ref: refs/heads/two");
	store(w.top, 3, "ref: refs/heads/three");
	CHECK(is_stored(w.top, 3, "ref: refs/heads/three"));
	CHECK_INT(kept_refs_sweep(w.top, is_two, NULL), 0);
	CHECK(is_stored(w.top, 0, "ref: refs/heads/t0"));
	CHECK(is_stored(w.top, 2, "ref: refs/heads/two"));
	CHECK(!is_stored(w.top, 3, "ref: refs/heads/three"));
	/* Undone no more: it is what the session is based on. */
	CHECK_INT(kept_refs_settle(w.top, 2, true), 0);
	CHECK(is_stored(w.top, 0, "ref: refs/heads/two"));
	CHECK(!is_stored(w.top, 2, "ref: refs/heads/two"));
	store(w.top, 4, "ref: refs/heads/four");
	CHECK_INT(kept_refs_settle(w.top, 4, false), 0);
	CHECK(!is_stored(w.top, 4, "ref: refs/heads/four"));
	CHECK(is_stored(w.top, 0, "ref: refs/heads/two"));
	world_done(&w);
}

/* Nothing of it may be on a disk only later. */
static void a_record_of_a_commit_is_durable(void)
{
	struct kept_refs refs = { 0 };
	struct gitworld w;

	world_init(&w, "git init -q");
	CHECK_INT(kept_refs_add(&refs, "HEAD", "ref: refs/heads/x"), 0);
	for (unsigned n = 1; n <= 2; n++) {
		fault_arm(FAULT_EIO, n);
		fault_only("fsync");
		CHECK_INT(kept_refs_store(w.top, ".git", 7, &refs), -EIO);
		fault_arm(FAULT_NONE, 0);
	}
	store(w.top, 0, "ref: refs/heads/t0");
	for (unsigned n = 1; n <= 2; n++) {
		fault_arm(FAULT_EIO, n);
		fault_only("fsync");
		CHECK_INT(kept_refs_sync(w.top, ".git"), -EIO);
		fault_arm(FAULT_NONE, 0);
	}
	CHECK_INT(kept_refs_sync(w.top, "none"), 0);
	kept_refs_done(&refs);
	world_done(&w);
}

TESTS(T(a_record_of_no_commit_is_swept), T(a_record_of_a_commit_is_durable),
      T(a_record_is_read_back), T(a_torn_record_is_none),
      T(names_clash_as_files_do), T(a_linked_or_foreign_head_has_no_record),
      T(names_are_judged_as_git_does), T(a_log_has_whole_lines_alone))
