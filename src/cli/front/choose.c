/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/front/choose.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "cli/front/depth.h"
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
	struct depth depth;
	size_t n = 0;

	/* Opening the session used last gives a better error. */
	for (size_t i = 0; here && here->n > 1 && i < here->n; i++) {
		depth_look(store, here->names[i], &depth);
		if (!depth.has_changes)
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
