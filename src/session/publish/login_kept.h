/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_PUBLISH_LOGIN_KEPT_H
#define HB_SESSION_PUBLISH_LOGIN_KEPT_H

#include <stddef.h>
#include <sys/types.h>

struct buf;
struct hb_error;

/*
 * Keeps the version `text` of the host's file `path` in the directory `dir`, in
 * the format of carried.h and on disk; NULL: the host has none.  `next` is the
 * content that the host has then, NULL if there is none: undo looks whether
 * that is still so.  The caller has the lock of the directory.
 */
int login_keep(int dir, const char *path, const char *text, size_t n,
	       mode_t mode, const struct buf *next, struct hb_error *err);

#endif
