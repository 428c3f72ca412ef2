/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_REVIEW_GIT_MERGE_ASIDE_FILES_H
#define HB_REVIEW_GIT_MERGE_ASIDE_FILES_H

#include <stddef.h>
#include <sys/types.h>

struct content_place;
struct hb_error;

/*
 * Files of a session aside before its box runs: its upper is ours alone.
 * Directories above a file are made, and a file must not be there yet.
 */

/* A copy of a file, or of a symbolic link. */
int aside_copy(const struct content_place *place, int upper, const char *path,
	       mode_t mode, struct hb_error *err);

int aside_write(int upper, const char *path, const void *data, size_t n,
		struct hb_error *err);

#endif
