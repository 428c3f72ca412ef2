/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "cli/front/cmd_exec.h"
#include "cli/front/cmd_run.h"
#include "cli/front/table.h"
#include "cli/show/say.h"
#include "holdback/holdback.h"
#include "holdback/live.h"

#include <stdlib.h>
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

/*
 * Text has an executable of its own.  The executable with all commands handles
 * help and words that cannot be parsed.
 */
static const char *who_diffs(int argc, char **argv)
{
	const struct command *c = command_find(&cli_program, "diff");
	char **operands = calloc((size_t)argc + 1, sizeof(*operands));
	struct cli_values v = { 0 };
	struct hb_error err = { 0 };
	int r;

	if (!operands)
		return "commands";
	r = option_parse(&cli_program, c, argv + 2, &v, operands, &err);
	free(operands);
	if (r < 0 || v.help || v.version || v.name_status)
		return "commands";
	return "diff";
}

static int exec_diff(int argc, char **argv)
{
	struct hb_error err = { 0 };

	(void)hb_exec_helper(who_diffs(argc, argv), argv, environ, &err);
	return cli_fail(&err);
}

/* Asked of the program, not of `run`, which a call without command means. */
static bool is_about_us(const char *word)
{
	return strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0 ||
	       strcmp(word, "--version") == 0;
}

/* Of `rm @fix`, the session tells that our command is meant, and no program. */
static int point_to(const char *ours, char **argv)
{
	const struct command *c = command_find(&cli_program, ours);
	bool takes_one = !c || c->operands_max != 0;
	struct hb_error err = { 0 };

	hb_fix(&err, "holdback %s%s%s; for the program: holdback run -- %s %s",
	       ours, takes_one ? " " : "", takes_one ? argv[2] : "", argv[1],
	       argv[2]);
	(void)hb_fail(&err, -HB_E_USAGE,
		      "holdback has no command '%s' for sessions", argv[1]);
	return cli_fail(&err);
}

/* The last part of the name that we were called by. */
static char *called_as(char *name)
{
	char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

/* A link that is named like a program runs that program, held back. */
static bool is_stand_in(const char *name)
{
	return strcmp(name, "holdback") != 0 && name[0] != '-' &&
	       hb_stands_for(name, environ);
}

/*
 * Inside of a box there is nothing of ours but this executable.
 */
static int ask_turn(void)
{
	struct hb_error err = { 0 };

	return hb_turn_ask(&err) < 0 ? cli_fail(&err) : 0;
}

/* Where the words of a call go. */
enum way {
	TO_COMMANDS,
	TO_RUN,	    /* `run` and the words after it */
	TO_IMPLIED, /* a program's name, without `run` */
	TO_STAND_IN,
	TO_EXEC,
	TO_BWRAP,
	TO_DIFF,
	TO_TURN,  /* `mark --turn`, and nothing else */
	TO_OTHER, /* nowhere: another command is meant */
};

static enum way find_way(int argc, char **argv)
{
	static const struct {
		const char *name;
		enum way way;
	} own[] = { { "run", TO_RUN },
		    { "bwrap", TO_BWRAP },
		    { "diff", TO_DIFF } };

	if (argc > 0 && is_stand_in(called_as(argv[0])))
		return TO_STAND_IN;
	if (argc < 2 || is_about_us(argv[1]))
		return TO_COMMANDS;
	if (argc > 2 && argv[2][0] == '@' && command_for(&cli_program, argv[1]))
		return TO_OTHER;
	if (!command_find(&cli_program, argv[1]))
		return TO_IMPLIED;
	if (cmd_is_exec(argv[1]))
		return TO_EXEC;
	if (argc == 3 && strcmp(argv[1], "mark") == 0 &&
	    strcmp(argv[2], "--turn") == 0)
		return TO_TURN;
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (strcmp(argv[1], own[i].name) == 0)
			return own[i].way;
	return TO_COMMANDS;
}

int main(int argc, char **argv)
{
	static char own_name[] = "holdback";
	static char *alone[] = { own_name, NULL };
	struct hb_error err = { 0 };

	if (hb_fill_stdio(&err) < 0)
		return cli_fail_run(&err);
	switch (find_way(argc, argv)) {
	case TO_STAND_IN:
		argv[0] = called_as(argv[0]);
		return cmd_run(argv, RUN_NAMED, environ);
	case TO_IMPLIED:
		return cmd_run(argv + 1, RUN_IMPLIED, environ);
	case TO_RUN:
		return cmd_run(argv + 2, RUN_NAMED, environ);
	case TO_EXEC:
		return cmd_exec(argv, EXEC_IN_FRONT, environ);
	case TO_BWRAP:
		return exec_bwrap(argv + 1);
	case TO_DIFF:
		return exec_diff(argc, argv);
	case TO_TURN:
		return ask_turn();
	case TO_OTHER:
		return point_to(command_for(&cli_program, argv[1]), argv);
	case TO_COMMANDS:
		break;
	}
	return exec_commands(argc < 2 ? alone : argv);
}
