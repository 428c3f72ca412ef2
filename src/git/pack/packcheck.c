/* SPDX-License-Identifier: Apache-2.0 */
#include "git/pack/packcheck.h"

#include "base/auto.h"
#include "git/githash.h"
#include "git/pack/delta_bases.h"
#include "git/pack/gitpack.h"
#include "git/pack/inflate.h"
#include "sys/attr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK	   65536
#define OBJECT_MAX ((size_t)128 << 20) /* of an object made of others */
#define STREAM_MIN                                                \
	((uint64_t)8 << 20) /* a part at a time from this size on \
			     */
#define ID_MAX	  32
#define FANOUT_AT 8

static int read_exactly(int fd, uint64_t at, void *buf, size_t n)
{
	ssize_t got = sys_pread_full(fd, buf, n, at);

	if (got < 0)
		return (int)got;
	return (size_t)got == n ? 0 : -EBADMSG;
}

static bool is_hex_of(const unsigned char *bytes, size_t n, const char *hex)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++)
		if (hex[2 * i] != digits[bytes[i] >> 4] ||
		    hex[2 * i + 1] != digits[bytes[i] & 15])
			return false;
	return true;
}

/* The file ends with the sum of all before; `ret_sum` is that. */
static int check_sum(int fd, uint64_t size, size_t digits, uint64_t *work,
		     unsigned char ret_sum[ID_MAX])
{
	auto_free unsigned char *block = NULL;
	size_t id_size = digits / 2;
	struct githash hash;
	struct git_id sum;
	uint64_t at = 0;
	int r;

	if (size < id_size)
		return -EBADMSG;
	size -= id_size;
	if (size > *work)
		return -EFBIG;
	*work -= size;
	block = malloc(BLOCK);
	if (!block)
		return -ENOMEM;
	githash_init(&hash, digits);
	while (at < size) {
		size_t n = size - at < BLOCK ? (size_t)(size - at) : BLOCK;

		r = read_exactly(fd, at, block, n);
		if (r < 0)
			return r;
		githash_add(&hash, block, n);
		at += n;
	}
	githash_end(&hash, &sum);
	r = read_exactly(fd, size, ret_sum, id_size);
	if (r < 0)
		return r;
	return is_hex_of(ret_sum, id_size, sum.hex) ? 0 : -EBADMSG;
}

/* Both sums, and that the index is about this very pack. */
static int check_sums(const struct gitpack *p, size_t digits, uint64_t *work)
{
	unsigned char sum[ID_MAX], said[ID_MAX], head[12];
	size_t id_size = digits / 2;
	int r = check_sum(p->index, p->index_size, digits, work, said);

	if (r >= 0)
		r = check_sum(p->pack, p->pack_size, digits, work, sum);
	if (r >= 0 && p->index_size < 2 * id_size)
		r = -EBADMSG;
	if (r >= 0)
		r = read_exactly(p->index, p->index_size - 2 * id_size, said,
				 id_size);
	if (r >= 0)
		r = read_exactly(p->pack, 0, head, sizeof(head));
	if (r < 0)
		return r;
	if (memcmp(sum, said, id_size) != 0 || memcmp(head, "PACK", 4) != 0 ||
	    ((uint32_t)head[8] << 24 | (uint32_t)head[9] << 16 |
	     (uint32_t)head[10] << 8 | head[11]) != p->n)
		return -EBADMSG;
	return 0;
}

struct streaming {
	const struct gitpack *pack;
	uint64_t from;
	struct githash hash;
	uint64_t left, *work;
};

/* Of type inflate_read_fn. */
static ssize_t read_from(void *ctx, void *buf, size_t size, uint64_t offset)
{
	const struct streaming *s = ctx;

	return sys_pread_full(s->pack->pack, buf, size, s->from + offset);
}

/* Of type inflate_sink_fn. */
static int add_bytes(void *ctx, const void *bytes, size_t n)
{
	struct streaming *s = ctx;

	if (n > s->left)
		return -EBADMSG;
	if (n > *s->work)
		return -EFBIG;
	s->left -= n;
	*s->work -= n;
	githash_add(&s->hash, bytes, n);
	return 0;
}

static int stream(const struct gitpack *p, const struct gitpack_entry *entry,
		  size_t digits, uint64_t *work, struct git_id *ret)
{
	struct streaming s = { .pack = p,
			       .from = entry->data,
			       .left = entry->size,
			       .work = work };
	int r;

	githash_init_object(&s.hash, digits, git_type_word(entry->type),
			    entry->size);
	r = inflate_each(read_from, &s, add_bytes, &s);
	if (r < 0)
		return r;
	githash_end(&s.hash, ret);
	return s.left == 0 ? 0 : -EBADMSG;
}

static int check_object(const struct gitpack *p, const struct git_id *id,
			uint64_t offset, uint64_t *work)
{
	size_t digits = strlen(id->hex);
	struct git_object object = { 0 };
	struct gitpack_entry entry;
	struct git_id name;
	int r = gitpack_look(p, offset, digits, &entry);

	if (r < 0)
		return r;
	if (git_type_word(entry.type) && entry.size >= STREAM_MIN) {
		r = stream(p, &entry, digits, work, &name);
	} else {
		r = gitpack_read(p, offset, digits, OBJECT_MAX, work, &object);
		if (r >= 0)
			git_object_name(&object, digits, &name);
		free(object.data);
	}
	if (r < 0)
		return r;
	return git_id_is_same(&name, id) ? 0 : -EBADMSG;
}

/* How many names begin with a byte up to each: what a search goes by. */
static int check_fanout(const struct gitpack *p, const uint32_t counts[256])
{
	unsigned char table[256 * 4];
	uint32_t sum = 0;
	int r = read_exactly(p->index, FANOUT_AT, table, sizeof(table));

	for (size_t i = 0; r >= 0 && i < 256; i++) {
		const unsigned char *at = table + 4 * i;

		sum += counts[i];
		if (((uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 |
		     (uint32_t)at[2] << 8 | at[3]) != sum)
			r = -EBADMSG;
	}
	return r;
}

static unsigned first_byte(const struct git_id *id)
{
	const char two[3] = { id->hex[0], id->hex[1], '\0' };

	return (unsigned)strtoul(two, NULL, 16);
}

int packcheck_run(const struct gitpack *pack, size_t digits, uint64_t *work)
{
	struct gitpack p = *pack;
	struct git_id before = { "" };
	uint32_t counts[256] = { 0 };
	int r = check_sums(&p, digits, work);

	if (r < 0)
		return r;
	p.bases = delta_bases_new();
	if (!p.bases)
		return -ENOMEM;
	for (uint32_t i = 0; r >= 0 && i < p.n; i++) {
		struct git_id id;
		uint64_t offset;

		r = gitpack_at(&p, i, digits, &id, &offset);
		if (r >= 0 && strcmp(before.hex, id.hex) >= 0)
			r = -EBADMSG;
		if (r < 0)
			break;
		r = check_object(&p, &id, offset, work);
		counts[first_byte(&id)]++;
		before = id;
	}
	if (r >= 0)
		r = check_fanout(&p, counts);
	delta_bases_free(p.bases);
	return r < 0 ? r : 0;
}
