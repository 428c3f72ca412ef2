/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_HOST_MOUNTINFO_H
#define HB_HOST_MOUNTINFO_H

#include "holdback/session.h"

/* The kernel's list of what is mounted for a process. */

/*
 * The list of the process `pid`, 0 being ourselves, as text that the caller
 * frees.  -ENOENT: there is no such process, or it is not shown; -EFBIG: it has
 * more mounts than anybody reads.
 */
int mountinfo_read(pid_t pid, char **ret_text);

/*
 * The next mount from *at on, which moves on; false at the end.  The text is
 * taken to pieces by it, and what is returned lies in it.  A line that is none
 * is left out.
 */
bool mountinfo_next(char **at, struct hb_mount *ret_mount);

#endif
