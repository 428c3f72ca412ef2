/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/journal.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/sha256.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "tree/bytes.h"
#include "txn/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/*
 * The journal on disk
 * -------------------
 *
 * (a) DIR/journal exists only whole: it is written as journal.new, synced,
 *     renamed, and its directory is synced before any caller acts on it.
 * (b) A reader gets the very bytes of the writer.  Each record has a checksum
 *     and the whole has a hash.  Both are looked at before the first operation
 *     is given out, and the record's again whenever it is read.
 * (c) Memory is one record and one window for any number of operations.
 *
 * t_journal: every_cut, every_flip, and the crash loops for (a).
 */

#define HEAD_SIZE    64
#define TAIL_SIZE    56
#define DONE_SIZE    48
#define DONE_NEW     "journal.done.new"
#define AROUND	     12 /* length and checksum before, length behind */
#define WINDOW	     ((size_t)256 << 10)
#define WRITE_SIZE   ((size_t)256 << 10)
#define NSEC_PER_SEC 1000000000U
#define RECORD_MIN   248 /* a payload with an empty path */

/* How much is summed up to find records in a damaged file. */
#define SEARCH_FREE  ((uint64_t)64 << 20)
#define SEARCH_TIMES 4 /* the size of the file */

static const uint8_t head_magic[8] = "HBJOURN\n";
static const uint8_t tail_magic[8] = "HBJTAIL\n";
static const uint8_t done_magic[8] = "HBJDONE\n";

struct journal_writer {
	int dir;
	int fd;
	struct buf out; /* not written yet */
	struct buf record;
	struct sha256 hash;
	uint64_t n_ops, bytes;
};

struct journal {
	int fd;
	struct journal_head head;
	uint8_t hash[SHA256_SIZE];
	uint64_t end; /* of the records */
	uint64_t at;
	uint8_t *window;
	size_t room, filled;
	uint64_t window_at;
	uint64_t search; /* journal_next_whole(): bytes that it may sum up */
};

static void drop_new(struct journal_writer *w)
{
	(void)sys_unlinkat(w->dir, "journal.new", 0);
}

/*
 * The names that its end needs.  A disk that is full by then would leave it in
 * flight for ever.  Made later, they would lie between the last look at the
 * changes and the name of the journal.
 */
static int keep_room(int dir, enum journal_kind kind)
{
	const uint8_t bytes[DONE_SIZE] = { 0 };
	auto_fd int fd = -1;
	int r;

	r = sys_mkdirat(dir, kind == JOURNAL_UNDO ? "undone" : "done", 0700);
	if (r < 0 && r != -EEXIST)
		return r;
	fd = sys_openat(dir, DONE_NEW,
			O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
	return fd < 0 ? fd : sys_write_all(fd, bytes, sizeof(bytes));
}

int journal_begin(int dir, enum journal_kind kind,
		  struct journal_writer **ret_writer, struct hb_error *err)
{
	struct journal_writer *w = calloc(1, sizeof(*w));
	uint8_t head[HEAD_SIZE] = { 0 };
	int r;

	if (!w)
		return hb_fail(err, -ENOMEM, "cannot begin the journal");
	w->dir = dir;
	r = keep_room(dir, kind);
	if (r >= 0)
		r = w->fd = sys_openat(
			dir, "journal.new",
			O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
	if (r < 0) {
		free(w);
		return hb_fail(err, r, "cannot create the journal");
	}
	buf_init(&w->out, WRITE_SIZE + JOURNAL_RECORD_MAX + AROUND);
	buf_init(&w->record, JOURNAL_RECORD_MAX);
	sha256_init(&w->hash);
	/* Room for the head, which is known at the end. */
	(void)buf_add(&w->out, head, sizeof(head));
	*ret_writer = w;
	return 0;
}

void journal_writer_free(struct journal_writer *w)
{
	if (!w)
		return;
	if (w->fd >= 0) {
		sys_close(w->fd);
		drop_new(w);
	}
	buf_done(&w->out);
	buf_done(&w->record);
	free(w);
}

static int flush(struct journal_writer *w, struct hb_error *err)
{
	int r = w->out.error;

	if (r == 0 && w->out.len > 0)
		r = sys_write_all(w->fd, w->out.data, w->out.len);
	if (r < 0)
		return hb_fail(err, r, "cannot write the journal");
	buf_cut(&w->out, 0);
	return 0;
}

int journal_add(struct journal_writer *w, const struct op *op,
		struct hb_error *err)
{
	uint8_t before[8], behind[4];
	int r;

	/* No reader could read it again, and the session would be lost. */
	if (!op_is_legal(op))
		return hb_fail(err, -EINVAL,
			       "the plan has an operation of no known form");
	buf_cut(&w->record, 0);
	r = record_encode(op, &w->record);
	if (r == -E2BIG)
		return hb_fail(err, -EMSGSIZE,
			       "a path and its attributes are too long");
	if (r < 0)
		return hb_fail(err, r, "cannot write the journal");

	bytes_put32(before, (uint32_t)w->record.len);
	bytes_put32(before + 4, record_sum(w->record.data, w->record.len));
	bytes_put32(behind, (uint32_t)w->record.len);
	sha256_add(&w->hash, before, sizeof(before));
	sha256_add(&w->hash, w->record.data, w->record.len);
	sha256_add(&w->hash, behind, sizeof(behind));
	(void)buf_add(&w->out, before, sizeof(before));
	(void)buf_add(&w->out, w->record.data, w->record.len);
	(void)buf_add(&w->out, behind, sizeof(behind));
	w->bytes += AROUND + w->record.len;
	w->n_ops++;
	return w->out.len < WRITE_SIZE && !w->out.error ? 0 : flush(w, err);
}

static void encode_head(const struct journal_head *head, uint64_t n_ops,
			uint8_t out[HEAD_SIZE])
{
	memset(out, 0, HEAD_SIZE);
	memcpy(out, head_magic, sizeof(head_magic));
	bytes_put32(out + 8, JOURNAL_VERSION);
	bytes_put32(out + 12, HEAD_SIZE);
	bytes_put32(out + 16, (uint32_t)head->kind);
	bytes_put32(out + 20, head->flags);
	bytes_put32(out + 24, head->n_resources);
	bytes_put64(out + 32, head->id);
	bytes_put64(out + 40, n_ops);
	bytes_put64(out + 48, (uint64_t)head->since.tv_sec);
	bytes_put32(out + 56, (uint32_t)head->since.tv_nsec);
	bytes_put32(out + 60, record_sum(out, 60));
}

/* Renames and syncs; a name that may not last is taken back. */
static int publish_at(int dir, const char *from, const char *to,
		      bool *ret_uncertain)
{
	int r = sys_renameat(dir, from, dir, to);

	if (r < 0)
		return r;
	r = sys_fsync(dir);
	if (r == 0)
		return 0;
	if (sys_renameat(dir, to, dir, from) < 0 || sys_fsync(dir) < 0)
		*ret_uncertain = true;
	return r;
}

/* The head comes last: without it the file is no journal. */
static int publish(struct journal_writer *w, const uint8_t head[HEAD_SIZE],
		   bool *ret_uncertain)
{
	int r = sys_pwrite_all(w->fd, head, HEAD_SIZE, 0);

	if (r < 0)
		return r;
	r = sys_fsync(w->fd);
	if (r < 0)
		return r;
	return publish_at(w->dir, "journal.new", "journal", ret_uncertain);
}

int journal_publish(struct journal_writer *w, const struct journal_head *head,
		    bool *ret_uncertain, struct hb_error *err)
{
	uint8_t first[HEAD_SIZE], last[TAIL_SIZE] = { 0 };
	int r;

	*ret_uncertain = false;
	encode_head(head, w->n_ops, first);
	sha256_add(&w->hash, first, sizeof(first));
	memcpy(last, tail_magic, sizeof(tail_magic));
	bytes_put64(last + 8, w->bytes);
	sha256_end(&w->hash, last + 16);
	bytes_put32(last + 52, record_sum(last, 52));
	(void)buf_add(&w->out, last, sizeof(last));
	r = flush(w, err);
	if (r < 0)
		return r;

	r = publish(w, first, ret_uncertain);
	if (r < 0 && *ret_uncertain) {
		hb_fix(err, "holdback recover, which finishes it, or "
			    "holdback recover --back");
		return hb_fail(err, -HB_E_STATE,
			       "the plan may be on disk or not (%s); no file "
			       "was changed yet",
			       hb_strerror(-r));
	}
	if (r < 0)
		return hb_fail(err, r, "cannot make the journal durable");
	sys_close(w->fd);
	w->fd = -1;
	return 0;
}

/* The bytes at `offset`, from the window, which is moved there if need be. */
static int view(struct journal *j, uint64_t offset, size_t n,
		const uint8_t **ret_bytes)
{
	uint64_t from = offset;
	ssize_t got;

	if (offset >= j->window_at && offset + n <= j->window_at + j->filled) {
		*ret_bytes = j->window + (offset - j->window_at);
		return 0;
	}
	if (n > j->room) {
		uint8_t *larger = realloc(j->window, n);

		if (!larger)
			return -ENOMEM;
		j->window = larger;
		j->room = n;
	}
	/* A reader that goes backwards wants the bytes before. */
	if (offset < j->window_at)
		from = offset + n > j->room ? offset + n - j->room : 0;
	j->filled = 0;
	got = sys_pread_full(j->fd, j->window, j->room, from);
	if (got < 0)
		return (int)got;
	j->window_at = from;
	j->filled = (size_t)got;
	if (from + j->filled < offset + n)
		return -EBADMSG;
	*ret_bytes = j->window + (offset - from);
	return 0;
}

/* The record at `at`, whose payload length is known to fit into the file. */
static int read_record(struct journal *j, uint64_t at, uint64_t *ret_len,
		       const uint8_t **ret_payload)
{
	const uint8_t *p;
	uint32_t len;
	int r;

	if (j->end - at < AROUND)
		return -EBADMSG;
	r = view(j, at, 8, &p);
	if (r < 0)
		return r;
	len = bytes_get32(p);
	if (len > JOURNAL_RECORD_MAX || len > j->end - at - AROUND)
		return -EBADMSG;
	r = view(j, at, (size_t)len + AROUND, &p);
	if (r < 0)
		return r;
	if (bytes_get32(p) != len || bytes_get32(p + 8 + len) != len ||
	    record_sum(p + 8, len) != bytes_get32(p + 4))
		return -EBADMSG;
	*ret_len = len;
	*ret_payload = p + 8;
	return 0;
}

static int read_op(struct journal *j, uint64_t at, uint64_t *ret_len,
		   struct op *ret_op)
{
	const uint8_t *payload;
	int r = read_record(j, at, ret_len, &payload);

	if (r < 0)
		return r;
	return record_decode(payload, (size_t)*ret_len, j->head.n_resources,
			     ret_op);
}

static int fail_read(int r, struct hb_error *err)
{
	if (r == -EBADMSG)
		return hb_fail(err, -HB_E_CORRUPT, "the journal is damaged");
	return hb_fail(err, r, "cannot read the journal");
}

int journal_next(struct journal *j, struct op *ret_op, struct hb_error *err)
{
	uint64_t len;
	int r;

	if (j->at >= j->end)
		return 0;
	r = read_op(j, j->at, &len, ret_op);
	if (r < 0)
		return fail_read(r, err);
	j->at += len + AROUND;
	return 1;
}

int journal_prev(struct journal *j, struct op *ret_op, struct hb_error *err)
{
	const uint8_t *p;
	uint64_t len, start;
	int r;

	if (j->at <= HEAD_SIZE)
		return 0;
	if (j->at - HEAD_SIZE < AROUND)
		return fail_read(-EBADMSG, err);
	r = view(j, j->at - 4, 4, &p);
	if (r < 0)
		return fail_read(r, err);
	len = bytes_get32(p);
	if (len > JOURNAL_RECORD_MAX || len + AROUND > j->at - HEAD_SIZE)
		return fail_read(-EBADMSG, err);
	start = j->at - len - AROUND;
	r = read_op(j, start, &len, ret_op);
	if (r < 0)
		return fail_read(r, err);
	j->at = start;
	return 1;
}

void journal_to_start(struct journal *j)
{
	j->at = HEAD_SIZE;
}

void journal_to_end(struct journal *j)
{
	j->at = j->end;
}

const struct journal_head *journal_head(const struct journal *j)
{
	return &j->head;
}

const uint8_t *journal_hash(const struct journal *j)
{
	return j->hash;
}

static int read_head(struct journal *j, struct hb_error *err)
{
	const uint8_t *p;
	uint32_t kind, flags, version;
	int r;

	r = view(j, 0, HEAD_SIZE, &p);
	if (r < 0)
		return fail_read(r, err);
	if (memcmp(p, head_magic, sizeof(head_magic)) != 0)
		return fail_read(-EBADMSG, err);
	version = bytes_get32(p + 8);
	if (version > JOURNAL_VERSION) {
		hb_fix(err, "use the version of holdback that wrote it");
		return hb_fail(err, -HB_E_UNSUPPORTED,
			       "the journal has version %u, known is %d",
			       version, JOURNAL_VERSION);
	}
	kind = bytes_get32(p + 16);
	flags = bytes_get32(p + 20);
	if (version == 0 || record_sum(p, 60) != bytes_get32(p + 60) ||
	    bytes_get32(p + 12) != HEAD_SIZE || kind == 0 ||
	    kind >= JOURNAL_KINDS || (flags & ~(uint32_t)JOURNAL_FLAGS_ALL) ||
	    bytes_get32(p + 24) > JOURNAL_RESOURCE_MAX ||
	    bytes_get32(p + 56) >= NSEC_PER_SEC)
		return fail_read(-EBADMSG, err);
	j->head = (struct journal_head){
		.kind = (enum journal_kind)kind,
		.flags = flags,
		.n_resources = bytes_get32(p + 24),
		.id = bytes_get64(p + 32),
		.n_ops = bytes_get64(p + 40),
		.since = { .tv_sec = (time_t)bytes_get64(p + 48),
			   .tv_nsec = (long)bytes_get32(p + 56) },
	};
	return 0;
}

/* Looks at every byte once. */
static int check_all(struct journal *j, uint64_t size, struct hb_error *err)
{
	uint8_t tail[TAIL_SIZE], hash[SHA256_SIZE];
	struct sha256 h;
	const uint8_t *p;
	uint64_t n = 0;
	struct op op;
	int r;

	r = view(j, size - TAIL_SIZE, TAIL_SIZE, &p);
	if (r < 0)
		return fail_read(r, err);
	memcpy(tail, p, sizeof(tail));
	if (memcmp(tail, tail_magic, sizeof(tail_magic)) != 0 ||
	    bytes_get64(tail + 8) != j->end - HEAD_SIZE ||
	    record_sum(tail, 52) != bytes_get32(tail + 52))
		return fail_read(-EBADMSG, err);

	sha256_init(&h);
	for (uint64_t at = HEAD_SIZE; at < j->end;) {
		size_t some = j->end - at < 4096 ? (size_t)(j->end - at) : 4096;

		r = view(j, at, some, &p);
		if (r < 0)
			return fail_read(r, err);
		sha256_add(&h, p, some);
		at += some;
	}
	r = view(j, 0, HEAD_SIZE, &p);
	if (r < 0)
		return fail_read(r, err);
	sha256_add(&h, p, HEAD_SIZE);
	sha256_end(&h, hash);
	if (memcmp(hash, tail + 16, sizeof(hash)) != 0)
		return fail_read(-EBADMSG, err);

	journal_to_start(j);
	while ((r = journal_next(j, &op, err)) == 1)
		n++;
	if (r < 0)
		return r;
	if (n != j->head.n_ops)
		return fail_read(-EBADMSG, err);
	memcpy(j->hash, hash, sizeof(hash));
	journal_to_start(j);
	return 0;
}

static int check_owner(int fd, uint64_t *ret_size, struct hb_error *err)
{
	struct sys_attr a;
	int r = sys_attr_at(fd, "", &a);

	if (r < 0)
		return hb_fail(err, r, "cannot look at the journal");
	if (!S_ISREG(a.mode) || a.uid != sys_effective_uid())
		return hb_fail(err, -HB_E_CORRUPT,
			       "the journal belongs to another user");
	*ret_size = a.size;
	return 0;
}

/* All of the file is looked at before anything of it is used. */
static int read_all(struct journal *j, struct hb_error *err)
{
	uint64_t size = 0;
	int r;

	r = check_owner(j->fd, &size, err);
	if (r < 0)
		return r;
	/* The version first: a newer one may be of another shape. */
	r = size < HEAD_SIZE ? fail_read(-EBADMSG, err) : read_head(j, err);
	if (r < 0)
		return r;
	if (size < HEAD_SIZE + TAIL_SIZE)
		return fail_read(-EBADMSG, err);
	j->end = size - TAIL_SIZE;
	return check_all(j, size, err);
}

/* A reader of the file, which is taken; NULL for want of memory. */
static struct journal *new_reader(int fd, struct hb_error *err)
{
	struct journal *j = calloc(1, sizeof(*j));

	if (j) {
		j->fd = fd;
		j->room = WINDOW;
		j->window = malloc(j->room);
	} else {
		sys_close(fd);
	}
	if (j && j->window)
		return j;
	journal_free(j);
	(void)hb_fail(err, -ENOMEM, "cannot read the journal");
	return NULL;
}

int journal_read(int fd, struct journal **ret_journal, struct hb_error *err)
{
	auto_journal struct journal *j = new_reader(fd, err);
	int r = j ? read_all(j, err) : -ENOMEM;

	if (r < 0)
		return r;
	*ret_journal = take_ptr(&j);
	return 0;
}

static int open_file(int dir, const char *name, struct hb_error *err)
{
	int fd = sys_openat(dir, name,
			    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);

	return fd >= 0 || fd == -ENOENT
		       ? fd
		       : hb_fail(err, fd, "cannot open the journal");
}

int journal_open(int dir, const char *name, struct journal **ret_journal,
		 struct hb_error *err)
{
	int fd = open_file(dir, name, err);

	return fd < 0 ? fd : journal_read(fd, ret_journal, err);
}

/* 1: the head is whole; 0: it is not. */
static int try_head(struct journal *j, struct hb_error *err)
{
	struct hb_error why = { 0 };
	const uint8_t *p;
	int r = j->end < HEAD_SIZE ? -HB_E_CORRUPT : read_head(j, &why);

	/* A version that is damage itself is not a newer one. */
	if (r == -HB_E_UNSUPPORTED && view(j, 0, HEAD_SIZE, &p) == 0 &&
	    record_sum(p, 60) != bytes_get32(p + 60))
		r = -HB_E_CORRUPT;
	if (r == -HB_E_CORRUPT) {
		j->head = (struct journal_head){ .n_resources =
							 JOURNAL_RESOURCE_MAX };
		return 0;
	}
	if (r < 0 && err)
		*err = why;
	return r < 0 ? r : 1;
}

int journal_open_damaged(int dir, const char *name,
			 struct journal **ret_journal, bool *ret_has_head,
			 struct hb_error *err)
{
	auto_journal struct journal *j = NULL;
	int fd = open_file(dir, name, err);
	int r;

	if (fd < 0)
		return fd;
	j = new_reader(fd, err);
	if (!j)
		return -ENOMEM;
	r = check_owner(j->fd, &j->end, err);
	if (r < 0)
		return r;
	r = try_head(j, err);
	if (r < 0)
		return r;
	*ret_has_head = r == 1;
	j->search = SEARCH_FREE + SEARCH_TIMES * j->end;
	journal_to_start(j);
	*ret_journal = take_ptr(&j);
	return 0;
}

/*
 * 1: there is a record at `at` by its two lengths.  The second is read beside
 * the window, which would go to and fro otherwise.
 */
static int has_lengths(struct journal *j, uint64_t at, uint32_t *ret_len)
{
	uint8_t behind[4];
	const uint8_t *p;
	uint64_t end;
	ssize_t n;
	int r = view(j, at, 8, &p);

	if (r < 0)
		return r;
	*ret_len = bytes_get32(p);
	if (*ret_len < RECORD_MIN || *ret_len > JOURNAL_RECORD_MAX ||
	    *ret_len > j->end - at - AROUND)
		return 0;
	end = at + 8 + *ret_len;
	if (end + 4 <= j->window_at + j->filled)
		return bytes_get32(p + 8 + *ret_len) == *ret_len;
	n = sys_pread_full(j->fd, behind, sizeof(behind), end);
	if (n < 0)
		return (int)n;
	return n == sizeof(behind) && bytes_get32(behind) == *ret_len;
}

int journal_next_whole(struct journal *j, struct op *ret_op,
		       struct hb_error *err)
{
	uint64_t read;
	uint32_t len;
	int r = 0;

	for (; j->at < j->end && j->end - j->at >= RECORD_MIN + AROUND;
	     j->at++) {
		r = has_lengths(j, j->at, &len);
		if (r < 0)
			break;
		if (r == 0)
			continue;
		if (len > j->search)
			return 0;
		j->search -= len;
		r = read_op(j, j->at, &read, ret_op);
		if (r >= 0) {
			j->at += len + AROUND;
			return 1;
		}
		if (r != -EBADMSG)
			break;
		r = 0;
	}
	/* Shorter than it was a moment ago: there is no more. */
	return r < 0 && r != -EBADMSG ? fail_read(r, err) : 0;
}

void journal_free(struct journal *j)
{
	if (!j)
		return;
	if (j->fd >= 0)
		sys_close(j->fd);
	free(j->window);
	free(j);
}

static int write_done(int dir, const uint8_t bytes[DONE_SIZE])
{
	bool uncertain = false;
	auto_fd int fd = -1;
	int r;

	/* Without O_TRUNC: keep_room() has made it as long as it will be. */
	fd = sys_openat(dir, DONE_NEW, O_WRONLY | O_CREAT | O_NOFOLLOW, 0600);
	if (fd < 0)
		return fd;
	r = sys_write_all(fd, bytes, DONE_SIZE);
	if (r < 0)
		return r;
	r = sys_fsync(fd);
	if (r < 0)
		return r;
	/* Uncertain or not: recovery finds every step done and says it again.
	 */
	return publish_at(dir, DONE_NEW, "journal.done", &uncertain);
}

int journal_write_done(int dir, const uint8_t hash[32], struct hb_error *err)
{
	uint8_t bytes[DONE_SIZE] = { 0 };
	int r;

	memcpy(bytes, done_magic, sizeof(done_magic));
	bytes_put32(bytes + 8, JOURNAL_VERSION);
	memcpy(bytes + 12, hash, SHA256_SIZE);
	bytes_put32(bytes + 44, record_sum(bytes, 44));
	r = write_done(dir, bytes);
	return r < 0 ? hb_fail(err, r, "cannot say that it is done") : 0;
}

int journal_is_done(int dir, const uint8_t hash[32], struct hb_error *err)
{
	uint8_t bytes[DONE_SIZE];
	auto_fd int fd = -1;
	ssize_t n;

	fd = sys_openat(dir, "journal.done",
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return hb_fail(err, fd, "cannot open 'journal.done'");
	n = sys_pread_full(fd, bytes, sizeof(bytes), 0);
	if (n < 0)
		return hb_fail(err, (int)n, "cannot read 'journal.done'");
	/* A damaged one counts as none: the steps are looked at again. */
	return n == DONE_SIZE &&
	       memcmp(bytes, done_magic, sizeof(done_magic)) == 0 &&
	       record_sum(bytes, 44) == bytes_get32(bytes + 44) &&
	       memcmp(bytes + 12, hash, SHA256_SIZE) == 0;
}

uint64_t journal_undo_bytes(struct journal *j)
{
	uint64_t bytes = 0;
	struct op op;

	journal_to_start(j);
	while (journal_next(j, &op, NULL) == 1)
		if (op.old.type == ENTRY_FILE)
			bytes += op.old.size;
	return bytes;
}
