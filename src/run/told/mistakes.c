/* SPDX-License-Identifier: Apache-2.0 */
#include "run/told/mistakes.h"

#include "base/quote.h"
#include "base/report.h"
#include "holdback/holdback.h"
#include "plan/settings.h"
#include "plan/view_place.h"
#include "sys/file.h"
#include "sys/proc.h"
#include "view/entry_paths.h"
#include "view/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOT 0

static void tell_store(const struct run *run)
{
	char shown[QUOTE_SHOWN];

	for (size_t i = 0; run->store[0] && i < run->n_resources; i++) {
		if (!view_lies_in(run->store, run->resources[i].source))
			continue;
		report_text(
			run->listener, HB_REPORT_SAID,
			"the sessions lie in the project, at '%s': inside it is empty (--state-dir or XDG_STATE_HOME puts them elsewhere)",
			quote_shown(run->store, shown, sizeof(shown)));
		return;
	}
}

/* Its real files; a session's own copies can be written all the same. */
static void tell_commit(const struct run *run)
{
	char shown[QUOTE_SHOWN];
	int r;

	if (!run->workspace[0])
		return;
	r = sys_faccessat(AT_FDCWD, run->workspace, W_OK);
	if (r != -EROFS && r != -EACCES && r != -EPERM)
		return;
	report_text(run->listener, HB_REPORT_SAID,
		    "%s '%s': changes can be looked at, and not be committed",
		    r == -EROFS ? "the file system is read-only at"
				: "you may not write to",
		    quote_shown(run->workspace, shown, sizeof(shown)));
}

/* root inside has no capability, so files of others are as for any user. */
static void tell_owner(const struct run *run)
{
	char shown[QUOTE_SHOWN];
	struct stat st;

	/* Where we are: a repository of another user is no workspace. */
	if (!run->workspace[0] || sys_getuid() != ROOT ||
	    sys_fstatat(AT_FDCWD, ".", &st, 0) < 0 || st.st_uid == ROOT ||
	    st.st_mode & S_IWOTH)
		return;
	report_text(
		run->listener, HB_REPORT_SAID,
		"'%s' belongs to user %u, and root inside may not write there: run holdback as that user",
		quote_shown(run->cwd, shown, sizeof(shown)),
		(unsigned)st.st_uid);
}

/* entries.h has no real directory in it, and login_file.h publishes nothing. */
static void tell_state(const struct run *run)
{
	char shown[QUOTE_SHOWN];
	struct stat st;

	for (size_t i = 0; i < run->n_resources; i++) {
		const struct view_resource *resource = &run->resources[i];

		if (resource->role != VIEW_STATE ||
		    sys_fstatat(AT_FDCWD, resource->source, &st, 0) < 0 ||
		    st.st_uid == sys_getuid())
			continue;
		report_text(
			run->listener, HB_REPORT_SAID,
			"'%s' belongs to user %u: the agent has the rights of others there, and no file reaches it; run holdback as that user, or chown it",
			quote_shown(resource->source, shown, sizeof(shown)),
			(unsigned)st.st_uid);
	}
}

/* workspace.h leaves it out: the agent finds none, and can make none. */
static void tell_closed_state(const struct run *run)
{
	const struct settings *s = &run->settings;
	char path[PATH_MAX], shown[QUOTE_SHOWN];
	struct stat st;

	for (size_t i = 0; i < s->n_items; i++) {
		if (s->items[i].key != KEY_STATE ||
		    entries_path(run, &s->items[i], s->items[i].value, path,
				 NULL) < 0 ||
		    sys_fstatat(AT_FDCWD, path, &st, 0) < 0 ||
		    !S_ISDIR(st.st_mode) ||
		    sys_faccessat(AT_FDCWD, path, R_OK | X_OK) != -EACCES)
			continue;
		report_text(
			run->listener, HB_REPORT_SAID,
			"'%s' belongs to user %u, and you may not read it: the agent runs without its state, and none is kept; chown or chmod it",
			quote_shown(path, shown, sizeof(shown)),
			(unsigned)st.st_uid);
	}
}

static void tell_sudo(const struct run *run)
{
	const char *user = hb_sudo_user(run->options->envp);
	char shown[QUOTE_SHOWN], name[QUOTE_SHOWN];

	if (!user || !run->store[0])
		return;
	report_text(
		run->listener, HB_REPORT_SAID,
		"by sudo: this session is root's, in '%s', and not among those of '%s'",
		quote_shown(run->store, shown, sizeof(shown)),
		quote_shown(user, name, sizeof(name)));
}

void mistakes_tell(const struct run *run, bool is_kept)
{
	if (run->settings.is_quiet)
		return;
	if (is_kept) {
		tell_sudo(run);
		tell_commit(run);
	}
	tell_owner(run);
	tell_state(run);
	tell_closed_state(run);
	tell_store(run);
}
