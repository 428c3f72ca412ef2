/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GATE_SCAN_SCAN_ASSIGN_H
#define HB_GATE_SCAN_SCAN_ASSIGN_H

#include "gate/scan/scan_check.h"

#include <stddef.h>

/*
 * Whether the keyword, which ends at `at`, is given a value: up to where that
 * begins.  A yes writes `ret_value`, and `ret_quote`, 0 for none.
 */
enum scan_answer assign_value(const struct scan_text *t, size_t at,
			      size_t *ret_value, uint8_t *ret_quote);

/* Whether a value in these quotes ends at `at`. */
enum scan_answer assign_ends(const struct scan_text *t, size_t at,
			     uint8_t quote);

#endif
