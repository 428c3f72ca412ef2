/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_STEADY_H
#define HB_TXN_STEADY_H

struct changes;
struct hb_error;
struct txn_options;
struct resource;

/*
 * Whether everything that is to be committed is still as it was scanned, hashed
 * and passed by the gate.  The change time tells, which no program can set.
 * Just before the commit point: -HB_E_CONFLICT with the path if it is not.
 */
int steady_check(const struct resource *resource, struct changes *changes,
		 const struct txn_options *options, struct hb_error *err);

/*
 * Whether two scans of one resource saw the same objects change in the same
 * way, by the same measure: 1 or 0.  Renames and conflicts do not count, which
 * are found anew.  Reads both to the end, or to where they differ.
 */
int steady_compare(struct changes *then, struct changes *now,
		   struct hb_error *err);

#endif
