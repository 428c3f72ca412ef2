/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_PLAN_PROFILE_H
#define HB_PLAN_PROFILE_H

#include <stddef.h>

/* All, by name; NULL at the end. */
const struct profile *profile_at(size_t i);
const struct profile *profile_find(const char *name);

#endif
