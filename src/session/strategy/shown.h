/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_STRATEGY_SHOWN_H
#define HB_SESSION_STRATEGY_SHOWN_H

#include "strategy/strategy.h"

#include <stdbool.h>
#include <stddef.h>

struct hb_resource;
struct hb_session;
struct session_record;

/*
 * What a box is shown of each resource, by its strategy: between the session,
 * which knows resources, and src/strategy, which knows directories.
 */

/* The strategy in force; -HB_E_STATE: this version has none of that name. */
int shown_strategy(const struct record_resource *resource,
		   const struct strategy **ret, struct hb_error *err);

/* As was asked for and as it is done, of a resource that is to be made. */
void shown_set_strategy(struct record_resource *resource, const char *name);

/* Records of an earlier version, and new ones, may name no strategy. */
void shown_name_strategies(struct session_record *record);

/* What a look from outside is told of a resource, but for is_gone. */
void shown_tell(const struct record_resource *resource,
		struct hb_resource *ret);

/* The same of a real directory that commands write to. */
void shown_tell_direct(const char *path, struct hb_resource *ret);

/*
 * Whether a box is shown a tree of ours: then its changes are in the upper only
 * after shown_after_box().
 */
bool shown_has_trees(const struct session_record *record);

/* Whether nothing is to be done before and after a box. */
bool shown_is_quick(const struct session_record *record);

/* The name in a resource's store of the tree that a box is shown, or NULL. */
const char *shown_tree(const struct record_resource *resource);

/* Called with each path that the box has to show as it is. */
typedef int (*shown_held_fn)(void *ctx, size_t resource, const char *path,
			     struct hb_error *err);

/* strategy.before_box, begin_box and after_box of every resource. */
int shown_before_box(struct hb_session *s, shown_held_fn held, void *ctx,
		     struct hb_error *err);
int shown_begin_box(struct hb_session *s, struct hb_error *err);
int shown_after_box(struct hb_session *s, bool has_lost, struct hb_error *err);

#endif
