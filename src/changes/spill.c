/* SPDX-License-Identifier: Apache-2.0 */
#include "changes/spill.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/path.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "tree/scratch.h"

#include <errno.h>
#include <string.h>

/*
 * A record has its length behind this number, kind, what, flags, conflict,
 * layer, link group, old and new entry.  Then come the length of the ignored
 * part, the length of the shared path, and the rest of the path.  Numbers have
 * the machine's order: the file does not outlive the process.  It is read with
 * the same care as if it did, because it lies where others may reach it.
 */
#define OUT_SIZE    ((size_t)64 << 10)
#define SPILL_BLOCK ((size_t)64 << 10)
#define FIXED_MAX   512 /* all of a record but its path */

enum entry_bit {
	BIT_WHITEOUT = 1 << 0,
	BIT_OPAQUE = 1 << 1,
	BIT_ORIGIN = 1 << 2,
	BIT_XATTRS = 1 << 3,
	BIT_FIXED = 1 << 4,
	BIT_STAND_IN = 1 << 5,
	BITS_KNOWN = (1 << 6) - 1,
};

static const char kinds[] = { CHANGE_ADDED, CHANGE_MODIFIED,   CHANGE_DELETED,
			      CHANGE_TYPE,  CHANGE_ATTRIBUTES, CHANGE_TIMES };

struct cursor {
	const unsigned char *p;
	size_t left;
	bool is_bad;
};

static void put(struct buf *out, uint64_t number, size_t n)
{
	unsigned char bytes[8];

	memcpy(bytes, &number, sizeof(number));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	(void)buf_add(out, bytes + 8 - n, n);
#else
	(void)buf_add(out, bytes, n);
#endif
}

static uint64_t get(struct cursor *c, size_t n)
{
	uint64_t number = 0;

	if (c->left < n) {
		c->is_bad = true;
		return 0;
	}
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	memcpy((unsigned char *)&number + 8 - n, c->p, n);
#else
	memcpy(&number, c->p, n);
#endif
	c->p += n;
	c->left -= n;
	return number;
}

static void put_time(struct buf *out, struct timespec t)
{
	put(out, (uint64_t)t.tv_sec, 8);
	put(out, (uint64_t)t.tv_nsec, 4);
}

static struct timespec get_time(struct cursor *c)
{
	struct timespec t;

	t.tv_sec = (time_t)get(c, 8);
	t.tv_nsec = (long)get(c, 4);
	if (t.tv_nsec >= 1000000000)
		c->is_bad = true;
	return t;
}

static void put_entry(struct buf *out, const struct entry *e)
{
	put(out, e->type, 1);
	if (e->type == ENTRY_NONE)
		return;
	put(out,
	    (e->is_whiteout ? BIT_WHITEOUT : 0) |
		    (e->is_opaque ? BIT_OPAQUE : 0) |
		    (e->has_origin ? BIT_ORIGIN : 0) |
		    (e->has_xattrs ? BIT_XATTRS : 0) |
		    (e->is_fixed ? BIT_FIXED : 0) |
		    (e->is_stand_in ? BIT_STAND_IN : 0),
	    1);
	put(out, e->mode, 2);
	put(out, e->uid, 4);
	put(out, e->gid, 4);
	put(out, e->dev, 8);
	put(out, e->ino, 8);
	put(out, e->size, 8);
	put(out, e->stored, 8);
	put(out, e->nlink, 8);
	put_time(out, e->mtime);
	put_time(out, e->ctime);
	put_time(out, e->btime);
}

static void get_entry(struct cursor *c, struct entry *e)
{
	uint64_t type = get(c, 1), bits;

	*e = (struct entry){ .type = ENTRY_NONE };
	if (type == ENTRY_NONE)
		return;
	bits = get(c, 1);
	if (type >= ENTRY_TYPES || (bits & ~(uint64_t)BITS_KNOWN))
		c->is_bad = true;
	e->type = (enum entry_type)type;
	e->is_whiteout = bits & BIT_WHITEOUT;
	e->is_opaque = bits & BIT_OPAQUE;
	e->has_origin = bits & BIT_ORIGIN;
	e->has_xattrs = bits & BIT_XATTRS;
	e->is_fixed = bits & BIT_FIXED;
	e->is_stand_in = bits & BIT_STAND_IN;
	e->mode = (mode_t)get(c, 2);
	if (e->mode & ~(mode_t)07777)
		c->is_bad = true;
	e->uid = (uid_t)get(c, 4);
	e->gid = (gid_t)get(c, 4);
	e->dev = get(c, 8);
	e->ino = get(c, 8);
	e->size = get(c, 8);
	e->stored = get(c, 8);
	e->nlink = get(c, 8);
	e->mtime = get_time(c);
	e->ctime = get_time(c);
	e->btime = get_time(c);
}

int spill_encode(const struct spilled *record, size_t shared, struct buf *out)
{
	const struct change *c = &record->change;
	size_t start = out->len;
	uint32_t len;

	/*
	 * Its length, once that is known.  A second buffer would be one for
	 * each record in the run path, where no memory is given back.
	 */
	put(out, 0, sizeof(len));
	put(out, (unsigned char)c->kind, 1);
	put(out, c->what, 2);
	put(out, c->flags, 2);
	put(out, record->conflict, 1);
	put(out, c->layer, 4);
	put(out, c->link_group, 8);
	put_entry(out, &c->old);
	put_entry(out, &c->new);
	if (c->flags & CHANGE_IGNORED)
		put(out, c->ignored_top, 4);
	if (c->flags & CHANGE_FIRM)
		put(out, (uint64_t)c->holder, 4);
	put(out, shared, 4);
	(void)buf_add_str(out, c->path + shared);
	if (out->error < 0)
		return out->error;
	len = (uint32_t)(out->len - start - sizeof(len));
	memcpy(out->data + start, &len, sizeof(len));
	return 0;
}

static bool is_sound(const struct spilled *s)
{
	return s->change.kind &&
	       memchr(kinds, (int)s->change.kind, sizeof(kinds)) &&
	       s->conflict < CONFLICT_END &&
	       !(s->change.flags & CHANGE_CONFLICT) ==
		       (s->conflict == CONFLICT_NONE) &&
	       !(s->change.flags & CHANGE_FIRM) ==
		       !conflict_is_firm(s->conflict) &&
	       s->change.holder >= 0;
}

ssize_t spill_decode(const unsigned char *bytes, size_t n, struct buf *path,
		     struct spilled *ret)
{
	struct cursor c = { .p = bytes, .left = n };
	uint64_t len = get(&c, 4), shared;
	struct spilled s = { 0 };

	if (c.is_bad || len > c.left)
		return -EBADMSG;
	c.left = (size_t)len;
	s.change.kind = (enum change_kind)get(&c, 1);
	s.change.what = (unsigned)get(&c, 2);
	s.change.flags = (unsigned)get(&c, 2);
	s.conflict = (enum conflict)get(&c, 1);
	s.change.layer = (size_t)get(&c, 4);
	s.change.link_group = get(&c, 8);
	get_entry(&c, &s.change.old);
	get_entry(&c, &s.change.new);
	if (s.change.flags & CHANGE_IGNORED)
		s.change.ignored_top = (size_t)get(&c, 4);
	if (s.change.flags & CHANGE_FIRM)
		s.change.holder = (pid_t)get(&c, 4);
	shared = get(&c, 4);
	if (c.is_bad || !is_sound(&s) || shared > path->len ||
	    shared + c.left == 0 || memchr(c.p, '\0', c.left))
		return -EBADMSG;
	buf_cut(path, (size_t)shared);
	if (buf_add(path, c.p, c.left) < 0)
		return -EBADMSG;
	if (s.change.ignored_top > path->len)
		return -EBADMSG;
	s.change.path = buf_str(path);
	s.change.why = conflict_words(s.conflict);
	s.change.conflict = s.conflict;
	*ret = s;
	return (ssize_t)(4 + len);
}

int spill_init(struct spill *spill, int dir, struct hb_error *err)
{
	int fd;

	*spill = (struct spill){ .file = -1 };
	fd = scratch_open(dir);
	if (fd < 0)
		return hb_fail(err, fd, "cannot create a file for the changes");
	spill_resume(spill, fd, SPILL_HEAD);
	return 0;
}

void spill_resume(struct spill *spill, int file, uint64_t size)
{
	*spill = (struct spill){
		.file = file,
		.next = SPILL_HEAD,
		.end = size < SPILL_HEAD ? SPILL_HEAD : size,
	};
	buf_init(&spill->out, 2 * PATH_TREE_MAX);
	buf_init(&spill->last, PATH_TREE_MAX);
	buf_init(&spill->path, PATH_TREE_MAX);
}

void spill_done(struct spill *spill)
{
	if (spill->file >= 0)
		sys_close(spill->file);
	spill->file = -1;
	buf_done(&spill->out);
	buf_done(&spill->last);
	buf_done(&spill->path);
	free(spill->block);
	spill->block = NULL;
}

static int flush(struct spill *spill, struct hb_error *err)
{
	int r;

	r = scratch_write(&spill->file, buf_str(&spill->out), spill->out.len,
			  spill->end);
	if (r < 0)
		return hb_fail(err, r, "cannot keep the list of changes");
	spill->end += spill->out.len;
	buf_cut(&spill->out, 0);
	return 0;
}

static size_t shared_length(const struct buf *last, const char *path)
{
	size_t n = 0;

	while (n < last->len && path[n] == last->data[n])
		n++;
	return n;
}

int spill_add(struct spill *spill, const struct spilled *record,
	      struct hb_error *err)
{
	const char *path = record->change.path;
	size_t shared = shared_length(&spill->last, path);
	int r;

	r = spill_encode(record, shared, &spill->out);
	if (r < 0)
		return hb_fail(err, r, "cannot keep the list of changes");
	buf_cut(&spill->last, shared);
	r = buf_add_str(&spill->last, path + shared);
	if (r < 0)
		return hb_fail(err, r, "cannot keep the list of changes");
	return spill->out.len >= OUT_SIZE ? flush(spill, err) : 0;
}

int spill_rewind(struct spill *spill, struct hb_error *err)
{
	spill->next = SPILL_HEAD;
	spill->n_block = 0;
	buf_cut(&spill->path, 0);
	return spill->out.len > 0 ? flush(spill, err) : 0;
}

/* The list is made anew for each look, so the session itself is whole. */
static int fail_damaged(struct hb_error *err)
{
	hb_fix(err, "try again; if it stays so, the disk or the memory fails: "
		    "look at the kernel's log");
	return hb_fail(err, -HB_E_CORRUPT, "the list of changes is damaged");
}

static int read_block(struct spill *spill, size_t want, struct hb_error *err)
{
	size_t size = want > SPILL_BLOCK ? want : SPILL_BLOCK;
	uint64_t left = spill->end - spill->next;
	unsigned char *block;
	ssize_t n;

	if (want > left)
		return fail_damaged(err);
	block = realloc(spill->block, size);
	if (!block)
		return hb_fail(err, -ENOMEM, "cannot read the changes");
	spill->block = block;
	if (size > left)
		size = (size_t)left;
	n = sys_pread_full(spill->file, block, size, spill->next);
	if (n < 0)
		return hb_fail(err, (int)n, "cannot read the changes");
	if ((size_t)n != size)
		return fail_damaged(err);
	spill->at = spill->next;
	spill->n_block = size;
	return 0;
}

/* Makes `want` bytes at the next record available. */
static int need(struct spill *spill, size_t want, struct hb_error *err)
{
	if (spill->n_block > 0 && spill->next >= spill->at &&
	    spill->next + want <= spill->at + spill->n_block)
		return 0;
	return read_block(spill, want, err);
}

int spill_next(struct spill *spill, struct spilled *ret, struct hb_error *err)
{
	struct cursor c;
	ssize_t n;
	size_t len;
	int r;

	if (spill->next == spill->end)
		return 0;
	r = need(spill, 4, err);
	if (r < 0)
		return r;
	c = (struct cursor){ .p = spill->block + (spill->next - spill->at),
			     .left = 4 };
	len = (size_t)get(&c, 4) + 4;
	if (len > PATH_TREE_MAX + FIXED_MAX)
		return fail_damaged(err);
	r = need(spill, len, err);
	if (r < 0)
		return r;
	n = spill_decode(spill->block + (spill->next - spill->at), len,
			 &spill->path, ret);
	if (n < 0)
		return fail_damaged(err);
	spill->next += (uint64_t)n;
	return 1;
}
