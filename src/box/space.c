/* SPDX-License-Identifier: Apache-2.0 */
#include "box/space.h"

#include "base/auto.h"
#include "plan/plan.h"
#include "sys/durable.h"
#include "sys/file.h"

#include <fcntl.h>
#include <sys/stat.h>

#define USUAL_BYTES (UINT64_C(1) << 30)
#define USUAL_SHARE 20

/* More than the limit by so much at most is room again. */
#define MARGIN_BYTES (UINT64_C(128) << 20)

static uint64_t usual_limit(const struct sys_space *disk)
{
	uint64_t limit = disk->size_bytes / USUAL_SHARE;

	if (limit < USUAL_BYTES)
		limit = USUAL_BYTES;
	return limit < disk->free_bytes / 2 ? limit : disk->free_bytes / 2;
}

static bool is_known(const struct space *s, const struct stat *st)
{
	struct stat other;

	for (size_t i = 0; i < s->n; i++)
		if (sys_fstat(s->disks[i].fd, &other) >= 0 &&
		    other.st_dev == st->st_dev)
			return true;
	return false;
}

static void add(struct space *s, const char *dir, uint64_t limit)
{
	auto_fd int fd =
		sys_openat(AT_FDCWD, dir, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
	struct sys_space disk;
	struct stat st;

	if (fd < 0 || s->n == SPACE_DISKS_MAX || sys_fstat(fd, &st) < 0 ||
	    is_known(s, &st) || sys_space(fd, &disk) < 0 ||
	    disk.size_bytes == 0)
		return;
	s->disks[s->n].limit =
		limit == PLAN_MIN_FREE_USUAL ? usual_limit(&disk) : limit;
	s->disks[s->n++].fd = take_fd(&fd);
}

void space_init(struct space *s, const struct plan *plan)
{
	const unsigned without = PLAN_OVERLAY_TMP | PLAN_OVERLAY_RO;

	/* Without a pid namespace there is no stopping all of it. */
	if (plan->limits.min_free == 0 || !(plan->ns & PLAN_NS_PID))
		return;
	for (size_t i = 0; i < plan->n_ops; i++)
		if (plan->ops[i].kind == OP_OVERLAY && plan->ops[i].upper &&
		    !(plan->ops[i].flags & without))
			add(s, plan->ops[i].upper, plan->limits.min_free);
}

void space_done(struct space *s)
{
	while (s->n > 0)
		sys_close(s->disks[--s->n].fd);
}

void space_look(struct space *s)
{
	bool is_full = false, was_full = s->is_full || s->is_waived;

	for (size_t i = 0; i < s->n; i++) {
		uint64_t limit = s->disks[i].limit;
		struct sys_space disk;

		if (was_full && limit < UINT64_MAX - MARGIN_BYTES)
			limit += limit / 8 < MARGIN_BYTES ? limit / 8
							  : MARGIN_BYTES;
		if (sys_space(s->disks[i].fd, &disk) < 0 ||
		    disk.free_bytes >= limit)
			continue;
		if (!is_full || disk.free_bytes < s->left)
			s->left = disk.free_bytes;
		is_full = true;
	}
	s->is_waived = s->is_waived && is_full;
	s->is_full = is_full && !s->is_waived;
}

void space_waive(struct space *s)
{
	s->is_waived = true;
	s->is_full = false;
}
