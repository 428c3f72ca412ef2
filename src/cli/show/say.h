/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_SHOW_SAY_H
#define HB_CLI_SHOW_SAY_H

struct hb_death;
struct hb_error;

/* What is said on stderr, and the numbers that go with it. */

/* "holdback: WORDS" on a line of its own. */
void cli_say(const char *words);

/* The same, of something that is weaker than usual. */
void cli_warn(const char *words);

/*
 * Lines of our own, without a word before; broken at the width of the terminal.
 */
void cli_put(const char *text);

/*
 * Says an error and its fix.  Returns the exit status: that of enum hb_exit, or
 * for cli_fail_run() that of enum hb_run_status, with the other number in the
 * message.
 */
int cli_fail(const struct hb_error *err);
int cli_fail_run(const struct hb_error *err);

/*
 * The last act of a program that ran a command: it dies as the command did.
 * Returns `status` where that ended by itself.
 */
int cli_end(int status, const struct hb_death *death);

#endif
