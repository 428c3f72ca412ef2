/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_LIVE_OUTDATED_H
#define HB_SESSION_LIVE_OUTDATED_H

#include "base/siphash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hb_error;
struct seen;
struct seen_file;
struct seen_log;

/*
 * Records of `seen` that outlive their objects.  A commit tells that a
 * directory is gone, or is another one now, and not a word of the paths that
 * were in it. A live session keeps its records, and later that directory may
 * come back with the same files.  They would count as committed, and the base
 * has them not.
 *
 * So each path below such a directory gets an empty record.
 */
struct outdated_path {
	uint64_t hash;
	bool is_other; /* what the base has there is another object */
};

struct outdated {
	struct siphash_key key;
	struct outdated_path *paths; /* all that were told */
	size_t n, n_other;
};

/* Before the record goes to the log. */
int outdated_tell(struct outdated *o, struct seen_file *old,
		  const struct seen *seen, struct hb_error *err);

/* After the last one; forgets them. */
int outdated_end(struct outdated *o, struct seen_file *old,
		 struct seen_log *log, struct hb_error *err);
void outdated_done(struct outdated *o);

#endif
