/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_DIFF_COMMIT_TEXT_H
#define HB_CLI_DIFF_COMMIT_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct hb_commit;
struct paint;

/* A person of a commit, as git reads the line; all points into that. */
struct person {
	const char *name, *mail;
	size_t name_len, mail_len;
	int64_t time; /* seconds since 1970; 0: none */
	int zone;     /* +0130 is 130 */
};
void person_parse(const char *line, struct person *ret_person);

/*
 * Paints what stands before the patch: commit, merge, author, date, message.
 * On a terminal the references of the commit as well.
 */
void commit_text_paint(const struct hb_commit *commit, struct paint *paint);

#endif
