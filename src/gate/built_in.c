/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/built_in.h"

#include "base/error.h"
#include "gate/rules.h"

#include <errno.h>

/* data/gate.rules, as it was when this was built. */
#include "gate_rules_text.h"

int gate_rules_new(struct gate_rules **ret_rules, struct hb_error *err)
{
	struct gate_rules *rules = gate_rules_empty();
	int r;

	if (!rules)
		return hb_fail(err, -ENOMEM, "cannot read the rules");
	r = gate_rules_read(rules, GATE_BUILT_IN, "gate.rules", gate_rules_text,
			    sizeof(gate_rules_text) - 1, err);
	if (r < 0) {
		gate_rules_free(rules);
		return r;
	}
	*ret_rules = rules;
	return 0;
}
