/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "session/publish/publish.h"
#include "session/session.h"
#include "store/store.h"
#include "sys/durable.h"
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>

/* A store is open when the debts of earlier runs were tried to be paid. */

static int publish_of(void *ctx, const char *name, struct hb_error *err)
{
	struct hb_store *store = ctx;
	struct hb_session *session = NULL;
	char ref[RECORD_NAME_MAX + 2];
	auto_fd int dir = -1;
	auto_fd int lock = -1;

	(void)err;
	dir = store_open_session(store, name, NULL);
	if (dir == -HB_E_NO_SESSION) {
		auto_fd int pending =
			store_open_own(store->dir, PUBLISH_PENDING, NULL);

		(void)sys_unlinkat(pending, name, 0);
		return 0;
	}
	/* Somebody is at work there: he will do it. */
	lock = dir < 0 ? dir : sys_openat(dir, "lock", O_RDWR | O_NOFOLLOW, 0);
	if (lock < 0 || sys_flock(lock) < 0)
		return 0;
	fd_closep(&lock);
	(void)snprintf(ref, sizeof(ref), "@%s", name);
	if (hb_session_open(store, ref, HB_OPEN_CHANGE, &session, NULL) >= 0)
		(void)publish_settle(session, NULL);
	hb_session_free(session);
	return 0;
}

static void publish_pending(struct hb_store *store)
{
	auto_fd int dir = store_open_own(store->dir, PUBLISH_PENDING, NULL);

	if (dir >= 0 && store->sessions >= 0)
		(void)store_each_name(dir, publish_of, store, NULL);
	if (dir >= 0)
		(void)sys_unlinkat(store->dir, PUBLISH_PENDING, AT_REMOVEDIR);
}

int hb_store_open(const struct hb_store_options *options, bool create,
		  struct hb_store **ret_store, struct hb_error *err)
{
	int r = store_open(options, create, ret_store, err);

	if (r < 0)
		return r;
	publish_pending(*ret_store);
	return 0;
}
