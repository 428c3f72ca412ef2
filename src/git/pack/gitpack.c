/* SPDX-License-Identifier: Apache-2.0 */
#include "git/pack/gitpack.h"

#include "base/auto.h"
#include "git/pack/delta_bases.h"
#include "git/pack/inflate.h"
#include "sys/attr.h"
#include "tree/access.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/*
 * An index has 8 bytes of header and 256 numbers of objects by their first
 * byte. Then follow the names, a sum of each, and its offset in 32 bits.  Where
 * the highest one is set, the rest is the place in a last table of 64 bits
 * each.
 */
#define FANOUT_AT 8
#define NAMES_AT  (FANOUT_AT + 256 * 4)
#define ID_MAX	  32

#define TYPE_OFFSET_DELTA 6
#define TYPE_NAME_DELTA	  7

static ssize_t read_fd(void *ctx, void *buf, size_t size, uint64_t offset)
{
	return sys_pread_full(*(const int *)ctx, buf, size, offset);
}

static int read_exactly(int fd, uint64_t at, void *buf, size_t n)
{
	ssize_t got = sys_pread_full(fd, buf, n, at);

	if (got < 0)
		return (int)got;
	return (size_t)got == n ? 0 : -EBADMSG;
}

static int read_number(int fd, uint64_t at, uint32_t *ret)
{
	unsigned char p[4];
	int r = read_exactly(fd, at, p, sizeof(p));

	if (r >= 0)
		*ret = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
		       (uint32_t)p[2] << 8 | p[3];
	return r;
}

int gitpack_open(int dir, const char *name, struct gitpack *ret_pack)
{
	return gitpack_open_apart(dir, dir, name, ret_pack);
}

int gitpack_open_apart(int index_dir, int pack_dir, const char *name,
		       struct gitpack *ret_pack)
{
	static const unsigned char magic[8] = {
		0xff, 't', 'O', 'c', 0, 0, 0, 2
	};
	struct gitpack *p = ret_pack;
	char pack[NAME_MAX + 2];
	unsigned char head[8];
	size_t n = strlen(name);
	int r;

	*p = (struct gitpack){ .index = -1, .pack = -1 };
	if (n < 4 || n > NAME_MAX)
		return -EBADMSG;
	p->index = access_open_regular(index_dir, name, &p->index_size);
	r = p->index < 0 ? p->index : 0;
	if (r >= 0)
		r = read_exactly(p->index, 0, head, sizeof(head));
	if (r >= 0 && memcmp(head, magic, sizeof(magic)) != 0)
		r = -EBADMSG;
	if (r >= 0)
		r = read_number(p->index, FANOUT_AT + 255 * 4, &p->n);
	if (r < 0)
		return r;
	memcpy(pack, name, n - 4);
	memcpy(pack + n - 4, ".pack", sizeof(".pack"));
	p->pack = access_open_regular(pack_dir, pack, &p->pack_size);
	return p->pack < 0 ? p->pack : 0;
}

void gitpack_close(struct gitpack *pack)
{
	fd_closep(&pack->index);
	fd_closep(&pack->pack);
}

static int digit(char c)
{
	return c <= '9' ? c - '0' : c - 'a' + 10;
}

static int read_offset(const struct gitpack *p, size_t id_size, uint32_t at,
		       uint64_t *ret_offset)
{
	uint64_t table = NAMES_AT + (uint64_t)p->n * (id_size + 4);
	uint32_t high = 0, low;
	int r = read_number(p->index, table + (uint64_t)at * 4, &low);

	if (r >= 0 && low & 0x80000000U) {
		table += (uint64_t)p->n * 4 + (uint64_t)(low & 0x7fffffffU) * 8;
		r = read_number(p->index, table, &high);
		if (r >= 0)
			r = read_number(p->index, table + 4, &low);
	}
	if (r >= 0)
		*ret_offset = (uint64_t)high << 32 | low;
	return r;
}

static int find(const struct gitpack *p, const unsigned char *id,
		size_t id_size, uint64_t *ret_offset)
{
	uint32_t low = 0, high = 0;
	int r = 0;

	if (id[0] > 0)
		r = read_number(p->index, FANOUT_AT + ((uint64_t)id[0] - 1) * 4,
				&low);
	if (r >= 0)
		r = read_number(p->index, FANOUT_AT + (uint64_t)id[0] * 4,
				&high);
	if (r >= 0 && high > p->n)
		r = -EBADMSG;
	while (r >= 0 && low < high) {
		uint32_t middle = low + (high - low) / 2;
		unsigned char name[ID_MAX];
		int order;

		r = read_exactly(p->index,
				 NAMES_AT + (uint64_t)middle * id_size, name,
				 id_size);
		if (r < 0)
			return r;
		order = memcmp(id, name, id_size);
		if (order == 0) {
			r = read_offset(p, id_size, middle, ret_offset);
			return r < 0 ? r : 1;
		}
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return r;
}

int gitpack_find(const struct gitpack *pack, const struct git_id *id,
		 uint64_t *ret_offset)
{
	unsigned char bytes[ID_MAX] = { 0 };
	size_t n = strlen(id->hex) / 2;

	for (size_t i = 0; i < n; i++)
		bytes[i] = (unsigned char)(digit(id->hex[2 * i]) << 4 |
					   digit(id->hex[2 * i + 1]));
	return find(pack, bytes, n, ret_offset);
}

/* One entry of the pack: what stands before its zlib data. */
struct head {
	uint64_t at; /* its own offset */
	unsigned type;
	uint64_t size;
	uint64_t data; /* offset */
	uint64_t base; /* of a delta: offset of the object that it changes */
};

/* The bytes of a head, and how many of them were used. */
struct cursor {
	unsigned char bytes[64];
	size_t n, at;
};

static int next(struct cursor *c)
{
	return c->at < c->n ? c->bytes[c->at++] : -EBADMSG;
}

static int read_size(struct cursor *c, struct head *ret)
{
	int byte = next(c);
	unsigned shift = 4;

	if (byte < 0)
		return byte;
	ret->type = (unsigned)byte >> 4 & 7;
	ret->size = (uint64_t)byte & 15;
	while (byte & 0x80) {
		byte = next(c);
		if (byte < 0 || shift > 57)
			return -EBADMSG;
		ret->size |= ((uint64_t)byte & 0x7f) << shift;
		shift += 7;
	}
	return 0;
}

/* How far before this entry the other one begins. */
static int read_distance(struct cursor *c, uint64_t *ret)
{
	int byte = next(c);
	uint64_t value = byte < 0 ? 0 : (uint64_t)byte & 0x7f;

	while (byte >= 0 && byte & 0x80) {
		if (value >> 56)
			return -EBADMSG;
		byte = next(c);
		if (byte >= 0)
			value = (value + 1) << 7 | ((uint64_t)byte & 0x7f);
	}
	*ret = value;
	return byte < 0 ? byte : 0;
}

static int read_head(const struct gitpack *p, uint64_t offset, size_t id_size,
		     struct head *ret)
{
	struct cursor c = { .at = 0 };
	uint64_t distance;
	ssize_t got;
	int r;

	if (offset >= p->pack_size)
		return -EBADMSG;
	got = sys_pread_full(p->pack, c.bytes, sizeof(c.bytes), offset);
	if (got < 0)
		return (int)got;
	c.n = (size_t)got;
	r = read_size(&c, ret);
	if (r >= 0 && ret->type == TYPE_OFFSET_DELTA) {
		r = read_distance(&c, &distance);
		if (r >= 0 && (distance == 0 || distance > offset))
			r = -EBADMSG;
		ret->base = r < 0 ? 0 : offset - distance;
	} else if (r >= 0 && ret->type == TYPE_NAME_DELTA) {
		if (c.n - c.at < id_size)
			return -EBADMSG;
		r = find(p, c.bytes + c.at, id_size, &ret->base);
		r = r == 0 ? -EBADMSG : r;
		c.at += id_size;
	}
	ret->at = offset;
	ret->data = offset + c.at;
	return r < 0 ? r : 0;
}

int gitpack_at(const struct gitpack *pack, uint32_t i, size_t digits,
	       struct git_id *ret_id, uint64_t *ret_offset)
{
	static const char hex[] = "0123456789abcdef";
	unsigned char name[ID_MAX];
	size_t id_size = digits / 2;
	int r = read_exactly(pack->index, NAMES_AT + (uint64_t)i * id_size,
			     name, id_size);

	if (r < 0)
		return r;
	for (size_t k = 0; k < id_size; k++) {
		ret_id->hex[2 * k] = hex[name[k] >> 4];
		ret_id->hex[2 * k + 1] = hex[name[k] & 15];
	}
	ret_id->hex[digits] = '\0';
	return read_offset(pack, id_size, i, ret_offset);
}

int gitpack_look(const struct gitpack *pack, uint64_t offset, size_t digits,
		 struct gitpack_entry *ret_entry)
{
	struct head head;
	int r = read_head(pack, offset, digits / 2, &head);

	if (r >= 0)
		*ret_entry = (struct gitpack_entry){
			.type = (enum git_type)head.type,
			.size = head.size,
			.data = head.data,
		};
	return r;
}

/* Exactly as many bytes as the head says, and a NUL. */
static int read_data(const struct gitpack *p, const struct head *head,
		     size_t max, uint64_t *work, char **ret_data)
{
	auto_free char *data = NULL;
	int fd = p->pack, r;
	size_t n = 0;

	if (head->size > max || head->size > *work)
		return -EFBIG;
	*work -= head->size;
	data = malloc((size_t)head->size + 1);
	if (!data)
		return -ENOMEM;
	r = inflate_bytes(read_fd, &fd, head->data, (unsigned char *)data,
			  (size_t)head->size, &n);
	if (r < 0 || n != head->size)
		return r < 0 && r != -EFBIG ? r : -EBADMSG;
	data[n] = '\0';
	*ret_data = take_ptr(&data);
	return 0;
}

/* What a delta says is left of it. */
struct delta {
	const unsigned char *at, *end;
};

static int delta_number(struct delta *d, uint64_t *ret)
{
	unsigned shift = 0;

	for (*ret = 0; d->at < d->end && shift < 63; shift += 7) {
		*ret |= (uint64_t)(*d->at & 0x7f) << shift;
		if (!(*d->at++ & 0x80))
			return 0;
	}
	return -EBADMSG;
}

/* Four bytes of offset and three of size; a bit for each that is there. */
static int delta_copy(struct delta *d, unsigned bits, size_t *ret_offset,
		      size_t *ret_n)
{
	size_t offset = 0, n = 0;

	for (unsigned i = 0; i < 7; i++) {
		if (!(bits >> i & 1))
			continue;
		if (d->at == d->end)
			return -EBADMSG;
		if (i < 4)
			offset |= (size_t)*d->at++ << 8 * i;
		else
			n |= (size_t)*d->at++ << 8 * (i - 4);
	}
	*ret_offset = offset;
	*ret_n = n ? n : 0x10000;
	return 0;
}

static int follow_delta(struct delta *d, const struct git_object *base,
			char *out, size_t size)
{
	size_t done = 0, n, offset;

	while (d->at < d->end) {
		unsigned op = *d->at++;
		const char *from;

		if (op & 0x80) {
			if (delta_copy(d, op, &offset, &n) < 0 ||
			    offset > base->size || n > base->size - offset)
				return -EBADMSG;
			from = base->data + offset;
		} else {
			n = op;
			if (n == 0 || n > (size_t)(d->end - d->at))
				return -EBADMSG;
			from = (const char *)d->at;
			d->at += n;
		}
		if (n > size - done)
			return -EBADMSG;
		memcpy(out + done, from, n);
		done += n;
	}
	return done == size ? 0 : -EBADMSG;
}

/* The object that the delta makes of `base`. */
static int apply_delta(const struct git_object *base, const char *text,
		       size_t n, size_t max, uint64_t *work,
		       struct git_object *ret)
{
	struct delta d = { (const unsigned char *)text,
			   (const unsigned char *)text + n };
	auto_free char *out = NULL;
	uint64_t from, to;
	int r;

	if (delta_number(&d, &from) < 0 || delta_number(&d, &to) < 0 ||
	    from != base->size)
		return -EBADMSG;
	if (to > max || to > *work)
		return -EFBIG;
	*work -= to;
	out = malloc((size_t)to + 1);
	if (!out)
		return -ENOMEM;
	r = follow_delta(&d, base, out, (size_t)to);
	if (r < 0)
		return r;
	out[to] = '\0';
	*ret = (struct git_object){ .type = base->type,
				    .data = take_ptr(&out),
				    .size = (size_t)to };
	return 0;
}

/* An object on the way from the start of a chain to its end. */
struct link {
	struct git_object object;
	uint64_t at;
	bool is_kept; /* the data belongs to the pack's delta_bases */
};

/* The object that others are made of, for the next time. */
static void link_done(const struct gitpack *p, struct link *link)
{
	if (link->is_kept)
		return;
	if (p->bases && link->object.data)
		delta_bases_add(p->bases, p, link->at, &link->object);
	else
		free(link->object.data);
}

static int read_first(const struct gitpack *p, const struct head *head,
		      size_t max, uint64_t *work, struct link *ret)
{
	*ret = (struct link){ .object = { .type = (enum git_type)head->type,
					  .size = (size_t)head->size },
			      .at = head->at };
	if (!git_type_word(ret->object.type))
		return -EBADMSG;
	return read_data(p, head, max, work, &ret->object.data);
}

/* `link` becomes the entry that the head says. */
static int read_next(const struct gitpack *p, const struct head *head,
		     size_t max, uint64_t *work, struct link *link)
{
	auto_free char *delta = NULL;
	struct link next = { .at = head->at };
	int r = read_data(p, head, max, work, &delta);

	if (r >= 0)
		r = apply_delta(&link->object, delta, (size_t)head->size, max,
				work, &next.object);
	if (r < 0)
		return r;
	link_done(p, link);
	*link = next;
	return 0;
}

static int own(struct link *link)
{
	char *copy;

	if (!link->is_kept)
		return 0;
	copy = malloc(link->object.size + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, link->object.data, link->object.size + 1);
	link->object.data = copy;
	link->is_kept = false;
	return 0;
}

int gitpack_read(const struct gitpack *pack, uint64_t offset, size_t digits,
		 size_t max, uint64_t *work, struct git_object *ret_object)
{
	struct head chain[GITPACK_CHAIN_MAX];
	const struct git_object *kept = NULL;
	struct link link = { .is_kept = true };
	size_t n = 0;
	int r = 0;

	for (;; offset = chain[n++].base) {
		kept = pack->bases ? delta_bases_find(pack->bases, pack, offset)
				   : NULL;
		if (kept)
			break;
		if (n == GITPACK_CHAIN_MAX)
			return -EFBIG;
		r = read_head(pack, offset, digits / 2, &chain[n]);
		if (r < 0)
			return r;
		if (chain[n].type < TYPE_OFFSET_DELTA)
			break;
	}
	if (kept && kept->size > max)
		return -EFBIG;
	if (kept)
		link.object = *kept;
	else
		r = read_first(pack, &chain[n], max, work, &link);
	while (r >= 0 && n-- > 0)
		r = read_next(pack, &chain[n], max, work, &link);
	if (r >= 0)
		r = own(&link);
	if (r < 0) {
		link_done(pack, &link);
		return r;
	}
	*ret_object = link.object;
	return 0;
}
