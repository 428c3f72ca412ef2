/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/profile.h"

#include "plan/settings.h"

#include "profile_table.h"

#include <string.h>

/*
 * The compiled-in profiles.  mkprofiles reads data/profiles/ when this is
 * built, so that a run parses nothing.
 */

const struct profile *profile_at(size_t i)
{
	if (i >= sizeof(profiles) / sizeof(profiles[0]))
		return NULL;
	return &profiles[i];
}

const struct profile *profile_find(const char *name)
{
	const struct profile *p;

	for (size_t i = 0; (p = profile_at(i)) != NULL; i++)
		if (strcmp(p->name, name) == 0)
			return p;
	return NULL;
}
