/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CHANGES_BLOCKED_H
#define HB_CHANGES_BLOCKED_H

struct change;
struct changes;

/*
 * For changes_next(): CHANGE_BLOCKED of what lies below a directory in whose
 * place the base has another object.  If the base's stays, they have to wait
 * with their directory.
 */
void blocked_lay_over(struct changes *changes, struct change *change);
void blocked_forget(struct changes *changes);

#endif
