/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_REVIEW_GIT_MERGE_PATH_LIST_H
#define HB_REVIEW_GIT_MERGE_PATH_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* Paths, owned.  path_list_sort() before one is looked for. */
struct path_list {
	char **list;
	size_t n;
};

/* Adds a copy: 0, or -ENOMEM. */
int path_list_add(struct path_list *paths, const char *path);
void path_list_sort(struct path_list *paths);
bool path_list_has(const struct path_list *paths, const char *path);
void path_list_done(struct path_list *paths);

#endif
