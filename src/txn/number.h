/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_NUMBER_H
#define HB_TXN_NUMBER_H

#include <stdint.h>

struct hb_error;
struct txn;

/*
 * The number of a new transaction: above every other, and one under which
 * nothing lies in undo/ and trash/ of any resource.
 */
int number_choose(const struct txn *txn, uint64_t *ret_id,
		  struct hb_error *err);

#endif
