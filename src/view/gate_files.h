/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_VIEW_GATE_FILES_H
#define HB_VIEW_GATE_FILES_H

struct gate_rules;
struct hb_error;

/*
 * The rules of the directory `base`, which lies at `source`, complete; the
 * caller frees, also after a failure.  -HB_E_CONFIG.
 */
int gate_files_read(char *const *envp, int base, const char *source,
		    struct gate_rules **ret_rules, struct hb_error *err);

#endif
