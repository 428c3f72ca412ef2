/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_PLAN_DROPPED_H
#define HB_PLAN_DROPPED_H

#include <stddef.h>

struct plan;
struct settings;

/*
 * Variables of the caller that are not passed on and look meant for the agent.
 * They begin as those do that its profile passes.  A command without a profile
 * may be an agent if it has the network.
 *
 * Returns their number; `ret` gets the first `max`, each "NAME=VALUE".
 */
size_t dropped_find(const struct settings *s, const struct plan *plan,
		    char *const *envp, const char **ret, size_t max);

#endif
