/* SPDX-License-Identifier: Apache-2.0 */
#include "changes/alike/alike_list.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/siphash.h"
#include "sys/attr.h"
#include "sys/file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAGIC	   "holdback alike 2"
#define CHUNK_SIZE ((size_t)64 << 10)

/* More than so many records of a common length take. */
#define BYTES_MAX ((uint64_t)1 << 30)

struct head {
	char magic[24];
	uint64_t size; /* of the file */
	uint64_t sum;  /* see sum_up() */
	char unused[24];
};

static_assert(sizeof(struct head) == SPILL_HEAD, "the head has its place");

/*
 * Of all that follows the head, by chunks; the key of each is the sum of those
 * before.  It tells a list that is torn, and is no proof against who forges
 * one: he could remove the upper as well.
 */
static int sum_up(int fd, uint64_t size, uint64_t *ret)
{
	auto_free char *chunk = malloc(CHUNK_SIZE);
	struct siphash_key key = { .k1 = size };

	if (!chunk)
		return -ENOMEM;
	for (uint64_t at = SPILL_HEAD; at < size;) {
		uint64_t left = size - at;
		size_t want = left < CHUNK_SIZE ? (size_t)left : CHUNK_SIZE;
		ssize_t n = sys_pread_full(fd, chunk, want, at);

		if (n < 0 || (size_t)n != want)
			return n < 0 ? (int)n : -EBADMSG;
		key.k0 = siphash(&key, chunk, want);
		at += want;
	}
	*ret = key.k0;
	return 0;
}

static bool is_whole(int fd, uint64_t size)
{
	static const struct head empty = { .magic = MAGIC };
	struct head head;
	uint64_t sum = 0;

	return size >= SPILL_HEAD && size <= BYTES_MAX &&
	       sys_pread_full(fd, &head, sizeof(head), 0) ==
		       (ssize_t)sizeof(head) &&
	       memcmp(head.magic, empty.magic, sizeof(empty.magic)) == 0 &&
	       memcmp(head.unused, empty.unused, sizeof(empty.unused)) == 0 &&
	       head.size == size && sum_up(fd, size, &sum) == 0 &&
	       sum == head.sum;
}

int alike_list_open(int dir, const char *name, uint64_t *ret_size)
{
	auto_fd int fd =
		sys_openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	struct sys_attr a;

	if (fd < 0 || sys_attr_at(fd, "", &a) < 0 || !S_ISREG(a.mode) ||
	    !is_whole(fd, a.size))
		return -ENOENT;
	*ret_size = a.size;
	return take_fd(&fd);
}

int alike_list_begin(struct spill *list, int dir, const char *name,
		     struct hb_error *err)
{
	int fd = sys_openat(dir, name, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW,
			    0600);

	if (fd < 0)
		return hb_fail(err, fd,
			       "cannot note the copies without changes");
	spill_resume(list, fd, SPILL_HEAD);
	return 0;
}

int alike_list_end(struct spill *list, struct hb_error *err)
{
	struct head head = { .magic = MAGIC };
	int r;

	r = spill_rewind(list, err);
	if (r < 0)
		return r;
	head.size = list->end;
	r = head.size > BYTES_MAX ? -EFBIG
				  : sum_up(list->file, list->end, &head.sum);
	if (r >= 0)
		r = sys_pwrite_all(list->file, &head, sizeof(head), 0);
	return r < 0 ? hb_fail(err, r, "cannot note the copies without changes")
		     : 0;
}
