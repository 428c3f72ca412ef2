/* SPDX-License-Identifier: Apache-2.0 */
#include "box/notify/calls.h"

#include "box/notify/call_look.h"
#include "box/notify/rename_call.h"

#include <errno.h>

/*
 * Every answer is EPERM.  Nothing of such a call is looked at, so that nothing
 * in it can be wrong or change meanwhile.
 */
static enum notify_answer refuse_namespace(struct notify *n,
					   const struct notify_call *call,
					   int *ret_error)
{
	/* Those of commands that joined are refused by their filter. */
	if (call->listener == 0)
		n->page->n_refused++;
	*ret_error = EPERM;
	return NOTIFY_REFUSED;
}

/*
 * From here on a process inside has fewer rights than we: no more deeds for
 * others in this box.  Before the call is made, not after.
 */
static enum notify_answer
note_landlock(struct notify *n, const struct notify_call *call, int *ret_error)
{
	(void)call;
	(void)ret_error;
	n->page->is_restricted = 1;
	return NOTIFY_GO_ON;
}

#ifndef SYS_rename
#define SYS_rename (-1)
#endif

const struct notify_row notify_rows[] = {
	{ SYS_unshare, FILTER_REFUSED, refuse_namespace },
	{ SYS_clone, FILTER_REFUSED, refuse_namespace },
	{ SYS_landlock_restrict_self, FILTER_RENAMES, note_landlock },
	{ SYS_rename, FILTER_RENAMES, rename_look },
	{ SYS_renameat, FILTER_RENAMES, rename_look },
	{ SYS_renameat2, FILTER_RENAMES, rename_look },
};
const size_t notify_n_rows = sizeof(notify_rows) / sizeof(notify_rows[0]);

enum notify_answer notify_look(struct notify *n, const struct notify_call *call,
			       int *ret_error)
{
	if (call_look(n, call) == NOTIFY_FORK)
		return NOTIFY_FORK;
	for (size_t i = 0; i < notify_n_rows; i++) {
		enum notify_answer answer;

		if (notify_rows[i].nr != call->data.data.nr ||
		    (notify_rows[i].class == FILTER_RENAMES &&
		     !n->page->has_renames))
			continue;
		answer = notify_rows[i].look(n, call, ret_error);
		if (answer != NOTIFY_GO_ON)
			return answer;
	}
	return NOTIFY_GO_ON;
}
