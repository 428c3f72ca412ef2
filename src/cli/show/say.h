/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_SHOW_SAY_H
#define HB_CLI_SHOW_SAY_H

#include <stdint.h>

struct hb_error;

/* What is said on stderr, and the numbers that go with it. */

/* "holdback: WORDS" on a line of its own. */
void cli_say(const char *words);

/* How many processes outlived the command and were ended; 0: nothing. */
void cli_say_leftover(unsigned n);

/* Processes were refused, with a limit of so many; 0: none was. */
void cli_say_crowd(uint64_t most);

/* What became of the clipboard (enum hb_clipboard); nothing: nothing. */
void cli_say_clipboard(int clipboard);

/* That the command was ended because its time was up. */
void cli_say_timeout(void);

/*
 * Says an error and its fix.  Returns the exit status: that of enum hb_exit, or
 * for cli_fail_run() that of enum hb_run_status, with the other number in the
 * message.
 */
int cli_fail(const struct hb_error *err);
int cli_fail_run(const struct hb_error *err);

#endif
