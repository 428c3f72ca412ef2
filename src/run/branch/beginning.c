/* SPDX-License-Identifier: Apache-2.0 */
#include "run/branch/beginning.h"

#include "base/error.h"
#include "base/quote.h"
#include "session/git/own_branch.h"
#include "session/session.h"

#include <stdint.h>
#include <string.h>

/*
 * Operands: the work tree, the branch, the commit.  Tracked files become those
 * of the commit; others stay.  HEAD comes last.  Hooks and the file system
 * monitor do not run.  Identity and time are fixed, so that two beginnings at
 * one commit write the same logs.  A lock can only be that of a beginning that
 * was killed, or of the user's git, which does not see the session.  Files that
 * the index does not know by their times are looked at first, and not written.
 */
static const char script[] =
	"cd \"$1\" || exit 12\n"
	"command -v git >/dev/null || exit 127\n"
	"exec </dev/null >/dev/null\n"
	"export LC_ALL=C GIT_LFS_SKIP_SMUDGE=1 GIT_TERMINAL_PROMPT=0 "
	"GIT_COMMITTER_NAME=holdback GIT_COMMITTER_EMAIL=holdback@localhost\n"
	"g() { git -c core.hooksPath=/dev/null -c core.fsmonitor=false "
	"-c gc.auto=0 -c maintenance.auto=false -c submodule.recurse=false "
	"\"$@\"; }\n"
	"unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE\n"
	"dir=$(g rev-parse --git-dir) || exit 12\n"
	"[ -z \"$(g config core.worktree)\" ] || "
	"{ echo 'core.worktree is set' >&2; exit 12; }\n"
	"rm -f \"$dir/index.lock\" \"$dir/HEAD.lock\" "
	"\"$dir/refs/heads/$2.lock\"\n"
	"GIT_COMMITTER_DATE=$(g log -1 --format=%cd --date=raw \"$3\") || "
	"exit 12\n"
	"export GIT_COMMITTER_DATE\n"
	"g update-index -q --refresh 2>/dev/null\n"
	"g read-tree --reset -u \"$3\" &&\n"
	"g update-ref --no-deref -m 'holdback: begin' \"refs/heads/$2\" \"$3\" "
	"&&\n"
	"g symbolic-ref -m 'holdback: begin' HEAD \"refs/heads/$2\" || "
	"exit 12\n";

#define NO_GIT 127

void beginning_fill(const struct hb_session *s, struct own_start *start,
		    char *argv[BEGINNING_WORDS])
{
	static char sh[] = "sh", c[] = "-c";
	char *const words[BEGINNING_WORDS] = {
		sh,
		c,
		(char *)(uintptr_t)script, /* only read */
		sh,
		s->record.resources[start->number].inside,
		start->branch,
		start->commit.hex,
		NULL,
	};

	memcpy(argv, words, sizeof(words));
}

int beginning_end(struct hb_session *s, const struct own_start *start,
		  int status, struct hb_error *err)
{
	const char *source = s->record.resources[start->number].source;

	if (status == NO_GIT) {
		hb_fix(err, "install git, or another --strategy");
		return hb_fail(err, -HB_E_UNSUPPORTED,
			       "no branch of its own for '%s': there is no git "
			       "inside",
			       quoted(source));
	}
	if (status != 0) {
		hb_fix(err, "see the words of git above, or another "
			    "--strategy");
		return hb_fail(err, -HB_E_STATE,
			       "no branch of its own for '%s': git ended with "
			       "%d",
			       quoted(source), status);
	}
	return own_branch_note(s, start, err);
}
