/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/txn.h"

#include "scenes.h"
#include "sys/fault.h"

/* What the box would have shown: base and upper merged by hand. */
static void say(const char *name, const struct hb_error *err)
{
	if (err->code)
		printf("# %s: %s (%d)\n", name, err->text, err->code);
}

static void must(int r, const char *name, const struct hb_error *err)
{
	if (r < 0)
		say(name, err);
	CHECK_INT(r, 0);
}

/* There and back again, in every scene. */
static void commit_undo_redo(void)
{
	for (size_t i = 0; i < N_SCENES; i++) {
		const struct scene *s = &scenes[i];
		struct picture old, new, now;
		struct hb_error err = { 0 };
		struct txn_result result;
		struct world w;

		fault_plain_rename(s->is_plain);
		scene_open(s, &w);
		old = world_picture(&w);
		must(scene_commit(s, &w, &err), s->name, &err);
		CHECK(w.n_seen > 0);
		new = world_picture(&w);
		if (picture_is(&old, &new))
			printf("# %s: nothing happened\n", s->name);
		CHECK(!picture_is(&old, &new));

		must(txn_undo(&w.txn, &result, &err), s->name, &err);
		now = world_picture(&w);
		if (!picture_is(&now, &old)) {
			printf("# %s: undo\n", s->name);
			picture_differ(&now, &old);
		}
		CHECK(picture_is(&now, &old));
		picture_done(&now);

		must(txn_redo(&w.txn, &result, &err), s->name, &err);
		now = world_picture(&w);
		if (!picture_is(&now, &new)) {
			printf("# %s: redo\n", s->name);
			picture_differ(&now, &new);
		}
		CHECK(picture_is(&now, &new));
		picture_done(&now);
		picture_done(&old);
		picture_done(&new);
		world_done(&w);
	}
	fault_plain_rename(0);
}

TESTS(T(commit_undo_redo))
