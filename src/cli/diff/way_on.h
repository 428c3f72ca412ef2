/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_DIFF_WAY_ON_H
#define HB_CLI_DIFF_WAY_ON_H

struct buf;

/*
 * Adds the words that go on after a run of `command`, for a shell.  They go on
 * in the same session, and an agent with its last conversation.  A command that
 * is too long for a line is not repeated.  Returns 0 or the buffer's error.
 */
int way_on_add(char *const *command, char *const *envp, struct buf *out);

#endif
