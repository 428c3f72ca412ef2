/* SPDX-License-Identifier: Apache-2.0 */
#include "session/live/sync_note.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/kv.h"
#include "base/num.h"
#include "holdback/live.h"
#include "session/session.h"
#include "store/record.h"
#include "sys/file.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define NAME	 "sync"
#define FRESH	 "sync.new"
#define NOTE_MAX ((size_t)1024)

/* The numbers of the note. */
static const struct {
	const char *key;
	size_t offset;
} numbers[] = {
	{ "interval", offsetof(struct hb_sync, interval) },
	{ "last", offsetof(struct hb_sync, last) },
	{ "times", offsetof(struct hb_sync, n_times) },
	{ "files", offsetof(struct hb_sync, n_files) },
	{ "held", offsetof(struct hb_sync, n_held) },
};
#define N_NUMBERS (sizeof(numbers) / sizeof(numbers[0]))
#define WORDS	  "held-words"

void sync_note_remove(const struct hb_session *s)
{
	(void)sys_unlinkat(s->dir, NAME, 0);
}

int hb_session_note_sync(struct hb_session *session, const struct hb_sync *sync,
			 struct hb_error *err)
{
	auto_buf struct buf text = BUF_INIT(NOTE_MAX);
	struct kv_writer w;
	int r;

	kv_writer_init(&w, &text);
	for (size_t i = 0; i < N_NUMBERS; i++)
		(void)kv_add_fmt(&w, numbers[i].key, "%" PRIu64,
				 *(const uint64_t *)((const char *)sync +
						     numbers[i].offset));
	if (sync->held[0])
		(void)kv_add_str(&w, WORDS, sync->held);
	r = text.error;
	if (r >= 0)
		r = record_replace(session->dir, NAME, FRESH, &text);
	return r < 0 ? hb_fail(err, r, "cannot note the sync of '%s'",
			       session->record.name)
		     : 0;
}

static int read_one(const struct kv_reader *k, const struct kv_entry *e,
		    struct hb_sync *ret, struct hb_error *err)
{
	if (strcmp(e->key, WORDS) == 0 && kv_is_string(e) &&
	    e->len < sizeof(ret->held)) {
		(void)snprintf(ret->held, sizeof(ret->held), "%s", e->value);
		return 0;
	}
	for (size_t i = 0; i < N_NUMBERS; i++)
		if (strcmp(e->key, numbers[i].key) == 0)
			return num_u64(e->value,
				       (uint64_t *)((char *)ret +
						    numbers[i].offset)) < 0
				       ? kv_fail(k, e, err, "no number")
				       : 0;
	return kv_fail(k, e, err, "unknown key '%s'", e->key);
}

int hb_session_noted_sync(const struct hb_session *session,
			  struct hb_sync *ret_sync, struct hb_error *err)
{
	auto_kv_reader struct kv_reader k = { 0 };
	struct kv_entry entry;
	char text[NOTE_MAX];
	ssize_t n = sys_read_file_at(session->dir, NAME, text, sizeof(text));
	int r;

	*ret_sync = (struct hb_sync){ 0 };
	if (n == -ENOENT)
		return 0;
	if (n < 0)
		return hb_fail(err, (int)n, "cannot read '" NAME "' of '%s'",
			       session->record.name);
	kv_reader_init(&k, NAME, text, (size_t)n);
	while ((r = kv_next(&k, &entry, err)) == 1) {
		r = read_one(&k, &entry, ret_sync, err);
		if (r < 0)
			return r;
	}
	return r < 0 ? r : 1;
}
