/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_RUN_BARE_H
#define HB_RUN_BARE_H

struct hb_error;
struct hb_session;
struct run;

/*
 * A run without namespaces.  Each resource is a copy at the copy's own path,
 * and the home directory and the one for temporary files are the session's.
 *
 *	STATE/sessions/NAME/home/	links to what the view would show of the
 *					real one, by the same names
 *	STATE/sessions/NAME/tmp/	emptied before and after
 */

/* -HB_E_UNSUPPORTED: something was asked for that takes namespaces. */
int bare_check(const struct run *run, struct hb_error *err);

/* Between the resources' trees and the plan; strings are kept by the plan. */
int bare_prepare(struct run *run, struct hb_session *s, struct hb_error *err);

/* After the box. */
void bare_settle(struct hb_session *s);

#endif
