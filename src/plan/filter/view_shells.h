/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_PLAN_FILTER_VIEW_SHELLS_H
#define HB_PLAN_FILTER_VIEW_SHELLS_H

#include <stddef.h>

/*
 * What interactive shells read at their start, in the private home directory:
 * the prompt says that it is inside, and of which session.  The user's own
 * files are not shown, because people keep tokens there.
 */
struct view_shell {
	const char *name; /* from the home directory */
	const char *text;
};

#define VIEW_SHELLS 3
extern const struct view_shell view_shells[VIEW_SHELLS];

#endif
