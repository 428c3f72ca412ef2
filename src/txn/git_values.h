/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TXN_GIT_VALUES_H
#define HB_TXN_GIT_VALUES_H

#include <stddef.h>

struct buf;
struct delivered_item;
struct hb_error;
struct site;

/*
 * The values that references and HEAD have before and after a transaction.  A
 * step looks at the file that it replaces.  A reference may have a line in
 * packed-refs and no file.  Then the step finds no file and does not see that
 * the line changed.  So values are compared, under git's locks and before the
 * first step.
 */

/*
 * Adds a record, ended by a NUL, to the list beside the locks; none for an item
 * without values.
 */
int git_values_add(struct buf *list, const struct delivered_item *item);

/*
 * Compares every record of the list, which may have others as well, with what
 * the base has now.  `how` is of enum apply_how: values before the transaction,
 * with APPLY_BACK those after it, and without APPLY_FIRST either of the two.
 * -HB_E_CONFLICT: git has moved one of them, which is named.
 */
int git_values_check(const struct site *s, const struct buf *list, unsigned how,
		     struct hb_error *err);

/*
 * Calls `fn` with the path and the value before of each record, "" for none.  A
 * negated code ends it.
 */
typedef int (*git_values_fn)(void *ctx, const char *path, const char *then);
int git_values_before(const struct buf *list, git_values_fn fn, void *ctx);

#endif
