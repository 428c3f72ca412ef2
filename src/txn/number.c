/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/number.h"

#include "base/error.h"
#include "tree/tree.h"
#include "txn/history.h"
#include "txn/site.h"

/* 1: nothing lies in undo/ID and trash/ID; 0: something does. */
static int is_free(const struct resource *resource, uint64_t id,
		   struct hb_error *err)
{
	static const enum site_dir kept[] = { SITE_SPOT_UNDO, SITE_DIR_UNDO };
	struct op op = { .effect = OP_UPPER };
	struct place trash;
	struct object o;
	struct site s;
	int r;

	r = site_open(&s, resource, id, err);
	if (r < 0)
		return r;
	site_undo(&s, &op, &trash);
	r = place_read(&trash, &o, err);
	if (r >= 0)
		r = o.type == ENTRY_NONE;
	for (size_t i = 0; r == 1 && i < 2; i++)
		if (s.dirs[kept[i]] >= 0)
			r = tree_is_empty(s.dirs[kept[i]], ".", 0, NULL);
	site_close(&s);
	return r < 0 ? hb_fail(err, r, "cannot look for earlier commits") : r;
}

int number_choose(const struct txn *txn, uint64_t *ret_id, struct hb_error *err)
{
	int r = history_next_id(txn->session, ret_id, err);

	for (size_t i = 0; r >= 0 && i < txn->n_resources; i++) {
		r = is_free(&txn->resources[i], *ret_id, err);
		if (r == 0) {
			++*ret_id;
			i = (size_t)-1;
		}
	}
	return r < 0 ? r : 0;
}
