/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_PLAN_ROLE_H
#define HB_PLAN_ROLE_H

/* The reason why a directory is held back; the session's record has its name.
 */
enum view_role {
	VIEW_WORKSPACE,
	VIEW_GIT,   /* the repository that a worktree belongs to */
	VIEW_COW,   /* asked for by name */
	VIEW_STATE, /* kept by an agent */
	VIEW_CACHE, /* of a tool: never committed */
	VIEW_ROLES
};

const char *role_name(enum view_role role);

/* VIEW_ROLES: none has that name. */
enum view_role role_named(const char *name);

#endif
