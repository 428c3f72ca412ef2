/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GATE_FOLD_H
#define HB_GATE_FOLD_H

struct buf;

/*
 * Adds the path as a file system that folds letter case looks it up, as far as
 * a pattern of ASCII can match it.  Letters that fold to an ASCII letter become
 * that letter.  Characters that such a look-up ignores go.  Letter case of
 * ASCII stays; the patterns ignore it.  Any bytes may come in.  Returns as
 * buf_add() does.
 */
int gate_fold(struct buf *out, const char *path);

#endif
