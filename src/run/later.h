/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_RUN_LATER_H
#define HB_RUN_LATER_H

#include "plan/settings.h"

struct hb_error;
struct hb_session;

/*
 * Keys of a run that count when it has ended: `gate-run`, `git`.  The session's
 * record has what the run was told.  If that says nothing about the key, the
 * files and variables of now count.
 *
 * `settings` is initialized, and the caller's to end, also after a failure;
 * the value lives as long.  NULL: nothing says it.
 */
int later_text(struct hb_session *s, enum setting_key key,
	       struct settings *settings, const char **ret_value,
	       struct hb_error *err);

#endif
