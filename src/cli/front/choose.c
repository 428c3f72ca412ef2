/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/front/choose.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "cli/show/say.h"
#include "holdback/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More than these are not looked at, nor named. */
#define HERE_MAX 64

struct here {
	char names[HERE_MAX][128];
	size_t n;
};

static int keep_here(void *ctx, const struct hb_session_info *info,
		     struct hb_error *err)
{
	struct here *here = ctx;

	(void)err;
	if (here->n < HERE_MAX && hb_session_is_here(info))
		(void)snprintf(here->names[here->n++], sizeof(here->names[0]),
			       "%s", info->name);
	return 0;
}

/* One that cannot be looked at is not to be overlooked. */
static bool has_changes(struct hb_store *store, const char *name)
{
	const struct hb_changes_options options = { .without_hash = true };
	struct hb_changes *changes = NULL;
	struct hb_session *session = NULL;
	char ref[sizeof(((struct here *)0)->names[0]) + 1];
	bool has = true;

	(void)snprintf(ref, sizeof(ref), "@%s", name);
	if (hb_session_open(store, ref, HB_OPEN_LOOK, &session, NULL) >= 0 &&
	    hb_session_changes(session, &options, &changes, NULL) >= 0) {
		const struct hb_summary *s = hb_changes_summary(changes);

		has = s->n_files || s->n_directories || s->n_git;
	}
	hb_changes_free(changes);
	hb_session_free(session);
	return has;
}

static struct here *find_here(struct hb_store *store, struct hb_error *err)
{
	struct here *here = calloc(1, sizeof(*here));

	if (!here || hb_store_list(store, keep_here, here, err) < 0) {
		free(here);
		return NULL;
	}
	return here;
}

int choose_only(struct hb_store *store, const char *command,
		struct hb_error *err)
{
	auto_free struct here *here = find_here(store, err);
	auto_buf struct buf list = BUF_INIT(4096);
	const char *first = NULL;
	size_t n = 0;

	/* Whatever it is, opening the one used last says it better. */
	for (size_t i = 0; here && here->n > 1 && i < here->n; i++) {
		if (!has_changes(store, here->names[i]))
			continue;
		(void)buf_add_fmt(&list, "%s@%s", n > 0 ? ", " : "",
				  here->names[i]);
		first = n++ == 0 ? here->names[i] : first;
	}
	if (n < 2)
		return 0;
	hb_fix(err, "name the session: holdback %s @%s", command, first);
	return hb_fail(err, -HB_E_USAGE,
		       "%zu sessions have changes in this directory: %.400s", n,
		       buf_str(&list));
}

int choose_said(struct hb_store *store, const char *name, struct hb_error *err)
{
	auto_free struct here *here = find_here(store, err);
	char line[HB_TEXT_SIZE];

	if (!here || here->n < 2)
		return 0;
	(void)snprintf(line, sizeof(line),
		       "this is session %s, the last one used of %zu that have "
		       "this directory in them (holdback ls)",
		       name, here->n);
	cli_say(line);
	return 0;
}
