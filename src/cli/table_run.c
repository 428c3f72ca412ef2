/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/table_run.h"

#include "base/error.h"
#include "cli/table.h"

/*
 * The options of `run`.  Each is also a key of profiles and configuration
 * files: what the words mean is decided in one place for all of them, which is
 * not here, so these are only collected.
 */

static const char *const nets[] = { "none", "host", NULL };
static const char *const ttys[] = { "own", "real", NULL };
static const char *const clipboards[] = { "no", "write", NULL };

int cli_add_setting(void *values, const struct option *option, const char *arg,
		    struct hb_error *err)
{
	struct cli_values *v = values;

	if (v->n_settings >= CLI_MAX_SETTINGS)
		return hb_fail(err, -HB_E_USAGE, "more than %d settings",
			       CLI_MAX_SETTINGS);
	v->settings[v->n_settings++] =
		(struct hb_setting){ option->name, arg ? arg : "yes" };
	return 0;
}

/* Rows with an argument, and without. */
#define ROW(word, meta, what)                                            \
	.name = (word), .kind = OPTION_CALL, .arg = OPTION_ARG_REQUIRED, \
	.metavar = (meta), .call = cli_add_setting, .help = (what)
#define FLAG(word, what)                                             \
	.name = (word), .kind = OPTION_CALL, .arg = OPTION_ARG_NONE, \
	.call = cli_add_setting, .help = (what)

const struct option run_options[] = {
	{ ROW("session", "NAME", "make a session of this name, or go on in it"),
	  .letter = 's' },
	{ FLAG("ephemeral",
	       "keep what is written in memory, and nothing at the end") },
	{ ROW("size", "SIZE", "how much that may be; 1G by default") },
	{ ROW("memory", "SIZE",
	      "memory of all processes together, such as 2G") },
	{ ROW("cpus", "N", "processors they may use, such as 1.5") },
	{ ROW("pids", "N", "how many processes and threads there may be") },
	{ ROW("timeout", "TIME",
	      "end the command after so long, such as 10m") },
	{ ROW("min-free", "SIZE",
	      "stop the command while the disk has less than this left") },
	{ ROW("inodes", "N", "how many files each place in memory may have") },
	{ ROW("inotify", "N", "how many inotify instances there may be") },
	{ FLAG("direct",
	       "hold nothing back: writes in the workspace are real") },
	{ ROW("code", "FILE", "run this file, read-only and without network"),
	  .offer = OFFER_FILES },
	{ ROW("ro", "DIR",
	      "show this directory or file too, read-only; may repeat"),
	  .offer = OFFER_DIRS },
	{ ROW("rw", "DIR", "let writes reach this real directory; may repeat"),
	  .offer = OFFER_DIRS },
	{ ROW("cow", "DIR[:INSIDE]",
	      "hold changes to this directory back, too; may repeat"),
	  .offer = OFFER_DIRS },
	{ ROW("export", "DIR",
	      "let writes reach this directory of the workspace; may repeat"),
	  .offer = OFFER_DIRS },
	{ ROW("at", "PATH", "have the workspace at this path inside") },
	{ ROW("cache", "DIR",
	      "as --cow, if it is there, and never kept; may repeat"),
	  .offer = OFFER_DIRS },
	{ ROW("state", "DIR",
	      "as --cow, if it is there: what an agent keeps; may repeat"),
	  .offer = OFFER_DIRS },
	{ ROW("data", "DIR",
	      "as --rw, if it is there: an agent's mere data; may repeat"),
	  .offer = OFFER_DIRS },
	{ ROW("publish", "FILE[:KEYS]",
	      "let this file of an agent reach the host at the end; may repeat"),
	  .offer = OFFER_FILES },
	{ ROW("socket", "PATH",
	      "let the command talk to this socket; may repeat"),
	  .offer = OFFER_FILES },
	{ ROW("show", "DIR", "as --ro, if it is there; may repeat"),
	  .offer = OFFER_DIRS },
	{ ROW("hide", "PATH", "show nothing at this path; may repeat"),
	  .offer = OFFER_FILES },
	{ ROW("net", "NET", "the network: none (the default) or host"),
	  .choices = nets },
	{ ROW("env", "NAME[=VALUE]",
	      "pass this variable on, or set it; may repeat") },
	{ ROW("chdir", "DIR", "start in this directory of the view"),
	  .offer = OFFER_DIRS },
	{ FLAG("no-ptrace", "let no process trace another") },
	{ ROW("tty", "TTY",
	      "the command's terminal: own (the default), or real: yours"),
	  .choices = ttys },
	{ FLAG("pty", "as --tty own") },
	{ ROW("clipboard", "HOW",
	      "whether the command may set the clipboard: no or write"),
	  .choices = clipboards },
	{ FLAG("allow-nested", "let the command make sandboxes of its own") },
	{ FLAG("require", "run nothing if the host lacks anything") },
	{ FLAG("allow-degraded",
	       "run without namespaces where there are none: weaker") },
	{ ROW("gate-run", "COMMAND",
	      "have each commit run this on a fork of the session first") },
	{ ROW("profile", "NAME",
	      "use this profile instead of the command's own") },
	{ FLAG("quiet", "say nothing but errors and what is weakened"),
	  .letter = 'q' },
	{ 0 },
};

void cli_run_options(const struct cli_values *values, char *const *argv,
		     char *const *envp, struct hb_run_options *ret_options)
{
	*ret_options = (struct hb_run_options){
		.argv = argv,
		.envp = envp,
		.settings = values->settings,
		.n_settings = values->n_settings,
	};
}
