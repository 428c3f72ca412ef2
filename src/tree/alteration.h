/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TREE_ALTERATION_H
#define HB_TREE_ALTERATION_H

#include <time.h>

struct sys_attr;

/*
 * What happened to an object since `t0`, in words; NULL: nothing.  No program
 * can set a change time back, so that each change shows.
 */
const char *alteration_since(const struct sys_attr *attr, struct timespec t0);

#endif
