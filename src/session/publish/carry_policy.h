/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_PUBLISH_CARRY_POLICY_H
#define HB_SESSION_PUBLISH_CARRY_POLICY_H

#include <stdbool.h>

/*
 * The rights of a run that wrote state, as text: one line "KEY VALUE" for each.
 * "net WORD" is the network, and there is no such line without one.  "allow",
 * "host-port" and "net-loose" count beside a network by name, and the host's
 * has all of them.  "deny" takes a right away.
 */

/* Whether a run with the policy `mine` may do nothing that `other` may not. */
bool carry_policy_fits(const char *mine, const char *other);

#endif
