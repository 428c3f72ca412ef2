/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_PLAN_ENV_H
#define HB_PLAN_ENV_H

#include <stdbool.h>

struct hb_error;
struct plan;

/*
 * The environment `base` with the plan's changes applied, as one allocation
 * that the caller frees with free().  `base` and the plan must outlive it.
 */
int plan_environment(const struct plan *plan, char *const *base,
		     char ***ret_env, struct hb_error *err);

/* Whether a variable of the caller, "NAME=VALUE", is passed on or set. */
bool plan_passes(const struct plan *plan, const char *entry);

#endif
