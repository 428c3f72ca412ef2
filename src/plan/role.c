/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/role.h"

#include <string.h>

static const char *const names[VIEW_ROLES] = {
	[VIEW_WORKSPACE] = "workspace",
	[VIEW_GIT] = "git",
	[VIEW_COW] = "cow",
	[VIEW_STATE] = "state",
	[VIEW_CACHE] = "cache",
};

const char *role_name(enum view_role role)
{
	return names[role];
}

enum view_role role_named(const char *name)
{
	enum view_role role = VIEW_WORKSPACE;

	while (role < VIEW_ROLES && strcmp(names[role], name) != 0)
		role++;
	return role;
}
