/* SPDX-License-Identifier: Apache-2.0 */
#include "strategy/copy_place.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/mode.h"
#include "strategy/copy.h"
#include "strategy/trail.h"
#include "sys/file.h"
#include "tree/carry.h"
#include "tree/compare.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

int place_open_copy(int dir, struct hb_error *err)
{
	auto_fd int path = -1;
	int fd;

	path = sys_openat(dir, COPY_DIR, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
	fd = path < 0 ? path : sys_openat(path, ".", O_RDONLY | O_DIRECTORY, 0);
	/* A command may have closed it to its owner. */
	if (fd == -EACCES && sys_chmod_fd(path, 0700) >= 0)
		fd = sys_openat(path, ".", O_RDONLY | O_DIRECTORY, 0);
	return fd < 0 ? hb_fail(err, fd, "cannot open the copy") : fd;
}

uint32_t place_depth(const char *path)
{
	uint32_t n = 0;

	for (const char *p = strchr(path, '/'); p; p = strchr(p + 1, '/'))
		n++;
	return n;
}

size_t place_parent(const char *path, const char *name)
{
	return name == path ? 0 : (size_t)(name - path) - 1;
}

bool place_is_before(const struct baseline_reader *old, uint32_t depth,
		     const char *name)
{
	if (!old->has_next)
		return false;
	return old->next.depth > depth ||
	       (old->next.depth == depth && strcmp(old->next.name, name) < 0);
}

int place_take_record(struct baseline_reader *old, uint32_t depth,
		      const char *name, struct baseline_record *ret,
		      struct hb_error *err)
{
	int r;

	if (!old->has_next || old->next.depth != depth ||
	    strcmp(old->next.name, name) != 0)
		return 0;
	*ret = old->next;
	r = baseline_next(old, err);
	return r < 0 ? r : 1;
}

bool place_is_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

void place_fill(struct baseline_record *record, uint32_t depth,
		const char *name, const struct entry *in_copy)
{
	*record = (struct baseline_record){
		.type = in_copy->type,
		.depth = depth,
		.ino = in_copy->ino,
		.size = in_copy->size,
		.ctime = in_copy->ctime,
	};
	(void)snprintf(record->name, sizeof(record->name), "%s", name);
}

int place_clear(struct trail *trail, const char *name, struct hb_error *err)
{
	int r;

	r = trail_touch(trail, err);
	return r < 0 ? r : tree_remove(trail_last(trail)->fd, name, err);
}

int place_carry_top(int from, int to, bool to_layer, struct hb_error *err)
{
	struct entry e, now;
	const struct side old = { to, ".", &now, to_layer };
	const struct side new = { from, ".", &e, !to_layer };
	struct carry carry = {
		.from = from,
		.name = ".",
		.entry = &e,
		.flags = CARRY_OWN |
			 (to_layer ? CARRY_TO_LAYER : CARRY_FROM_LAYER),
	};
	struct xattrs x, y;
	int r;

	r = entry_read_fd(from, !to_layer, &e, err);
	if (r >= 0)
		r = entry_read_fd(to, to_layer, &now, err);
	if (r >= 0)
		r = side_xattrs(&old, &x, err);
	if (r >= 0)
		r = side_xattrs(&new, &y, err);
	if (r < 0)
		return r;
	if (memcmp(x.digest, y.digest, sizeof(x.digest)) == 0 &&
	    !x.has_reserved && !y.has_reserved && e.uid == now.uid &&
	    e.gid == now.gid)
		return 0;
	carry.mode = e.mode | USER_ALL;
	carry.uid = e.uid;
	carry.gid = e.gid;
	r = sys_chmod_fd(to, now.mode | USER_ALL);
	return r < 0 ? hb_fail(err, r, "cannot open the top of a layer")
		     : carry_attributes(&carry, to, err);
}
