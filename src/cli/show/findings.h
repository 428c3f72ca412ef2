/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_SHOW_FINDINGS_H
#define HB_CLI_SHOW_FINDINGS_H

#include "cli/show/doc.h"
#include "holdback/session.h"

/* How findings of the gate look. */

/*
 * "ask: PATH:LINE: why it matters: what exactly [RULE]".  Everything that the
 * agent may have chosen is quoted.
 */
int finding_show(const struct hb_session_info *info,
		 const struct hb_finding *finding, struct buf *out);

/* The same as an object of its own. */
void finding_show_json(const struct hb_session_info *info,
		       const struct hb_finding *finding, struct doc *doc);

/* Says them on stderr as they come, but not without end. */
struct findings_said {
	const struct hb_session_info *info;
	struct evidence *evidence; /* gets each; or NULL */
	bool is_silent;		   /* only counts: they were said before */
	uint64_t n_said[HB_SEVERITY_DENY + 1]; /* by enum hb_severity */
	bool is_in_git; /* git has it, and it is not allowed */
};

/* As reports.found; the context is a struct findings_said. */
void findings_say(void *ctx, const struct hb_finding *finding);

/* How many more there were. */
void findings_say_rest(const struct findings_said *said);

/* The counts as members of an object `gate`. */
void findings_count_json(const struct hb_gate_result *result, struct doc *doc);

#endif
