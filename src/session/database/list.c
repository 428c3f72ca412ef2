/* SPDX-License-Identifier: Apache-2.0 */
#include "session/database/list.h"

#include "base/error.h"
#include "base/grow.h"
#include "base/path.h"
#include "changes/database.h"
#include "plan/settings.h"
#include "store/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The path of a line of the record; NULL: it is about something else. */
static const char *path_of(const char *line)
{
	const char *key = setting_name(KEY_DB);
	size_t n = strlen(key);

	if (strncmp(line, key, n) != 0 || line[n] != '=' || line[n + 1] != '/')
		return NULL;
	return line + n + 1;
}

bool database_list_is_any(const struct session_record *record)
{
	for (size_t i = 0; i < record->n_policy; i++)
		if (path_of(record->policy[i]))
			return true;
	return false;
}

int database_list_read(const struct session_record *record, size_t resource,
		       struct database_list *ret, struct hb_error *err)
{
	const char *source = record->resources[resource].source;
	size_t n = strlen(source);

	*ret = (struct database_list){ 0 };
	for (size_t i = 0; i < record->n_policy; i++) {
		const char *path = path_of(record->policy[i]);

		if (!path || !path_is_beneath(path, source) || path[n] == '\0')
			continue;
		if (grow(ret->paths, ret->n) < 0 ||
		    !(ret->paths[ret->n] = strdup(path + n + (n > 1)))) {
			database_list_done(ret);
			return hb_fail(err, -ENOMEM, "cannot keep a path");
		}
		ret->n++;
	}
	return 0;
}

void database_list_done(struct database_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->paths[i]);
	free(list->paths);
	*list = (struct database_list){ 0 };
}
