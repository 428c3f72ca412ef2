/* SPDX-License-Identifier: Apache-2.0 */
#include "git/ignore/tracked.h"

#include "base/auto.h"
#include "base/error.h"
#include "git/gitindex.h"
#include "sys/attr.h"
#include "sys/place.h"
#include "tree/access.h"

#include <errno.h>
#include <string.h>

#define ROOM_FIRST 1024

static uint64_t number_of(const struct tracked *t, const char *path, size_t len)
{
	uint64_t number = siphash(&t->key, path, len);

	return number ? number : 1;
}

static size_t find(const struct tracked *t, uint64_t number)
{
	size_t at = (size_t)number & (t->room - 1);

	while (t->slots[at] != 0 && t->slots[at] != number)
		at = (at + 1) & (t->room - 1);
	return at;
}

static int widen(struct tracked *t)
{
	struct tracked larger = { .room = t->room ? 2 * t->room : ROOM_FIRST };

	larger.slots = calloc(larger.room, sizeof(*larger.slots));
	if (!larger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < t->room; i++)
		if (t->slots[i] != 0)
			larger.slots[find(&larger, t->slots[i])] = t->slots[i];
	free(t->slots);
	t->slots = larger.slots;
	t->room = larger.room;
	return 0;
}

static int add(struct tracked *t, const char *path, size_t len)
{
	uint64_t number = number_of(t, path, len);
	size_t at;
	int r;

	if (t->n == TRACKED_MAX)
		return -EBADMSG;
	if (2 * (t->n + 1) > t->room) {
		r = widen(t);
		if (r < 0)
			return r;
	}
	at = find(t, number);
	t->n += t->slots[at] == 0;
	t->slots[at] = number;
	return 0;
}

/* The path, and the directories above that the one before is not in. */
static int add_entry(struct tracked *t, const char *path, size_t len,
		     const char *before)
{
	size_t same = 0;
	int r;

	while (same < len && path[same] == before[same])
		same++;
	for (size_t i = same; i < len; i++) {
		if (path[i] != '/')
			continue;
		r = add(t, path, i);
		if (r < 0)
			return r;
	}
	return add(t, path, len);
}

static ssize_t read_fd(void *ctx, void *buf, size_t size, uint64_t offset)
{
	return sys_pread_full(*(const int *)ctx, buf, size, offset);
}

static int read_entries(struct tracked *t, struct gitindex *index, int fd,
			uint64_t size, size_t id_size)
{
	char before[GITINDEX_PATH_MAX + 1] = "";
	struct gitindex_entry entry;
	int r;

	t->n = 0;
	if (t->room)
		memset(t->slots, 0, t->room * sizeof(*t->slots));
	r = gitindex_open(index, read_fd, &fd, size, id_size);
	while (r >= 0 && (r = gitindex_next(index, &entry)) == 1) {
		r = add_entry(t, entry.path, entry.path_len, before);
		memcpy(before, entry.path, entry.path_len + 1);
	}
	return r;
}

int tracked_read(struct tracked *tracked, int git, struct hb_error *err)
{
	static const size_t id_sizes[] = { 20, 32 };
	auto_free struct gitindex *index = NULL;
	auto_fd int fd = -1;
	uint64_t size = 0;
	int r;

	r = sys_random(&tracked->key, sizeof(tracked->key));
	if (r < 0)
		return hb_fail(err, r, "cannot read a git index");
	fd = access_open_regular(git, "index", &size);
	if (fd < 0)
		return fd == -ENOENT;
	index = malloc(sizeof(*index));
	r = index ? -EBADMSG : -ENOMEM;
	for (int i = 0; i < 2 && r == -EBADMSG; i++)
		r = read_entries(tracked, index, fd, size, id_sizes[i]);
	if (r == -ENOMEM)
		return hb_fail(err, r, "cannot read a git index");
	return r >= 0;
}

void tracked_done(struct tracked *tracked)
{
	free(tracked->slots);
	*tracked = (struct tracked){ 0 };
}

bool tracked_has(const struct tracked *tracked, const char *path, size_t len)
{
	return tracked->n > 0 &&
	       tracked->slots[find(tracked, number_of(tracked, path, len))] !=
		       0;
}
