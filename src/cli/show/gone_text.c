/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show/gone_text.h"

#include "base/buf.h"
#include "base/path.h"
#include "base/quote.h"
#include "cli/show/say.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct shown {
	const struct hb_session_info *info;
	struct doc *doc;
};

static int show_path(void *ctx, size_t resource, const char *path,
		     struct hb_error *err)
{
	struct shown *shown = ctx;
	struct doc *doc = shown->doc;
	const char *source = shown->info->resources[resource].source;
	struct buf full;

	if (doc->is_json) {
		json_object(&doc->json);
		doc_str(doc, "source", source);
		if (path)
			doc_str(doc, "path", path);
		json_end(&doc->json);
		return doc_flow(doc, err);
	}
	buf_init(&full, PATH_TREE_MAX);
	(void)buf_add_fmt(&full, "%s/%s", source, path ? path : "");
	(void)buf_add_str(&doc->out, "pending, directory gone: ");
	(void)quote_name(buf_str(&full), full.len, &doc->out);
	(void)buf_add_str(&doc->out,
			  path ? "\n" : " (its paths cannot be told)\n");
	buf_done(&full);
	return doc_flow(doc, err);
}

int gone_show(struct hb_session *session, struct doc *doc, struct hb_error *err)
{
	struct shown shown = { .info = hb_session_info(session), .doc = doc };
	int r;

	if (doc->is_json) {
		json_key(&doc->json, "gone");
		json_array(&doc->json);
	}
	r = hb_session_gone(session, show_path, &shown, err);
	if (doc->is_json)
		json_end(&doc->json);
	return r;
}

/* The paths of one directory come one after the other. */
struct tally {
	const struct hb_session_info *info;
	size_t resource;
	uint64_t n;
};

static void say(const struct tally *tally)
{
	char line[HB_TEXT_SIZE], shown[QUOTE_SHOWN];

	if (tally->n == 0)
		return;
	(void)snprintf(
		line, sizeof(line),
		"the directory '%s' is gone: its pending changes are "
		"kept, and holdback status @%s names them",
		quote_shown(tally->info->resources[tally->resource].source,
			    shown, sizeof(shown)),
		tally->info->name);
	cli_say(line);
}

static int count(void *ctx, size_t resource, const char *path,
		 struct hb_error *err)
{
	struct tally *tally = ctx;

	(void)path;
	(void)err;
	if (resource != tally->resource) {
		say(tally);
		tally->n = 0;
	}
	tally->resource = resource;
	tally->n++;
	return 0;
}

int gone_say(struct hb_session *session, struct hb_error *err)
{
	struct tally tally = { .info = hb_session_info(session) };
	int r = hb_session_gone(session, count, &tally, err);

	say(&tally);
	return r;
}
