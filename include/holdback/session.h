/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOLDBACK_SESSION_H
#define HOLDBACK_SESSION_H

#include "holdback/delivery.h"
#include "holdback/holdback.h"

#include "holdback/error.h"
#include "holdback/live.h"
#include "holdback/report.h"
#include "holdback/session_state.h"
#include "holdback/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/*
 * Sessions: named, durable sets of directories with the changes that commands
 * made to them and that have not reached the real ones.
 *
 * Conventions of holdback/error.h.  Strings that go in are borrowed for the
 * call; strings that come out live as long as the object they came from.
 */
struct hb_session;

/* What is known of a session without its lock. */
/* A resource that is held back. */
struct hb_resource {
	const char *type;      /* as in struct hb_strategy_cell */
	const char *source;    /* the real one */
	const char *inside;    /* where the view has it */
	const char *requested; /* the strategy that was asked for */
	const char *strategy;  /* the one in force */
	bool is_usual;	       /* that is the default of its type */
	/*
	 * It is gone or another one, as it was when the session was last looked
	 * into.
	 */
	bool is_gone;
};

struct hb_session_info {
	const char *name;
	const char *id;
	enum hb_state state;
	int64_t created, used;
	long used_nsec;	     /* of `used`: which of two was the last */
	const char *command; /* that ran last, cut where it is long; or "" */
	const char *profile; /* of its runs, which need not exist; or "" */
	bool is_durable;
	bool is_unsynced; /* the last box's writes were not synced */
	bool has_lost;	  /* the machine went down while a box ran */
	uint64_t undo_bytes;
	bool has_workspace; /* `run` made it: the first is the project */
	const char *view;   /* "run", or "host": all of it can be read */
	/*
	 * "commit", "undo", "redo" or "rollback", which was interrupted and
	 * waits to be finished or taken back; else NULL.
	 */
	const char *interrupted;
	bool is_damaged; /* and what it was cannot be read as a whole */
	const struct hb_resource *resources;
	size_t n_resources;
	bool knows_gone; /* hb_resource.is_gone says something */
};

/* Whether one of its resources has the working directory in it. */
bool hb_session_is_here(const struct hb_session_info *info);

typedef int (*hb_list_fn)(void *ctx, const struct hb_session_info *info,
			  struct hb_error *err);

/*
 * At most `max` sessions that may hold the working directory, the last made
 * first, and perhaps others: hb_session_is_here() decides.
 */
int hb_store_list_here(struct hb_store *store, size_t max, hb_list_fn fn,
		       void *ctx, struct hb_error *err);

/* All sessions by name.  A damaged session is listed as unreadable. */
int hb_store_list(struct hb_store *store, hb_list_fn fn, void *ctx,
		  struct hb_error *err);

struct hb_create_options {
	const char *name;
	/*
	 * What describes the view, with keys of `run`; "cow", DIR or
	 * DIR:INSIDE, names what is held back, the workspace first.
	 */
	const struct hb_setting *settings;
	size_t n_settings;
	bool is_durable;
	/* Looks for groups that the box does not know in all of the tree. */
	bool scan_groups;
	/* -HB_E_UNSUPPORTED where it would be another strategy. */
	bool without_fallback;
	/*
	 * Does not try again what worked between the same file systems since
	 * the machine was started; the caller has to cope if it does not.
	 */
	bool trusts_trials;
	bool is_quiet; /* does not look for what would only be said */
};

/* On failure nothing is left. */
int hb_session_create(struct hb_store *store,
		      const struct hb_create_options *options,
		      struct hb_error *err);

/* The ways to look come first, up to HB_OPEN_CHECK. */
enum hb_open {
	/*
	 * For looking: also while another process has the session, where the
	 * store cannot be written, and where it is full.  A change that was
	 * interrupted stays so: `interrupted` of the info.
	 */
	HB_OPEN_LOOK,
	/* The same without the lock: it settles nothing. */
	HB_OPEN_GLANCE,
	/* As for looking; it waits for a command that ends soon. */
	HB_OPEN_CHECK,
	HB_OPEN_CHANGE, /* with the lock, and recovered; else -HB_E_BUSY */
	/* The same for who throws away: a commit that was cut short goes back
	 */
	HB_OPEN_BACK,
	/*
	 * The same for a program that has no memory to recover with: -EAGAIN
	 * and no words if there is something to be recovered.
	 */
	HB_OPEN_QUICK,
	HB_OPEN_RECOVER, /* with the lock; what was cut short stays so */
	/*
	 * With the lock, for hb_session_cleanup(): nothing of the session is
	 * needed but its record.  A commit that was cut short is taken back,
	 * because the base is not the session's; what a command did is not
	 * looked at.
	 */
	HB_OPEN_REMOVE,
	HB_OPEN_GIVE_UP, /* the same, with any change under way */
	/* hb_exec() alone: into a box that is there, or not at all. */
	HB_OPEN_JOIN,
};

/*
 * `ref` is "@NAME", "@PREFIX", or "@" or NULL for the latest session with a
 * resource that has the working directory in it.  -HB_E_NO_SESSION.
 */
int hb_session_open(struct hb_store *store, const char *ref, enum hb_open how,
		    struct hb_session **ret_session, struct hb_error *err);

/*
 * The same for a session that may be live, to be marked, forked or taken from.
 * Its lock is borrowed until the session is freed, and its commands go on
 * meanwhile. -HB_E_BUSY: another process has borrowed it.
 */
int hb_session_open_live(struct hb_store *store, const char *ref,
			 enum hb_open how, struct hb_session **ret_session,
			 struct hb_error *err);

void hb_session_free(struct hb_session *session);
const struct hb_session_info *hb_session_info(const struct hb_session *session);

/* The session's own directory in the store; borrowed. */
int hb_session_dir(const struct hb_session *session);
struct hb_exec_result {
	int status; /* the command's; 128 + n for a signal, and that: */
	struct hb_death death;
	unsigned n_leftover; /* processes that outlived it and were ended */
	bool has_joined;     /* it ran in a box that was there */
	int64_t n_nested;    /* as in struct hb_run_result */
};

/*
 * Runs a command in the session `ref` (hb_session_open).  In a live session it
 * runs in the existing box, under its restrictions; else in a box of its own.
 * A box that is about to begin or to end is waited for.  `argv` NULL: holds a
 * box of its own open until hb_stop(), or a signal that asks for an end;
 * -HB_E_BUSY if there is one.  `how` is HB_OPEN_CHANGE or HB_OPEN_QUICK, or
 * HB_OPEN_JOIN: -HB_E_STATE if the session is not live.  `tty` is "own" or
 * "real", as the key of that name, or NULL: as the session has it.
 */
int hb_exec(struct hb_store *store, const char *ref, enum hb_open how,
	    char *const *argv, char *const *envp, const char *tty,
	    struct hb_exec_result *ret_result, struct hb_error *err);

/*
 * Ends the box of a live session, gently and then not, and returns when the
 * session is idle.  0: it was not live; 1: it was.
 */
int hb_stop(struct hb_store *store, const char *ref, struct hb_error *err);

/*
 * Has a live session go on that was stopped because the disk is almost full: it
 * is not stopped again before there was room.  0: it was not stopped; 1: it
 * was.
 */
int hb_resume(struct hb_store *store, const char *ref, struct hb_error *err);

/*
 * Runs a command on the session's view, or NULL.  HB_OPEN_CHANGE.  `tty` as for
 * hb_exec().
 */
int hb_session_exec(struct hb_session *session, char *const *argv,
		    char *const *envp, const char *tty,
		    struct hb_exec_result *ret_result, struct hb_error *err);

enum hb_type {
	HB_TYPE_NONE, /* nothing there */
	HB_TYPE_FILE,
	HB_TYPE_DIR,
	HB_TYPE_LINK, /* symbolic */
	HB_TYPE_FIFO,
	HB_TYPE_SOCKET,
	HB_TYPE_DEVICE,
};

/* One side of a change. */
struct hb_object {
	enum hb_type type;
	unsigned mode; /* 07777 */
	uint32_t uid, gid;
	uint64_t size; /* of a file, or of a link's target; else 0 */
};

/* What differs between two sides of one type. */
enum hb_differs {
	HB_DIFFERS_CONTENT = 1 << 0, /* or a link's target */
	HB_DIFFERS_MODE = 1 << 1,
	HB_DIFFERS_OWNER = 1 << 2,
	HB_DIFFERS_XATTRS = 1 << 3, /* user.*, ACLs, file capabilities */
	HB_DIFFERS_TIME = 1 << 4,   /* of a file's modification */
	HB_DIFFERS_LINKS = 1 << 5,  /* it shares its inode with other names */
};

/* What has to be asked for before a change may be committed. */
enum hb_asks {
	HB_ASKS_NOTHING,
	HB_ASKS_SPECIAL, /* with_special: a fifo */
	HB_ASKS_SETID,	 /* with_setid: setuid, setgid, file capabilities */
	HB_ASKS_NEVER,	 /* a socket or a device is not committed at all */
};

/* One change; the letters are those of `diff --name-status`. */
struct hb_change {
	char kind; /* A M D T P (attributes) t (a file's time) R (renamed) */
	bool is_directory;
	bool is_git;	   /* part of a repository's unit */
	bool has_conflict; /* the real one changed since the session began */
	/*
	 * has_conflict, and the session's version cannot be chosen: a program
	 * has the database open, or the base's other files of it changed.
	 */
	bool is_firm;
	bool is_held; /* is_firm: a program has the database open */
	pid_t holder; /* its process; 0: it is in another namespace */
	size_t resource;
	const char *path; /* relative to the resource */
	const char *from; /* kind R, else NULL */
	const char *why;  /* has_conflict, else NULL */
	enum hb_asks asks;
	struct timespec base_time,
		session_time; /* of the last change; 0: none */
	uint64_t size;
	struct hb_object old, new; /* of a renamed one: of `from`, of `path` */
	unsigned differs;	   /* enum hb_differs; 0 for kinds A and D */
};

struct hb_summary {
	uint64_t n_files; /* without directories and repositories' insides */
	uint64_t n_changed, n_added, n_deleted, n_renamed; /* of those */
	uint64_t n_directories;
	uint64_t n_times;     /* files of which only the time changed */
	uint64_t n_git;	      /* inside of repositories' units */
	uint64_t n_conflicts; /* of all of these */
	uint64_t bytes;	      /* of new content */
	/*
	 * What git ignores, which counts nowhere else: what is no directory,
	 * its bytes, and directories.
	 */
	uint64_t n_ignored, ignored_bytes, n_ignored_directories;
	/* Locks and unfinished files of git, which are never committed. */
	uint64_t n_locks;
	/*
	 * Paths that count as not ignored because the rules of git there take
	 * too much work to look at.
	 */
	uint64_t n_unjudged;
	char hash[65]; /* names exactly this change set; or "" */
};

struct hb_filter {
	const char *const *only; /* globs; none: everything */
	size_t n_only;
	const char *const *except;
	size_t n_except;
	/*
	 * Directories of the session, each named as a path below
	 * is; none: all.  -HB_E_USAGE: one is none of them.
	 */
	const char *const *resources;
	size_t n_resources;
	/*
	 * Nothing but what is at or below these, which are absolute, on the
	 * host or in the view, or relative to the working directory.
	 * -HB_E_USAGE: one is in no resource.
	 */
	const char *const *paths;
	size_t n_paths;
	/* Paths of the same kind that stay behind, with all below them. */
	const char *const *without;
	size_t n_without;
};

struct hb_changes;

struct hb_changes_options {
	struct hb_filter filter;
	bool without_hash; /* spares reading all that is new */
	/* Without a hash: what else differs where content does is not told. */
	bool names_only;
	/*
	 * Takes what git ignores, by the real directory's rules, for changes
	 * like others.  Else it is neither in the list nor in the hash.
	 */
	bool with_ignored;
	/*
	 * A mark: what changed between then and now, which is the old side.  No
	 * renames, no conflicts, no hash.  NULL: what would be committed.
	 */
	const char *since;
	enum hb_git_mode git;  /* what a commit would do with repositories */
	const char *as_branch; /* likewise; or NULL */
	/*
	 * Conflicts in which the real version stays, as in a commit.  They are
	 * in the list, and the summary counts them as conflicts alone.
	 */
	const char *const *ours;
	size_t n_ours;
};

/*
 * The session's change set in path order, one resource after another.  The
 * summary is of what the filter lets pass, the hash of everything.  It
 * may not outlive the session.
 */
int hb_session_changes(struct hb_session *session,
		       const struct hb_changes_options *options,
		       struct hb_changes **ret_changes, struct hb_error *err);
void hb_changes_free(struct hb_changes *changes);

/*
 * Whether a failure comes from a command in a live session that changes names
 * during a look.  If so, -HB_E_BUSY with the words for that replaces it.
 * hb_session_changes() has tried again by itself.
 */
bool hb_session_is_moving(const struct hb_session *session, int r);
int hb_session_fail_moving(const struct hb_session *session,
			   struct hb_error *err);
const struct hb_summary *hb_changes_summary(const struct hb_changes *changes);

/* 1: a change, valid until the next call; 0: the end. */
int hb_changes_next(struct hb_changes *changes, struct hb_change *ret_change,
		    struct hb_error *err);
int hb_changes_rewind(struct hb_changes *changes, struct hb_error *err);

/*
 * Tells the log the paths of a run's pending changes, and rewinds the changes.
 */
int hb_changes_record(struct hb_session *session, struct hb_changes *changes,
		      struct hb_error *err);

/* Something that git ignores, with everything in it that changed. */
struct hb_ignored {
	size_t resource;
	const char *path; /* relative to the resource */
	bool is_directory;
	uint64_t n_files;   /* what is no directory, without the deleted ones */
	uint64_t n_deleted; /* what was no directory */
	uint64_t bytes;
};

typedef int (*hb_ignored_fn)(void *ctx, const struct hb_ignored *ignored,
			     struct hb_error *err);

/*
 * What the list leaves out because git ignores it, in path order: the topmost
 * directories that are ignored, and files.  Rewinds the changes.
 */
int hb_changes_ignored(struct hb_changes *changes, hb_ignored_fn fn, void *ctx,
		       struct hb_error *err);

enum hb_side {
	HB_SIDE_OLD, /* what the real directory has */
	HB_SIDE_NEW, /* what the session has */
};

/*
 * Reads content of the change that hb_changes_next() gave last: of a regular
 * file, or the target of a link.  Returns the number of bytes, less than `size`
 * only at the end.  Opens nothing else, follows nothing, and opens only the
 * very object that was compared.
 *
 * -HB_E_BUSY: another one is there by now; -EACCES: the real file is not ours
 * to read; -EINVAL: that side is neither file nor link.
 */
ssize_t hb_changes_read(struct hb_changes *changes, enum hb_side side,
			void *buf, size_t size, uint64_t offset,
			struct hb_error *err);

/* One fact of hb_changes_database(). */
struct hb_database_line {
	/*
	 * A table: `A` added, `D` gone, `M` with other rows, `?` with other
	 * columns, of which rows are only counted: `added` now, `removed`
	 * before.  A statement of the schema: `+`, `-`.  `!`: words why there
	 * is no more.
	 */
	char kind;
	uint64_t added, removed, changed;
	const char *text; /* its name, the statement, or the words */
};
typedef int (*hb_database_fn)(void *ctx, const struct hb_database_line *line,
			      struct hb_error *err);

/* Both databases together; larger ones are not compared. */
#define HB_DATABASE_ROWS_MAX ((uint64_t)64 << 20)

/*
 * Of the change that hb_changes_next() gave last: what differs between the two
 * databases.  1: all was told; 0: it is no database of the key `db`.
 */
int hb_changes_database(struct hb_changes *changes, hb_database_fn fn,
			void *ctx, struct hb_error *err);

enum hb_severity {
	HB_SEVERITY_WARN = 1, /* said, and committed */
	HB_SEVERITY_ASK,      /* committed only if it is allowed by name */
	HB_SEVERITY_DENY,     /* not committed */
};

/* "warn", "ask", "deny": as rules, lines and --json have it. */
const char *hb_severity_name(enum hb_severity severity);

/* What a rule of the gate has to say about one change. */
struct hb_finding {
	const char *rule;
	enum hb_severity severity;
	bool is_allowed; /* HB_SEVERITY_ASK: and the user has said so */
	/* When it would run: "runs-on-open" and the like; NULL: by itself
	 * never. */
	const char *class;
	size_t resource;
	const char *path;   /* relative to the resource; "." is all of it */
	uint64_t line;	    /* of the new content, from 1; 0: none */
	const char *detail; /* what exactly, any bytes; or NULL */
	const char *reason; /* why it matters */
	const char *output; /* the last lines of a check command, or NULL */
	/*
	 * It is no file: git has it at this path of the work tree.  It is left
	 * out with the git directory, relative to the resource; "." is the
	 * resource itself.  The commit is NULL for the index, and the reference
	 * reaches the commit.  All are NULL for a file.
	 */
	const char *repository, *commit, *ref;
};

/* What a check command said. */
struct hb_gate_check {
	bool was_run; /* there is one */
	int status;   /* of it; 128 + n for signal n; -1: it could not be run */
	char output[2048]; /* the end of what it wrote, any bytes but NUL */
};

/*
 * Runs `command`, as a shell would, in a box of its own on a fork of the
 * session, which is gone afterwards; NULL: what `gate-run` of the session or of
 * the configuration says, if anything.  Its changes are discarded.  Needs the
 * session's lock, and change sets made before are void.
 */
int hb_session_gate_check(struct hb_session *session, const char *command,
			  struct hb_gate_check *ret_check,
			  struct hb_error *err);

struct hb_gate_options {
	/* RULE or RULE:GLOB: what was looked at and found right. */
	const char *const *allow;
	size_t n_allow;
	/*
	 * What the check command said.  NULL: it was not run, and a commit
	 * runs it.
	 */
	const struct hb_gate_check *check;
	const char *run; /* for a commit: instead of what is configured */
};

struct hb_gate_result {
	uint64_t n_warnings;
	uint64_t n_asked;   /* and not allowed */
	uint64_t n_allowed; /* asked for, and allowed */
	uint64_t n_denied;
};

/*
 * Asks the gate about a change set that was not made with `since`: all that its
 * filter lets pass, with any paths.  Begins and ends at its start.  Changes
 * nothing.  HB_REPORT_FINDING tells each finding.  0 also if something stands
 * against it, which the result says; -HB_E_CONFIG: the rules cannot be read;
 * -HB_E_USAGE: `allow`.
 */
int hb_session_gate(struct hb_session *session, struct hb_changes *changes,
		    const struct hb_gate_options *options,
		    struct hb_gate_result *ret_result, struct hb_error *err);

/* A rule that is in force for some resource. */
struct hb_rule {
	const char *id, *reason;
	const char *severity; /* "off", "warn", "ask", "deny" */
	const char *class;    /* as of a finding */
};

typedef int (*hb_rule_fn)(void *ctx, const struct hb_rule *rule,
			  struct hb_error *err);

/* The rules of the session's first resource, in order.  -HB_E_CONFIG. */
int hb_session_rules(struct hb_session *session, hb_rule_fn fn, void *ctx,
		     struct hb_error *err);

struct hb_commit_options {
	struct hb_filter filter;
	enum hb_git_mode git;
	const char *as_branch;	 /* delivery.h; NULL: as `git` says */
	const char *const *ours; /* conflicts: the real version stays */
	size_t n_ours;
	const char *const *theirs; /* conflicts: the session's version wins */
	size_t n_theirs;
	const char *expect; /* the hash of what was reviewed, or NULL */
	/* Of a live session: newer changes than the expected will do. */
	bool follows;
	/*
	 * What was reviewed, with the same filter, or NULL.  Where it is
	 * unchanged, object by object, it is not hashed again.  The findings of
	 * hb_session_gate() are not looked for again, and told with the
	 * answers.  Not to be read afterwards.
	 */
	struct hb_changes *reviewed;
	const char *command; /* for the log; NULL: "commit" */
	bool dry_run;
	bool with_special; /* fifos: allows the rule `special` */
	bool with_setid;   /* setuid and the like: allows the rule `setid` */
	struct hb_gate_options gate;
	bool without_gate; /* recorded; the two above are still needed */
	bool with_ignored; /* what git ignores, which stays behind otherwise */
};

struct hb_commit_result {
	uint64_t n_operations;
	uint64_t n_kept; /* undo: objects and packs of git that stay */
	bool has_rest;	 /* something of the session is still pending */
	uint64_t undo_bytes;
	/*
	 * Else everything is in place and on disk, and the next command files
	 * the journal, which could not be: it was said.
	 */
	bool is_complete;
	struct hb_summary summary;
	struct hb_gate_result gate;
	/* Of the session: valid until it is changed, looked at or freed. */
	const struct hb_delivery *git;
	size_t n_git;
};

/*
 * All or nothing.  -HB_E_CONFLICT: nothing changed, and hb_session_changes()
 * has the paths.  -HB_E_DENIED: nothing changed, and the gate has told why.
 * What was allowed is on disk before anything changes.
 */
int hb_session_commit(struct hb_session *session,
		      const struct hb_commit_options *options,
		      struct hb_commit_result *ret_result,
		      struct hb_error *err);
int hb_session_undo(struct hb_session *session,
		    struct hb_commit_result *ret_result, struct hb_error *err);
int hb_session_redo(struct hb_session *session,
		    struct hb_commit_result *ret_result, struct hb_error *err);

/*
 * Throws pending changes away: all, or those at and below some paths, which
 * are absolute or relative to the working directory.
 */
int hb_session_rollback(struct hb_session *session, const char *const *paths,
			size_t n_paths, struct hb_error *err);

/*
 * The same where the disk is full: needs no room, and undo cannot bring them
 * back.  All of them, those that came after a mark, or with the second one
 * those at and below some paths, one path after the other.  HB_OPEN_GIVE_UP is
 * enough.
 */
int hb_session_empty(struct hb_session *session, const char *mark,
		     struct hb_error *err);
int hb_session_empty_paths(struct hb_session *session, const char *const *paths,
			   size_t n_paths, struct hb_error *err);

/*
 * Freezes what is pending under a name, in a time that does not depend on how
 * much it is, and goes on above it.  `name` NULL: one is chosen.  A commit ends
 * the marks made before it, and undo brings them back.
 *
 * Of a live session (hb_session_open_live) it is a copy: nothing in the session
 * runs meanwhile.  -HB_E_STATE if there are too many of these, or too much is
 * pending; -HB_E_BUSY if a process in it cannot be stopped.
 */
int hb_session_mark(struct hb_session *session, const char *name,
		    const char **ret_name, struct hb_error *err);

/*
 * The same of a live session at the end of a turn, as `turn-1` and so on.  It
 * is a class of its own: the last 20 are kept.  -HB_E_BUSY also if the session
 * is not live.
 */
int hb_session_mark_turn(struct hb_session *session, const char **ret_name,
			 struct hb_error *err);

/*
 * The paths that are pending in directories that are gone, after the session
 * was looked into: which of them are new cannot be told.  NULL: neither can
 * they, because they lie in the directory or cannot be read.
 */
typedef int (*hb_gone_fn)(void *ctx, size_t resource, const char *path,
			  struct hb_error *err);
int hb_session_gone(struct hb_session *session, hb_gone_fn fn, void *ctx,
		    struct hb_error *err);

struct hb_mark {
	const char *name;
	int64_t time; /* when it was made */
};

/* The marks that can be used, the oldest first. */
typedef int (*hb_mark_fn)(void *ctx, const struct hb_mark *mark,
			  struct hb_error *err);
int hb_session_marks(struct hb_session *session, hb_mark_fn fn, void *ctx,
		     struct hb_error *err);

/* Throws away what came after the mark, which stays. */
int hb_session_rollback_to(struct hb_session *session, const char *mark,
			   struct hb_error *err);

/*
 * A new session with the changes that are pending in this one, or were at the
 * mark `from` (NULL: now).  It shares the layers and the knowledge of the real
 * directories, and is independent from now on.  On failure there is no new
 * session.  Of a live session it begins with a copy, as a mark of it is.
 */
int hb_session_fork(struct hb_session *session, const char *name,
		    const char *from, struct hb_error *err);

/* A commit or a rollback that is in effect. */
struct hb_past {
	uint64_t id;
	int64_t time;
	bool is_rollback;
	uint64_t n_operations;
	uint64_t undo_bytes; /* of the files that undo has to keep */
};

typedef int (*hb_past_fn)(void *ctx, const struct hb_past *past,
			  struct hb_error *err);

/* The latest of them, the newest first; undo takes them back in that order. */
int hb_session_past(struct hb_session *session, size_t max, hb_past_fn fn,
		    void *ctx, struct hb_error *err);

/* Where what is pending lies on the host. */
struct hb_place {
	size_t resource;
	const char *path;
	bool is_upper; /* what commands write to; else it is frozen */
};

typedef int (*hb_place_fn)(void *ctx, const struct hb_place *place,
			   struct hb_error *err);

/* Of each resource the upper, then its layers, the newest first. */
int hb_session_places(struct hb_session *session, hb_place_fn fn, void *ctx,
		      struct hb_error *err);

enum hb_recovered {
	HB_RECOVERED_NOTHING,
	HB_RECOVERED_FORWARD, /* the interrupted change was finished */
	HB_RECOVERED_BACK,    /* it was reversed */
};

/* HB_OPEN_RECOVER. */
int hb_session_recover(struct hb_session *session, bool back,
		       enum hb_recovered *ret_what, struct hb_error *err);

/* An object that an interrupted change has put aside under a number. */
struct hb_salvaged {
	size_t resource;
	const char *path;    /* relative to it; NULL: nothing names it */
	const char *version; /* "before", "pending" or "new" */
	const char *type;    /* "file", "directory", "link" or "special" */
	const char *place;   /* on the host */
	uint64_t size;
	const char *taken; /* below `take`; NULL: it was not copied */
};

typedef int (*hb_salvaged_fn)(void *ctx, const struct hb_salvaged *salvaged,
			      struct hb_error *err);

/*
 * Tells of each, whether the journal is whole or not, and changes nothing.
 * With `take`, a directory that is missing or empty and not in the store,
 * copies the versions before to it and tells of those.  HB_OPEN_RECOVER.
 * -HB_E_STATE: some could not be copied, which were said.
 */
int hb_session_salvage(struct hb_session *session, const char *take,
		       hb_salvaged_fn fn, void *ctx, struct hb_error *err);

/* An entry of a real directory that changed since the session began. */
struct hb_escape {
	size_t resource;
	const char *path; /* relative to the resource; "." is its top */
	const char *what; /* in words */
	bool is_directory;
	struct timespec time; /* of the change */
};

typedef int (*hb_escape_fn)(void *ctx, const struct hb_escape *escape,
			    struct hb_error *err);

struct hb_verified {
	uint64_t n_looked; /* entries */
	uint64_t n_found;
	uint64_t n_unread; /* directories that could not be looked into */
};

/*
 * Looks through all of the real directories for entries that changed since the
 * session began without a commit of a session in this store.  Who changed them
 * is not known.
 */
int hb_session_verify(struct hb_session *session, hb_escape_fn fn, void *ctx,
		      struct hb_verified *ret_verified, struct hb_error *err);

/*
 * Removes the session, its pending changes and what undo would need.
 * HB_OPEN_REMOVE is enough.
 */
int hb_session_cleanup(struct hb_session *session, struct hb_error *err);

/*
 * Removes a session that a run made for itself, if `changes`, which is all of
 * them, is empty and nothing was committed from it.  1: it is gone, and the
 * object can only be freed; 0: it stays.
 */
int hb_session_forget(struct hb_session *session,
		      const struct hb_changes *changes, struct hb_error *err);

/* Removes one whose file cannot be read, by its whole name. */
int hb_store_discard(struct hb_store *store, const char *ref,
		     struct hb_error *err);

struct hb_gc_options {
	int64_t older_than; /* seconds: what undo needs goes after that */
	bool dry_run;	    /* only tells */
};

/* Something that is, or would be, removed. */
struct hb_garbage {
	const char *session; /* NULL: of none */
	const char *what;    /* in words */
	uint64_t n, bytes;
	bool is_kept; /* it is not: a program has written to it since */
};

typedef int (*hb_garbage_fn)(void *ctx, const struct hb_garbage *garbage,
			     struct hb_error *err);

/*
 * Removes data that no session needs: rests of interrupted commands, crashed
 * sessions with nothing pending, old undo data, layers that no session names.
 * Never pending changes.  Sessions that are in use are left alone.  Can be
 * interrupted anywhere and done again.
 */
int hb_store_gc(struct hb_store *store, const struct hb_gc_options *options,
		hb_garbage_fn fn, void *ctx, uint64_t *ret_bytes,
		struct hb_error *err);

/*
 * Removes rests of interrupted creations and removals, layers that no session
 * names, and sessions all of whose resources are gone.  Also removes crashed
 * sessions with nothing pending, and forks of killed checks of the gate.  Their
 * names go to `fn`, with HB_STATE_ORPHAN, _CRASHED or _CHECK, and with
 * `dry_run` nothing else happens.
 */
int hb_store_clean_stale(struct hb_store *store, bool dry_run, hb_list_fn fn,
			 void *ctx, uint64_t *ret_n, struct hb_error *err);

/*
 * Removes the sessions that `run` made, whose command was ended from outside,
 * and that hold nothing: no change, no mark, nothing to undo.  Says so of each.
 * A session that cannot be looked at stays.
 */
void hb_store_sweep(struct hb_store *store);

#endif
