/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/journal.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/sha256.h"
#include "base/time.h"
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

#define HEAD_SIZE  64
#define TAIL_SIZE  56
#define DONE_SIZE  48
#define DONE_NEW   "journal.done.new"
#define NEW_FLAGS  (O_WRONLY | O_CREAT | O_NOFOLLOW)
#define READ_FLAGS (O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
#define BEFORE	   8  /* length and checksum, in front of a record */
#define AROUND	   12 /* and the length once more behind it */
#define WINDOW	   ((size_t)256 << 10)
#define WRITE_SIZE ((size_t)256 << 10)
#define RECORD_MIN 248 /* a payload with an empty path */

/* How much is summed up to find records in a damaged file. */
#define SEARCH_FREE  ((uint64_t)64 << 20)
#define SEARCH_TIMES 4 /* the size of the file */

/* clang-format off */
#define HEAD_FIELDS(X)                                                    \
	X(kind, 16, 32) X(flags, 20, 32) X(n_resources, 24, 32)           \
	X(id, 32, 64) X(n_ops, 40, 64)                                    \
	X(since.tv_sec, 48, 64) X(since.tv_nsec, 56, 32)
/* clang-format on */

static const uint8_t head_magic[8] = "HBJOURN\n";
static const uint8_t tail_magic[8] = "HBJTAIL\n";
static const uint8_t done_magic[8] = "HBJDONE\n";

struct journal_writer {
	int dir;
	int fd;
	struct buf out; /* not written yet */
	struct sha256 hash;
	uint64_t n_ops, bytes;
};

struct journal {
	int fd;
	uint32_t version;
	struct journal_head head;
	uint64_t end; /* of the records */
	uint64_t at;
	uint8_t *window;
	size_t room, filled;
	uint64_t window_at;
	bool is_damaged;
	uint64_t search; /* then: bytes that may yet be summed up */
};

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
	fd = sys_openat(dir, DONE_NEW, NEW_FLAGS | O_TRUNC, 0600);
	return fd < 0 ? fd : sys_write_all(fd, bytes, sizeof(bytes));
}

int journal_begin(int dir, enum journal_kind kind,
		  struct journal_writer **ret_writer, struct hb_error *err)
{
	struct journal_writer *w = calloc(1, sizeof(*w));
	int r = w ? keep_room(dir, kind) : -ENOMEM;

	if (r >= 0)
		r = sys_openat(dir, "journal.new", NEW_FLAGS | O_TRUNC, 0600);
	if (r < 0) {
		free(w);
		return hb_fail(err, r, "cannot create the journal");
	}
	w->dir = dir;
	w->fd = r;
	buf_init(&w->out, WRITE_SIZE + JOURNAL_RECORD_MAX + AROUND);
	sha256_init(&w->hash);
	/* Room for the head, which is known at the end. */
	(void)buf_add_fill(&w->out, 0, HEAD_SIZE);
	*ret_writer = w;
	return 0;
}

void journal_writer_free(struct journal_writer *w)
{
	if (!w)
		return;
	if (w->fd >= 0) {
		sys_close(w->fd);
		(void)sys_unlinkat(w->dir, "journal.new", 0);
	}
	buf_done(&w->out);
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
	size_t at = w->out.len, len;
	uint8_t *p;
	int r;

	/* No reader could read it again, and the session would be lost. */
	if (!op_is_legal(op))
		return hb_fail(err, -EINVAL,
			       "the plan has an operation of no known form");
	(void)buf_add_fill(&w->out, 0, BEFORE);
	r = record_encode(op, &w->out);
	len = w->out.len - at - BEFORE;
	if (r >= 0 && len > JOURNAL_RECORD_MAX)
		r = buf_fail(&w->out, -E2BIG);
	if (r == -E2BIG)
		return hb_fail(err, -EMSGSIZE,
			       "a path and its attributes are too long");
	r = buf_add_fill(&w->out, 0, AROUND - BEFORE);
	if (r < 0)
		return hb_fail(err, r, "cannot write the journal");
	p = (uint8_t *)w->out.data + at;
	bytes_put32(p, (uint32_t)len);
	bytes_put32(p + 4, record_sum(p + BEFORE, len));
	bytes_put32(p + BEFORE + len, (uint32_t)len);
	sha256_add(&w->hash, p, AROUND + len);
	w->bytes += AROUND + len;
	w->n_ops++;
	return w->out.len < WRITE_SIZE ? 0 : flush(w, err);
}

static void encode_head(const struct journal_head *o, uint8_t p[HEAD_SIZE])
{
	memset(p, 0, HEAD_SIZE);
	memcpy(p, head_magic, sizeof(head_magic));
	bytes_put32(p + 8, JOURNAL_VERSION);
	bytes_put32(p + 12, HEAD_SIZE);
	HEAD_FIELDS(BYTES_PUT)
	bytes_put32(p + 60, record_sum(p, 60));
}

/* Syncs, renames and syncs; a name that may not last is taken back. */
static int publish(int fd, int dir, const char *from, const char *to,
		   bool *ret_uncertain)
{
	int r = sys_fsync(fd);

	if (r < 0)
		return r;
	r = sys_renameat(dir, from, dir, to);
	if (r < 0)
		return r;
	r = sys_fsync(dir);
	if (r == 0)
		return 0;
	if (sys_renameat(dir, to, dir, from) < 0 || sys_fsync(dir) < 0)
		*ret_uncertain = true;
	return r;
}

int journal_publish(struct journal_writer *w, const struct journal_head *head,
		    bool *ret_uncertain, struct hb_error *err)
{
	uint8_t first[HEAD_SIZE], last[TAIL_SIZE] = { 0 };
	struct journal_head all = *head;
	int r;

	*ret_uncertain = false;
	all.n_ops = w->n_ops;
	encode_head(&all, first);
	sha256_add(&w->hash, first, sizeof(first));
	memcpy(last, tail_magic, sizeof(tail_magic));
	bytes_put64(last + 8, w->bytes);
	sha256_end(&w->hash, last + 16);
	bytes_put32(last + 52, record_sum(last, 52));
	(void)buf_add(&w->out, last, sizeof(last));
	r = flush(w, err);
	if (r < 0)
		return r;

	/* The head comes last: without it the file is no journal. */
	r = sys_pwrite_all(w->fd, first, sizeof(first), 0);
	if (r >= 0)
		r = publish(w->fd, w->dir, "journal.new", "journal",
			    ret_uncertain);
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
	size_t room = n > WINDOW ? n : WINDOW;
	uint64_t from = offset;
	ssize_t got;

	if (offset >= j->window_at && offset + n <= j->window_at + j->filled) {
		*ret_bytes = j->window + (offset - j->window_at);
		return 0;
	}
	if (room > j->room) {
		uint8_t *larger = realloc(j->window, room);

		if (!larger)
			return -ENOMEM;
		j->window = larger;
		j->room = room;
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
	if (from + j->filled < offset + n) {
		/* It was longer a moment ago. */
		j->end = from + j->filled;
		return -EBADMSG;
	}
	*ret_bytes = j->window + (offset - from);
	return 0;
}

/*
 * Of a damaged journal: whether the length stands at the end once more.  Bytes
 * that only look like a record cost no window and no sum.
 */
static int check_end(struct journal *j, uint64_t at, uint32_t len)
{
	uint8_t behind[4];
	ssize_t n = sys_pread_full(j->fd, behind, sizeof(behind),
				   at + BEFORE + len);

	if (n < 0)
		return (int)n;
	if (n != sizeof(behind) || bytes_get32(behind) != len)
		return -EBADMSG;
	if (len > j->search) {
		j->at = j->end;
		return -EBADMSG;
	}
	j->search -= len;
	return 0;
}

/* The operation of the record at `at`, and where the record behind it is. */
static int read_op(struct journal *j, uint64_t at, uint64_t *ret_next,
		   struct op *ret_op)
{
	const uint8_t *p;
	uint32_t len;
	int r;

	if (j->end < at + AROUND)
		return -EBADMSG;
	r = view(j, at, BEFORE, &p);
	if (r < 0)
		return r;
	len = bytes_get32(p);
	if (len < RECORD_MIN || len > JOURNAL_RECORD_MAX ||
	    len > j->end - at - AROUND)
		return -EBADMSG;
	r = j->is_damaged ? check_end(j, at, len) : 0;
	if (r < 0)
		return r;
	r = view(j, at, (size_t)len + AROUND, &p);
	if (r < 0)
		return r;
	if (bytes_get32(p) != len || bytes_get32(p + BEFORE + len) != len ||
	    record_sum(p + BEFORE, len) != bytes_get32(p + 4))
		return -EBADMSG;
	r = record_decode(p + BEFORE, len, j->head.n_resources, ret_op);
	if (r < 0)
		return r;
	*ret_next = at + len + AROUND;
	return 0;
}

static int fail_read(const struct journal *j, int r, struct hb_error *err)
{
	if (r == -EBADMSG)
		return hb_fail(err, -HB_E_CORRUPT, "the journal is damaged");
	if (r != -HB_E_UNSUPPORTED)
		return hb_fail(err, r, "cannot read the journal");
	hb_fix(err, "use the version of holdback that wrote it");
	return hb_fail(err, r, "the journal has version %u, known is %d",
		       j->version, JOURNAL_VERSION);
}

int journal_next(struct journal *j, struct op *ret_op, struct hb_error *err)
{
	for (; j->at < j->end; j->at++) {
		int r = read_op(j, j->at, &j->at, ret_op);

		if (r >= 0)
			return 1;
		if (r != -EBADMSG || !j->is_damaged)
			return fail_read(j, r, err);
	}
	return 0;
}

int journal_prev(struct journal *j, struct op *ret_op, struct hb_error *err)
{
	uint64_t start, next;
	const uint8_t *p;
	int r;

	if (j->at <= HEAD_SIZE)
		return 0;
	r = view(j, j->at - 4, 4, &p);
	if (r < 0)
		return fail_read(j, r, err);
	start = j->at - AROUND - bytes_get32(p);
	r = start < HEAD_SIZE || start > j->at
		    ? -EBADMSG
		    : read_op(j, start, &next, ret_op);
	if (r >= 0 && next != j->at)
		r = -EBADMSG;
	if (r < 0)
		return fail_read(j, r, err);
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

static int read_head(struct journal *j)
{
	struct journal_head *o = &j->head;
	const uint8_t *p;
	int r;

	r = view(j, 0, HEAD_SIZE, &p);
	if (r < 0)
		return r;
	if (memcmp(p, head_magic, sizeof(head_magic)) != 0)
		return -EBADMSG;
	/* The version first: a newer one may be of another shape. */
	j->version = bytes_get32(p + 8);
	if (j->version > JOURNAL_VERSION)
		return -HB_E_UNSUPPORTED;
	HEAD_FIELDS(BYTES_GET)
	return j->version == 0 || record_sum(p, 60) != bytes_get32(p + 60) ||
			       bytes_get32(p + 12) != HEAD_SIZE ||
			       o->kind == 0 || o->kind >= JOURNAL_KINDS ||
			       (o->flags & ~(unsigned)JOURNAL_FLAGS_ALL) ||
			       o->n_resources > JOURNAL_RESOURCE_MAX ||
			       !time_is_valid(o->since)
		       ? -EBADMSG
		       : 0;
}

/* Every byte is looked at before anything of it is used. */
static int check_all(struct journal *j)
{
	uint8_t tail[TAIL_SIZE];
	struct sha256 h;
	const uint8_t *p;
	uint64_t n, next;
	struct op op;
	int r;

	r = read_head(j);
	if (r < 0)
		return r;
	if (j->end < HEAD_SIZE + TAIL_SIZE)
		return -EBADMSG;
	j->end -= TAIL_SIZE;
	r = view(j, j->end, TAIL_SIZE, &p);
	if (r < 0)
		return r;
	memcpy(tail, p, sizeof(tail));
	if (memcmp(tail, tail_magic, sizeof(tail_magic)) != 0 ||
	    bytes_get64(tail + 8) != j->end - HEAD_SIZE ||
	    record_sum(tail, 52) != bytes_get32(tail + 52))
		return -EBADMSG;

	sha256_init(&h);
	for (n = 0; j->at < j->end; n++, j->at = next) {
		r = read_op(j, j->at, &next, &op);
		if (r >= 0)
			r = view(j, j->at, (size_t)(next - j->at), &p);
		if (r < 0)
			return r;
		sha256_add(&h, p, (size_t)(next - j->at));
		if (op.old.type == ENTRY_FILE)
			j->head.undo_bytes += op.old.size;
	}
	r = view(j, 0, HEAD_SIZE, &p);
	if (r < 0)
		return r;
	sha256_add(&h, p, HEAD_SIZE);
	sha256_end(&h, j->head.hash);
	journal_to_start(j);
	return memcmp(j->head.hash, tail + 16, SHA256_SIZE) != 0 ||
			       n != j->head.n_ops
		       ? -EBADMSG
		       : 0;
}

/* A head that is damaged is none.  A version that is damage is not newer. */
static int check_rests(struct journal *j)
{
	const uint8_t *p;
	int r = read_head(j);

	if (r == -HB_E_UNSUPPORTED && view(j, 0, HEAD_SIZE, &p) == 0 &&
	    record_sum(p, 60) != bytes_get32(p + 60))
		r = -EBADMSG;
	if (r < 0 && r != -EBADMSG)
		return r;
	if (r < 0)
		j->head = (struct journal_head){ .n_resources =
							 JOURNAL_RESOURCE_MAX };
	j->is_damaged = true;
	j->search = SEARCH_FREE + SEARCH_TIMES * j->end;
	return 0;
}

/* A reader of the file, which is taken; -ENOENT in its place is handed on. */
static int new_reader(int fd, int (*check)(struct journal *j),
		      struct journal **ret_journal, struct hb_error *err)
{
	auto_journal struct journal *j = NULL;
	auto_fd int own = fd;
	struct sys_attr a;
	int r = fd < 0 ? fd : sys_attr_at(fd, "", &a);

	if (fd == -ENOENT)
		return fd;
	if (r < 0)
		return hb_fail(err, r, "cannot open the journal");
	if (!S_ISREG(a.mode) || a.uid != sys_effective_uid())
		return hb_fail(err, -HB_E_CORRUPT,
			       "the journal belongs to another user");
	j = calloc(1, sizeof(*j));
	if (!j)
		return hb_fail(err, -ENOMEM, "cannot read the journal");
	j->fd = take_fd(&own);
	j->end = a.size;
	journal_to_start(j);
	r = check(j);
	if (r < 0)
		return fail_read(j, r, err);
	*ret_journal = take_ptr(&j);
	return 0;
}

int journal_read(int fd, struct journal **ret_journal, struct hb_error *err)
{
	return new_reader(fd, check_all, ret_journal, err);
}

int journal_open(int dir, const char *name, struct journal **ret_journal,
		 struct hb_error *err)
{
	return new_reader(sys_openat(dir, name, READ_FLAGS, 0), check_all,
			  ret_journal, err);
}

int journal_open_damaged(int dir, const char *name,
			 struct journal **ret_journal, struct hb_error *err)
{
	return new_reader(sys_openat(dir, name, READ_FLAGS, 0), check_rests,
			  ret_journal, err);
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

int journal_write_done(int dir, const uint8_t hash[32], struct hb_error *err)
{
	uint8_t bytes[DONE_SIZE] = { 0 };
	bool uncertain = false;
	auto_fd int fd = -1;
	int r;

	memcpy(bytes, done_magic, sizeof(done_magic));
	bytes_put32(bytes + 8, JOURNAL_VERSION);
	memcpy(bytes + 12, hash, SHA256_SIZE);
	bytes_put32(bytes + 44, record_sum(bytes, 44));
	/* Without O_TRUNC: keep_room() has made it as long as it will be. */
	r = fd = sys_openat(dir, DONE_NEW, NEW_FLAGS, 0600);
	if (r >= 0)
		r = sys_write_all(fd, bytes, DONE_SIZE);
	/* Uncertain or not: recovery finds each step done and says it again. */
	if (r >= 0)
		r = publish(fd, dir, DONE_NEW, "journal.done", &uncertain);
	return r < 0 ? hb_fail(err, r, "cannot say that it is done") : 0;
}

int journal_is_done(int dir, const uint8_t hash[32], struct hb_error *err)
{
	uint8_t bytes[DONE_SIZE];
	auto_fd int fd = -1;
	ssize_t n;

	fd = sys_openat(dir, "journal.done", READ_FLAGS, 0);
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
