/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GATE_TESTS_H
#define HB_GATE_TESTS_H

#include "gate/changed_file.h"

struct hb_error;

/* What `test =` of a rule means. */

/*
 * 1: it holds for the change, 0: not, or a negated code that ends the gate.
 * GATE_TEST_MANY holds for every change that counts.
 */
int gate_test(struct look *look, const struct gate_rule *rule,
	      struct hb_error *err);

/* Whether some right to execute was not there before. */
bool gate_gains_execution(const struct change *change);

#endif
