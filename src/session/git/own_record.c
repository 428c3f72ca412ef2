/* SPDX-License-Identifier: Apache-2.0 */
#include "session/git/own_record.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "changes/begun/begun.h"
#include "session/session.h"
#include "store/record.h"
#include "strategy/strategy.h"
#include "sys/file.h"
#include "txn/history.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define RECORD_MAX  ((size_t)64 << 20)
#define RECORD_NAME "begun-%" PRIu64
#define NAME_SIZE   (sizeof("begun-") + 20)
#define FRESH	    "begun.new"
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
	const struct hb_session *session;
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

/* The text of the record that counts. */
static int load_text(const struct hb_session *s, size_t number, char **ret,
		     size_t *ret_len)
{
	struct newest newest = { .session = s,
				 .dir = s->resources[number].dir };
	char name[NAME_SIZE];
	int r;

	if (newest.dir < 0)
		return -ENOENT;
	(void)see(&newest, 0, NULL);
	r = history_each(s->dir, HISTORY_DONE, see, &newest, NULL);
	if (r < 0 || !newest.is_found)
		return r < 0 ? r : -ENOENT;
	(void)snprintf(name, sizeof(name), RECORD_NAME, newest.id);
	return read_record(newest.dir, name, ret, ret_len);
}

int own_branch_load(const struct hb_session *s, size_t number,
		    struct begun *ret)
{
	auto_free char *text = NULL;
	size_t len = 0;
	int r = load_text(s, number, &text, &len);

	if (r >= 0)
		r = begun_parse(text, len, ret);
	return r == -EBADMSG ? -ENOENT : r;
}

int own_branch_share(const struct hb_session *from, size_t number, int dir,
		     struct hb_error *err)
{
	auto_begun struct begun begun = { 0 };
	int r = own_branch_load(from, number, &begun);

	if (r == -ENOENT)
		return 0;
	return r < 0 ? hb_fail(err, r, WORD)
		     : own_branch_store(dir, 0, &begun, err);
}
