/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_HOST_HELPER_ERROR_H
#define HB_HOST_HELPER_ERROR_H

struct hb_error;

/*
 * The failure that libexec/holdback/postgres left in its directory, which a box
 * may have written to.  Returns its code, below 0 in any case.
 */
int helper_error(int dir, struct hb_error *err);

#endif
