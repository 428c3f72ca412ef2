/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/diff/git2.h"

#include "base/error.h"

#include <errno.h>
#include <git2.h>

int git2_start(struct hb_error *err)
{
	int r = git_libgit2_init();

	return r < 0 ? git2_fail(r, "cannot use libgit2", err) : 0;
}

void git2_stop(void)
{
	(void)git_libgit2_shutdown();
}

int git2_fail(int r, const char *what, struct hb_error *err)
{
	const git_error *last = git_error_last();

	(void)r;
	if (last && last->klass == GIT_ERROR_NOMEMORY)
		return hb_fail(err, -ENOMEM, "%s", what);
	return hb_fail(err, -EIO, "%s: %s", what,
		       last && last->message ? last->message : "no reason");
}
