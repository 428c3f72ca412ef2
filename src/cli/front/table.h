/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_FRONT_TABLE_H
#define HB_CLI_FRONT_TABLE_H

#include "base/option.h"
#include "holdback/holdback.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The commands and their options: one table in both executables.  So the first
 * can tell a command from a program without starting the second.
 */

#define CLI_MAX_SETTINGS 256
#define CLI_MAX_LIST	 64

/* The arguments of an option that may be given again and again. */
struct cli_list {
	const char *words[CLI_MAX_LIST];
	size_t n;
};

/* What options are stored in; zero is every default. */
struct cli_values {
	bool help; /* of every command */
	bool version;

	bool is_continuing;    /* run */
	const char *directory; /* run, exec, shell, create; NULL: as it is */

	struct hb_setting settings[CLI_MAX_SETTINGS]; /* run, create */
	size_t n_settings;

	bool json;		 /* plan, doctor, sessions */
	int64_t json_fd;	 /* run, exec; 0: not said */
	bool list;		 /* help */
	bool inside;		 /* caps */
	const char *inside_word; /* doctor */

	const char *state_dir; /* sessions */
	bool durable;
	bool scan_groups;
	bool no_fallback;
	bool yes;
	bool dry_run;
	bool back;
	const char *take;	    /* recover */
	bool stale, all, committed; /* cleanup */
	bool force;
	uint64_t older;
	bool name_status;
	bool stat;
	bool pty; /* exec, shell */
	bool is_joining;
	const char *tty;
	bool commits;
	bool binary;
	bool no_pager;
	const char *color; /* NULL: not said */
	bool exit_code;
	bool verbose;
	bool special;
	bool setid;
	bool ignored;
	bool live;
	bool asks_live; /* status */
	bool turn;
	bool automatic, reset, sync_status; /* of sync */
	bool partial, quiet;
	uint64_t every, first; /* seconds */
	const char *expect;
	const char *from, *to, *since;	 /* marks */
	const char *older_than;		 /* gc: a duration */
	bool with_state;		 /* commit */
	bool is_all, forget, take_state; /* state */
	bool publish_login, undo_login;
	struct cli_list only, except, ours, theirs;
	bool sign;
	struct cli_list resources;
	struct cli_list allow; /* rules of the gate */
	bool no_gate;
	const char *gate_run;
	const char *db_file;
	const char *git; /* of key_gits; NULL: the usual one */
	const char *as_branch;
	bool merge;
	bool rules;
	int64_t lines; /* log; 0: not said */
	bool follow, denied, verify;
	const char *kind, *project;
	const char *log;	 /* a file for the records */
	const char *shell;	 /* enable; NULL: lines for people */
	const char *net_session; /* net */
	bool groups, keep_rule;
};

extern const struct program cli_program;

#define CLI_ROW_DIRECTORY                                                  \
	{                                                                  \
		.name = "directory", .letter = 'C', .kind = OPTION_STRING, \
		.metavar = "DIR", .offer = OFFER_DIRS,                     \
		.offset = offsetof(struct cli_values, directory),          \
		.help = "work in this directory, as cd before would"       \
	}

/* The rows of commands whose stdout is that of the command that they run. */
#define CLI_JSON_USUAL 3
#define CLI_ROWS_JSON_FD                                                   \
	{ .name = "json",                                                  \
	  .kind = OPTION_SET,                                              \
	  .offset = offsetof(struct cli_values, json),                     \
	  .help = "write JSON documents to descriptor 3, start and end" }, \
	{                                                                  \
		.name = "json-fd", .kind = OPTION_INT, .metavar = "FD",    \
		.min = 3, .max = 1 << 20,                                  \
		.offset = offsetof(struct cli_values, json_fd),            \
		.help = "the same, to this descriptor"                     \
	}

/* The options of the commands on sessions: table_session.c. */
extern const struct option create_options[], exec_options[], keep_options[],
	ls_options[], status_options[], diff_options[], gate_options[],
	commit_options[], state_options[], sync_options[], undo_options[],
	rollback_options[], mark_options[], verify_options[], gc_options[],
	log_options[], net_options[], fork_options[], recover_options[],
	cleanup_options[];

/* The options of `run`, and those of a view: table_run.c. */
extern const struct option run_options[], view_options[];

#endif
