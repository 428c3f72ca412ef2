/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show/live_text.h"

#include "base/quote.h"
#include "cli/show/show.h"

#include <string.h>

static void add_name(const char *before, const char *name, struct buf *out)
{
	(void)buf_add_str(out, before);
	(void)quote_name(name, strlen(name), out);
}

static void add_line(const struct hb_live *live, struct buf *out)
{
	uint64_t n = live->n_joined + !live->is_kept;

	(void)buf_add_str(out, "live since ");
	(void)show_seconds(live->since, out);
	(void)buf_add_fmt(out, " · pid %lld", (long long)live->pid);
	if (live->silence)
		add_name(" · ", live->silence, out);
	else
		(void)buf_add_fmt(out, "%s · %llu command%s",
				  live->is_kept ? " · kept open" : "",
				  (unsigned long long)n, n == 1 ? "" : "s");
	(void)buf_add_char(out, '\n');
	if (live->is_full)
		(void)buf_add_str(out, "stopped: the disk is full\n");
}

static void add_all(const struct hb_live *live, struct buf *out)
{
	size_t n_named = live->n_commands - !live->is_kept;

	if (live->view)
		(void)buf_add_fmt(out, "  view %s\n", live->view);
	for (size_t i = 0; i < live->n_commands; i++) {
		const struct hb_live_command *command = &live->commands[i];

		(void)buf_add_fmt(out, "  %s %lld",
				  command->has_joined ? "joined" : "command",
				  (long long)command->pid);
		if (command->words[0])
			add_name(" ", command->words, out);
		(void)buf_add_char(out, '\n');
	}
	if (live->n_joined > n_named)
		(void)buf_add_fmt(out, "  … and %llu more\n",
				  (unsigned long long)live->n_joined - n_named);
	if (!live->has_mounts)
		(void)buf_add_str(out, "  the mounts cannot be read\n");
	for (size_t i = 0; i < live->n_mounts; i++) {
		const struct hb_mount *mount = &live->mounts[i];

		add_name("  mount ", mount->path, out);
		add_name(" ", mount->type, out);
		add_name(" ", mount->source, out);
		add_name(" ", mount->options, out);
		add_name(" · ", mount->fs_options, out);
		(void)buf_add_char(out, '\n');
	}
}

static void begin_array(struct doc *doc, const char *key)
{
	json_key(&doc->json, key);
	json_array(&doc->json);
}

static void add_commands_json(const struct hb_live *live, struct doc *doc)
{
	begin_array(doc, "commands");
	for (size_t i = 0; i < live->n_commands; i++) {
		json_object(&doc->json);
		doc_uint(doc, "pid", (uint64_t)live->commands[i].pid);
		doc_bool(doc, "joined", live->commands[i].has_joined);
		doc_str(doc, "words", live->commands[i].words);
		json_end(&doc->json);
	}
	json_end(&doc->json);
}

static void add_mounts_json(const struct hb_live *live, struct doc *doc)
{
	begin_array(doc, "mounts");
	for (size_t i = 0; i < live->n_mounts; i++) {
		const struct hb_mount *mount = &live->mounts[i];

		json_object(&doc->json);
		doc_str(doc, "path", mount->path);
		doc_str(doc, "type", mount->type);
		doc_str(doc, "source", mount->source);
		doc_str(doc, "options", mount->options);
		doc_str(doc, "fs_options", mount->fs_options);
		json_end(&doc->json);
	}
	json_end(&doc->json);
}

static void add_json(const struct hb_live *live, struct doc *doc)
{
	json_key(&doc->json, "live");
	json_object(&doc->json);
	doc_uint(doc, "pid", (uint64_t)live->pid);
	json_key(&doc->json, "since");
	json_int(&doc->json, live->since);
	if (live->silence) {
		doc_str(doc, "silence", live->silence);
	} else {
		if (live->init > 0)
			doc_uint(doc, "init", (uint64_t)live->init);
		doc_bool(doc, "kept", live->is_kept);
		doc_bool(doc, "disk_full", live->is_full);
		doc_uint(doc, "joined", live->n_joined);
		add_commands_json(live, doc);
		if (live->view)
			doc_str(doc, "view", live->view);
		if (live->has_mounts)
			add_mounts_json(live, doc);
	}
	json_end(&doc->json);
}

int live_show(struct hb_session *session, bool all, struct doc *doc,
	      struct hb_error *err)
{
	struct hb_live *live = NULL;
	int r;

	r = hb_session_live(session, &live, err);
	if (r <= 0)
		return r;
	if (doc->is_json) {
		add_json(live, doc);
	} else {
		add_line(live, &doc->out);
		if (all && !live->silence)
			add_all(live, &doc->out);
	}
	hb_live_free(live);
	return doc_flow(doc, err);
}
