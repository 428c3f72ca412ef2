/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_PLACED_STAT_H
#define HB_TXN_PLACED_STAT_H

struct hb_error;
struct op;
struct site;

/*
 * Before an index of git gets to its place, when all files are at theirs: its
 * entries without stat data get that of their files.  So git need not read
 * them.  Does nothing for any other operation.  It can be repeated: recovery
 * does it again.
 */
int placed_stat_note(struct site *s, const struct op *op, struct hb_error *err);

#endif
