/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_REFNAME_H
#define HB_GIT_REFNAME_H

#include <stdbool.h>

struct buf;

/*
 * Whether git takes it as the name of a reference: git-check-ref-format(1),
 * below "refs/".  Such a name has no blank and no control character.
 */
bool refname_is_valid(const char *name);

/*
 * Adds a component of such a name that is as near to `text`, any bytes, as git
 * allows.  Never nothing.
 */
void refname_add_component(struct buf *out, const char *text);

#endif
