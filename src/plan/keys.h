/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_PLAN_KEYS_H
#define HB_PLAN_KEYS_H

/*
 * The keys of a run, one row each, in the order of the help.  A key is a long
 * option of `run`, a line of profiles and configuration files, and a variable.
 * The parser, the help, the completion, the record of a session and the rule
 * for files in the workspace are all made from these rows.
 *
 *	id, name, letter, argument, offer	on the command line
 *	kind, member, largest, choices		in struct settings
 *	rule, word	a file in the workspace may say: nothing (NO), this word
 *			(WORD), a smaller number (LESS), a path (PATH), one more
			(MORE)
 *	scope		may stand in files and variables (ANY), but in no
 *			profile (NO_PROFILE), in variables alone (ONE_RUN), or
 *			is an option alone (ONE_CALL)
 *	time		holds for all runs in the session (LASTS), or ONCE
 *	help
 */
/* The words of keys that take one of a few, in the order of their meaning. */
extern const char *const key_views[],
	*const key_nets[],
		*const key_ttys[],
			*const key_clipboards[],
				*const key_gits[],
					*const key_audits[],
						*const key_strategies[],
							*const key_yes_no[];

/* What can be reached, from the least to the most: indices of key_nets. */
#define NET_NONE_WORD "none"
/* clang-format off */
#define NET_ROWS(ROW) \
	ROW(NONE, NET_NONE_WORD) /* a loopback of its own */ \
	ROW(STRICT, "strict") /* by name, without groups where all can post */ \
	ROW(NAMES, "allow") /* by name: plan/network/network.h */ \
	ROW(HOST, "host")

#define NET_ID(id, word) NET_##id,
enum net_mode {
	NET_ROWS(NET_ID)
	NET_MODES
};
#undef NET_ID

/* What the log has of a run: indices of key_audits. */
enum audit_mode {
	AUDIT_CHANGES, /* the command, its end, refusals, pending changes */
	AUDIT_CALLS,   /* and each call that changes a file */
	AUDIT_ALL,     /* and opens of paths that the view does not have */
	AUDIT_NONE,
};

/* What a commit makes of a repository: indices of key_gits. */
#define GIT_BRANCH_WORD "branch"
#define GIT_ROWS(ROW) \
	ROW(FF, "ff") \
	ROW(BRANCH, GIT_BRANCH_WORD) \
	ROW(MERGE, "merge") \
	ROW(FILES, "files")

#define GIT_ID(id, word) GIT_MODE_##id,
enum git_mode {
	GIT_ROWS(GIT_ID)
	GIT_MODES
};
#undef GIT_ID
/* clang-format on */

/* What is about one call. */
/* clang-format off */
#define CALL_KEYS(ROW) \
	ROW(SESSION, "session", 's', "NAME", OFFER_NAMES, \
	    STRING, session, 0, NULL, NO, NULL, ONE_RUN, ONCE, \
	    "make a session of this name, or go on in it") \
	ROW(EPHEMERAL, "ephemeral", 0, NULL, OFFER_NOTHING, \
	    SET, is_ephemeral, 0, NULL, NO, NULL, ANY, ONCE, \
	    "keep changes in memory, and discard them at the end") \
	ROW(VERIFY, "verify", 0, NULL, OFFER_NOTHING, \
	    SET, verifies, 0, NULL, NO, NULL, ANY, ONCE, \
	    "with --ephemeral: look afterwards whether anything changed outside") \
	ROW(DIRECT, "direct", 0, NULL, OFFER_NOTHING, \
	    SET, is_direct, 0, NULL, NO, NULL, ANY, ONCE, \
	    "hold nothing back: writes in the workspace are real") \
	ROW(CODE, "code", 0, "FILE", OFFER_FILES, \
	    STRING, code, 0, NULL, NO, NULL, ONE_CALL, ONCE, \
	    "run this file, read-only and without network") \
	ROW(SYNC, "sync", 0, "TIME", OFFER_NOTHING, \
	    DURATION, sync, 0, NULL, NO, NULL, ANY, ONCE, \
	    "commit each time, such as 30s, the changes that the gate lets pass") \
	ROW(YOLO, "yolo", 0, NULL, OFFER_NOTHING, \
	    SET, is_yolo, 0, NULL, NO, NULL, ANY, ONCE, \
	    "as --sync 30s") \
	ROW(AT, "at", 0, "PATH", OFFER_NOTHING, \
	    STRING, at, 0, NULL, NO, NULL, ANY, ONCE, \
	    "have the workspace at this path inside") \
	ROW(CHDIR, "chdir", 0, "DIR", OFFER_DIRS, \
	    STRING, chdir, 0, NULL, NO, NULL, ANY, ONCE, \
	    "start in this directory of the view") \
	ROW(GO_ON, "go-on", 0, "WORDS", OFFER_NOTHING, \
	    STRING, go_on, 0, NULL, NO, NULL, ANY, ONCE, \
	    "words by which the command itself goes on, for the last line") \
	ROW(QUIET, "quiet", 'q', NULL, OFFER_NOTHING, \
	    SET, is_quiet, 0, NULL, NO, NULL, ANY, ONCE, \
	    "print only errors and weakenings")

/* The view, which `create` is told as well: its groups are those of the help. */
#define FILE_KEYS(ROW) \
	ROW(RO, "ro", 0, "DIR[:INSIDE]", OFFER_DIRS, \
	    LIST, items, 0, NULL, NO, NULL, ANY, LASTS, \
	    "show this directory or file too, read-only; may repeat") \
	ROW(RW, "rw", 0, "DIR", OFFER_DIRS, \
	    LIST, items, 0, NULL, NO, NULL, ANY, LASTS, \
	    "let writes reach this real directory; may repeat") \
	ROW(COW, "cow", 0, "DIR[:INSIDE]", OFFER_DIRS, \
	    LIST, items, 0, NULL, NO, NULL, ANY, ONCE, \
	    "hold changes to this directory back, too; may repeat") \
	ROW(STRATEGY, "strategy", 0, "NAME", OFFER_NOTHING, \
	    STRING, strategy, 0, key_strategies, NO, NULL, ANY, ONCE, \
	    "how changes are held back: see holdback strategies") \
	ROW(EXPORT, "export", 0, "DIR", OFFER_DIRS, \
	    LIST, items, 0, NULL, NO, NULL, ANY, LASTS, \
	    "let writes reach this directory of the workspace; may repeat") \
	ROW(CACHE, "cache", 0, "DIR", OFFER_DIRS, \
	    LIST, items, 0, NULL, NO, NULL, ANY, LASTS, \
	    "as --cow, if it is there, and never kept; may repeat") \
	ROW(STATE, "state", 0, "DIR", OFFER_DIRS, \
	    LIST, items, 0, NULL, NO, NULL, ANY, ONCE, \
	    "as --cow, if it is there: state of an agent; may repeat") \
	ROW(DATA, "data", 0, "DIR", OFFER_DIRS, \
	    LIST, items, 0, NULL, NO, NULL, ANY, LASTS, \
	    "as --rw, if it is there: an agent's mere data; may repeat") \
	ROW(LOGIN, "login", 0, "FILE[:KEYS]", OFFER_FILES, \
	    LIST, items, 0, NULL, NO, NULL, ANY, LASTS, \
	    "an agent's login, which can be published; may repeat") \
	ROW(RUNS, "runs", 0, "PATH", OFFER_FILES, \
	    LIST, items, 0, NULL, NO, NULL, ANY, LASTS, \
	    "programs and instructions in an agent's data; may repeat") \
	ROW(PUBLISH, "publish", 0, "FILE[:KEYS]", OFFER_FILES, \
	    LIST, items, 0, NULL, NO, NULL, ANY, LASTS, \
	    "the same as --login") \
	ROW(SOCKET, "socket", 0, "PATH", OFFER_FILES, \
	    LIST, items, 0, NULL, NO, NULL, ANY, LASTS, \
	    "let the command talk to this socket; may repeat") \
	ROW(SHOW, "show", 0, "DIR", OFFER_DIRS, \
	    LIST, items, 0, NULL, NO, NULL, ANY, LASTS, \
	    "as --ro, if it is there; may repeat") \
	ROW(HIDE, "hide", 0, "PATH", OFFER_FILES, \
	    LIST, items, 0, NULL, PATH, NULL, ANY, LASTS, \
	    "show nothing at this path; may repeat") \
	ROW(VIEW, "view", 0, "VIEW", OFFER_NOTHING, \
	    STRING, view, 0, key_views, NO, NULL, NO_PROFILE, LASTS, \
	    "the files in view: run (the default), or all of the host, read-only")

#define LIMIT_KEYS(ROW) \
	ROW(SIZE, "size", 0, "SIZE", OFFER_NOTHING, \
	    SIZE, size, 0, NULL, LESS, NULL, ANY, LASTS, \
	    "how much a run in memory may write; 1G by default") \
	ROW(MEMORY, "memory", 0, "SIZE", OFFER_NOTHING, \
	    SIZE, memory, 0, NULL, LESS, NULL, ANY, LASTS, \
	    "memory of all processes together, such as 2G") \
	ROW(CPUS, "cpus", 0, "N", OFFER_NOTHING, \
	    DECIMAL, cpus, 0, NULL, LESS, NULL, ANY, LASTS, \
	    "processors they may use, such as 1.5") \
	ROW(PIDS, "pids", 0, "N", OFFER_NOTHING, \
	    INT, pids, PIDS_MAX, NULL, LESS, NULL, ANY, LASTS, \
	    "how many processes and threads there may be") \
	ROW(TIMEOUT, "timeout", 0, "TIME", OFFER_NOTHING, \
	    DURATION, timeout, 0, NULL, LESS, NULL, ANY, LASTS, \
	    "end the command after so long, such as 10m") \
	ROW(MIN_FREE, "min-free", 0, "SIZE", OFFER_NOTHING, \
	    SIZE, min_free, 0, NULL, NO, NULL, ANY, LASTS, \
	    "stop the command while the disk has less than this left") \
	ROW(INODES, "inodes", 0, "N", OFFER_NOTHING, \
	    INT, inodes, INODES_MAX, NULL, LESS, NULL, ANY, LASTS, \
	    "how many files each place in memory may have") \
	ROW(INOTIFY, "inotify", 0, "N", OFFER_NOTHING, \
	    INT, inotify, INT32_MAX, NULL, NO, NULL, ANY, LASTS, \
	    "how many inotify instances there may be")

#define REACH_KEYS(ROW) \
	ROW(NET, "net", 0, "NET", OFFER_NOTHING, \
	    STRING, net, 0, key_nets, WORD, NET_NONE_WORD, ANY, LASTS, \
	    "the network: none (the default), allow, strict or host") \
	ROW(ALLOW, "allow", 0, "HOST[:PORT]", OFFER_NOTHING, \
	    LIST, items, 0, NULL, NO, NULL, ANY, LASTS, \
	    "let the command reach this host, by its name; may repeat") \
	ROW(DENY, "deny", 0, "HOST[:PORT]", OFFER_NOTHING, \
	    LIST, items, 0, NULL, MORE, NULL, ANY, LASTS, \
	    "take this host away from those that are allowed; may repeat") \
	ROW(PORT, "port", 0, "[OUTSIDE:]INSIDE", OFFER_NOTHING, \
	    LIST, items, 0, NULL, NO, NULL, ANY, LASTS, \
	    "let this host reach a port of the command; may repeat") \
	ROW(HOST_PORT, "host-port", 0, "PORT", OFFER_NOTHING, \
	    LIST, items, 0, NULL, NO, NULL, ANY, LASTS, \
	    "let the command reach this port of this host; may repeat") \
	ROW(LOGIN_PORT, "login-port", 0, "WORD:PORT", OFFER_NOTHING, \
	    LIST, items, 0, NULL, NO, NULL, ANY, LASTS, \
	    "as --port, while this is the command's first word; may repeat") \
	ROW(NET_ASK, "net-ask", 0, NULL, OFFER_NOTHING, \
	    SET, net_asks, 0, NULL, WORD, "no", ANY, LASTS, \
	    "ask about a host that no rule names: holdback net watch") \
	ROW(NET_PROXY, "net-proxy", 0, "URL", OFFER_NOTHING, \
	    STRING, net_proxy, 0, NULL, NO, NULL, ANY, LASTS, \
	    "reach hosts through this HTTP proxy, or none") \
	ROW(NET_LOOSE, "net-loose", 0, NULL, OFFER_NOTHING, \
	    SET, net_is_loose, 0, NULL, WORD, "no", ANY, LASTS, \
	    "do not compare names in TLS and HTTP with the rules") \
	ROW(ENV, "env", 0, "NAME[=VALUE]", OFFER_NOTHING, \
	    LIST, items, 0, NULL, NO, NULL, ANY, LASTS, \
	    "pass this variable on, or set it; may repeat") \
	ROW(GIT_TOKEN, "git-token", 0, "VAR[=HOST]", OFFER_NOTHING, \
	    LIST, items, 0, NULL, NO, NULL, ANY, LASTS, \
	    "let git log in to this host with the token in a variable; may repeat") \
	ROW(TTY, "tty", 0, "TTY", OFFER_NOTHING, \
	    STRING, tty, 0, key_ttys, WORD, "own", ANY, LASTS, \
	    "the command's terminal: own (the default), or real: yours") \
	ROW(PTY, "pty", 0, NULL, OFFER_NOTHING, \
	    SET, has_own_terminal, 0, NULL, WORD, "yes", ANY, ONCE, \
	    "as --tty own") \
	ROW(CLIPBOARD, "clipboard", 0, "HOW", OFFER_NOTHING, \
	    STRING, clipboard, 0, key_clipboards, WORD, "no", ANY, LASTS, \
	    "whether the command may set the clipboard: no or write")

#define TRUST_KEYS(ROW) \
	ROW(NO_PTRACE, "no-ptrace", 0, NULL, OFFER_NOTHING, \
	    SET, no_ptrace, 0, NULL, WORD, "yes", ANY, LASTS, \
	    "let no process trace another") \
	ROW(ALLOW_NESTED, "allow-nested", 0, NULL, OFFER_NOTHING, \
	    SET, allow_nested, 0, NULL, WORD, "no", ANY, LASTS, \
	    "let the command make sandboxes of its own") \
	ROW(RENAME_DIRECTORIES, "rename-directories", 0, "HOW", OFFER_NOTHING, \
	    STRING, rename_directories, 0, key_yes_no, WORD, "no", ANY, LASTS, \
	    "whether directories of the workspace can be renamed: yes or no") \
	ROW(MARK_TURNS, "mark-turns", 0, NULL, OFFER_NOTHING, \
	    SET, marks_turns, 0, NULL, WORD, "no", ANY, LASTS, \
	    "let the command mark its turns, so that one can be taken back") \
	ROW(REQUIRE, "require", 0, NULL, OFFER_NOTHING, \
	    SET, is_required, 0, NULL, WORD, "yes", ANY, LASTS, \
	    "run nothing if the host lacks anything") \
	ROW(ALLOW_DEGRADED, "allow-degraded", 0, NULL, OFFER_NOTHING, \
	    SET, allow_degraded, 0, NULL, WORD, "no", ANY, LASTS, \
	    "run without namespaces where there are none: weaker") \
	ROW(AUDIT, "audit", 0, "WHAT", OFFER_NOTHING, \
	    STRING, audit, 0, key_audits, WORD, "changes", ANY, LASTS, \
	    "records of the log: changes (the default), calls, all or none") \
	ROW(LOG, "log", 0, "FILE", OFFER_FILES, \
	    STRING, log, 0, NULL, NO, NULL, ANY, LASTS, \
	    "append the records of the log to this file as well") \
	ROW(GATE_RUN, "gate-run", 0, "COMMAND", OFFER_NOTHING, \
	    STRING, gate_run, 0, NULL, NO, NULL, ANY, LASTS, \
	    "have each commit run this on a fork of the session first") \
	ROW(GIT, "git", 0, "MODE", OFFER_NOTHING, \
	    STRING, git, 0, key_gits, WORD, GIT_BRANCH_WORD, ANY, LASTS, \
	    "how commits come back: ff (the default), branch, merge or files") \
	ROW(PROFILE, "profile", 0, "NAME", OFFER_PROFILES, \
	    STRING, profile, 0, NULL, NO, NULL, ONE_RUN, ONCE, \
	    "use this profile instead of the command's own")

#define VIEW_KEYS(ROW) FILE_KEYS(ROW) LIMIT_KEYS(ROW) REACH_KEYS(ROW) TRUST_KEYS(ROW)
#define RUN_KEYS(ROW) CALL_KEYS(ROW) VIEW_KEYS(ROW)
/* clang-format on */

#endif
