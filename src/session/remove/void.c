/* SPDX-License-Identifier: Apache-2.0 */
#include "session/remove/void.h"

#include "base/auto.h"
#include "session/freeze.h"
#include "session/gone.h"
#include "session/layers.h"
#include "session/live/unmark.h"
#include "session/session.h"
#include "session/strategy/shown.h"
#include "store/berth.h"
#include "store/resource.h"
#include "store/store.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "tree/overlay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Whether a directory has extended attributes that are not the overlay's own.
 * The mount itself leaves one of those on the top of a layer.
 */
static bool has_xattrs(int fd)
{
	char names[512];
	ssize_t n = sys_list_xattrs(fd, names, sizeof(names));

	if (n < 0)
		return true;
	for (ssize_t at = 0; at < n; at += (ssize_t)strlen(names + at) + 1)
		if (!overlay_is_mark(names + at))
			return true;
	return false;
}

/*
 * Extended attributes are compared where all of the changes are; a value tells,
 * and here nothing is read.
 */
bool session_has_other_top(const struct hb_session *s)
{
	for (size_t i = 0; i < s->record.n_resources; i++) {
		const struct resource *resource = &s->resources[i];
		const int top = resource->top;
		struct sys_attr was, is;

		if (top < 0 || sys_attr_at(top, "", &was) < 0 ||
		    sys_attr_at(resource->upper, "", &is) < 0 ||
		    was.mode != is.mode || was.uid != is.uid ||
		    was.gid != is.gid || has_xattrs(top) ||
		    has_xattrs(resource->upper))
			return true;
	}
	return false;
}

int session_is_void(struct hb_session *s, bool is_empty, struct hb_error *err)
{
	uint64_t last = 0;
	int r;

	if (!s->record.is_passing || s->record.n_layers > 0)
		return 0;
	r = session_last_done(s, &last, err);
	if (r < 0 || last > 0)
		return r < 0 ? r : 0;
	r = is_empty ? 0 : session_has_upper(s, err);
	return r < 0 ? r
		     : !r && !session_has_gone(s) &&
			       !session_has_other_top(s) &&
			       !unmark_was_begun(s);
}

/* Of type store_name_fn: -ENOTEMPTY for a change. */
static int find_change(void *ctx, const char *name, struct hb_error *err)
{
	(void)ctx;
	(void)err;
	return berth_is_name(name) ? 0 : -ENOTEMPTY;
}

bool session_seems_void(struct hb_session *s)
{
	if (!s->has_resources || !s->record.is_passing ||
	    s->record.n_layers > 0 || session_has_gone(s) ||
	    shown_has_trees(&s->record) || unmark_was_begun(s))
		return false;
	for (size_t i = 0; i < s->record.n_resources; i++)
		if (store_each_name(s->resources[i].upper, find_change, NULL,
				    NULL) < 0)
			return false;
	return true;
}
