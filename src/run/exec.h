/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_RUN_EXEC_H
#define HB_RUN_EXEC_H

struct hb_error;

/*
 * Puts into words why a command could not be executed: the number tells which
 * way.
 */
int session_explain_exec(char *const *argv, char *const *envp,
			 struct hb_error *err);

#endif
