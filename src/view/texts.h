/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_VIEW_TEXTS_H
#define HB_VIEW_TEXTS_H

struct hb_error;
struct run;

/* The most entries that texts_find() adds. */
#define TEXTS_MAX 6

/*
 * Files that the view has of its own instead of the host's.  They say who the
 * users are, what the host is called, where names are looked up.  Adds to
 * run->entries, which has room, what the host has in its /etc.
 */
int texts_find(struct run *run, struct hb_error *err);

#endif
