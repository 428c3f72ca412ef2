/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_RUN_MISTAKES_H
#define HB_RUN_MISTAKES_H

#include <stdbool.h>

struct run;

/*
 * Reports, before the command, what will not go as its user thinks.  The user
 * may not write to the project, the store lies in it, or sessions are root's.
 * `is_kept`: its changes are kept in a session.
 */
void mistakes_tell(const struct run *run, bool is_kept);

#endif
