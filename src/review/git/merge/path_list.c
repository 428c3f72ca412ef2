/* SPDX-License-Identifier: Apache-2.0 */
#include "review/git/merge/path_list.h"

#include "base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int path_list_add(struct path_list *paths, const char *path)
{
	char *copy;

	if (grow(paths->list, paths->n) < 0)
		return -ENOMEM;
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	paths->list[paths->n++] = copy;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void path_list_sort(struct path_list *paths)
{
	if (paths->n > 0)
		qsort(paths->list, paths->n, sizeof(*paths->list), by_name);
}

static int compare(const void *a, const void *b)
{
	return strcmp(a, *(char *const *)b);
}

bool path_list_has(const struct path_list *paths, const char *path)
{
	return paths->n > 0 && bsearch(path, paths->list, paths->n,
				       sizeof(*paths->list), compare) != NULL;
}

void path_list_done(struct path_list *paths)
{
	for (size_t i = 0; i < paths->n; i++)
		free(paths->list[i]);
	free(paths->list);
	*paths = (struct path_list){ 0 };
}
