/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_STORE_BOOT_H
#define HB_STORE_BOOT_H

#include "store/record.h"

/* The id of this boot. */
int boot_id(char ret[RECORD_BOOT_SIZE], struct hb_error *err);

#endif
