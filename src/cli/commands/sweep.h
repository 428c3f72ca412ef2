/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_COMMANDS_SWEEP_H
#define HB_CLI_COMMANDS_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

struct cmd_call;
struct cli_values;
struct hb_error;

/* Whether an option asks for the removal of several sessions. */
bool sweep_is_meant(const struct cli_values *values);

/*
 * `holdback cleanup --all`, `--committed`, `--older`: names the sessions, asks
 * once, and removes them.  A live session is named and stays.
 */
int sweep_sessions(const struct cmd_call *call, struct hb_error *err);

/* Tells how many sessions were removed. */
int sweep_report(const struct cmd_call *call, uint64_t n, struct hb_error *err);

#endif
