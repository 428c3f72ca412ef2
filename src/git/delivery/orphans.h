/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_DELIVERY_ORPHANS_H
#define HB_GIT_DELIVERY_ORPHANS_H

struct decision;

/*
 * Each side dropped another name of the same commit: then neither side lost it,
 * but both together would.  Such commits get a branch of ours.  To be called
 * when all references, stashes and HEADs are decided, before their logs.
 */
int orphans_keep(struct decision *d);

#endif
