/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/txn.h"

#include "tap.h"
#include "world.h"

/* Who was asked, of two gates. */
struct asked {
	unsigned anew, again;
	int answer;
};

static int ask_anew(void *ctx, size_t resource, struct changes *changes,
		    const struct txn_options *options, struct hb_error *err)
{
	struct asked *asked = ctx;

	(void)resource;
	(void)changes;
	(void)options;
	(void)err;
	asked->anew++;
	return asked->answer;
}

static int ask_again(void *ctx, size_t resource, struct changes *changes,
		     const struct txn_options *options, struct hb_error *err)
{
	struct asked *asked = ctx;

	asked->again++;
	asked->anew--;
	return ask_anew(ctx, resource, changes, options, err);
}

/* Two resources that somebody has looked at. */
struct scene {
	struct world w;
	struct changes *changes[WORLD_RESOURCES];
	uint8_t hash[SHA256_SIZE];
	struct asked asked;
};

static void begin(struct scene *s)
{
	struct sha256 h;

	*s = (struct scene){ 0 };
	world_init(&s->w, 2, false);
	sha256_init(&h);
	for (size_t i = 0; i < 2; i++) {
		const struct changes_request request = {
			.resource = &s->w.resources[i],
			.spill_dir = s->w.session,
		};

		put_dir(s->w.base[i], "d");
		lay_file(s->w.base[i], "d/f", "old", 0644, WORLD_OLD);
		put_dir(s->w.upper[i], "d");
		lay_file(s->w.upper[i], "d/f", "good", 0644, WORLD_NEW);
		lay_file(s->w.upper[i], "new", "new", 0644, WORLD_NEW);
		CHECK_INT(changes_scan(&request, &s->changes[i], NULL), 0);
		sha256_add(&h, changes_summary(s->changes[i])->hash,
			   SHA256_SIZE);
	}
	sha256_end(&h, s->hash);
}

static int commit_reviewed(struct scene *s, txn_gate_fn again)
{
	const struct txn_review review = { .changes = s->changes,
					   .hash = s->hash,
					   .gate = again };
	const struct txn_options options = { .expect = s->hash,
					     .review = &review,
					     .gate = ask_anew,
					     .gate_ctx = &s->asked };
	struct txn_result result = { 0 };
	int r = txn_commit(&s->w.txn, &options, world_seen, &s->w, &result,
			   NULL);

	CHECK(r < 0 || memcmp(result.summary.hash, s->hash, SHA256_SIZE) == 0);
	return r;
}

static void end(struct scene *s)
{
	for (size_t i = 0; i < 2; i++)
		changes_free(s->changes[i]);
	world_done(&s->w);
}

/* What comes of it, and how often each of the gates was asked. */
static void check_end(struct scene *s, int want, unsigned again, unsigned anew)
{
	CHECK_INT(commit_reviewed(s, ask_again), want);
	CHECK_INT(s->asked.again, again);
	CHECK_INT(s->asked.anew, anew);
	CHECK(is_text(s->w.base[1], "d/f", want < 0 ? "old" : "good"));
	end(s);
}

static void nothing_is_asked_twice(void)
{
	struct scene s;

	begin(&s);
	check_end(&s, 0, 2, 0);
}

static void what_it_said_still_holds(void)
{
	struct scene s;

	begin(&s);
	s.asked.answer = 1;
	check_end(&s, -HB_E_DENIED, 2, 0);
}

static void what_nobody_asked_is_asked(void)
{
	struct scene s;

	begin(&s);
	CHECK_INT(commit_reviewed(&s, NULL), 0);
	CHECK_INT(s.asked.anew, 2);
	end(&s);
}

/* Of the same size and time, in another tick of the clock. */
static void overwrite(int dir, const char *path, const char *text)
{
	struct stat before, now;

	CHECK_INT(fstatat(dir, path, &before, 0), 0);
	do {
		int fd = openat(dir, path, O_WRONLY | O_CLOEXEC);

		CHECK(fd >= 0 &&
		      write(fd, text, strlen(text)) == (ssize_t)strlen(text));
		(void)close(fd);
		set_mtime(dir, path, before.st_mtim.tv_sec);
		CHECK_INT(fstatat(dir, path, &now, 0), 0);
	} while (now.st_ctim.tv_sec == before.st_ctim.tv_sec &&
		 now.st_ctim.tv_nsec == before.st_ctim.tv_nsec);
	CHECK_INT(now.st_size, before.st_size);
}

static void another_content_is_another_change(void)
{
	struct scene s;

	begin(&s);
	overwrite(s.w.upper[1], "d/f", "evil");
	check_end(&s, -HB_E_CONFLICT, 0, 0);
}

static void one_more_is_another_change_set(void)
{
	struct scene s;

	begin(&s);
	lay_file(s.w.upper[1], "z", "evil", 0644, WORLD_NEW);
	check_end(&s, -HB_E_CONFLICT, 0, 0);
	begin(&s);
	CHECK_INT(unlinkat(s.w.upper[1], "new", 0), 0);
	check_end(&s, -HB_E_CONFLICT, 0, 0);
}

static void the_other_side_counts(void)
{
	struct scene s;

	begin(&s);
	overwrite(s.w.base[0], "d/f", "Old");
	check_end(&s, 0, 0, 2);
	/* What else is there does not. */
	begin(&s);
	lay_file(s.w.base[0], "d/other", "other", 0644, WORLD_OLD);
	check_end(&s, 0, 2, 0);
}

TESTS(T(nothing_is_asked_twice), T(what_it_said_still_holds),
      T(what_nobody_asked_is_asked), T(another_content_is_another_change),
      T(one_more_is_another_change_set), T(the_other_side_counts))
