/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "cli/front/table.h"
#include "holdback/session.h"
#include "plan/keys.h"

/* The options of the commands on sessions. */

#define AT(field) offsetof(struct cli_values, field)

/* The list is where the option's offset says. */
static int add_word(void *values, const struct option *option, const char *arg,
		    struct hb_error *err)
{
	struct cli_list *list =
		(struct cli_list *)(void *)((char *)values + option->offset);

	if (list->n >= CLI_MAX_LIST)
		return hb_fail(err, -HB_E_USAGE, "given more than %d times",
			       CLI_MAX_LIST);
	list->words[list->n++] = arg;
	return 0;
}

static const char *const color_choices[] = { "auto", "always", "never", NULL };

static int set_color(void *values, const struct option *option, const char *arg,
		     struct hb_error *err)
{
	struct cli_values *v = values;

	(void)option;
	(void)err;
	v->color = arg ? arg : "always";
	return 0;
}

/* Rows that several commands have. */
#define ROW_JSON                                                        \
	{                                                               \
		.name = "json", .kind = OPTION_SET, .offset = AT(json), \
		.help = "print one JSON document"                       \
	}
#define ROW_STATE_DIR                                                            \
	{                                                                        \
		.name = "state-dir", .kind = OPTION_STRING, .metavar = "DIR",    \
		.offer = OFFER_DIRS, .offset = AT(state_dir),                    \
		.help = "where sessions live; default: $XDG_STATE_HOME/holdback" \
	}
#define ROW_YES(what)                                             \
	{                                                         \
		.name = "yes", .letter = 'y', .kind = OPTION_SET, \
		.offset = AT(yes), .help = (what)                 \
	}
#define ROW_LIST(word, at, what)                                               \
	{                                                                      \
		.name = (word), .kind = OPTION_CALL,                           \
		.arg = OPTION_ARG_REQUIRED, .metavar = "GLOB", .offset = (at), \
		.call = add_word, .help = (what)                               \
	}
#define ROW_VERBOSE                                                      \
	{                                                                \
		.name = "verbose", .letter = 'v', .kind = OPTION_SET,    \
		.offset = AT(verbose),                                   \
		.help = "also list files of which only the time changed" \
	}
#define ROW_ONLY   ROW_LIST("only", AT(only), "nothing but paths that match")
#define ROW_EXCEPT ROW_LIST("except", AT(except), "no paths that match")
#define ROW_RESOURCE                                                \
	{                                                           \
		.name = "resource", .kind = OPTION_CALL,            \
		.arg = OPTION_ARG_REQUIRED, .metavar = "DIR",       \
		.offer = OFFER_DIRS, .offset = AT(resources),       \
		.call = add_word,                                   \
		.help = "nothing but this directory of the session" \
	}
#define ROW_IGNORED                                                           \
	{                                                                     \
		.name = "ignored", .kind = OPTION_SET, .offset = AT(ignored), \
		.help = "also files that git ignores, one by one"             \
	}
#define ROW_SINCE                                                          \
	{                                                                  \
		.name = "since", .kind = OPTION_STRING, .metavar = "MARK", \
		.offer = OFFER_MARKS, .offset = AT(since),                 \
		.help = "only changes after this mark"                     \
	}
#define ROW_ALLOW                                                                 \
	{                                                                         \
		.name = "allow", .kind = OPTION_CALL,                             \
		.arg = OPTION_ARG_REQUIRED, .metavar = "RULE[:GLOB]",             \
		.offset = AT(allow), .call = add_word,                            \
		.help = "allow the changes that this rule of the gate asks about" \
	}
#define ROW_GATE_RUN                                                  \
	{                                                             \
		.name = "gate-run", .kind = OPTION_STRING,            \
		.metavar = "COMMAND", .offset = AT(gate_run),         \
		.help = "run this on a fork first: it has to succeed" \
	}
#define ROW_GIT                                                               \
	{                                                                     \
		.name = "git", .kind = OPTION_STRING, .metavar = "MODE",      \
		.choices = key_gits, .offset = AT(git),                       \
		.help = "commits: ff moves branches, branch makes one, files" \
	}
#define ROW_MERGE                                                         \
	{                                                                 \
		.name = "merge", .kind = OPTION_SET, .offset = AT(merge), \
		.help = "as --git=merge: git merges both sides"           \
	}
#define ROW_AS_BRANCH                                                          \
	{                                                                      \
		.name = "as-branch", .kind = OPTION_STRING, .metavar = "NAME", \
		.offset = AT(as_branch),                                       \
		.help = "put the session's commits on a new branch, only"      \
	}
#define ROW_END   \
	{         \
		0 \
	}

static const char *const ttys[] = { "own", "real", NULL };

const struct option create_options[] = {
	CLI_ROW_DIRECTORY,
	{ .name = "durable",
	  .kind = OPTION_SET,
	  .offset = AT(durable),
	  .help = "let commands sync to disk themselves, which is slower" },
	{ .name = "scan-groups",
	  .kind = OPTION_SET,
	  .offset = AT(scan_groups),
	  .help = "look for files of your other groups in all of the tree" },
	{ .name = "no-fallback",
	  .kind = OPTION_SET,
	  .offset = AT(no_fallback),
	  .help = "fail where the strategy cannot be had" },
	ROW_STATE_DIR,
	ROW_JSON,
	ROW_END,
};

#define ROW_LOG                                                          \
	{                                                                \
		.name = "log", .kind = OPTION_STRING, .metavar = "FILE", \
		.offer = OFFER_FILES, .offset = AT(log),                 \
		.help = "append the records of the log to this file"     \
	}

const struct option exec_options[] = {
	CLI_ROW_DIRECTORY,
	{ .name = "join",
	  .kind = OPTION_SET,
	  .offset = AT(is_joining),
	  .help = "only in a box that is there, and in no box of its own" },
	ROW_LOG,
	{ .name = "tty",
	  .kind = OPTION_STRING,
	  .metavar = "TTY",
	  .choices = ttys,
	  .offset = AT(tty),
	  .help = "the command's terminal: own, or real, which is yours" },
	{ .name = "pty",
	  .kind = OPTION_SET,
	  .offset = AT(pty),
	  .help = "as --tty own, which is the default" },
	ROW_STATE_DIR,
	CLI_ROWS_JSON_FD,
	ROW_END,
};

const struct option keep_options[] = { ROW_STATE_DIR, CLI_ROWS_JSON_FD,
				       ROW_END };

const struct option ls_options[] = { ROW_STATE_DIR, ROW_JSON, ROW_END };

const struct option status_options[] = {
	{ .name = "live",
	  .kind = OPTION_SET,
	  .offset = AT(asks_live),
	  .help = "print nothing; the exit status is 1 if nothing runs in it" },
	ROW_SINCE,
	ROW_ONLY,
	ROW_EXCEPT,
	ROW_RESOURCE,
	ROW_IGNORED,
	ROW_VERBOSE,
	ROW_STATE_DIR,
	ROW_JSON,
	ROW_END,
};

const struct option diff_options[] = {
	{ .name = "name-status",
	  .kind = OPTION_SET,
	  .offset = AT(name_status),
	  .help = "a letter and the path, one change a line" },
	{ .name = "stat",
	  .kind = OPTION_SET,
	  .offset = AT(stat),
	  .help = "how many lines each change adds and removes" },
	{ .name = "binary",
	  .kind = OPTION_SET,
	  .offset = AT(binary),
	  .help = "the contents of all files, in a form that git apply reads" },
	{ .name = "commits",
	  .kind = OPTION_SET,
	  .offset = AT(commits),
	  .help = "the session's commits instead, as git log -p shows them" },
	{ .name = "exit-code",
	  .kind = OPTION_SET,
	  .offset = AT(exit_code),
	  .help = "exit with 1 if there are changes" },
	ROW_SINCE,
	ROW_ONLY,
	ROW_EXCEPT,
	ROW_RESOURCE,
	ROW_IGNORED,
	ROW_VERBOSE,
	{ .name = "color",
	  .kind = OPTION_CALL,
	  .arg = OPTION_ARG_OPTIONAL,
	  .metavar = "WHEN",
	  .choices = color_choices,
	  .call = set_color,
	  .help = "auto, always or never; without WHEN always" },
	{ .name = "no-pager",
	  .kind = OPTION_SET,
	  .offset = AT(no_pager),
	  .help = "write to the terminal and not through a pager" },
	ROW_STATE_DIR,
	ROW_JSON,
	ROW_END,
};

const struct option gate_options[] = {
	ROW_ALLOW,
	ROW_GATE_RUN,
	{ .name = "rules",
	  .kind = OPTION_SET,
	  .offset = AT(rules),
	  .help = "list the rules that are in force" },
	ROW_ONLY,
	ROW_EXCEPT,
	ROW_RESOURCE,
	ROW_IGNORED,
	ROW_STATE_DIR,
	ROW_JSON,
	ROW_END,
};

const struct option state_options[] = {
	{ .name = "forget",
	  .kind = OPTION_SET,
	  .offset = AT(forget),
	  .help = "carry none of these files to the next run" },
	{ .name = "publish",
	  .kind = OPTION_SET,
	  .offset = AT(publish_login),
	  .help = "give the login that is carried here to the host" },
	{ .name = "undo",
	  .kind = OPTION_SET,
	  .offset = AT(undo_login),
	  .help = "give the host the login back that the last one replaced" },
	{ .name = "take",
	  .kind = OPTION_SET,
	  .offset = AT(take_state),
	  .help = "give them to every later run, also to one with more rights" },
	{ .name = "all",
	  .kind = OPTION_SET,
	  .offset = AT(is_all),
	  .help = "of every project, not only of this one" },
	ROW_YES("do not ask"),
	ROW_STATE_DIR,
	ROW_JSON,
	ROW_END,
};

#define ROW_LIVE                                                        \
	{                                                               \
		.name = "live", .kind = OPTION_SET, .offset = AT(live), \
		.help = "also while a command runs in the session"      \
	}

#define ROW_NO_GATE                                                           \
	{                                                                     \
		.name = "no-gate", .kind = OPTION_SET, .offset = AT(no_gate), \
		.help = "do not ask the gate at all, which is recorded"       \
	}

const struct option commit_options[] = {
	ROW_YES("do not ask"),
	ROW_LOG,
	{ .name = "state",
	  .kind = OPTION_SET,
	  .offset = AT(with_state),
	  .help = "commit the state of agents instead, with its settings and hooks" },
	{ .name = "dry-run",
	  .letter = 'n',
	  .kind = OPTION_SET,
	  .offset = AT(dry_run),
	  .help = "check everything and change nothing" },
	ROW_ONLY,
	ROW_EXCEPT,
	ROW_RESOURCE,
	ROW_IGNORED,
	{ .name = "sign",
	  .kind = OPTION_SET,
	  .offset = AT(sign),
	  .help = "sign the session's git commits with your key first" },
	ROW_LIST("ours", AT(ours), "in a conflict the real version stays"),
	ROW_LIST("theirs", AT(theirs),
		 "in a conflict the session's version wins"),
	{ .name = "expect",
	  .kind = OPTION_STRING,
	  .metavar = "HASH",
	  .offset = AT(expect),
	  .help = "commit only if the change set still has this hash" },
	ROW_GIT,
	ROW_MERGE,
	ROW_AS_BRANCH,
	{ .name = "db-file",
	  .kind = OPTION_STRING,
	  .metavar = "FILE",
	  .offer = OFFER_FILES,
	  .offset = AT(db_file),
	  .help = "write the archive of a server's database to this new file" },
	ROW_ALLOW,
	ROW_GATE_RUN,
	{ .name = "special",
	  .kind = OPTION_SET,
	  .offset = AT(special),
	  .help = "commit fifos, which are refused otherwise" },
	{ .name = "setid",
	  .kind = OPTION_SET,
	  .offset = AT(setid),
	  .help = "commit setuid, setgid, capabilities, refused otherwise" },
	ROW_NO_GATE,
	ROW_LIVE,
	ROW_STATE_DIR,
	ROW_JSON,
	ROW_END,
};

const struct option sync_options[] = {
	{ .name = "dry-run",
	  .letter = 'n',
	  .kind = OPTION_SET,
	  .offset = AT(dry_run),
	  .help = "check everything and change nothing" },
	{ .name = "auto",
	  .kind = OPTION_SET,
	  .offset = AT(automatic),
	  .help = "ask nothing; the gate refuses each change that it would ask about" },
	{ .name = "partial",
	  .kind = OPTION_SET,
	  .offset = AT(partial),
	  .help = "ask nothing; leave the paths pending that stand against it" },
	{ .name = "every",
	  .kind = OPTION_DURATION,
	  .metavar = "TIME",
	  .offset = AT(every),
	  .help = "as --partial, again and again while a command runs" },
	{ .name = "first",
	  .kind = OPTION_DURATION,
	  .metavar = "TIME",
	  .offset = AT(first),
	  .help = "with --every: wait so long before the first time" },
	{ .name = "quiet",
	  .letter = 'q',
	  .kind = OPTION_SET,
	  .offset = AT(quiet),
	  .help = "with --every: print only failures" },
	{ .name = "reset",
	  .kind = OPTION_SET,
	  .offset = AT(reset),
	  .help = "discard all pending changes, as rollback does" },
	{ .name = "status",
	  .kind = OPTION_SET,
	  .offset = AT(sync_status),
	  .help = "show the pending changes, as status does" },
	ROW_YES("do not ask whether to commit, or to discard"),
	ROW_ONLY,
	ROW_EXCEPT,
	ROW_RESOURCE,
	ROW_IGNORED,
	ROW_GIT,
	ROW_MERGE,
	ROW_AS_BRANCH,
	ROW_ALLOW,
	ROW_NO_GATE,
	ROW_STATE_DIR,
	ROW_JSON,
	ROW_END,
};

const struct option undo_options[] = { ROW_STATE_DIR, ROW_JSON, ROW_END };

const struct option verify_options[] = { ROW_STATE_DIR, ROW_JSON, ROW_END };

const struct option log_options[] = {
	{ .name = "lines",
	  .letter = 'n',
	  .kind = OPTION_INT,
	  .metavar = "N",
	  .min = 1,
	  .max = 1 << 20,
	  .offset = AT(lines),
	  .help = "so many records; 20 by default, with --since all" },
	{ .name = "follow",
	  .letter = 'f',
	  .kind = OPTION_SET,
	  .offset = AT(follow),
	  .help = "go on with the records that come" },
	{ .name = "since",
	  .kind = OPTION_STRING,
	  .metavar = "TIME",
	  .offset = AT(since),
	  .help = "no older records: 10m, 2h, 3d, or 2026-11-15T22:04 in UTC" },
	{ .name = "project",
	  .kind = OPTION_STRING,
	  .metavar = "DIR",
	  .offer = OFFER_DIRS,
	  .offset = AT(project),
	  .help = "only sessions of this directory" },
	{ .name = "kind",
	  .kind = OPTION_STRING,
	  .metavar = "WORD",
	  .offset = AT(kind),
	  .help = "only records of this kind, such as started or done" },
	{ .name = "denied",
	  .kind = OPTION_SET,
	  .offset = AT(denied),
	  .help = "only refusals: of the sandbox, the gate, and of starts" },
	{ .name = "verify",
	  .kind = OPTION_SET,
	  .offset = AT(verify),
	  .help = "compare the whole log with its chain of hashes" },
	ROW_STATE_DIR,
	{ .name = "json",
	  .kind = OPTION_SET,
	  .offset = AT(json),
	  .help = "print the records as they are stored, one line each" },
	ROW_END,
};

const struct option gc_options[] = {
	{ .name = "older-than",
	  .kind = OPTION_STRING,
	  .metavar = "TIME",
	  .offset = AT(older_than),
	  .help = "remove undo data after this time; 14d by default" },
	{ .name = "dry-run",
	  .letter = 'n',
	  .kind = OPTION_SET,
	  .offset = AT(dry_run),
	  .help = "list the data that would go, and remove nothing" },
	ROW_STATE_DIR,
	ROW_JSON,
	ROW_END,
};

const struct option mark_options[] = {
	ROW_LIVE,
	{ .name = "turn",
	  .kind = OPTION_SET,
	  .offset = AT(turn),
	  .help = "inside of a run with --mark-turns: this turn has ended" },
	ROW_STATE_DIR,
	ROW_JSON,
	ROW_END,
};

const struct option net_options[] = {
	{ .name = "session",
	  .letter = 's',
	  .kind = OPTION_STRING,
	  .metavar = "SESSION",
	  .offer = OFFER_NAMES,
	  .offset = AT(net_session),
	  .help = "the session; a list is that of its box, then" },
	{ .name = "keep",
	  .kind = OPTION_SET,
	  .offset = AT(keep_rule),
	  .help = "write the rule to the settings, for all runs to come" },
	{ .name = "groups",
	  .kind = OPTION_SET,
	  .offset = AT(groups),
	  .help = "list the groups of hosts that are built in" },
	ROW_STATE_DIR,
	ROW_JSON,
	ROW_END,
};

const struct option fork_options[] = {
	{ .name = "from",
	  .kind = OPTION_STRING,
	  .metavar = "MARK",
	  .offer = OFFER_MARKS,
	  .offset = AT(from),
	  .help = "begin with the changes pending at this mark" },
	ROW_LIVE,
	ROW_STATE_DIR,
	ROW_JSON,
	ROW_END,
};

const struct option rollback_options[] = {
	ROW_YES("do not ask"),
	{ .name = "to",
	  .kind = OPTION_STRING,
	  .metavar = "MARK",
	  .offer = OFFER_MARKS,
	  .offset = AT(to),
	  .help = "discard only changes after this mark" },
	ROW_STATE_DIR,
	ROW_JSON,
	ROW_END,
};

const struct option recover_options[] = {
	{ .name = "back",
	  .kind = OPTION_SET,
	  .offset = AT(back),
	  .help = "reverse the interrupted change instead of finishing it" },
	{ .name = "list",
	  .kind = OPTION_SET,
	  .offset = AT(list),
	  .help = "only list the files that it has put aside" },
	{ .name = "take",
	  .kind = OPTION_STRING,
	  .metavar = "DIR",
	  .offer = OFFER_DIRS,
	  .offset = AT(take),
	  .help = "only copy the versions before it to a new directory" },
	ROW_STATE_DIR,
	ROW_JSON,
	ROW_END,
};

const struct option cleanup_options[] = {
	ROW_YES("do not ask, also for a session that is broken"),
	{ .name = "force",
	  .letter = 'f',
	  .kind = OPTION_SET,
	  .offset = AT(force),
	  .help = "succeed also if there is no such session" },
	{ .name = "stale",
	  .kind = OPTION_SET,
	  .offset = AT(stale),
	  .help = "remove leftovers of crashes, and sessions without directories" },
	{ .name = "all",
	  .kind = OPTION_SET,
	  .offset = AT(all),
	  .help = "remove every session in which nothing runs" },
	{ .name = "committed",
	  .kind = OPTION_SET,
	  .offset = AT(committed),
	  .help = "remove the sessions that have nothing pending" },
	{ .name = "older",
	  .kind = OPTION_DURATION,
	  .metavar = "TIME",
	  .offset = AT(older),
	  .help = "remove sessions not used for this time, such as 30d" },
	ROW_STATE_DIR,
	ROW_JSON,
	ROW_END,
};
