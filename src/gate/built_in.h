/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GATE_BUILT_IN_H
#define HB_GATE_BUILT_IN_H

struct gate_rules;
struct hb_error;

/* The built-in ones. */
int gate_rules_new(struct gate_rules **ret_rules, struct hb_error *err);

#endif
