/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_DIFF_REMARKS_H
#define HB_CLI_DIFF_REMARKS_H

#include <stdbool.h>

struct hb_change;
struct hb_error;
struct patch;

/*
 * What git's format cannot say, as lines "# PATH: WORDS": owners, other modes
 * than git's two, extended attributes, times, empty directories, fifos and
 * their like, conflicts, repositories, and contents that are not shown.
 */

/* All there is to say of the change, before the patch of its file. */
void remark_change(struct patch *p, const struct hb_change *change,
		   bool is_left_out);

/* The directory that was noted last has nothing in it. */
void remark_directory(struct patch *p);

/* Size and SHA-256 of the sides, behind the line that they differ. */
int remark_folded(struct patch *p, const struct hb_change *change,
		  struct hb_error *err);

/* A line about a change, beside the patch. */
void remark_words(struct patch *p, const struct hb_change *change,
		  const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
