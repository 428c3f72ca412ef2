/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_EXIT_H
#define HB_CLI_EXIT_H

#include "holdback/holdback.h"

/* The one place where error codes become exit statuses. */
enum hb_exit cli_exit_of(const struct hb_error *err);

#endif
