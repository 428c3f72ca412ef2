/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_RUN_BEGINNING_H
#define HB_RUN_BEGINNING_H

struct hb_error;
struct hb_session;
struct own_start;

/*
 * The command by which git puts a work tree on a branch of its own, as
 * session/git/own_branch.h says.  launch_begin() runs it in a box.
 */
#define BEGINNING_WORDS 8

/* Fills in the words, which are borrowed, with a NULL at the end. */
void beginning_fill(const struct hb_session *s, struct own_start *start,
		    char *argv[BEGINNING_WORDS]);

/* After the box: the reason if it failed, else notes the beginning. */
int beginning_end(struct hb_session *s, const struct own_start *start,
		  int status, struct hb_error *err);

#endif
