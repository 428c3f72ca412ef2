/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_STEADY_H
#define HB_TXN_STEADY_H

struct changes;
struct hb_error;
struct txn_options;
struct txn_resource;

/*
 * Whether everything that is to be committed is still what was scanned, hashed
 * and passed by the gate, by its change time, which nobody can set.  Just
 * before the commit point: -HB_E_CONFLICT with the path if it is not.
 */
int steady_check(const struct txn_resource *resource, struct changes *changes,
		 const struct txn_options *options, struct hb_error *err);

#endif
