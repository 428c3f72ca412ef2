/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_DELIVERY_SOUND_H
#define HB_GIT_DELIVERY_SOUND_H

struct decision;

/*
 * Whether the session's files leave the user's history and later commits whole.
 * Each new object, in a file of its own or in a pack, has the content of its
 * name.  git takes it for the user's own content, and would not write that.
 *
 * 1: they do.  0: not, and the words say why.  A look ahead does not read large
 * packs: it takes them for whole.
 */
int sound_check(struct decision *d);

/* The same of objects alone, for a repository that is treated as files. */
int sound_check_objects(struct decision *d);

#endif
