/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GATE_SCAN_SCAN_CHECK_H
#define HB_GATE_SCAN_SCAN_CHECK_H

#include "gate/scan/scan_pattern.h"

/*
 * What a format cannot say: whether something that has it is meant.
 */

struct scan_check {
	const char *name; /* as rules call it */
	/* May move the match's end and the secret in it. */
	enum scan_answer (*check)(const struct scan_text *t,
				  struct scan_match *m);
	/*
	 * A key is no text: no person typed it, even if its bytes look like it.
	 */
	bool is_enough;
};

/* NULL: there is none. */
const struct scan_check *check_find(const char *name);

/*
 * Shannon's, of the bytes by themselves, in tenths of a bit per byte.
 */
unsigned entropy_of(const uint8_t *bytes, size_t n);

/*
 * Whether eight bytes in a row are equal or count up: no generator draws that.
 */
bool is_typed(const uint8_t *bytes, size_t n);

#endif
