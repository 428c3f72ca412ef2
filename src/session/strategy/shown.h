/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_STRATEGY_SHOWN_H
#define HB_SESSION_STRATEGY_SHOWN_H

#include "strategy/strategy.h"

#include <stdbool.h>
#include <stddef.h>

struct hb_session;
struct record_resource;

/*
 * What a box is shown of each resource, by its strategy: between the session,
 * which knows resources, and src/strategy, which knows directories.
 */

/* The strategy in force; -HB_E_STATE: this version has none of that name. */
int shown_strategy(const struct record_resource *resource,
		   const struct strategy **ret, struct hb_error *err);

/* Whether a resource needs more than a mount: then exec is not quick. */
bool shown_has_trees(const struct hb_session *s);

/* The name in a resource's store of the tree that a box is shown, or NULL. */
const char *shown_tree(const struct record_resource *resource);

/* Called with each path that the box has to show as it is. */
typedef int (*shown_held_fn)(void *ctx, size_t resource, const char *path,
			     struct hb_error *err);

/* strategy.before_box and strategy.after_box of every resource. */
int shown_before_box(struct hb_session *s, shown_held_fn held, void *ctx,
		     struct hb_error *err);
int shown_after_box(struct hb_session *s, bool has_lost, struct hb_error *err);

#endif
