/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_LIMITS_H
#define HB_BOX_LIMITS_H

struct box;
struct hb_error;

/*
 * What all processes of a box together may use.  Memory and processors only a
 * control group can limit; processes also a limit of the user namespace, which
 * needs nobody's leave but does not bind root.
 */

/* The supervisor's part, before clone(): a group, where one is needed. */
int limits_prepare(struct box *box, struct hb_error *err);

/* The command's part: the limit of the user namespace, tried out. */
int limits_of_namespace(const struct box *box, struct hb_error *err);

#endif
