/* SPDX-License-Identifier: Apache-2.0 */
#include "review/found.h"

#include "gate/gate.h"

#include <stdlib.h>
#include <string.h>

/* No user answers so many questions; the gate is asked again then. */
#define FOUND_MAX 1000

void found_done(struct found *found)
{
	for (size_t i = 0; i < found->n; i++) {
		free(found->list[i].rule);
		free(found->list[i].path);
	}
	free(found->list);
	*found = (struct found){ 0 };
}

void found_begin(struct found *found)
{
	found_done(found);
	found->is_whole = true;
}

void found_note(struct found *found, size_t resource,
		const struct gate_finding *finding)
{
	struct found_one *one;

	if (finding->severity <= GATE_WARN) {
		found->n_warnings++;
		return;
	}
	if (!found->list)
		found->list = calloc(FOUND_MAX, sizeof(*found->list));
	if (!found->list || found->n == FOUND_MAX) {
		found->is_whole = false;
		return;
	}
	one = &found->list[found->n++];
	*one = (struct found_one){ .resource = resource,
				   .rule = strdup(finding->rule),
				   .path = strdup(finding->path),
				   .severity = (int)finding->severity };
	if (!one->rule || !one->path)
		found->is_whole = false;
}
