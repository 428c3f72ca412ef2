/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_DIFF_ENDED_H
#define HB_CLI_DIFF_ENDED_H

struct hb_error;

/*
 * After a run: removes its session if that holds no changes and was made for
 * the run alone.  Otherwise lists the changes and the next commands on stderr.
 * `words` are the session with its '@', and what read_end() in ended.c reads.
 *
 * Ends as the command did, in any case: by the signal, or with that status.
 */
int ended_show(char **words, char *const *envp);

#endif
