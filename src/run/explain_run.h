/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_RUN_EXPLAIN_RUN_H
#define HB_RUN_EXPLAIN_RUN_H

struct hb_error;
struct run;

/*
 * Puts what box_run() said, which is in `err`, into words that help, and
 * returns the code.
 */
int run_explain(const struct run *run, int r, struct hb_error *err);

#endif
