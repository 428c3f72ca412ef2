/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/alteration.h"

#include "base/time.h"
#include "sys/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

const char *alteration_since(const struct sys_attr *attr, struct timespec t0)
{
	bool has_birth = attr->btime.tv_sec != 0 || attr->btime.tv_nsec != 0;

	if (time_is_before(attr->ctime, t0))
		return NULL;
	if (has_birth && !time_is_before(attr->btime, t0))
		return "made since";
	if (time_is_before(attr->mtime, t0))
		return "metadata changed, or moved here";
	return S_ISDIR(attr->mode) ? "names were added or removed in it"
				   : "written to";
}
