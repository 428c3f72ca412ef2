/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_PLAN_CAP_NAMES_H
#define HB_PLAN_CAP_NAMES_H

/*
 * Capabilities by name, as libcap spells them ("cap_chown").
 */
#define CAP_NUMBERS 64 /* the width of the kernel's sets */

/*
 * The number of a capability, from its name in any case or from a number below
 * CAP_NUMBERS; -1 if there is none.
 */
int cap_number(const char *name);

/* The name of a capability, NULL if it has none. */
const char *cap_name(int number);

#endif
