/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_REST_H
#define HB_TXN_REST_H

#include "tree/syncer.h"
#include "txn/survey.h"
#include "txn/txn.h"

/*
 * The changes that a commit of several layers leaves out, written as one layer.
 * It lies over the base as it is after the commit.  With it the view stays as
 * it was.
 */
struct rest_request {
	const struct txn_options *options;
	struct changes *changes;
	const struct survey *survey;
	const struct resource *resource; /* `rest` is where it goes */
	int scratch; /* a directory of the same file system, for links */
	struct syncer *syncer;
};

/*
 * Reads the change set once more.  Copies, and never links to what the layers
 * hold.  What a failure leaves is the caller's to remove.
 */
int rest_write(const struct rest_request *request, struct hb_error *err);

#endif
