/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "session/interruption.h"
#include "session/publish/publish.h"
#include "session/session.h"
#include "session/strategy/shown.h"
#include "store/store.h"
#include "sys/file.h"

#include <fcntl.h>

/* A store is open when the debts of earlier runs were tried to be paid. */

struct pending {
	struct hb_store *store;
	bool may_settle; /* what a box left in a copy */
};

/*
 * A change that was cut short stays so.  The process that recovers it decides
 * which way, and then the files wait here again.  Of a box that ended on a copy
 * they are not in the layer yet: a command that begins another one may need
 * them.
 */
static bool can_publish(const struct hb_session *s, bool may_settle)
{
	if (!s->has_lock || session_has_journal(s) || s->record.is_freezing ||
	    s->record.state == SESSION_BROKEN)
		return false;
	return may_settle || s->record.state != SESSION_ACTIVE ||
	       !shown_has_trees(&s->record);
}

static int publish_of(void *ctx, const char *name, struct hb_error *err)
{
	const struct pending *pending = ctx;
	struct hb_store *store = pending->store;
	struct hb_session *session = NULL;
	char ref[RECORD_NAME_MAX + 2];
	int r;

	(void)err;
	r = session_open_unsettled(store, name, &session, NULL);
	if (r == -HB_E_NO_SESSION) {
		auto_fd int dir =
			store_open_own(store->dir, PUBLISH_PENDING, NULL);

		(void)sys_unlinkat(dir, name, 0);
	}
	if (r < 0)
		return 0;
	if (!can_publish(session, pending->may_settle)) {
		hb_session_free(session);
		return 0;
	}
	if (pending->may_settle && session->record.state == SESSION_ACTIVE) {
		hb_session_free(session);
		session = NULL;
		(void)snprintf(ref, sizeof(ref), "@%s", name);
		r = hb_session_open(store, ref, HB_OPEN_CHANGE, &session, NULL);
	}
	if (r >= 0)
		(void)publish_settle(session, 0, NULL);
	hb_session_free(session);
	return 0;
}

static void publish_pending(struct hb_store *store, bool may_settle)
{
	struct pending pending = { .store = store, .may_settle = may_settle };
	auto_fd int dir = store_open_own(store->dir, PUBLISH_PENDING, NULL);

	if (dir >= 0 && store->sessions >= 0)
		(void)store_each_name(dir, publish_of, &pending, NULL);
	if (dir >= 0)
		(void)sys_unlinkat(store->dir, PUBLISH_PENDING, AT_REMOVEDIR);
}

int hb_store_open(const struct hb_store_options *options, bool create,
		  struct hb_store **ret_store, struct hb_error *err)
{
	int r = store_open(options, create, ret_store, err);

	if (r < 0)
		return r;
	publish_pending(*ret_store, create);
	return 0;
}
