/* SPDX-License-Identifier: Apache-2.0 */
#include "host/roster.h"

#include "base/auto.h"
#include "sys/dir.h"
#include "sys/file.h"
#include "sys/kernel.h"

#include <fcntl.h>
#include <string.h>

#define LIST_SIZE 8192

/* With more to read, looking for each name is not the slower way any more. */
#define LISTS_MAX 8

/*
 * A bit for a name.  Letters are taken for the same in both cases, as some
 * directories do; for what they do with other letters there is no bit.
 */
static bool find_bit(const char *name, size_t n, size_t *ret_bit)
{
	uint64_t hash = 14695981039346656037ULL; /* FNV-1a */

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)name[i];

		if (c >= 0x80)
			return false;
		if (c >= 'A' && c <= 'Z')
			c = (unsigned char)(c - 'A' + 'a');
		hash = (hash ^ c) * 1099511628211ULL;
	}
	*ret_bit = (size_t)(hash >> 32) % ((size_t)ROSTER_WORDS * 64);
	return true;
}

void roster_read(const char *dir, struct roster *ret)
{
	char block[LIST_SIZE] __attribute__((aligned(8)));
	auto_fd int fd = sys_openat(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY, 0);
	size_t bit;

	*ret = (struct roster){ 0 };
	for (int i = 0; fd >= 0 && i < LISTS_MAX; i++) {
		ssize_t n = sys_getdents(fd, block, sizeof(block));

		ret->is_known = n == 0;
		if (n <= 0)
			return;
		for (ssize_t at = 0; at < n;) {
			const struct k_dirent *e = (const void *)(block + at);

			at += e->reclen;
			if (find_bit(e->name, strlen(e->name), &bit))
				ret->bits[bit / 64] |= 1ULL << bit % 64;
		}
	}
}

bool roster_may_have(const struct roster *roster, const char *dir,
		     const char *path)
{
	size_t n = strlen(dir), len, bit;
	const char *name;

	if (!roster->is_known || strncmp(path, dir, n) != 0 || path[n] != '/')
		return true;
	name = path + n + 1;
	len = strcspn(name, "/");
	if (len == 0 || !find_bit(name, len, &bit))
		return true;
	return roster->bits[bit / 64] >> bit % 64 & 1;
}
