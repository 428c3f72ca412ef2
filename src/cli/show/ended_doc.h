/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_SHOW_ENDED_DOC_H
#define HB_CLI_SHOW_ENDED_DOC_H

struct doc;
struct hb_run_result;

/*
 * Begins the document at the end of a run; `doc` has its descriptor.  The
 * session is that of the result, which is "" where none is left.
 */
void ended_doc_begin(struct doc *doc, const struct hb_run_result *result);

#endif
