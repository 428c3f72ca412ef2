/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/severity.h"

#include <errno.h>
#include <string.h>

static const char *const names[GATE_SEVERITIES] = {
	[GATE_OFF] = "off",
	[GATE_WARN] = "warn",
	[GATE_ASK] = "ask",
	[GATE_DENY] = "deny",
};

const char *gate_severity_name(enum gate_severity severity)
{
	return names[severity];
}

int gate_severity_parse(const char *word)
{
	for (int i = 0; i < GATE_SEVERITIES; i++)
		if (strcmp(word, names[i]) == 0)
			return i;
	return -EINVAL;
}
