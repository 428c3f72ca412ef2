/* SPDX-License-Identifier: Apache-2.0 */
#include "session/git/own_record.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "changes/begun/begun.h"
#include "changes/resource.h"
#include "session/session.h"
#include "store/record.h"
#include "strategy/strategy.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "txn/history.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define RECORD_MAX  ((size_t)64 << 20)
#define RECORD_NAME "begun-%" PRIu64
#define NAME_SIZE   (sizeof("begun-") + 20)
#define FRESH	    "begun.new"
#define UNDER_WAY   "beginning"
#define HEAD	    ".git/HEAD"
#define BRANCHES    ".git/refs/heads/"
#define INSIDE	    (K_RESOLVE_BENEATH | K_RESOLVE_NO_SYMLINKS)
#define WORD	    "cannot keep how the session began"

bool own_branch_is_asked(const struct record_resource *resource)
{
	return strategy_over_find(resource->strategy) != NULL;
}

bool own_branch_is_any(const struct session_record *record)
{
	for (size_t i = 0; i < record->n_resources; i++)
		if (own_branch_is_asked(&record->resources[i]))
			return true;
	return false;
}

int own_branch_store(int dir, uint64_t after, const struct begun *begun,
		     struct hb_error *err)
{
	auto_buf struct buf text = BUF_INIT(RECORD_MAX);
	char name[NAME_SIZE];
	int r = begun_write(begun, &text);

	(void)snprintf(name, sizeof(name), RECORD_NAME, after);
	if (r >= 0)
		r = record_replace(dir, name, FRESH, &text);
	return r < 0 ? hb_fail(err, r, WORD) : 0;
}

struct newest {
	uint64_t without; /* 0: none */
	int dir;
	bool is_found;
	uint64_t id;
};

/* Of type history_fn. */
static int see(void *ctx, uint64_t id, struct hb_error *err)
{
	struct newest *newest = ctx;
	char name[NAME_SIZE];

	(void)err;
	(void)snprintf(name, sizeof(name), RECORD_NAME, id);
	if ((newest->is_found && id <= newest->id) ||
	    (id != 0 && id == newest->without) ||
	    sys_faccessat(newest->dir, name, F_OK) < 0)
		return 0;
	newest->is_found = true;
	newest->id = id;
	return 0;
}

static int read_record(int dir, const char *name, char **ret, size_t *ret_len)
{
	auto_fd int fd =
		sys_openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	auto_free char *text = NULL;
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return fd;
	if (sys_fstat(fd, &st) < 0 || (size_t)st.st_size > RECORD_MAX)
		return -EFBIG;
	text = malloc((size_t)st.st_size + 1);
	n = text ? sys_read_full(fd, text, (size_t)st.st_size) : -ENOMEM;
	if (n < 0)
		return (int)n;
	text[n] = '\0';
	*ret = take_ptr(&text);
	*ret_len = (size_t)n;
	return 0;
}

static int fail_damaged(const struct hb_session *s, struct hb_error *err)
{
	hb_fix(err, "holdback cleanup @%s", s->record.name);
	return hb_fail(err, -HB_E_STATE,
		       "the record of how session '%s' began is damaged",
		       s->record.name);
}

static int parse_record(int dir, const char *name, struct begun *ret)
{
	auto_free char *text = NULL;
	size_t len = 0;
	int r = read_record(dir, name, &text, &len);

	return r < 0 ? r : begun_parse(text, len, ret);
}

static int load(const struct hb_session *s, struct newest *newest,
		struct begun *ret, struct hb_error *err)
{
	char name[NAME_SIZE];
	int r;

	if (newest->dir < 0)
		return -ENOENT;
	(void)see(newest, 0, NULL);
	r = history_each(s->dir, HISTORY_DONE, see, newest, err);
	if (r < 0 || !newest->is_found)
		return r < 0 ? r : -ENOENT;
	(void)snprintf(name, sizeof(name), RECORD_NAME, newest->id);
	r = parse_record(newest->dir, name, ret);
	if (r == -EBADMSG)
		return fail_damaged(s, err);
	return r < 0 ? hb_fail(err, r, "cannot read how the session began") : 0;
}

int own_branch_load(const struct hb_session *s, size_t number,
		    struct begun *ret, uint64_t *ret_after,
		    struct hb_error *err)
{
	struct newest newest = { .dir = s->resources[number].dir };
	int r = load(s, &newest, ret, err);

	if (r >= 0)
		*ret_after = newest.id;
	return r;
}

int own_branch_load_before(const struct hb_session *s, size_t number,
			   uint64_t undone, struct begun *ret,
			   struct hb_error *err)
{
	struct newest newest = { .dir = s->resources[number].dir,
				 .without = undone };

	return load(s, &newest, ret, err);
}

/* Whether a layer says something about a path, be it that it is gone. */
static bool has_path(const struct resource *resource, const char *path)
{
	for (size_t i = 0; i < resource->n_layers; i++) {
		auto_fd int fd = sys_openat2(resource->layers[i], path,
					     O_PATH | O_NOFOLLOW, 0, INSIDE);

		if (fd != -ENOENT)
			return true;
	}
	return false;
}

bool own_branch_is_in(const struct resource *resource,
		      const struct begun *begun)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), BRANCHES "%s",
		       begun->branch ? begun->branch : "");
	return begun->branch &&
	       (has_path(resource, HEAD) || has_path(resource, path));
}

int own_branch_settle(int dir, uint64_t id, bool is_in_effect)
{
	char name[NAME_SIZE], first[NAME_SIZE];
	int r;

	(void)snprintf(name, sizeof(name), RECORD_NAME, id);
	(void)snprintf(first, sizeof(first), RECORD_NAME, (uint64_t)0);
	r = is_in_effect ? sys_renameat(dir, name, dir, first)
			 : sys_unlinkat(dir, name, 0);
	if (r == -ENOENT)
		return 0;
	return r < 0 ? r : sys_fsync(dir);
}

int own_mark_store(int dir, const struct begun *before, struct hb_error *err)
{
	auto_buf struct buf text = BUF_INIT(RECORD_MAX);
	int r = begun_write(before, &text);

	if (r >= 0)
		r = record_replace(dir, UNDER_WAY, FRESH, &text);
	return r < 0 ? hb_fail(err, r, WORD) : 0;
}

int own_mark_load(int dir, struct begun *ret, struct hb_error *err)
{
	int r = parse_record(dir, UNDER_WAY, ret);

	if (r == -EBADMSG) {
		hb_fix(err, "holdback cleanup of the session");
		return hb_fail(err, -HB_E_STATE,
			       "the record of a beginning is damaged");
	}
	return r < 0 && r != -ENOENT ? hb_fail(err, r, WORD) : r;
}

static int drop(int dir, const char *name, struct hb_error *err)
{
	int r = sys_unlinkat(dir, name, 0);

	if (r >= 0)
		r = sys_fsync(dir);
	return r < 0 && r != -ENOENT ? hb_fail(err, r, WORD) : 0;
}

int own_mark_drop(int dir, struct hb_error *err)
{
	return drop(dir, UNDER_WAY, err);
}

int own_branch_drop(int dir, uint64_t after, struct hb_error *err)
{
	char name[NAME_SIZE];

	(void)snprintf(name, sizeof(name), RECORD_NAME, after);
	return drop(dir, name, err);
}

bool own_mark_is_there(int dir)
{
	return sys_faccessat(dir, UNDER_WAY, F_OK) != -ENOENT;
}
