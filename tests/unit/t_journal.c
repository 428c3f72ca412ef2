/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/journal.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/sha256.h"
#include "sys/fault.h"
#include "tap.h"
#include "tree/bytes.h"
#include "txn/record.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define N_OPS 7

static char where[64];

static int scratch(void)
{
	const char *tmp = getenv("TMPDIR");
	int fd;

	(void)snprintf(where, sizeof(where), "%s/t_journal.XXXXXX",
		       tmp && *tmp ? tmp : "/tmp");
	CHECK(mkdtemp(where) != NULL);
	fd = open(where, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(fd >= 0);
	fault_arm(FAULT_NONE, 0);
	return fd;
}

static void sweep(int *dir)
{
	static const char *const names[] = { "journal", "journal.new",
					     "journal.done",
					     "journal.done.new" };

	for (size_t i = 0; i < 4; i++)
		(void)unlinkat(*dir, names[i], 0);
	/* What its end needs is there before it is. */
	(void)unlinkat(*dir, "done", AT_REMOVEDIR);
	(void)unlinkat(*dir, "undone", AT_REMOVEDIR);
	CHECK_INT(rmdir(where), 0);
	fd_closep(dir);
}

#define auto_scratch __attribute__((cleanup(sweep)))

static struct object object(uint64_t ino)
{
	return (struct object){
		.type = ENTRY_FILE,
		.mode = 0640,
		.uid = 1000,
		.gid = 100,
		.ino = ino,
		.size = 1ULL << 40,
		.mtime = { -1, 999999999 },
		.btime = { 1LL << 33, 1 },
	};
}

static struct op sample(int i)
{
	static const char xattrs[] = "\7\0\0\0\3\0\0\0user.a\0abc";
	struct op op = { .kind = OP_REPLACE,
			 .source = SOURCE_LAYER,
			 .effect = OP_ORIGIN,
			 .resource = 1,
			 .slot = (uint64_t)i,
			 .path = "a\n\xff/b",
			 .old = object(5),
			 .new = object(6),
			 .mode = 0600,
			 .accepted = CONFLICT_EDITED };

	if (i % 2) {
		op.accepted = CONFLICT_NONE;
		op.kind = OP_DIRECTORY;
		op.source = SOURCE_NONE;
		op.effect = OP_XATTRS;
		op.path = "";
		op.old.type = op.new.type = ENTRY_DIR;
		op.new_xattrs =
			(struct xattr_list){ xattrs, sizeof(xattrs) - 1 };
	}
	return op;
}

static void write_sample(int dir, int n)
{
	const struct journal_head head = { .kind = JOURNAL_UNDO,
					   .flags = JOURNAL_HAS_REST,
					   .n_resources = 2,
					   .id = 42 };
	struct journal_writer *w = NULL;
	struct hb_error err = { 0 };
	bool uncertain;

	CHECK_INT(journal_begin(dir, JOURNAL_COMMIT, &w, &err), 0);
	for (int i = 0; i < n; i++) {
		struct op op = sample(i);

		CHECK_INT(journal_add(w, &op, &err), 0);
	}
	CHECK_INT(journal_publish(w, &head, &uncertain, &err), 0);
	CHECK(!uncertain);
	journal_writer_free(w);
}

static void check_sample(const struct op *op, int i)
{
	struct op want = sample(i);

	CHECK_INT(op->kind, want.kind);
	CHECK_INT(op->source, want.source);
	CHECK_INT(op->effect, want.effect);
	CHECK_INT(op->identity, want.identity);
	CHECK_INT(op->resource, 1);
	CHECK_INT(op->slot, i);
	CHECK_INT(op->mode, 0600);
	CHECK_INT(op->accepted, want.accepted);
	CHECK(strcmp(op->path, want.path) == 0);
	CHECK(object_is_unchanged(&op->old, &want.old));
	CHECK(object_is_unchanged(&op->new, &want.new));
	CHECK_INT(op->old.uid, 1000);
	CHECK_INT(op->old.mtime.tv_sec, -1);
	CHECK_INT(op->new_xattrs.size, want.new_xattrs.size);
}

static void what_is_written_is_read_both_ways(void)
{
	auto_scratch int dir = scratch();
	auto_journal struct journal *j = NULL;
	struct op op;
	int i;

	write_sample(dir, N_OPS);
	CHECK_INT(journal_open(dir, "journal", &j, NULL), 0);
	CHECK_INT(journal_head(j)->kind, JOURNAL_UNDO);
	CHECK_INT(journal_head(j)->id, 42);
	CHECK_INT(journal_head(j)->n_ops, N_OPS);
	for (i = 0; journal_next(j, &op, NULL) == 1; i++)
		check_sample(&op, i);
	CHECK_INT(i, N_OPS);
	while (journal_prev(j, &op, NULL) == 1)
		check_sample(&op, --i);
	CHECK_INT(i, 0);
	CHECK_INT(journal_next(j, &op, NULL), 1);
}

/* More than any window holds. */
static void many_are_read_backwards(void)
{
	auto_scratch int dir = scratch();
	auto_journal struct journal *j = NULL;
	struct op op;
	int i = 5000;

	write_sample(dir, i);
	CHECK_INT(journal_open(dir, "journal", &j, NULL), 0);
	journal_to_end(j);
	while (journal_prev(j, &op, NULL) == 1)
		check_sample(&op, --i);
	CHECK_INT(i, 0);
	while (journal_next(j, &op, NULL) == 1)
		check_sample(&op, i++);
	CHECK_INT(i, 5000);
}

static void syncs_before_it_tells(void)
{
	auto_scratch int dir = scratch();

	fault_arm(FAULT_NONE, 0);
	write_sample(dir, 1);
	CHECK(strcmp(fault_trace(), "mkdirat openat write openat write "
				    "pwrite fsync renameat fsync") == 0);
}

static size_t slurp(int dir, uint8_t *bytes, size_t room)
{
	auto_fd int fd = openat(dir, "journal", O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, bytes, room);

	CHECK(n > 0 && (size_t)n < room);
	return (size_t)n;
}

/* Not cut to nothing first: some file systems write such a file out. */
static void spill(int dir, const uint8_t *bytes, size_t n)
{
	auto_fd int fd = openat(dir, "journal", O_WRONLY | O_CLOEXEC);

	CHECK_INT(write(fd, bytes, n), n);
	CHECK_INT(ftruncate(fd, (off_t)n), 0);
}

static int try_open(int dir)
{
	auto_journal struct journal *j = NULL;
	struct hb_error err = { 0 };
	int r = journal_open(dir, "journal", &j, &err);

	CHECK(r == 0 || err.text[0] != '\0');
	return r;
}

static void every_cut(void)
{
	auto_scratch int dir = scratch();
	uint8_t bytes[8192];
	size_t n;

	write_sample(dir, N_OPS);
	n = slurp(dir, bytes, sizeof(bytes));
	for (size_t i = 0; i < n; i++) {
		spill(dir, bytes, i);
		CHECK_INT(try_open(dir), -HB_E_CORRUPT);
	}
	bytes[n] = 0;
	spill(dir, bytes, n + 1);
	CHECK_INT(try_open(dir), -HB_E_CORRUPT);
	spill(dir, bytes, n);
	CHECK_INT(try_open(dir), 0);
}

static void every_flip(void)
{
	auto_scratch int dir = scratch();
	uint8_t bytes[8192];
	size_t n;

	write_sample(dir, N_OPS);
	n = slurp(dir, bytes, sizeof(bytes));
	for (size_t i = 0; i < n; i++) {
		bytes[i] ^= (uint8_t)(1U << i % 8);
		spill(dir, bytes, n);
		/* A version from the future is told from damage. */
		CHECK(try_open(dir) == -HB_E_CORRUPT ||
		      (i >= 8 && i < 12 && try_open(dir) == -HB_E_UNSUPPORTED));
		bytes[i] ^= (uint8_t)(1U << i % 8);
	}
}

static void a_newer_version_is_named(void)
{
	auto_scratch int dir = scratch();
	auto_journal struct journal *j = NULL;
	struct hb_error err = { 0 };
	uint8_t bytes[8192];
	size_t n;

	write_sample(dir, 1);
	n = slurp(dir, bytes, sizeof(bytes));
	bytes[8] = JOURNAL_VERSION + 1;
	spill(dir, bytes, n);
	CHECK_INT(journal_open(dir, "journal", &j, &err), -HB_E_UNSUPPORTED);
	CHECK(strstr(err.text, "version 3") != NULL);
	CHECK(err.fix[0] != '\0');
}

/* Of version 1 no operation was accepted; the rest is the same. */
static void an_older_version_is_read(void)
{
	auto_scratch int dir = scratch();
	auto_journal struct journal *j = NULL;
	uint8_t bytes[8192];
	struct sha256 h;
	struct op op;
	size_t n;

	write_sample(dir, 3);
	n = slurp(dir, bytes, sizeof(bytes));
	bytes[8] = 1;
	bytes_put32(bytes + 60, record_sum(bytes, 60));
	sha256_init(&h);
	sha256_add(&h, bytes + 64, n - 64 - 56);
	sha256_add(&h, bytes, 64);
	sha256_end(&h, bytes + n - 40);
	bytes_put32(bytes + n - 4, record_sum(bytes + n - 56, 52));
	spill(dir, bytes, n);
	CHECK_INT(journal_open(dir, "journal", &j, NULL), 0);
	journal_to_start(j);
	for (int i = 0; i < 3; i++) {
		CHECK_INT(journal_next(j, &op, NULL), 1);
		check_sample(&op, i);
	}
	CHECK_INT(journal_next(j, &op, NULL), 0);
}

static void somebody_elses_is_refused(void)
{
	auto_scratch int dir = scratch();

	write_sample(dir, 1);
	if (geteuid() == 0) {
		CHECK_INT(fchownat(dir, "journal", 65534, 65534, 0), 0);
		CHECK_INT(try_open(dir), -HB_E_CORRUPT);
	}
	CHECK_INT(unlinkat(dir, "journal", 0), 0);
	CHECK_INT(symlinkat("/etc/passwd", dir, "journal"), 0);
	CHECK_INT(try_open(dir), -ELOOP);
	CHECK_INT(unlinkat(dir, "journal", 0), 0);
	CHECK_INT(mkfifoat(dir, "journal", 0600), 0);
	CHECK_INT(try_open(dir), -HB_E_CORRUPT);
}

/* A journal with this operation, whatever it is, and with the right sums. */
static void write_raw(int dir, const struct op *op)
{
	struct buf record = BUF_INIT(4096);
	uint8_t bytes[8192];
	struct sha256 h;
	size_t n = 64;
	uint8_t *tail;

	write_sample(dir, 1);
	CHECK(slurp(dir, bytes, sizeof(bytes)) > 64);
	CHECK_INT(record_encode(op, &record), 0);
	bytes_put32(bytes + n, (uint32_t)record.len);
	bytes_put32(bytes + n + 4, record_sum(record.data, record.len));
	memcpy(bytes + n + 8, record.data, record.len);
	bytes_put32(bytes + n + 8 + record.len, (uint32_t)record.len);
	n += 12 + record.len;
	tail = bytes + n;
	memset(tail, 0, 56);
	memcpy(tail, "HBJTAIL\n", 8);
	bytes_put64(tail + 8, n - 64);
	sha256_init(&h);
	sha256_add(&h, bytes + 64, n - 64);
	sha256_add(&h, bytes, 64);
	sha256_end(&h, tail + 16);
	bytes_put32(tail + 52, record_sum(tail, 52));
	spill(dir, bytes, n + 56);
	buf_done(&record);
}

/* Operations that no plan makes: not read, nor written where we can tell. */
static void operations_that_no_plan_makes_are_damage(void)
{
	static const char *const paths[] = { "/abs", "a//b", "a/../b", "..",
					     ".",    "a/.",  "a/" };
	auto_scratch int dir = scratch();
	struct journal_writer *w = NULL;
	struct op op = sample(0);

	write_raw(dir, &op);
	CHECK_INT(try_open(dir), 0);
	for (size_t i = 0; i < 13; i++) {
		op = sample(0);
		if (i < 7)
			op.path = paths[i];
		else if (i == 7)
			op.path = "";
		else if (i == 8)
			op.resource = 2;
		else if (i == 9)
			op.old.type = ENTRY_NONE;
		else if (i == 10)
			op.source = SOURCE_NONE;
		else if (i == 12)
			op.accepted = CONFLICT_END;
		else
			op.effect |= OP_UPPER;
		write_raw(dir, &op);
		CHECK_INT(try_open(dir), -HB_E_CORRUPT);
		if (i < 7 || i == 8 || i == 12)
			continue;
		CHECK_INT(journal_begin(dir, JOURNAL_COMMIT, &w, NULL), 0);
		CHECK_INT(journal_add(w, &op, NULL), -EINVAL);
		journal_writer_free(w);
	}
}

/* Written out: the bits of a record that each kind may have. */
static const struct {
	enum op_kind kind;
	enum op_source source;
	enum entry_type old, new;
	unsigned bits;
} kinds[] = {
	{ OP_ADD, SOURCE_LAYER, ENTRY_NONE, ENTRY_FILE, 0x1607 },
	{ OP_REPLACE, SOURCE_LAYER, ENTRY_FILE, ENTRY_FILE, 0x0707 },
	{ OP_DELETE, SOURCE_NONE, ENTRY_FILE, ENTRY_NONE, 0x0701 },
	{ OP_DIRECTORY, SOURCE_NONE, ENTRY_DIR, ENTRY_DIR, 0x0ab8 },
	{ OP_LAYER, SOURCE_NONE, ENTRY_NONE, ENTRY_NONE, 0x0001 },
	{ OP_REMOVE, SOURCE_STAGED, ENTRY_DIR, ENTRY_DIR, 0x1201 },
};

static void each_kind_has_its_own_flags_alone(void)
{
	for (size_t i = 0; i < 6; i++)
		for (unsigned bit = 0; bit < 32; bit++) {
			struct buf record = BUF_INIT(4096);
			unsigned bits = 1U << bit;
			struct op op = sample(0), back;

			op.kind = kinds[i].kind;
			op.source = kinds[i].source;
			op.old.type = kinds[i].old;
			op.new.type = kinds[i].new;
			op.layer = object(7);
			op.layer.type = ENTRY_DIR;
			op.accepted = CONFLICT_NONE;
			/* One that needs another, and the one of a kind. */
			if (bit == 10)
				bits |= 1U << 9;
			if (op.kind == OP_LAYER)
				bits |= 1;
			op.effect = bits;
			CHECK_INT(record_encode(&op, &record), 0);
			CHECK_INT(record_decode(record.data, record.len, 2,
						&back),
				  (kinds[i].bits >> bit) & 1 ? 0 : -EBADMSG);
			buf_done(&record);
		}
}

/* A pair that is legal by each of its flags. */
static void flags_that_exclude_each_other_are_damage(void)
{
	static const unsigned pairs[] = {
		1U << 10,	    /* apart, and does not rise */
		1U << 11 | 1U << 3, /* remade, and new */
		1U << 7 | 1U << 3,  /* in the upper alone, and new */
		1U << 7 | 1U << 5,  /* with attributes of the base */
		1U << 7 | 1U << 11, /* and remade */
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct buf record = BUF_INIT(4096);
		struct op op = sample(i == 0 ? 0 : 1), back;

		op.layer = object(7);
		op.layer.type = ENTRY_DIR;
		op.effect = pairs[i];
		CHECK_INT(record_encode(&op, &record), 0);
		CHECK_INT(record_decode(record.data, record.len, 2, &back),
			  -EBADMSG);
		buf_done(&record);
	}
}

/* Where each record of the sample begins; the last is where they end. */
static void find_records(const uint8_t *bytes, size_t at[N_OPS + 1])
{
	at[0] = 64;
	for (int i = 0; i < N_OPS; i++)
		at[i + 1] = at[i] + 12 + bytes_get32(bytes + at[i]);
}

static void open_damaged(int dir, struct journal **ret_journal)
{
	CHECK_INT(journal_open_damaged(dir, "journal", ret_journal, NULL), 0);
}

/* Of `n` records all but the `lost` one are named, once and in their order. */
static void check_whole(struct journal *j, int n, int lost)
{
	struct hb_error err = { 0 };
	struct op op;

	for (int i = 0; i < n; i++) {
		if (i == lost)
			continue;
		CHECK_INT(journal_next(j, &op, &err), 1);
		check_sample(&op, i);
	}
	CHECK_INT(journal_next(j, &op, &err), 0);
	CHECK_INT(journal_next(j, &op, &err), 0);
}

static void a_damaged_byte_costs_the_record_that_has_it_alone(void)
{
	static const uint8_t damages[] = { 0x01, 0x80, 0xff };
	auto_scratch int dir = scratch();
	uint8_t bytes[8192];
	size_t n, at[N_OPS + 1];

	write_sample(dir, N_OPS);
	n = slurp(dir, bytes, sizeof(bytes));
	find_records(bytes, at);
	CHECK_INT(at[N_OPS] + 56, n);
	for (size_t i = 0; i < n * sizeof(damages); i++) {
		auto_journal struct journal *j = NULL;
		size_t byte = i / sizeof(damages);
		int lost = N_OPS;

		for (int k = 0; k < N_OPS; k++)
			if (byte >= at[k] && byte < at[k + 1])
				lost = k;
		bytes[byte] ^= damages[i % sizeof(damages)];
		spill(dir, bytes, n);
		open_damaged(dir, &j);
		check_whole(j, N_OPS, lost);
		bytes[byte] ^= damages[i % sizeof(damages)];
	}
}

/* It was cut before it was opened, and is longer by now. */
static void records_behind_a_cut_are_not_named(void)
{
	auto_scratch int dir = scratch();
	uint8_t bytes[8192];
	size_t n, at[N_OPS + 1];
	int whole = 0;

	write_sample(dir, N_OPS);
	n = slurp(dir, bytes, sizeof(bytes));
	find_records(bytes, at);
	for (size_t cut = 0; cut <= n; cut++) {
		auto_journal struct journal *j = NULL, *longer = NULL;

		if (whole < N_OPS && cut >= at[whole + 1])
			whole++;
		spill(dir, bytes, cut);
		open_damaged(dir, &j);
		check_whole(j, whole, N_OPS);
		open_damaged(dir, &longer);
		spill(dir, bytes, n);
		check_whole(longer, whole, N_OPS);
	}
	CHECK_INT(whole, N_OPS);
}

static void a_journal_that_becomes_shorter_ends_there(void)
{
	auto_scratch int dir = scratch();
	uint8_t bytes[8192];
	size_t n;

	write_sample(dir, N_OPS);
	n = slurp(dir, bytes, sizeof(bytes));
	for (size_t cut = 0; cut < n; cut += 7) {
		auto_journal struct journal *j = NULL;
		auto_fd int fd = -1;
		struct op op;
		int i = 0;

		spill(dir, bytes, n);
		open_damaged(dir, &j);
		fd = openat(dir, "journal", O_WRONLY | O_CLOEXEC);
		CHECK_INT(ftruncate(fd, (off_t)cut), 0);
		while (journal_next(j, &op, NULL) == 1)
			check_sample(&op, i++);
		CHECK(i <= N_OPS);
	}
}

static void lengths_of_a_damaged_journal_lead_nowhere(void)
{
	static const uint32_t lengths[] = { 0,	       1,	   247,
					    248,       0x7fffffff, 0xffffffff,
					    0xfffffff4 };
	auto_scratch int dir = scratch();
	uint8_t bytes[8192];
	size_t n, at[N_OPS + 1];

	write_sample(dir, N_OPS);
	n = slurp(dir, bytes, sizeof(bytes));
	find_records(bytes, at);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		for (size_t k = 0; k < N_OPS; k++) {
			auto_journal struct journal *j = NULL;
			uint8_t damaged[8192];

			memcpy(damaged, bytes, n);
			bytes_put32(damaged + at[k], lengths[i]);
			bytes_put32(damaged + at[k + 1] - 4, lengths[i]);
			spill(dir, damaged, n);
			open_damaged(dir, &j);
			check_whole(j, N_OPS, (int)k);
		}
}

static void done_names_its_journal(void)
{
	auto_scratch int dir = scratch();
	uint8_t a[32] = { 1 }, b[32] = { 2 };

	CHECK_INT(journal_is_done(dir, a, NULL), 0);
	CHECK_INT(journal_write_done(dir, a, NULL), 0);
	CHECK_INT(journal_is_done(dir, a, NULL), 1);
	CHECK_INT(journal_is_done(dir, b, NULL), 0);
}

/* A journal that could not be made durable is none. */
static void every_failure_leaves_none(void)
{
	static const struct journal_head head = { .kind = JOURNAL_COMMIT,
						  .n_resources = 2,
						  .id = 1 };
	auto_scratch int dir = scratch();
	struct stat st;

	for (unsigned n = 1;; n++) {
		struct journal_writer *w = NULL;
		struct hb_error err = { 0 };
		struct op op = sample(0);
		bool uncertain = false;
		int r;

		fault_arm(FAULT_ENOSPC, n);
		r = journal_begin(dir, JOURNAL_COMMIT, &w, &err);
		if (r == 0)
			r = journal_add(w, &op, &err);
		if (r == 0)
			r = journal_publish(w, &head, &uncertain, &err);
		journal_writer_free(w);
		if (r == 0) {
			CHECK(n > 6);
			break;
		}
		CHECK(!uncertain && err.code == ENOSPC);
		CHECK(fstatat(dir, "journal", &st, 0) < 0);
		CHECK(fstatat(dir, "journal.new", &st, 0) < 0);
	}
}

TESTS(T(what_is_written_is_read_both_ways), T(many_are_read_backwards),
      T(syncs_before_it_tells), T(every_cut), T(every_flip),
      T(a_newer_version_is_named), T(an_older_version_is_read),
      T(somebody_elses_is_refused), T(operations_that_no_plan_makes_are_damage),
      T(each_kind_has_its_own_flags_alone),
      T(flags_that_exclude_each_other_are_damage),
      T(a_damaged_byte_costs_the_record_that_has_it_alone),
      T(records_behind_a_cut_are_not_named),
      T(a_journal_that_becomes_shorter_ends_there),
      T(lengths_of_a_damaged_journal_lead_nowhere), T(done_names_its_journal),
      T(every_failure_leaves_none))
