/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_DELIVERY_SOUND_H
#define HB_GIT_DELIVERY_SOUND_H

struct decision;

/*
 * Whether the session's files leave the user's history and later commits whole.
 * Each new object that is a file of its own has the content of its name.  git
 * takes such a file for the user's own content, and would not write that.
 * `shallow` has all boundaries below which history is missing, and no others.
 *
 * 1: they do.  0: not, and the words say why.  Packs are not looked into.
 */
int sound_check(struct decision *d);

#endif
