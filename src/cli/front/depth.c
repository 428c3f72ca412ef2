/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/front/depth.h"

#include <stdio.h>

static int keep_mark(void *ctx, const struct hb_mark *mark,
		     struct hb_error *err)
{
	struct depth *depth = ctx;

	(void)err;
	(void)snprintf(depth->mark, sizeof(depth->mark), "%s", mark->name);
	return 0;
}

static int note_past(void *ctx, const struct hb_past *past,
		     struct hb_error *err)
{
	struct depth *depth = ctx;

	(void)err;
	depth->has_past |= !past->is_rollback;
	return 0;
}

void depth_look(struct hb_store *store, const char *name, enum hb_open how,
		struct depth *ret)
{
	const struct hb_changes_options options = { .without_hash = true };
	struct hb_changes *changes = NULL;
	struct hb_session *session = NULL;
	char ref[HB_SESSION_NAME_SIZE + 1];

	*ret = (struct depth){ .has_changes = true };
	(void)snprintf(ref, sizeof(ref), "@%s", name);
	if (hb_session_open(store, ref, how, &session, NULL) < 0)
		return;
	(void)hb_session_marks(session, keep_mark, ret, NULL);
	(void)hb_session_past(session, 1, note_past, ret, NULL);
	if (!hb_session_info(session)->interrupted &&
	    hb_session_changes(session, &options, &changes, NULL) >= 0) {
		const struct hb_summary *s = hb_changes_summary(changes);

		ret->is_known = true;
		ret->summary = *s;
		ret->n_changes = s->n_files + (s->n_git > 0);
		ret->has_changes = s->n_files || s->n_directories || s->n_git;
	}
	hb_changes_free(changes);
	hb_session_free(session);
}
