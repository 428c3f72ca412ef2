/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_POSTGRES_WHOLE_FILE_H
#define HB_POSTGRES_WHOLE_FILE_H

#include <stdbool.h>
#include <stddef.h>

struct hb_error;

/* Files that are there whole or not at all. */

/* Puts the bytes in the place of `name`. */
int whole_put(int dir, const char *name, const void *bytes, size_t n,
	      struct hb_error *err);

/* Puts a copy of a regular file in the place of `to`. */
int whole_copy(int from_dir, const char *from, int dir, const char *to,
	       struct hb_error *err);

/* Whether `name` is a regular file with these bytes. */
bool whole_is(int dir, const char *name, const void *bytes, size_t n);

/* Gives `name` the time of the same name in another directory. */
void whole_take_time(int from_dir, int dir, const char *name);

#define WHOLE_HEX_SIZE 65 /* of the digest, with its end */

/* The SHA-256 of a regular file, in hexadecimal digits. */
int whole_digest(int dir, const char *name, char ret[WHOLE_HEX_SIZE],
		 struct hb_error *err);

#endif
