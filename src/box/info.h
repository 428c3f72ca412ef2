/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_INFO_H
#define HB_BOX_INFO_H

#include <sys/types.h>

struct box;
struct hb_error;

/*
 * What bubblewrap tells its caller about the box through descriptors: one JSON
 * object on PLAN_FD_INFO, JSON lines on PLAN_FD_JSON_STATUS.
 */

/* The child exists and waits.  Writes what was asked for; closes info. */
int info_write_start(const struct box *box, pid_t child, struct hb_error *err);

/* The command ended with `status`.  Errors are ignored by then. */
void info_write_exit(const struct box *box, int status);

#endif
