/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_AGENT_PROJECT_NAME_H
#define HB_AGENT_PROJECT_NAME_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Agents keep a directory for each project.  A path of a profile names it by
 * one of these words, in braces, as a whole component:
 *
 *	slug	claude: the working directory, with a dash for each character
 *		that is no letter or digit of ASCII
 *	root	the same of the workspace
 *	name	gemini: the directory whose file PROJECT_OWNER has the path of
 *		the working directory; where there is none, the name that gemini
 *		would choose
 */
#define PROJECT_OWNER ".project_root"

/* Whether the path has such a word: it is this project's alone. */
bool project_is_named(const char *path);

/*
 * Puts the project's name in the place of the word; `ret` has room for
 * PATH_MAX.  -ENOENT: the project has no such name, and so no such path.
 */
int project_expand(const char *path, const char *cwd, const char *workspace,
		   char *ret);

/* The slug of a path; -ENAMETOOLONG: claude would cut it. */
int project_slug(const char *path, char *ret, size_t size);

/* The name of the owner's file for a path of such a row, or NULL. */
const char *project_marker(const char *path);

#endif
