/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "box/door.h"
#include "box/frozen.h"
#include "box/knock.h"
#include "run/wait.h"
#include "session/session.h"
#include "store/live.h"
#include "store/store.h"
#include "sys/file.h"

#include <errno.h>
#include <stdlib.h>

/*
 * A session that is live in another process, to be worked on by us.
 *
 * The supervisor lends the lock and leaves the session alone until we hang up,
 * which our end does in any case.  So the order of the end is: the box goes on,
 * the lock is closed, the connection is closed.
 */

struct borrowed {
	struct session_box box; /* first */
	int door;
	int fds[SYS_RECORD_FDS]; /* as they come with a greeting */
	size_t n_fds;
	struct freeze_way way;
	struct freeze freeze;
};

static int freeze_box(struct session_box *box, struct hb_error *err)
{
	struct borrowed *b = (struct borrowed *)box;

	return freeze_begin(&b->freeze, &b->way, err);
}

static int check_box(struct session_box *box, struct hb_error *err)
{
	struct borrowed *b = (struct borrowed *)box;

	return freeze_check(&b->freeze, err);
}

static void thaw_box(struct session_box *box)
{
	struct borrowed *b = (struct borrowed *)box;

	freeze_end(&b->freeze);
}

static void free_box(struct session_box *box)
{
	struct borrowed *b = (struct borrowed *)box;

	freeze_end(&b->freeze);
	for (size_t i = 0; i < b->n_fds; i++)
		sys_close(b->fds[i]);
	fd_closep(&b->door);
	free(b);
}

static struct borrowed *new_borrowed(int door)
{
	struct borrowed *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->box = (struct session_box){ .freeze = freeze_box,
				       .check = check_box,
				       .thaw = thaw_box,
				       .free = free_box };
	b->door = door;
	b->freeze = (struct freeze)FREEZE_NONE;
	return b;
}

/* Takes `door`.  -EAGAIN without words: there is no box. */
static int borrow(const struct hb_store *store, const char *name, int door,
		  struct hb_session **ret_session, struct hb_error *err)
{
	struct borrowed *b = new_borrowed(door);
	struct door_greeting greeting = { 0 };
	int lock, r;

	if (!b) {
		sys_close(door);
		return hb_fail(err, -ENOMEM, "cannot borrow the session");
	}
	lock = knock_lend(door, &greeting, b->fds, &b->n_fds, err);
	if (lock < 0) {
		free_box(&b->box);
		return lock;
	}
	b->way = (struct freeze_way){
		.ns = greeting.ns,
		.namespaces = b->fds + DOOR_NAMESPACES,
		/* A cgroup comes last. */
		.n = b->n_fds - DOOR_NAMESPACES - (greeting.has_cgroup != 0),
	};
	r = session_open_lent(store, name, lock, ret_session, err);
	if (r < 0) {
		free_box(&b->box);
		return r;
	}
	(*ret_session)->box = &b->box;
	return 0;
}

int hb_session_open_live(struct hb_store *store, const char *ref,
			 enum hb_open how, struct hb_session **ret_session,
			 struct hb_error *err)
{
	char name[RECORD_NAME_MAX + 1];
	struct hb_error local = { 0 };
	struct wait w = { 0 };
	int door, r;

	if (!err)
		err = &local;
	do {
		*err = (struct hb_error){ 0 };
		door = live_find(store, ref, name, err);
		r = door < 0 ? door
			     : borrow(store, name, door, ret_session, err);
		if (err->code != 0 || !is_without_box(r))
			return r;
		r = hb_session_open(store, name, how, ret_session, err);
	} while (r == -HB_E_BUSY && wait_again(&w, door));
	return r;
}
