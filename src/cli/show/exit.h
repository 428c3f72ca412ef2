/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_SHOW_EXIT_H
#define HB_CLI_SHOW_EXIT_H

#include "holdback/holdback.h"

/* The one place where error codes become exit statuses. */
enum hb_exit cli_exit_of(const struct hb_error *err);

/*
 * What the user can do about it: the error's own fix, else what helps against
 * every error of that kind, else an empty string.  Lives as long as the error.
 */
const char *cli_fix_of(const struct hb_error *err);

#endif
