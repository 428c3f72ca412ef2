/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GATE_ABOVE_H
#define HB_GATE_ABOVE_H

/*
 * The names from the home directory, which may be NULL, down to a resource, or
 * the last few of its path.  Example: fish runs a project in ~/.config/fish.  A
 * part of `source`.
 */
const char *gate_above(const char *source, const char *home);

#endif
