/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_COMMANDS_SYNC_EVERY_H
#define HB_CLI_COMMANDS_SYNC_EVERY_H

struct cmd_call;
struct hb_error;

/*
 * `sync --every`: syncs a live session again and again, and once more when its
 * last command has ended.  A sync that fails is said, and tried again.
 */
int sync_every(const struct cmd_call *call, struct hb_error *err);

#endif
