/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_COMMANDS_GO_ON_H
#define HB_CLI_COMMANDS_GO_ON_H

#include "holdback/holdback.h"

/*
 * Where a run goes on that has these words: `ret_session` gets the name of an
 * earlier session.  It stays "" for a new session and for a named one.
 * On a terminal the user is asked if sessions here have changes; elsewhere a
 * line names them.
 *
 * 1: go on; 0: the user wants nothing to run.  -HB_E_NO_SESSION: there is none
 * to continue.
 */
int go_on_choose(char **words, char *const *envp,
		 char ret_session[HB_SESSION_NAME_SIZE], struct hb_error *err);

#endif
