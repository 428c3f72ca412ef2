/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/databases.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/quote.h"
#include "base/report.h"
#include "base/sha256.h"
#include "changes/database.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "tree/bytes.h"
#include "txn/apply.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READ_SIZE ((size_t)64 << 10)
#define TRIES	  3
#define NAME_SIZE 48

/* Of the first page, by SQLite's file format. */
#define HEADER_SIZE	 100
#define HEADER_RESERVED	 20
#define HEADER_VACUUM	 52
#define HEADER_ENCODING	 56
#define HEADER_PAGE_SIZE 16

/*
 * What SQLite writes there by itself, whatever the rows are: mode of the
 * journal, counters of changes and of the schema, version of the writer.
 */
static const struct {
	unsigned at, n;
} own_fields[] = { { 18, 2 }, { 24, 4 }, { 40, 4 }, { 92, 8 } };

struct names {
	char new[NAME_SIZE], old[NAME_SIZE], now[NAME_SIZE];
};

static struct names names_of(const struct op *op)
{
	unsigned long long slot = op->slot;
	struct names n;

	(void)snprintf(n.new, sizeof(n.new), "%llu", slot);
	(void)snprintf(n.old, sizeof(n.old), "%llu.old", slot);
	(void)snprintf(n.now, sizeof(n.now), "%llu.now", slot);
	return n;
}

static int open_file(int dir, const char *name, struct hb_error *err)
{
	int fd = sys_openat(dir, name, O_RDONLY | O_NOFOLLOW, 0);

	return fd < 0 ? hb_fail(err, fd, "cannot open a copy of a database")
		      : fd;
}

/* What a database says, in one number, never 0; the same rows may have two. */
static int read_content(int dir, const char *name, uint64_t *ret,
			struct hb_error *err)
{
	auto_free unsigned char *block = malloc(READ_SIZE);
	auto_fd int fd = open_file(dir, name, err);
	uint8_t hash[SHA256_SIZE];
	struct sha256 h;
	uint64_t at = 0;
	ssize_t n;

	if (fd < 0 || !block)
		return fd < 0 ? fd : hb_fail(err, -ENOMEM, "cannot read");
	sha256_init(&h);
	while ((n = sys_pread_full(fd, block, READ_SIZE, at)) > 0) {
		for (size_t i = 0; at == 0 && n >= HEADER_SIZE &&
				   i < sizeof(own_fields) / sizeof(*own_fields);
		     i++)
			memset(block + own_fields[i].at, 0, own_fields[i].n);
		sha256_add(&h, block, (size_t)n);
		at += (uint64_t)n;
	}
	if (n < 0)
		return hb_fail(err, (int)n, "cannot read a copy of a database");
	sha256_end(&h, hash);
	memcpy(ret, hash, sizeof(*ret));
	*ret += *ret == 0;
	return 0;
}

static int read_header(int dir, const char *name, unsigned char *ret,
		       struct hb_error *err)
{
	auto_fd int fd = open_file(dir, name, err);

	if (fd < 0)
		return fd;
	return sys_pread_full(fd, ret, HEADER_SIZE, 0) == HEADER_SIZE
		       ? 0
		       : hb_fail(err, -HB_E_STATE, "the database is empty");
}

static bool is_zero(const unsigned char *at)
{
	return at[0] == 0 && at[1] == 0 && at[2] == 0 && at[3] == 0;
}

/* Programs that have it open remember these. */
static int check_header(int dir, const struct names *n, struct hb_error *err)
{
	unsigned char old[HEADER_SIZE], new[HEADER_SIZE];
	const char *what = NULL;
	int r = read_header(dir, n->old, old, err);

	if (r == 0)
		r = read_header(dir, n->new, new, err);
	if (r < 0)
		return r;
	if (memcmp(old + HEADER_PAGE_SIZE, new + HEADER_PAGE_SIZE, 2) != 0)
		what = "page size";
	else if (old[HEADER_RESERVED] != new[HEADER_RESERVED])
		what = "reserved space";
	else if (is_zero(old + HEADER_VACUUM) != is_zero(new + HEADER_VACUUM))
		what = "auto_vacuum";
	else if (!is_zero(old + HEADER_ENCODING) &&
		 memcmp(old + HEADER_ENCODING, new + HEADER_ENCODING, 4) != 0)
		what = "text encoding";
	if (!what)
		return 0;
	hb_fix(err, "commit --except it, or set it back in the session");
	return hb_fail(err, -HB_E_STATE,
		       "the session gave the database another %s, which "
		       "programs that have it open do not expect",
		       what);
}

static int sync_file(int dir, const char *name, struct hb_error *err)
{
	auto_fd int fd = open_file(dir, name, err);
	int r = fd < 0 ? fd : sys_fsync(fd);

	return r < 0 ? hb_fail(err, r, "cannot sync a copy of a database") : 0;
}

void databases_drop(struct txn *txn)
{
	struct databases_open *open = &txn->open_databases;

	for (size_t i = 0; i < open->n; i++)
		txn->databases->drop(open->writers[i].writer);
	free(open->writers);
	*open = (struct databases_open){ 0 };
}

static struct databases_writer *find_writer(struct txn *txn,
					    const struct op *op)
{
	struct databases_open *open = &txn->open_databases;

	for (size_t i = 0; i < open->n; i++)
		if (open->writers[i].resource == op->resource &&
		    open->writers[i].slot == op->slot &&
		    open->writers[i].writer)
			return &open->writers[i];
	return NULL;
}

static int keep_writer(struct txn *txn, const struct op *op,
		       struct database_writer *w, struct hb_error *err)
{
	struct databases_open *open = &txn->open_databases;

	if (grow(open->writers, open->n) < 0) {
		txn->databases->drop(w);
		return hb_fail(err, -ENOMEM, "cannot lock a database");
	}
	open->writers[open->n++] = (struct databases_writer){
		.resource = op->resource, .slot = op->slot, .writer = w
	};
	return 0;
}

static int fail_changed(const struct op *op, struct hb_error *err)
{
	return hb_fail_at(err, -HB_E_CONFLICT, op->path,
			  "another program has written to the database");
}

/* The picture and the pages, of a database that is locked. */
static int fill_locked(struct txn *txn, int dir, const struct place *at,
		       struct op *op, struct database_writer *w,
		       struct hb_error *err)
{
	const struct txn_databases *fns = txn->databases;
	const struct names n = names_of(op);
	const struct place staged = { .dir = dir, .name = n.new };
	int r;

	r = fns->picture(at->dir, at->name, true, dir, n.old, err);
	if (r == 0)
		r = check_header(dir, &n, err);
	if (r == 0)
		r = place_read(&staged, &op->new, err);
	if (r == 0)
		r = read_content(dir, n.old, &op->old.entries, err);
	if (r == 0)
		r = read_content(dir, n.new, &op->new.entries, err);
	if (r == 0)
		r = sync_file(dir, n.old, err);
	if (r == 0)
		r = sync_file(dir, n.new, err);
	return r < 0 ? r : fns->pages(w, err);
}

int databases_plan(struct txn *txn, struct site *site,
		   const struct conflict_rule *rule, struct op *op,
		   struct hb_error *err)
{
	const struct txn_databases *fns = txn->databases;
	int dir = site->dirs[SITE_SPOT_TXN];
	const struct names n = names_of(op);
	struct database_writer *w = NULL;
	struct place at = { .dir = -1 };
	int r;

	if (!fns)
		return hb_fail(err, -HB_E_UNSUPPORTED,
			       "databases cannot be written here");
	r = fns->clean(site->resource, op->path, dir, n.new, err);
	if (r == 0)
		r = site_base(site, op, &at, err);
	if (r == 0 && at.dir < 0)
		r = fail_changed(op, err);
	if (r == 0)
		r = fns->begin(at.dir, at.name, dir, n.new, &w, err);
	if (r < 0)
		return hb_fail_at(err, r, op->path, "cannot commit");
	if (op->accepted == CONFLICT_NONE &&
	    database_is_touched(rule, at.dir, op->path))
		r = fail_changed(op, err);
	else
		r = fill_locked(txn, dir, &at, op, w, err);
	if (r < 0) {
		fns->drop(w);
		return hb_fail_at(err, r, op->path, "cannot commit");
	}
	return keep_writer(txn, op, w, err);
}

/* What the base has now, and the state of its files before that was read. */
static int look(struct apply *a, const struct op *op, struct place *at,
		struct database_state *ret_state, uint64_t *ret_content,
		struct hb_error *err)
{
	struct site *s = &a->sites[op->resource];
	int dir = s->dirs[SITE_SPOT_TXN];
	const struct names n = names_of(op);
	int r = site_base(s, op, at, err);

	if (r < 0)
		return r;
	if (!a->txn->databases || dir < 0)
		return hb_fail(err, -HB_E_UNSUPPORTED,
			       "databases cannot be written here");
	if (at->dir < 0)
		return fail_changed(op, err);
	database_read_state(at->dir, at->name, ret_state);
	(void)sys_unlinkat(dir, n.now, 0);
	r = a->txn->databases->picture(at->dir, at->name, false, dir, n.now,
				       err);
	if (r == -ENOENT || r == -HB_E_STATE)
		return fail_changed(op, err);
	if (r == 0)
		r = read_content(dir, n.now, ret_content, err);
	(void)sys_unlinkat(dir, n.now, 0);
	return r;
}

int databases_check(struct apply *a, const struct op *op, bool back,
		    struct hb_error *err)
{
	struct database_state state;
	struct place at;
	uint64_t now = 0;
	int r = look(a, op, &at, &state, &now, err);

	if (r < 0)
		return r;
	return now == (back ? op->new.entries : op->old.entries)
		       ? 0
		       : fail_changed(op, err);
}

/* 1: it was written to between the look and the lock. */
static int hold_one(struct apply *a, const struct op *op, bool back,
		    struct hb_error *err)
{
	const struct txn_databases *fns = a->txn->databases;
	int dir = a->sites[op->resource].dirs[SITE_SPOT_TXN];
	const struct names n = names_of(op);
	struct database_state before, locked;
	struct database_writer *w = NULL;
	struct place at;
	uint64_t now = 0;
	int r = look(a, op, &at, &before, &now, err);

	if (r < 0 || now == (back ? op->old.entries : op->new.entries))
		return r;
	if (now != (back ? op->new.entries : op->old.entries))
		return fail_changed(op, err);
	r = fns->begin(at.dir, at.name, dir, back ? n.old : n.new, &w, err);
	if (r < 0)
		return r;
	database_read_state(at.dir, at.name, &locked);
	if (!database_is_state(&before, &locked)) {
		fns->drop(w);
		return 1;
	}
	r = fns->pages(w, err);
	if (r == 0)
		return keep_writer(a->txn, op, w, err);
	fns->drop(w);
	return r;
}

static int hold(struct apply *a, const struct op *op, bool back,
		struct hb_error *err)
{
	int r = find_writer(a->txn, op) ? 0 : 1;

	for (int i = 0; r == 1 && i < TRIES; i++)
		r = hold_one(a, op, back, err);
	if (r == 1)
		r = hb_fail(err, -HB_E_BUSY, "it is being written to");
	return r < 0 ? hb_fail_at(err, r, op->path, "cannot write") : 0;
}

static bool has_any(const struct apply *a)
{
	return journal_head(a->journal)->flags & JOURNAL_DATABASES;
}

int databases_hold(struct apply *a, bool back, struct hb_error *err)
{
	struct op op;
	int r;

	if (!has_any(a))
		return 0;

	journal_to_start(a->journal);
	while ((r = journal_next(a->journal, &op, err)) == 1) {
		r = op_is_written(&op) ? hold(a, &op, back, err) : 0;
		if (r < 0)
			return r;
	}
	return r;
}

/* The version before goes to the undo slot, where nothing sweeps it away. */
static void leave(struct apply *a, const struct op *op)
{
	struct site *s = &a->sites[op->resource];
	const struct names n = names_of(op);
	struct place undo;
	char place[64];
	bool has_old;
	struct hb_report report;

	site_undo(s, op, &undo);
	has_old = undo.dir >= 0 &&
		  sys_renameat2(s->dirs[SITE_SPOT_TXN], n.old, undo.dir,
				undo.name, RENAME_KEEP) >= 0 &&
		  sys_fsync(undo.dir) >= 0;
	(void)snprintf(place, sizeof(place), "undo/%s/%s", s->name, undo.name);
	report = (struct hb_report){ .kind = HB_REPORT_LEFT,
				     .resource = op->resource,
				     .path = op->path,
				     .text = has_old ? place : NULL,
				     .n = true };
	(void)report_send(a->txn->listener, &report);
	a->n_left++;
	(void)buf_add_fmt(&a->left, "%s%s", a->left.len ? ", " : "",
			  quoted(op->path));
}

static int end_one(struct apply *a, const struct op *op, struct hb_error *err)
{
	struct databases_writer *held = find_writer(a->txn, op);
	struct database_writer *w;
	int r;

	if (!held)
		return 0;
	w = held->writer;
	held->writer = NULL;
	r = a->txn->databases->end(w, err);
	return r < 0 ? hb_fail_at(err, r, op->path, "cannot write") : 0;
}

int databases_end(struct apply *a, bool back, bool past, struct hb_error *err)
{
	struct op op;
	int r;

	if (!has_any(a))
		return 0;

	journal_to_start(a->journal);
	while ((r = journal_next(a->journal, &op, err)) == 1) {
		struct hb_error why = { 0 };

		if (!op_is_written(&op))
			continue;
		r = past ? hold(a, &op, back, &why) : 0;
		if (r == 0)
			r = end_one(a, &op, &why);
		if (r == -HB_E_CONFLICT && past)
			leave(a, &op);
		else if (r < 0)
			return hb_pass(err, &why, r);
	}
	return r;
}
