/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_PUBLISH_CARRY_PLACE_H
#define HB_SESSION_PUBLISH_CARRY_PLACE_H

#include <stdbool.h>
#include <stddef.h>

struct hb_session;

/* Where a file of an agent's state lies in a session. */

/* Whether the resource holds the state of an agent. */
bool carry_is_state(const struct hb_session *s, size_t resource);

/* The state directory that holds a path; n_resources: none does. */
size_t carry_find_resource(const struct hb_session *s, const char *path);

/*
 * The directory of the upper layer that `path`, relative to the resource, lies
 * in.  It is made where it is missing.  And the host's, -1 if that has none.
 * -ESTALE: the host has something else on the way.
 */
int carry_open_parents(const struct hb_session *s, size_t resource,
		       const char *path, int *ret_base);

#endif
