/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_HOST_SELF_H
#define HB_HOST_SELF_H

#include <limits.h>

struct stat;

/* The path of bin/holdback of this installation.  Returns -errno. */
int place_front(char ret[PATH_MAX]);

/* Looks at bin/holdback of this installation.  Returns -errno. */
int place_stat_front(struct stat *ret);

/* The path of libexec/holdback/NAME of this installation.  Returns -errno. */
int place_helper(const char *name, char ret[PATH_MAX]);

#endif
