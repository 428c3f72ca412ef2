/* SPDX-License-Identifier: Apache-2.0 */
#include "box/relay_rest.h"

int relay_rest_begin(struct relay_rest *rest, int64_t lived)
{
	bool was_longest = rest->ms == REST_MAX_MS;

	if (rest->ms == 0 || lived >= REST_MAX_MS) {
		rest->ms = REST_MIN_MS;
		was_longest = false;
	} else {
		rest->ms =
			rest->ms < REST_MAX_MS / 2 ? 2 * rest->ms : REST_MAX_MS;
	}
	rest->is_said = !was_longest;
	rest->is_last_said = rest->is_said && rest->ms == REST_MAX_MS;
	/* The time that it lived counts as rest. */
	return lived < rest->ms ? (int)(rest->ms - lived) : 1;
}
