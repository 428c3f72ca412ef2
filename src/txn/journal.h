/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_JOURNAL_H
#define HB_TXN_JOURNAL_H

#include "txn/op.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The journal: the whole plan of a transaction, on disk before the first step.
 * docs/formats/journal.md.  It is read as if an enemy had written it.
 */
#define JOURNAL_VERSION	     3
#define JOURNAL_RECORD_MAX   ((size_t)4 << 20)
#define JOURNAL_PATH_MAX     ((size_t)1 << 20)
#define JOURNAL_RESOURCE_MAX 1024

enum journal_kind {
	JOURNAL_COMMIT = 1,
	JOURNAL_UNDO, /* the operations of a commit, to be reversed */
	JOURNAL_REDO,
	JOURNAL_ROLLBACK,
	JOURNAL_KINDS /* one past the last */
};

enum journal_flag {
	JOURNAL_HAS_REST = 1 << 0,  /* not all of the layers was taken */
	JOURNAL_PLAIN = 1 << 1,	    /* no RENAME_EXCHANGE here */
	JOURNAL_HAS_PARTS = 1 << 2, /* it is about all of parts.h */
	JOURNAL_LIVE = 1 << 3,	    /* of copies: the layers may be newer */
	JOURNAL_DATABASES = 1 << 4, /* some are OP_DATABASE */
	JOURNAL_FLAGS_ALL = (1 << 5) - 1
};

struct journal_head {
	enum journal_kind kind;
	unsigned flags; /* enum journal_flag */
	uint32_t n_resources;
	uint64_t id;
	uint64_t n_ops;
	/* A time before the plan was made: late.h; zero: not told. */
	struct timespec since;
	/* Of a journal that was read: */
	uint8_t hash[32];    /* over all of it: what "done" refers to */
	uint64_t undo_bytes; /* of files that it replaces or deletes */
};

struct journal_writer;

/*
 * Begins DIR/journal.new, and makes the names that the end of it needs.  What a
 * dead process left of it is overwritten: the caller holds the session's lock.
 */
int journal_begin(int dir, enum journal_kind kind,
		  struct journal_writer **ret_writer, struct hb_error *err);

/*
 * -EMSGSIZE: the operation does not fit into a record; -EINVAL: it is none that
 * op_is_legal().
 */
int journal_add(struct journal_writer *w, const struct op *op,
		struct hb_error *err);

/*
 * Writes the rest, syncs, renames to DIR/journal and syncs DIR: the commit
 * point.  `head->n_ops` is filled in by what was added.  A failure leaves no
 * journal, unless it is the last sync that failed.  Then the name is taken
 * back.  If that is not possible `*ret_uncertain` is set and only txn_recover()
 * may go on.
 */
int journal_publish(struct journal_writer *w, const struct journal_head *head,
		    bool *ret_uncertain, struct hb_error *err);
void journal_writer_free(struct journal_writer *w);

struct journal;

/*
 * Opens and checks all of it.  -ENOENT: there is none; -HB_E_CORRUPT: damaged
 * or not ours; -HB_E_UNSUPPORTED: from a newer version.
 */
int journal_open(int dir, const char *name, struct journal **ret_journal,
		 struct hb_error *err);

/* The same for an open file, which is taken, also on failure. */
int journal_read(int fd, struct journal **ret_journal, struct hb_error *err);

/*
 * For a search after the rests of a damaged journal: checks the owner, and
 * nothing of what it says.  journal_next() then gives each record that is
 * whole, past any bytes that are not.  A file that is made to look like many
 * records within each other is not read to its end.  Without a head its kind is
 * 0 and any resource is possible.  -ENOENT and -HB_E_UNSUPPORTED as above.
 */
int journal_open_damaged(int dir, const char *name,
			 struct journal **ret_journal, struct hb_error *err);
void journal_free(struct journal *j);
#define auto_journal __attribute__((cleanup(journal_freep)))
static inline void journal_freep(struct journal **j)
{
	journal_free(*j);
}

const struct journal_head *journal_head(const struct journal *j);

void journal_to_start(struct journal *j);
void journal_to_end(struct journal *j);

/*
 * The operation behind, or before, the place where the journal stands.  1, 0
 * when there is none.  What `ret_op` points to is valid until the next call.
 */
int journal_next(struct journal *j, struct op *ret_op, struct hb_error *err);
int journal_prev(struct journal *j, struct op *ret_op, struct hb_error *err);

/*
 * "Done": DIR/journal.done says that the journal with this hash is finished.
 * Written as the journal is.
 */
int journal_write_done(int dir, const uint8_t hash[32], struct hb_error *err);

/* 1: it is there and says this hash; 0: it is not, or says another. */
int journal_is_done(int dir, const uint8_t hash[32], struct hb_error *err);

#endif
