/* SPDX-License-Identifier: Apache-2.0 */
#include "view/named_databases.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/quote.h"
#include "plan/settings.h"
#include "plan/view_place.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "view/entry_paths.h"
#include "view/prepare.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#define HEADER "SQLite format 3" /* with its NUL */

static bool is_held_back(const struct run *run, const char *path)
{
	for (size_t i = run->n_direct; i < run->n_direct + run->n_kept; i++)
		if (view_lies_in(path, run->resources[i].source))
			return true;
	return false;
}

/* A session that is there has the databases that it was made with. */
static bool is_of_session(const struct run *run, const char *path)
{
	const struct session_record *record =
		run->session ? run->session->record : NULL;
	const char *key = setting_name(KEY_DB);
	size_t n = strlen(key);

	for (size_t i = 0; record && i < record->n_policy; i++)
		if (strncmp(record->policy[i], key, n) == 0 &&
		    record->policy[i][n] == '=' &&
		    strcmp(record->policy[i] + n + 1, path) == 0)
			return true;
	return !record;
}

/* NULL: it is a file that can be held back so. */
static const char *find_lack(const char *path)
{
	char bytes[sizeof(HEADER)];
	struct stat st, again;
	auto_fd int fd = -1;

	if (sys_fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return "does not exist";
	if (S_ISLNK(st.st_mode))
		return "is a symbolic link: name the file itself";
	if (!S_ISREG(st.st_mode))
		return "is not a regular file";
	if (st.st_nlink > 1)
		return "has several names, and its side files have one";
	fd = sys_openat(AT_FDCWD, path,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
	if (fd < 0 || sys_fstatat(fd, "", &again, AT_EMPTY_PATH) < 0 ||
	    again.st_ino != st.st_ino || again.st_dev != st.st_dev)
		return "cannot be read";
	if (sys_pread_full(fd, bytes, sizeof(bytes), 0) != sizeof(bytes) ||
	    memcmp(bytes, HEADER, sizeof(bytes)) != 0)
		return "is no SQLite database";
	return NULL;
}

int databases_find(struct run *run, const struct setting_item *item,
		   const char *path, struct hb_error *err)
{
	char shown[QUOTE_SHOWN];
	const char *lack;

	(void)quote_shown(item->value, shown, sizeof(shown));
	if (setting_names_server(item->value))
		return hb_fail(err, -HB_E_UNSUPPORTED,
			       "'%s': databases of a server are not held back",
			       shown);
	lack = find_lack(path);
	if (lack)
		return entries_fail(item, err, "'%s' %s", shown, lack);
	if (run->settings.is_ephemeral)
		return entries_fail(item, err,
				    "'%s': a run in memory commits nothing",
				    shown);
	if (!is_held_back(run, path)) {
		hb_fix(err, "--cow with the directory that it is in");
		return entries_fail(item, err,
				    "'%s' is in no directory that is held back",
				    shown);
	}
	if (!is_of_session(run, path)) {
		hb_fix(err, "make another session with --db");
		return entries_fail(item, err,
				    "session '%s' was made without '%s'",
				    run->session->record->name, shown);
	}
	return 0;
}
