/* SPDX-License-Identifier: Apache-2.0 */
#include "run/explain_run.h"

#include "base/error.h"
#include "base/quote.h"
#include "box/stage.h"
#include "host/look.h"
#include "view/prepare.h"

#include <errno.h>
#include <limits.h>

/* The command could not be executed: the number tells which way. */
static int explain_exec(const struct run *run, struct hb_error *err)
{
	int code = err->code == ENOENT ? HB_E_NOT_FOUND : HB_E_NOT_EXECUTABLE;
	struct hb_error own = { .stage = err->stage };

	/* Neither the host has it nor the session. */
	if (run->lack.code != 0) {
		*err = run->lack;
		err->stage = own.stage;
		return -err->code;
	}
	if (code == HB_E_NOT_FOUND) {
		(void)hb_fail(&own, -code,
			      "the interpreter of '%s' is not in the view",
			      quoted(run->argv[0]));
		hb_fix(&own,
		       "--ro DIR, with the directory of the program that its first line names");
	} else {
		(void)hb_fail(&own, -code, "cannot execute '%s': %s",
			      quoted(run->argv[0]), hb_strerror(err->code));
	}
	*err = own;
	return -code;
}

int run_explain(const struct run *run, int r, struct hb_error *err)
{
	char mount[PATH_MAX], shown[QUOTE_SHOWN];

	if (err->stage == STAGE_EXEC)
		return explain_exec(run, err);
	if (err->stage == STAGE_CWD) {
		err->code = HB_E_USAGE;
		hb_fix(err, "--chdir DIR, with a directory of the view");
		return -HB_E_USAGE;
	}
	/* The kernel says no more than EINVAL. */
	for (size_t i = 0; err->stage == STAGE_MOUNTS && err->code == EINVAL &&
			   i < run->n_resources;
	     i++) {
		if (!look_mount_below(run->resources[i].source, mount,
				      sizeof(mount)))
			continue;
		hb_fix(err,
		       "start in a directory without mounts below it, or unmount '%s'",
		       quote_shown(mount, shown, sizeof(shown)));
		return hb_fail(err, r, "something is mounted at '%s'", shown);
	}
	if (err->stage != 0)
		hb_fix(err,
		       "'holdback doctor' tries the features of this host, and says how to mend them");
	return r;
}
