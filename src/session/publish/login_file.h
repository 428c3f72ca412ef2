/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_PUBLISH_LOGIN_FILE_H
#define HB_SESSION_PUBLISH_LOGIN_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* The files of logins, on both sides: read whole, and never written in place.
 */
#define LOGIN_FILE_MAX ((size_t)16 << 20)

/* The last component of an absolute path. */
const char *login_file_name(const char *path);

/* The directory of a host path, which no link leads to. */
int login_file_parent(const char *path);

/* Whether that belongs to us: in another user's a login would be theirs. */
bool login_file_is_own(int dir);

/* 1: a regular file; 0: nothing; -EINVAL: something else. */
int login_file_look(int dir, const char *name, struct stat *ret);

/* All of a regular file; the caller frees.  -EINVAL, -EFBIG. */
int login_file_read(int dir, const char *name, char **ret, size_t *ret_n);

/*
 * Whether the text of a login was cut short, as far as one can tell: of a file
 * whose name says JSON.  gemini encrypts such a file.  `old` is a version that
 * was whole, or NULL.
 */
bool login_file_is_cut(const char *path, const char *old, size_t n_old,
		       const char *text, size_t n);

/* A new file, in the place of any that is there; with `sync`, on disk. */
int login_file_write(int dir, const char *name, const char *text, size_t n,
		     mode_t mode, bool sync);

#endif
