/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_VIEW_ENTRIES_H
#define HB_VIEW_ENTRIES_H

struct hb_error;
struct run;
struct setting_item;

/*
 * From settings to entries of the view, by looking at the host.
 *
 * Fills run->entries from the lists of run->settings; cwd, home and resources
 * are known.  What a profile names and the host lacks is left out; what was
 * asked for by name and is missing is -HB_E_USAGE or -HB_E_CONFIG.  First what
 * is shown, then, when all of that is known, what is hidden in it and what the
 * view has of its own.
 */
int entries_find(struct run *run, struct hb_error *err);
int entries_hide(struct run *run, struct hb_error *err);

#endif
