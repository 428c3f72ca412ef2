/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_OWN_H
#define HB_BOX_OWN_H

struct box;
struct hb_error;
struct plan_op;

/*
 * What a bind with PLAN_OWN shows, as a detached mount.  -ENOENT without words
 * where it need not be there; -HB_E_UNSUPPORTED where the kernel makes no
 * overlay of it, as with something mounted in it.
 */
int own_mount(struct box *box, const struct plan_op *op, struct hb_error *err);

#endif
