/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "cli/cmd_exec.h"
#include "cli/cmd_run.h"
#include "cli/say.h"
#include "cli/table.h"
#include "holdback/holdback.h"

#include <string.h>
#include <unistd.h>

/*
 * `holdback`: the executable in front, which has to start fast.  It runs
 * commands itself; for all else it executes one of those in libexec.
 */

static int exec_commands(char **argv)
{
	struct hb_error err = { 0 };

	(void)hb_exec_helper("commands", argv, environ, &err);
	return cli_fail(&err);
}

static int exec_bwrap(char **argv)
{
	struct hb_error err = { 0 };

	(void)hb_exec_helper("bwrap", argv, environ, &err);
	return cli_fail_run(&err);
}

/* Asked of the program, not of `run`, which a call without command means. */
static bool is_about_us(const char *word)
{
	return strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0 ||
	       strcmp(word, "--version") == 0;
}

static int route(char **argv)
{
	const char *name = argv[1];

	if (is_about_us(name))
		return exec_commands(argv);
	if (!command_find(&cli_program, name))
		return cmd_run(argv + 1, RUN_IMPLIED, environ);
	if (strcmp(name, "run") == 0)
		return cmd_run(argv + 2, RUN_NAMED, environ);
	if (strcmp(name, "exec") == 0)
		return cmd_exec(argv, EXEC_IN_FRONT, environ);
	if (strcmp(name, "bwrap") == 0)
		return exec_bwrap(argv + 1);
	return exec_commands(argv);
}

int main(int argc, char **argv)
{
	static char own_name[] = "holdback";
	static char *alone[] = { own_name, NULL };
	struct hb_error err = { 0 };

	if (hb_fill_stdio(&err) < 0)
		return cli_fail_run(&err);
	return argc < 2 ? exec_commands(alone) : route(argv);
}
