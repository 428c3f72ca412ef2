/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GATE_SEVERITY_H
#define HB_GATE_SEVERITY_H

/* What a finding means for a commit; the larger, the more it stands against. */
enum gate_severity {
	GATE_OFF,  /* the rule is not looked at */
	GATE_WARN, /* said, and committed */
	GATE_ASK,  /* committed only if the user says so, by the rule's id */
	GATE_DENY, /* not committed */
	GATE_SEVERITIES
};

/* "off", "warn", "ask", "deny". */
const char *gate_severity_name(enum gate_severity severity);

/* The inverse; -EINVAL for any other word. */
int gate_severity_parse(const char *word);

#endif
