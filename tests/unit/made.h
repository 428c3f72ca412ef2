/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TEST_MADE_H
#define HB_TEST_MADE_H

#include "changes/git/delivered.h"
#include "world.h"

/*
 * A repository by hand, of which a commit delivers what a table says.  Not what
 * git would: each row is a way through the plan.
 */
struct made_row {
	const char *path;
	const char *base, *upper; /* texts; NULL: nothing there */
	bool is_whiteout;	  /* in the upper */
	bool is_delivered;
	enum delivered_how how;
	enum delivered_turn turn;
	const char *text; /* MADE */
	bool is_locked;
};

#define MADE_GIT(name) ".git/" name
#define MADE_HEADS     ".git/refs/heads/"

static const struct made_row made_rows[] = {
	{ "f", .base = "f\n", .upper = "changed\n" },
	{ MADE_GIT("HEAD"), .base = "ref: a\n", .upper = "ref: b\n",
	  .is_delivered = true, .how = DELIVERED_MADE, .turn = TURN_HEAD,
	  .text = "ref: c\n", .is_locked = true },
	{ MADE_GIT("index"), .base = "index\n", .upper = "theirs\n",
	  .is_delivered = true, .how = DELIVERED_MADE, .turn = TURN_INDEX,
	  .text = "merged index\n", .is_locked = true },
	{ MADE_GIT("logs/HEAD"), .base = "1\n", .upper = "1\n2\n",
	  .is_delivered = true, .how = DELIVERED_MADE, .turn = TURN_LOGS,
	  .text = "1\n1.5\n2\n" },
	{ MADE_GIT("logs/other"), .base = "1\n", .upper = "2\n",
	  .is_delivered = true, .how = DELIVERED_SETTLED, .turn = TURN_LOGS },
	/* No object: undo would leave that in the base. */
	{ MADE_GIT("objects/info/c"), .upper = "object\n" },
	/* The base has it, the session removed it, and it gets a line more. */
	{ MADE_GIT("packed-refs"), .base = "# packed\n", .is_whiteout = true,
	  .is_delivered = true, .how = DELIVERED_MADE, .turn = TURN_REFS,
	  .text = "# packed\nmore\n", .is_locked = true },
	{ MADE_HEADS "master", .base = "1\n", .upper = "2\n",
	  .is_delivered = true, .how = DELIVERED_MADE, .turn = TURN_REFS,
	  .text = "2\n", .is_locked = true },
	{ MADE_HEADS "drop", .base = "1\n", .is_whiteout = true,
	  .is_delivered = true, .how = DELIVERED_GONE, .turn = TURN_GONE,
	  .is_locked = true },
	/* In a directory that the layer alone has, and in one of ours. */
	{ MADE_HEADS "new/x", .upper = "1\n", .is_delivered = true,
	  .how = DELIVERED_MADE, .turn = TURN_REFS, .text = "1\n",
	  .is_locked = true },
	{ MADE_HEADS "holdback/deep/s", .is_delivered = true,
	  .how = DELIVERED_MADE, .turn = TURN_REFS, .text = "3\n" },
	/* The layer has a directory, and the base needs nothing of it. */
	{ MADE_HEADS "known", .is_delivered = true, .how = DELIVERED_SETTLED,
	  .turn = TURN_REFS },
	{ MADE_HEADS "known/y", .upper = "1\n", .is_delivered = true,
	  .how = DELIVERED_SETTLED, .turn = TURN_REFS },
	/* The session removed a directory; one file of it stays. */
	{ MADE_HEADS "old", .is_whiteout = true, .is_delivered = true,
	  .how = DELIVERED_SETTLED, .turn = TURN_GONE },
	{ MADE_HEADS "old/gone", .base = "1\n", .is_delivered = true,
	  .how = DELIVERED_GONE, .turn = TURN_GONE, .is_locked = true },
	{ MADE_HEADS "old/stays", .base = "1\n", .is_delivered = true,
	  .how = DELIVERED_SETTLED, .turn = TURN_GONE },
	/* A file of the base has the place of a directory. */
	{ MADE_HEADS "place", .base = "1\n", .is_delivered = true,
	  .how = DELIVERED_GONE, .turn = TURN_REFS, .is_locked = true },
	{ MADE_HEADS "place/z", .upper = "2\n", .is_delivered = true,
	  .how = DELIVERED_MADE, .turn = TURN_REFS, .text = "2\n" },
};

static const struct made_row made_held[] = {
	{ "f", .base = "f\n", .upper = "changed\n" },
	{ MADE_GIT("HEAD"), .base = "ref: a\n", .upper = "ref: b\n",
	  .is_delivered = true, .how = DELIVERED_HELD, .turn = TURN_HEAD },
	{ MADE_GIT("index"), .base = "index\n", .upper = "theirs\n",
	  .is_delivered = true, .how = DELIVERED_HELD, .turn = TURN_INDEX },
	{ MADE_HEADS "holdback/s", .is_delivered = true, .how = DELIVERED_MADE,
	  .turn = TURN_REFS, .text = "3\n" },
	{ MADE_HEADS "new/held", .upper = "1\n", .is_delivered = true,
	  .how = DELIVERED_HELD, .turn = TURN_REFS },
	{ MADE_HEADS "new/x", .upper = "1\n", .is_delivered = true,
	  .how = DELIVERED_MADE, .turn = TURN_REFS, .text = "1\n" },
};

#define N_MADE(rows) (sizeof(rows) / sizeof((rows)[0]))

static inline void made_parents(int dir, const char *path)
{
	char above[128];

	for (size_t i = 1; path[i]; i++) {
		if (path[i] != '/')
			continue;
		(void)snprintf(above, sizeof(above), "%.*s", (int)i, path);
		if (mkdirat(dir, above, 0755) < 0)
			CHECK_INT(errno, EEXIST);
	}
}

static inline void made_times(int dir, const char *path, time_t time)
{
	char above[128];

	for (size_t i = 1; path[i]; i++) {
		struct stat st;

		if (path[i] != '/')
			continue;
		(void)snprintf(above, sizeof(above), "%.*s", (int)i, path);
		if (fstatat(dir, above, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISDIR(st.st_mode))
			set_mtime(dir, above, time);
	}
}

static inline void made_build(struct world *w, const struct made_row *rows,
			      size_t n)
{
	int b = w->base[0], u = w->upper[0];

	for (size_t i = 0; i < n; i++) {
		const struct made_row *r = &rows[i];

		if (r->base) {
			made_parents(b, r->path);
			lay_file(b, r->path, r->base, 0644, WORLD_OLD);
		}
		if (!r->upper && !r->is_whiteout)
			continue;
		made_parents(u, r->path);
		if (r->upper) {
			lay_file(u, r->path, r->upper, 0644, WORLD_NEW);
		} else {
			put_whiteout(u, r->path);
			set_mtime(u, r->path, WORLD_NEW);
		}
	}
	for (size_t i = 0; i < n; i++) {
		made_times(b, rows[i].path, WORLD_OLD);
		made_times(u, rows[i].path, WORLD_NEW);
	}
}

static inline void scene_made(struct world *w)
{
	made_build(w, made_rows, N_MADE(made_rows));
}

static inline void scene_made_held(struct world *w)
{
	made_build(w, made_held, N_MADE(made_held));
}

static inline void made_deliver(const struct made_row *rows, size_t n,
				struct delivered *ret)
{
	/* Not in order: that is the callee's. */
	for (size_t i = n; i-- > 0;) {
		const struct made_row *r = &rows[i];
		struct delivered_item *item;

		if (!r->is_delivered)
			continue;
		item = delivered_add(ret, r->path, r->how);
		CHECK(item != NULL);
		item->turn = r->turn;
		item->mtime.tv_sec = WORLD_NEW;
		item->is_locked = r->is_locked;
		item->data = r->text ? strdup(r->text) : NULL;
		item->size = r->text ? strlen(r->text) : 0;
	}
}

/* Both of type txn_deliver_fn. */
static inline int deliver_made(void *ctx, struct changes *const *changes,
			       const struct changes_choice *choice,
			       struct delivered *lists, struct hb_error *err)
{
	(void)ctx;
	(void)changes;
	(void)choice;
	(void)err;
	made_deliver(made_rows, N_MADE(made_rows), &lists[0]);
	return 0;
}

static inline int deliver_held(void *ctx, struct changes *const *changes,
			       const struct changes_choice *choice,
			       struct delivered *lists, struct hb_error *err)
{
	(void)ctx;
	(void)changes;
	(void)choice;
	(void)err;
	made_deliver(made_held, N_MADE(made_held), &lists[0]);
	return 0;
}

#endif
