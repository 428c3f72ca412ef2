/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_REVIEW_WANTED_H
#define HB_REVIEW_WANTED_H

#include "changes/filter.h"
#include "store/record.h"

struct hb_error;
struct hb_filter;
struct hb_session;

/* The memory behind a filter; zero is none, and may be freed. */
struct wanted {
	bool chosen[RECORD_RESOURCES_MAX];
	struct changes_within *within;
	size_t n_within;
};

void wanted_done(struct wanted *wanted);
#define auto_wanted __attribute__((cleanup(wanted_done)))

/*
 * Makes the filter of a change set; -HB_E_USAGE for a malformed pattern, a
 * directory that is no resource and a path in none.  It borrows the words, and
 * `wanted`, which the caller frees after a failure too.
 */
int wanted_filter(const struct hb_session *s, const struct hb_filter *filter,
		  struct wanted *wanted, struct changes_filter *ret,
		  struct hb_error *err);

#endif
