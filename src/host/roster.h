/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_HOST_ROSTER_H
#define HB_HOST_ROSTER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What one look at a directory tells about many names: profiles ask for dozens
 * of places in the home directory, of which most people have a few.
 *
 * Never says that a name is missing which is there: where the directory cannot
 * be listed, or has too much in it, every name may be.  Zero knows nothing.
 */
#define ROSTER_WORDS 64

struct roster {
	bool is_known;
	uint64_t bits[ROSTER_WORDS];
};

/* Lists the directory. */
void roster_read(const char *dir, struct roster *ret);

/*
 * Whether `path`, which is absolute, may be there, as far as the component of
 * it tells that lies directly in `dir`; true for what does not lie in it.
 */
bool roster_may_have(const struct roster *roster, const char *dir,
		     const char *path);

#endif
