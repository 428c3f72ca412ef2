/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_HOST_ROSTER_H
#define HB_HOST_ROSTER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * One look at a directory tells about many names.  Profiles ask for dozens of
 * places in the home directory, and most users have a few.
 *
 * An existing name is never called missing: where the directory cannot be
 * listed, or has too many entries, every name may exist.  Zero knows nothing.
 */
#define ROSTER_WORDS 64

struct roster {
	bool is_known;
	uint64_t bits[ROSTER_WORDS];
};

/* Lists the directory. */
void roster_read(const char *dir, struct roster *ret);

/*
 * Whether `path`, which is absolute, may exist, by its component directly in
 * `dir`.  True for a path outside of `dir`.
 */
bool roster_may_have(const struct roster *roster, const char *dir,
		     const char *path);

#endif
