/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_LIMITS_H
#define HB_BOX_LIMITS_H

#include <stdint.h>

struct box;
struct hb_error;
struct plan_limits;

/*
 * What all processes of a box together may use.  Only a control group can limit
 * memory and processors.  Processes also have a limit of the user namespace,
 * which needs no privilege but does not bind root.
 */

/*
 * How many processes these are on this host, whose /proc is read: inside, the
 * pid namespace has a number of its own.
 */
uint64_t limits_pids(const struct plan_limits *limits);

/* The supervisor's part, before clone(): a group, where one is needed. */
int limits_prepare(struct box *box, struct hb_error *err);

/* The command's part: the limit of the user namespace, tried out. */
int limits_of_namespace(const struct box *box, struct hb_error *err);

#endif
