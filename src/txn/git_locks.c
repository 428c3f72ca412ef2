/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/git_locks.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/num.h"
#include "base/quote.h"
#include "base/time.h"
#include "changes/git/deliver.h"
#include "git/gitunit.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "sys/place.h"
#include "sys/proc.h"
#include "tree/access.h"
#include "tree/syncer.h"
#include "txn/apply.h"
#include "txn/git_values.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/*
 * The list has a record for each lock: number, inode, birth time and the path
 * of the lock, ended by a NUL.  Others are those of git_values.h.  The last
 * record is "end".  It is read as carefully as the journal, which lies beside
 * it.
 */
#define LIST	   "locks"
#define LIST_END   "end"
#define LIST_ALONE "alone " /* before the record of such a lock */
#define SUFFIX	   ".lock"
#define WAIT	   1000 /* ms */
#define PAUSE	   20
#define PACKED	   "packed-refs"
#define GC_PID	   "gc.pid"
#define GC_SECONDS 43200L /* as git has it: after that it is left over */

struct lock {
	char name[24]; /* in txn/ID */
	uint64_t ino;
	struct timespec btime;
	const char *path; /* below the base */
	bool is_alone;	  /* no step is about the file */
};

/* Where a lock lies, or is to lie. */
struct spot {
	int dir; /* owned; below 0: there is no such directory */
	const char *name;
};

static void name_lock(uint64_t number, char ret[24])
{
	(void)snprintf(ret, 24, "lock%" PRIu64, number);
}

static struct spot open_spot(const struct site *s, const char *path)
{
	const char *slash = strrchr(path, '/');

	return (struct spot){
		.dir = access_open_below(s->resource->base, path,
					 slash ? (size_t)(slash - path) : 0,
					 O_RDONLY, NULL),
		.name = slash ? slash + 1 : path,
	};
}

struct planning {
	struct site *site;
	const struct delivered *delivered;
	struct syncer *syncer;
	struct buf list;
	uint64_t n;
	struct buf packed; /* paths of packed-refs that have a lock, by NUL */
};

/* 1: its directory is new, and there can be no lock. */
static int plan_one(struct planning *p, const char *path, bool is_alone,
		    struct hb_error *err)
{
	int dir = p->site->dirs[SITE_SPOT_TXN];
	struct spot at = open_spot(p->site, path);
	struct sys_attr a;
	char name[24];
	int r;

	if (at.dir < 0)
		return access_is_gone(at.dir) ? 1
					      : hb_fail_at(err, at.dir, path,
							   "cannot look at");
	fd_closep(&at.dir);
	name_lock(++p->n, name);
	r = sys_make_file_at(dir, name, 0644);
	if (r >= 0)
		r = sys_attr_at(dir, name, &a);
	if (r < 0)
		return hb_fail(err, r, "cannot make a lock");
	syncer_add(p->syncer, dir, name, true);
	(void)buf_add_fmt(&p->list,
			  "%s%" PRIu64 " %" PRIu64 " %lld %ld %s" SUFFIX,
			  is_alone ? LIST_ALONE : "", p->n, a.ino,
			  (long long)a.btime.tv_sec, a.btime.tv_nsec, path);
	(void)buf_add(&p->list, "", 1);
	return 0;
}

/* A reference that goes from packed-refs alone is locked as git locks it. */
static bool is_to_lock(const struct delivered_item *item)
{
	return item->is_locked &&
	       (item->how == DELIVERED_MADE || item->how == DELIVERED_GONE ||
		(item->how == DELIVERED_SETTLED && item->then));
}

static bool has_packed(const struct planning *p, const char *path)
{
	const struct delivered_item *item = delivered_find(p->delivered, path);

	if (item && is_to_lock(item))
		return true;
	for (size_t at = 0; at < p->packed.len;
	     at += strlen(p->packed.data + at) + 1)
		if (strcmp(p->packed.data + at, path) == 0)
			return true;
	return false;
}

/*
 * Without a lock git could write such a reference, pack it and remove the
 * directory before our step comes.  While packing is locked, the directory
 * stays, and the step finds it.
 */
static int plan_packed(struct planning *p, const struct delivered_item *item,
		       struct hb_error *err)
{
	auto_free char *path = NULL;
	int r;

	if (!item->then)
		return 0;
	if (asprintf(&path, "%.*s%s" PACKED, (int)item->unit, item->path,
		     item->unit > 0 ? "/" : "") < 0) {
		path = NULL;
		return hb_fail(err, -ENOMEM, "cannot make a lock");
	}
	if (has_packed(p, path))
		return 0;
	r = buf_add(&p->packed, path, strlen(path) + 1);
	r = r < 0 ? hb_fail(err, r, "cannot make a lock")
		  : plan_one(p, path, true, err);
	return r < 0 ? r : 0;
}

static int plan_locks(struct planning *p, struct hb_error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < p->delivered->n; i++) {
		const struct delivered_item *item = &p->delivered->items[i];

		if (!is_to_lock(item))
			continue;
		r = plan_one(p, item->path, false, err);
		if (r == 1)
			r = plan_packed(p, item, err);
		if (r == 0)
			(void)git_values_add(&p->list, item);
	}
	return r;
}

static int write_list(struct planning *p, struct hb_error *err)
{
	int dir = p->site->dirs[SITE_SPOT_TXN];
	auto_fd int fd = -1;
	int r = buf_add(&p->list, LIST_END, sizeof(LIST_END));

	if (r == 0)
		fd = sys_openat(dir, LIST,
				O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	if (fd >= 0)
		r = sys_write_all(fd, p->list.data, p->list.len);
	else if (r == 0)
		r = fd;
	if (r < 0)
		return hb_fail(err, r, "cannot list the locks");
	syncer_add(p->syncer, dir, LIST, true);
	return 0;
}

int git_locks_plan(struct site *s, struct changes *changes,
		   struct syncer *syncer, struct hb_error *err)
{
	struct planning p = {
		.site = s,
		.delivered = changes_delivered(changes),
		.syncer = syncer,
		.list = BUF_INIT(GIT_LOCKS_MAX),
		.packed = BUF_INIT(GIT_LOCKS_MAX),
	};
	int r = plan_locks(&p, err);

	if (r == 0 && (p.list.len > 0 || p.list.error))
		r = write_list(&p, err);
	buf_done(&p.list);
	buf_done(&p.packed);
	return r;
}

/* A number and the blank behind it. */
static bool take_number(const char **at, uint64_t *ret)
{
	size_t n = strcspn(*at, " ");
	char word[24];

	if ((*at)[n] == '\0' || n >= sizeof(word))
		return false;
	memcpy(word, *at, n);
	word[n] = '\0';
	*at += n + 1;
	return num_u64(word, ret) >= 0;
}

/* One record, terminated.  false: it is none of ours. */
static bool parse(const char *record, struct lock *ret)
{
	bool is_alone = strncmp(record, LIST_ALONE, strlen(LIST_ALONE)) == 0;
	uint64_t number, sec, nsec;

	record += is_alone ? strlen(LIST_ALONE) : 0;
	*ret = (struct lock){ .path = record, .is_alone = is_alone };
	if (!take_number(&ret->path, &number) ||
	    !take_number(&ret->path, &ret->ino) ||
	    !take_number(&ret->path, &sec) || !take_number(&ret->path, &nsec))
		return false;
	ret->btime = (struct timespec){ (time_t)sec, (long)nsec };
	name_lock(number, ret->name);
	return strlen(ret->path) > strlen(SUFFIX);
}

int git_locks_read(const struct site *s, struct buf *ret)
{
	int dir = s->dirs[SITE_SPOT_TXN];
	uint64_t size = 0;
	auto_fd int fd =
		dir < 0 ? -ENOENT : access_open_regular(dir, LIST, &size);
	ssize_t n;
	int r;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	if (size > GIT_LOCKS_MAX)
		return -EFBIG;
	r = buf_add_fill(ret, '\0', (size_t)size);
	if (r < 0)
		return r;
	n = sys_pread_full(fd, ret->data, (size_t)size, 0);
	if (n < 0)
		return (int)n;
	/* Torn, it belongs to a plan that never became a journal. */
	if ((uint64_t)n != size || size < sizeof(LIST_END) ||
	    memcmp(ret->data + size - sizeof(LIST_END), LIST_END,
		   sizeof(LIST_END)) != 0)
		buf_cut(ret, 0);
	return 0;
}

typedef int (*lock_fn)(struct site *s, const struct lock *lock, bool waits,
		       struct hb_error *err);

static int each_lock(struct apply *a, lock_fn fn, bool waits,
		     struct hb_error *err)
{
	for (size_t i = 0; a->sites && i < a->txn->n_resources; i++) {
		auto_buf struct buf list = BUF_INIT(GIT_LOCKS_MAX);
		/* A site that could not be opened has none. */
		int r = a->sites[i].resource
				? git_locks_read(&a->sites[i], &list)
				: 0;

		if (r < 0)
			return hb_fail(err, r, "cannot read the list of locks");
		for (size_t at = 0; r == 0 && at < list.len;
		     at += strlen(list.data + at) + 1) {
			struct lock lock;

			if (parse(list.data + at, &lock))
				r = fn(&a->sites[i], &lock, waits, err);
		}
		if (r < 0)
			return r;
	}
	return 0;
}

static bool is_ours(const struct lock *lock, const struct spot *at)
{
	struct sys_attr a;

	return sys_attr_at(at->dir, at->name, &a) == 0 && a.ino == lock->ino &&
	       time_is_same(a.btime, lock->btime);
}

/*
 * A lock is no sign that the directory was changed.  Where only its owner could
 * say so, it is.  And where no step tells the session of the directory's new
 * change time: that time alone would mean that the user has renamed it.
 */
static int keep_time(const struct lock *lock, int dir,
		     const struct sys_attr *before)
{
	uid_t uid = sys_effective_uid();

	return !lock->is_alone && (uid == 0 || uid == before->uid)
		       ? sys_set_mtime_at(dir, "", before->mtime)
		       : 0;
}

static int put(const struct site *s, const struct lock *lock,
	       const struct spot *at)
{
	int from = s->dirs[SITE_SPOT_TXN];
	struct sys_attr before;
	int r = sys_attr_at(at->dir, "", &before);

	if (r < 0)
		return r;
	r = sys_linkat(from, lock->name, at->dir, at->name);
	if (r == -EPERM || r == -EOPNOTSUPP || r == -EMLINK)
		r = sys_renameat2(from, lock->name, at->dir, at->name,
				  RENAME_KEEP);
	return r < 0 ? r : keep_time(lock, at->dir, &before);
}

/* Of the file that the lock is about: "index.lock" itself is none of git's. */
static size_t repository_of(const struct site *s, const char *lock)
{
	auto_free char *path = strndup(lock, strlen(lock) - strlen(SUFFIX));

	return path ? git_repository_in(git_root(s->resource->is_git), path)
		    : SIZE_MAX;
}

/* Whether a process collects garbage there, by git's own rule. */
static bool has_gc(const struct site *s, const char *path)
{
	size_t n = repository_of(s, path);
	auto_fd int dir = -1;
	char text[128] = "";
	struct sys_attr a;
	int64_t pid;

	if (n == SIZE_MAX)
		return false;
	dir = access_open_below(s->resource->base, path, n, O_PATH, NULL);
	if (dir < 0 || sys_attr_at(dir, GC_PID, &a) < 0 || !S_ISREG(a.mode) ||
	    sys_now().tv_sec - a.mtime.tv_sec > GC_SECONDS ||
	    sys_read_file_at(dir, GC_PID, text, sizeof(text)) <= 0)
		return false;
	text[strcspn(text, " \n")] = '\0';
	return num_int(text, 1, INT32_MAX, &pid) >= 0 &&
	       !sys_has_ended((pid_t)pid);
}

static int fail_busy(const char *path, bool is_gc, struct hb_error *err)
{
	char shown[QUOTE_SHOWN];

	quote_shown(path, shown, sizeof(shown));
	if (is_gc) {
		hb_fix(err, "try again when git gc has ended");
		return hb_fail(err, -HB_E_BUSY,
			       "git collects garbage in the repository of %s",
			       shown);
	}
	hb_fix(err, "try again when git has ended; if no git runs there: rm %s",
	       shown);
	return hb_fail(err, -HB_E_BUSY, "git has %s locked", shown);
}

static int take_one(struct site *s, const struct lock *lock, bool waits,
		    struct hb_error *err)
{
	struct spot at = open_spot(s, lock->path);
	bool is_gc;
	int r;

	/* The repository is gone: the steps will find that. */
	if (at.dir < 0)
		return 0;
	for (int left = waits ? WAIT / PAUSE : 0;; left--) {
		is_gc = has_gc(s, lock->path);
		r = is_gc ? -EEXIST : put(s, lock, &at);
		if (r == -EEXIST && !is_gc && is_ours(lock, &at))
			r = 0;
		if (r != -EEXIST || left <= 0)
			break;
		sys_pause(PAUSE);
	}
	fd_closep(&at.dir);
	/* Swept with the copies of a plan that ran: it is taken no more. */
	if (r == -ENOENT)
		return 0;
	if (r == -EEXIST)
		return fail_busy(lock->path, is_gc, err);
	return r < 0 ? hb_fail_at(err, r, lock->path, "cannot take the lock")
		     : 0;
}

/* Nothing else than the lock that we made is ever removed. */
static int remove_ours(const struct site *s, const struct lock *lock,
		       const struct spot *at)
{
	int back = s->dirs[SITE_SPOT_TXN];
	struct sys_attr before, a;
	int r;

	if (!is_ours(lock, at))
		return 0;
	r = sys_attr_at(at->dir, "", &before);
	if (r < 0)
		return r;
	/* Where a file can have but one name it was moved. */
	r = sys_attr_at(back, lock->name, &a) == -ENOENT
		    ? sys_renameat(at->dir, at->name, back, lock->name)
		    : sys_unlinkat(at->dir, at->name, 0);
	return r < 0 ? r : keep_time(lock, at->dir, &before);
}

static int drop_one(struct site *s, const struct lock *lock, bool waits,
		    struct hb_error *err)
{
	struct spot at = open_spot(s, lock->path);
	int r = at.dir < 0 ? 0 : remove_ours(s, lock, &at);

	(void)waits;
	fd_closep(&at.dir);
	return r < 0 ? hb_fail_at(err, r, lock->path,
				  "cannot give the lock back")
		     : 0;
}

int git_locks_drop(struct apply *a, struct hb_error *err)
{
	return each_lock(a, drop_one, false, err);
}

/* With all locks taken, and before the first step. */
static int check_values(struct apply *a, unsigned how, struct hb_error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < a->txn->n_resources; i++) {
		const struct site *s = &a->sites[i];
		auto_buf struct buf list = BUF_INIT(GIT_LOCKS_MAX);

		if (!s->resource)
			continue;
		r = git_locks_read(s, &list);
		r = r < 0 ? hb_fail(err, r, "cannot read the list of locks")
			  : git_values_check(s, &list, how, err);
	}
	return r;
}

int git_locks_apply(struct apply *a, unsigned how, struct hb_error *err)
{
	bool goes_on = how & APPLY_PAST;
	int r = each_lock(a, take_one, !goes_on, goes_on ? NULL : err);

	if (r == 0 && !goes_on)
		r = check_values(a, how, err);
	if (r < 0)
		(void)git_locks_drop(a, NULL);
	return r < 0 && !goes_on ? r : apply_run(a, how, err);
}
