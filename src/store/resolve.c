/* SPDX-License-Identifier: Apache-2.0 */
#include "store/resolve.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/path.h"
#include "base/suggest.h"
#include "base/time.h"
#include "host/look.h"
#include "store/projects.h"
#include "store/record.h"
#include "store/store.h"
#include "sys/attr.h"
#include "sys/file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int resolve_prefix(char *const *names, size_t n, const char *word,
			  const char **ret, struct hb_error *err)
{
	struct suggestion suggestion;
	const char *found = NULL;

	suggestion_init(&suggestion, word);
	for (size_t i = 0; i < n; i++) {
		suggestion_offer(&suggestion, names[i]);
		if (strcmp(names[i], word) == 0) {
			*ret = names[i];
			return 0;
		}
	}
	for (size_t i = 0; i < n; i++) {
		if (strncmp(names[i], word, strlen(word)) != 0)
			continue;
		if (found) {
			hb_fix(err, "holdback ls, then the whole name");
			return hb_fail(err, -HB_E_NO_SESSION,
				       "'@%s' is the beginning of both '%s' "
				       "and '%s'",
				       word, found, names[i]);
		}
		found = names[i];
	}
	if (!found && suggestion.best)
		hb_fix(err, "did you mean '@%s'?", suggestion.best);
	if (!found)
		return store_no_session(word, err);
	*ret = found;
	return 0;
}

static bool has_resource_at(const struct session_record *record,
			    const char *cwd)
{
	for (size_t i = 0; i < record->n_resources; i++)
		if (path_is_beneath(cwd, record->resources[i].source))
			return true;
	return false;
}

/* The session used last of those that have the working directory in them. */
static int resolve_latest(const struct hb_store *store, char *ret_name,
			  size_t size, struct hb_error *err)
{
	char cwd[PATH_MAX], **names = NULL;
	struct timespec latest = { .tv_sec = -1 };
	size_t n = 0, found = 0;
	int r = look_cwd(cwd, err);

	if (r >= 0)
		r = projects_find(store, cwd, SIZE_MAX, &names, &n, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		auto_record struct session_record record = { 0 };
		auto_fd int dir = store_open_session(store, names[i], NULL);

		if (dir < 0 || record_read(dir, &record, NULL) < 0 ||
		    time_is_before(record.used, latest) ||
		    !has_resource_at(&record, cwd))
			continue;
		latest = record.used;
		found = i + 1;
	}
	if (found > 0)
		(void)snprintf(ret_name, size, "%s", names[found - 1]);
	store_free_names(names, n);
	if (found > 0)
		return 0;
	hb_fix(err, "run something here: holdback COMMAND; or holdback ls");
	return hb_fail(err, -HB_E_NO_SESSION,
		       "no session has this directory in it");
}

int store_resolve(const struct hb_store *store, const char *ref, char *ret_name,
		  size_t size, struct hb_error *err)
{
	const char *word = ref && ref[0] == '@' ? ref + 1 : ref;
	const char *name = NULL;
	char **names = NULL;
	size_t n = 0;
	int r;

	if (!word || word[0] == '\0')
		return resolve_latest(store, ret_name, size, err);
	r = record_check_name("session", word, err);
	if (r < 0)
		return r;
	/* The whole name wins, and is what programs use. */
	if (store->sessions >= 0 &&
	    sys_faccessat(store->sessions, word, F_OK) >= 0) {
		(void)snprintf(ret_name, size, "%s", word);
		return 0;
	}
	r = store_names(store, &names, &n, err);
	if (r >= 0)
		r = resolve_prefix(names, n, word, &name, err);
	if (r >= 0)
		(void)snprintf(ret_name, size, "%s", name);
	store_free_names(names, n);
	return r;
}
