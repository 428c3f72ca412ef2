/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CHANGES_STREAM_H
#define HB_CHANGES_STREAM_H

#include "changes/changes.h"
#include "changes/git/delivered.h"
#include "changes/renames.h"
#include "changes/spill.h"

/* The inside of a change set, for the files that make one. */
struct changes {
	struct spill spill;
	struct renames renames;
	struct changes_summary summary;
	uint64_t number; /* of the next change that is read */
	size_t resource;
	bool with_renames;
	struct delivered delivered; /* in path order; mostly none */
	size_t n_passed;	    /* of them, by what is read */
};

#endif
