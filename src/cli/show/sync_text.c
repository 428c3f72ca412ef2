/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show/sync_text.h"

#include "cli/show/show.h"

#include <string.h>

int sync_text_time(uint64_t seconds, struct buf *out)
{
	static const struct {
		uint64_t seconds;
		char letter;
	} units[] = { { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' } };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (seconds > 0 && seconds % units[i].seconds == 0)
			return buf_add_fmt(
				out, "%llu%c",
				(unsigned long long)(seconds /
						     units[i].seconds),
				units[i].letter);
	return buf_add_fmt(out, "%llus", (unsigned long long)seconds);
}

int sync_text_end(const struct hb_sync *sync, struct buf *out)
{
	(void)buf_add_fmt(out, "synced %llu time%s, %llu file%s",
			  (unsigned long long)sync->n_times,
			  sync->n_times == 1 ? "" : "s",
			  (unsigned long long)sync->n_files,
			  sync->n_files == 1 ? "" : "s");
	return sync->held[0] ? buf_add_fmt(out, "; held: %s", sync->held)
			     : out->error;
}

static void add_json(const struct hb_sync *sync, struct doc *doc)
{
	json_key(&doc->json, "sync");
	json_object(&doc->json);
	doc_uint(doc, "interval", sync->interval);
	json_key(&doc->json, "last");
	json_int(&doc->json, sync->last);
	doc_uint(doc, "times", sync->n_times);
	doc_uint(doc, "files", sync->n_files);
	doc_uint(doc, "held", sync->n_held);
	json_end(&doc->json);
}

int sync_text_show(const struct hb_session *session, struct doc *doc,
		   struct hb_error *err)
{
	struct buf *out = &doc->out;
	struct hb_sync sync;
	int r = hb_session_noted_sync(session, &sync, err);

	if (r <= 0)
		return r;
	if (doc->is_json) {
		add_json(&sync, doc);
		return 0;
	}
	if (sync.interval == 0)
		return 0;
	(void)buf_add_str(out, "sync every ");
	(void)sync_text_time(sync.interval, out);
	(void)buf_add_str(out, sync.last ? ", last " : ", nothing yet");
	if (sync.last)
		(void)show_seconds(sync.last, out);
	if (sync.n_held > 0)
		(void)buf_add_fmt(out, ", %llu held",
				  (unsigned long long)sync.n_held);
	return buf_add_char(out, '\n');
}
