/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_VIEW_CODE_H
#define HB_VIEW_CODE_H

#include "holdback/holdback.h"

/*
 * `run --code FILE WORD…`: the command is the file, or the interpreter that its
 * name asks for with the file as first word.  The file is shown read-only, and
 * there is no network, in spite of all other options.
 */
struct code {
	struct hb_run_options options; /* instead of the caller's */
	char **argv;		       /* allocated, as what follows */
	char *file;
	struct hb_setting *settings;
};

/*
 * 1: `code` has the options to go by; 0: there is no --code, and nothing was
 * done.  The caller's options must outlive it; code_done() takes zero.
 */
int code_expand(const struct hb_run_options *options, struct code *code,
		struct hb_error *err);
void code_done(struct code *code);

#endif
