/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_RELAY_REST_H
#define HB_BOX_RELAY_REST_H

#include <stdbool.h>
#include <stdint.h>

/*
 * How long a process that died rests before it is started again, and whether
 * that is said.  Each rest is twice the one before, up to a minute; then there
 * are no more lines.  A process that lived for as long begins anew.
 */

#define REST_MIN_MS 1000
#define REST_MAX_MS 60000

/* Zero is the beginning. */
struct relay_rest {
	int ms;
	bool is_said;	   /* this rest has a line */
	bool is_last_said; /* which is the last */
};

/* It has died after so many ms; returns in how many it is to be started. */
int relay_rest_begin(struct relay_rest *rest, int64_t lived);

#endif
