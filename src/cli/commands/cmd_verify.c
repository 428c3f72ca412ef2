/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quote.h"
#include "cli/commands/cmd_session.h"
#include "cli/front/table.h"
#include "cli/show/doc.h"
#include "cli/show/say.h"
#include "cli/show/show.h"

#include <stdio.h>
#include <string.h>

/* `holdback verify`. */

struct found {
	const struct hb_session_info *info;
	struct doc doc;
};

static int show(void *ctx, const struct hb_escape *escape, struct hb_error *err)
{
	struct found *found = ctx;
	struct doc *doc = &found->doc;
	const char *source = found->info->resources[escape->resource].source;
	char time[64];

	(void)snprintf(time, sizeof(time), "%lld.%09ld",
		       (long long)escape->time.tv_sec, escape->time.tv_nsec);
	if (doc->is_json) {
		json_object(&doc->json);
		doc_str(doc, "source", source);
		doc_str(doc, "path", escape->path);
		doc_bool(doc, "directory", escape->is_directory);
		doc_str(doc, "what", escape->what);
		doc_str(doc, "time", time);
		json_end(&doc->json);
		return doc_flow(doc, err);
	}
	if (show_root(found->info, escape->resource)) {
		(void)quote_name(source, strlen(source), &doc->out);
		(void)buf_add_char(&doc->out, ' ');
	}
	(void)quote_name(escape->path, strlen(escape->path), &doc->out);
	(void)buf_add_fmt(&doc->out, "%s: %s; ",
			  escape->is_directory ? "/" : "", escape->what);
	(void)show_time(escape->time, &doc->out);
	(void)buf_add_char(&doc->out, '\n');
	return doc_flow(doc, err);
}

static int verify(const struct cmd_call *call, struct hb_session *session,
		  int rest, void *ctx, struct hb_error *err)
{
	struct found found = { .info = hb_session_info(session) };
	struct hb_verified verified = { 0 };
	char line[128];
	int r;

	(void)rest;
	(void)ctx;
	doc_begin(&found.doc, call->values->json, "verify");
	if (found.doc.is_json) {
		json_key(&found.doc.json, "found");
		json_array(&found.doc.json);
	}
	r = hb_session_verify(session, show, &found, &verified, err);
	if (r < 0) {
		doc_done(&found.doc);
		return r;
	}
	if (found.doc.is_json) {
		json_end(&found.doc.json);
		doc_uint(&found.doc, "looked", verified.n_looked);
		doc_uint(&found.doc, "unread", verified.n_unread);
	} else if (verified.n_found == 0 && verified.n_looked > 0) {
		(void)buf_add_fmt(&found.doc.out,
				  "nothing of %llu changed outside\n",
				  (unsigned long long)verified.n_looked);
	}
	r = doc_end(&found.doc, err);
	doc_done(&found.doc);
	if (r < 0)
		return r;
	if (verified.n_unread > 0) {
		(void)snprintf(line, sizeof(line),
			       "%llu director%s could not be looked into",
			       (unsigned long long)verified.n_unread,
			       verified.n_unread == 1 ? "y" : "ies");
		cli_say(line);
	}
	return verified.n_found > 0 ? HB_EXIT_DIFFERENT : HB_EXIT_OK;
}

int cmd_verify(const struct cmd_call *call, struct hb_error *err)
{
	return cmd_with_session(call, HB_OPEN_LOOK, false, verify, NULL, err);
}
