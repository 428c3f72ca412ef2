/* SPDX-License-Identifier: Apache-2.0 */
#include "review/allowed.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/kv.h"
#include "session/session.h"
#include "sys/file.h"
#include "sys/place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FILE_NAME    "allowed"
#define FILE_NEW     "allowed.new"
#define FILE_SIZE    ((size_t)256 << 10) /* the oldest goes first */
#define FINDINGS_MAX ((size_t)64 << 10)	 /* of one commit */
#define FIRST_KEY    "commit"

void allowed_done(struct allowed *allowed)
{
	buf_done(&allowed->findings);
}

void allowed_note(struct allowed *allowed, const char *rule, const char *path)
{
	struct buf *out = &allowed->findings;
	struct kv_writer w = { .out = out };
	size_t len = out->len;

	allowed->n++;
	out->limit = FINDINGS_MAX;
	if (kv_add_fmt(&w, "finding", "%s %s", rule, path) < 0) {
		out->error = 0;
		buf_cut(out, len);
	}
}

/* Where the part behind this one begins, or the end. */
static const char *skip_part(const char *part)
{
	const char *next = strstr(part, "\n" FIRST_KEY " = ");

	return next ? next + 1 : part + strlen(part);
}

/*
 * The parts of the file but the oldest, so that `room` is enough.  Without
 * those of this number: it was never committed, or it would not be given again.
 */
static void keep_parts(const char *text, uint64_t id, size_t room,
		       struct buf *out)
{
	auto_buf struct buf own = BUF_INIT(64);

	(void)buf_add_fmt(&own, FIRST_KEY " = %llu\n", (unsigned long long)id);
	for (const char *next; *text; text = next) {
		next = skip_part(text);
		if (strlen(text) <= room &&
		    strncmp(text, buf_str(&own), own.len) != 0)
			(void)buf_add(out, text, (size_t)(next - text));
	}
}

static void format_part(const struct allowed *allowed, uint64_t id,
			struct buf *out)
{
	struct kv_writer w;

	if (allowed->n == 0 && !allowed->without_gate)
		return;
	kv_writer_init(&w, out);
	(void)kv_add_fmt(&w, FIRST_KEY, "%llu", (unsigned long long)id);
	(void)kv_add_fmt(&w, "time", "%lld", (long long)sys_now().tv_sec);
	if (allowed->without_gate)
		(void)kv_add_str(&w, "no-gate", "yes");
	for (size_t i = 0; i < allowed->n_words; i++)
		(void)kv_add_str(&w, "allow", allowed->words[i]);
	(void)kv_add_fmt(&w, "findings", "%llu",
			 (unsigned long long)allowed->n);
	(void)buf_add(out, allowed->findings.data, allowed->findings.len);
}

static int write_parts(const struct allowed *allowed, uint64_t id)
{
	auto_free char *before = malloc(FILE_SIZE + 1);
	auto_buf struct buf part = BUF_INIT(FILE_SIZE);
	auto_buf struct buf all = BUF_INIT(2 * FILE_SIZE);
	int dir = allowed->session->dir;
	ssize_t n;

	if (!before)
		return -ENOMEM;
	n = sys_read_file_at(dir, FILE_NAME, before, FILE_SIZE + 1);
	if (n == -ENOENT)
		before[n = 0] = '\0';
	if (n < 0)
		return (int)n;
	format_part(allowed, id, &part);
	if (part.error)
		return part.error;
	keep_parts(before, id, FILE_SIZE - part.len, &all);
	(void)buf_add(&all, part.data, part.len);
	if (all.error || (all.len == (size_t)n && part.len == 0))
		return all.error;
	return record_replace(dir, FILE_NAME, FILE_NEW, &all);
}

/* Of type txn_publishing_fn. */
static int publish(void *ctx, uint64_t id, bool has_rest, struct hb_error *err)
{
	const struct allowed *allowed = ctx;
	int r = write_parts(allowed, id);

	if (r < 0)
		return hb_fail(err, r, "cannot record the allowed changes");
	return allowed->publishing
		       ? allowed->publishing(allowed->publishing_ctx, id,
					     has_rest, err)
		       : 0;
}

void allowed_attach(struct allowed *allowed, struct txn *txn)
{
	allowed->publishing = txn->publishing;
	allowed->publishing_ctx = txn->publishing_ctx;
	txn->publishing = publish;
	txn->publishing_ctx = allowed;
}
