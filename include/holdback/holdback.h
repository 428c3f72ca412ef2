/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOLDBACK_HOLDBACK_H
#define HOLDBACK_HOLDBACK_H

#include "holdback/error.h"
#include "holdback/report.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The public interface: run a command on a view of the real files, show what
 * would be done, and say what this host can do.  Errors are those of
 * holdback/error.h, news is that of holdback/report.h.  Nothing here prints or
 * exits.
 */

/* Exit statuses of `holdback run` that are not the command's own. */
enum hb_run_status {
	HB_EXIT_TIMEOUT = 124,	      /* its time was up, and it was ended */
	HB_EXIT_OURS = 125,	      /* a failure of ours; nothing ran */
	HB_EXIT_NOT_EXECUTABLE = 126, /* the command cannot be executed */
	HB_EXIT_NOT_FOUND = 127,      /* there is no such command */
	HB_EXIT_SIGNAL = 128,	      /* 128 + n: ended by signal n */
};

/*
 * Exit statuses of every other command; `run` shows them in brackets in its
 * message.  The comments are the words of the man pages: see tools/man.
 */
enum hb_exit {
	/* done */
	HB_EXIT_OK = 0,
	/* there are differences, where the command tells by its status */
	HB_EXIT_DIFFERENT = 1,
	/* usage error */
	HB_EXIT_USAGE = 2,
	/* the configuration is wrong; nothing ran */
	HB_EXIT_CONFIG = 3,
	/* the gate denies a change, or asks about it; nothing is changed */
	HB_EXIT_DENIED = 4,
	/* conflict: the real directory changed since the session began */
	HB_EXIT_CONFLICT = 5,
	/* the host lacks something that is required */
	HB_EXIT_UNSUPPORTED = 6,
	/* no space is left */
	HB_EXIT_NO_SPACE = 7,
	/* the session is live, or another command works on it */
	HB_EXIT_BUSY = 8,
	/* there is no such session */
	HB_EXIT_NO_SESSION = 9,
	/* the session is damaged, or a real directory is gone or read-only */
	HB_EXIT_STATE = 10,
	/* an error that should not happen */
	HB_EXIT_INTERNAL = 70,
};

/*
 * One thing that a run is told: `key` is the name of a long option of `run`,
 * `value` its argument, or "yes" for an option without one.
 */
struct hb_setting {
	const char *key, *value;
};

struct hb_store_options; /* holdback/session.h */

/*
 * What hb_run() and its like are told.  All strings are borrowed.  What is not
 * said here is said by profiles, configuration files and the environment;
 * holdback-config(1) has the order.
 */
struct hb_run_options {
	/* The command, NULL-terminated; NULL only where nothing would run. */
	char *const *argv;
	char *const *envp; /* the caller's environment */
	const struct hb_setting *settings;
	size_t n_settings;
	bool keeps_open;	/* there is no command, and need not be one */
	bool without_workspace; /* nothing of the working directory is shown */
	/* Where sessions live, and the listener; NULL: as envp says, and none.
	 */
	const struct hb_store_options *store;
	bool is_quick; /* HB_OPEN_QUICK: -EAGAIN and no words */
};

#define HB_SESSION_NAME_SIZE 65

/* A look through real directories for changes. */
struct hb_verified {
	uint64_t n_looked; /* entries */
	uint64_t n_found;
	uint64_t n_unread; /* directories that could not be looked into */
};

struct hb_run_result {
	int status; /* the command's; 128 + n for signal n; HB_EXIT_TIMEOUT */
	struct hb_death death;
	bool is_quiet; /* the user asked for nothing but errors */
	int64_t ms;    /* how long it ran */
	/*
	 * User namespaces that it was refused, as a sandbox of its own needs
	 * them; -1: they were not counted.
	 */
	int64_t n_nested;
	uint64_t sync;	  /* seconds: it was to be synced; 0: it was not */
	bool is_verified; /* --verify: there are figures in: */
	struct hb_verified outside;
	/*
	 * The session, which is still there; "" if there is none.  Also for
	 * -EAGAIN: then it is made and not run in yet.
	 */
	char session[HB_SESSION_NAME_SIZE];
};

/*
 * Runs the command and waits for its end.  Changes are kept in a session,
 * unless there are none or it is told otherwise.
 *
 * Returns 0 when the command ran.  On failure nothing ran and nothing is left;
 * -HB_E_NOT_FOUND and -HB_E_NOT_EXECUTABLE are about the command itself.
 */
int hb_run(const struct hb_run_options *options,
	   struct hb_run_result *ret_result, struct hb_error *err);

enum hb_form {
	HB_FORM_TEXT,
	HB_FORM_JSON,
};

/*
 * What hb_run() would do with these options, and what the bubblewrap front end
 * would do with argv[1..]: as text that the caller frees.  Runs nothing.
 */
int hb_plan_run(const struct hb_run_options *options, enum hb_form form,
		char **ret_text, struct hb_error *err);
int hb_plan_bwrap(int argc, char *const argv[], enum hb_form form,
		  char **ret_text, struct hb_error *err);

/* One effective value and what said it. */
struct hb_config_value {
	const char *key, *value;
	/*
	 * "default", "built-in", "system", "user", "environment", "option",
	 * "workspace"
	 */
	const char *source;
	const char *file;  /* or the profile, or the variable; may be NULL */
	size_t line;	   /* 0: none */
	const char *words; /* the same in words for people */
};

typedef void (*hb_config_fn)(void *context,
			     const struct hb_config_value *value);

/*
 * Tells every value that hb_run() with these options would go by.  Runs
 * nothing.
 */
int hb_config(const struct hb_run_options *options, hb_config_fn tell,
	      void *context, struct hb_error *err);

/* What a view does with one path. */
struct hb_why {
	const char *path;   /* the host's */
	const char *inside; /* where that is, links of the view followed */
	/*
	 * "absent", "read-only", "real", "held-back", "cache", "hidden", "own",
	 * "private", "socket"
	 */
	const char *what;
	const char *words;	   /* the same in words for people */
	struct hb_config_value by; /* no key: no setting said it */
};

typedef void (*hb_why_fn)(void *context, const struct hb_why *why);

/* Tells once what a run with these options would show at `path`. */
int hb_why(const struct hb_run_options *options, const char *path,
	   hb_why_fn tell, void *context, struct hb_error *err);

#define HB_CAP_SETS    5
#define HB_AUDIT_WORDS 6

/* What this process is left with. */
struct hb_audit {
	struct {
		const char *name;
		uint64_t caps;
	} sets[HB_CAP_SETS];
	bool has_no_new_privs;
	bool has_filter;
	unsigned n_filters;   /* 0 also where the kernel does not tell */
	int landlock_version; /* 0: none */
	int n_rulesets;	      /* of landlock, in force; less than 0: unknown */
};

/*
 * Asks the kernel.  Afterwards no further landlock ruleset can be entered: for
 * a process that ends soon.
 */
int hb_audit_self(struct hb_audit *ret_audit, struct hb_error *err);

/*
 * Runs this program with these words, at most HB_AUDIT_WORDS, in the box that
 * `run` makes.  *ret_status is its exit status.
 */
int hb_audit_run(char *const *words, char *const *envp, int *ret_status,
		 struct hb_error *err);

/* A profile that there is. */
struct hb_profile {
	const char *name;
	const char *summary; /* NULL: it is not compiled in */
	const char *file;    /* of the user's or the system's, or NULL */
};

/* Tells every profile, compiled-in ones first. */
int hb_profiles(char *const *envp,
		void (*tell)(void *context, const struct hb_profile *profile),
		void *context, struct hb_error *err);

/* Tells what one profile says, in order.  -HB_E_CONFIG: there is none. */
int hb_profile(const char *name, char *const *envp, hb_config_fn tell,
	       void *context, struct hb_error *err);

enum hb_verdict {
	HB_VERDICT_OK,
	HB_VERDICT_WARN, /* something is done in another way, or not at all */
	HB_VERDICT_FAIL, /* `holdback run` cannot work */
};

#define HB_FOUND_SIZE 512

/* One thing that this host can or cannot do. */
struct hb_check {
	const char *name;
	enum hb_verdict verdict;
	bool was_tried; /* false: something it needs does not work */
	const char *used_for;
	const char *lost;	   /* what is different without it */
	char found[HB_FOUND_SIZE]; /* why not, or more about it; may be "" */
	char fix[HB_FIX_SIZE];	   /* may be "" */
};

/*
 * Tries everything and tells each result as soon as it is there.  Returns the
 * number of checks that failed.
 */
int hb_doctor(char *const *envp,
	      void (*tell)(void *context, const struct hb_check *check),
	      void *context, struct hb_error *err);

/*
 * What hb_doctor() runs inside of a box: tries what must not work there, and
 * returns what did as an exit status.  `port` is a socket with a listener
 * outside.
 */
int hb_doctor_inside(const char *port);

/*
 * Executes another executable of this installation, libexec/holdback/NAME,
 * which is found from where the running one lies.  Returns only on failure.
 */
int hb_exec_helper(const char *name, char *const argv[], char *const envp[],
		   struct hb_error *err);

/* The same in a process of its own, which is waited for. */
int hb_run_helper(const char *name, char *const argv[], char *const envp[],
		  int *ret_status, struct hb_error *err);

/*
 * The variable by which the owner of a shell switches the sandbox off for the
 * calls from it.  It never gets into a box.
 */
#define HB_SWITCH "AGENT_SANDBOX"

/* 1, also if it is not set; 0; -HB_E_USAGE if it says something else. */
int hb_is_switched_on(char *const *envp, struct hb_error *err);

/*
 * Whether we are in a box of holdback, which an environment alone cannot
 * pretend.
 */
bool hb_is_inside(char *const *envp);

/*
 * Whether a program of this name, which is not this one, is in PATH.  Then a
 * link to us of that name stands in front of it.
 */
bool hb_stands_for(const char *name, char *const *envp);

/*
 * Executes a command as if we were not there; nothing is held back.  Returns
 * only on failure.
 */
int hb_exec_unprotected(char *const argv[], char *const envp[],
			struct hb_error *err);

/*
 * Opens /dev/null in the place of each of 0, 1 and 2 that is closed, so that
 * nothing else gets these numbers.  For the first lines of a main().
 */
int hb_fill_stdio(struct hb_error *err);

bool hb_is_terminal(int fd);

/*
 * Tells the service manager that started us: by the socket of NOTIFY_SOCKET,
 * without waiting.  0: it is not set.
 */
int hb_notify(char *const *envp, const char *text, struct hb_error *err);

/*
 * Makes `dir` the working directory; NULL changes nothing.  `*ret_back`, which
 * may be -1, leads back: hb_work_back() goes there and closes it.
 */
int hb_work_in(const char *dir, int *ret_back, struct hb_error *err);
void hb_work_back(int back);

/* The user whose `sudo` made us root, by SUDO_USER; NULL: none has. */
const char *hb_sudo_user(char *const *envp);

/*
 * Writes to a descriptor of the caller's choice, and without bytes only looks
 * whether that can be done.  -EPIPE: the reader is gone; there is no signal.
 */
int hb_write_to(int fd, const void *bytes, size_t n, struct hb_error *err);

/*
 * Ends this process as its command was ended, without a core file, so that the
 * caller sees a command that was interrupted.  A key is for all of our process
 * group, which the terminal could not tell.  Returns if there is no signal, and
 * where it does not end us: the first process of a pid namespace goes on.
 */
void hb_die_of(const struct hb_death *death);

/* How many columns the terminal has; 0: it is none, or does not say. */
unsigned hb_terminal_columns(int fd);

struct hb_pager;

/*
 * Lets the shell run `command` on what is written to stdout from here on; it
 * gets `envp`.  From then on a write after its end is EPIPE and no signal, and
 * ^C is its business and not ours.  On failure nothing is changed.
 *
 * `spool_dir` is a directory with room for the bytes that the reader has not
 * come to yet; it may be closed before the pager ends.
 */
int hb_pager_start(int spool_dir, const char *command, char *const *envp,
		   struct hb_pager **ret_pager, struct hb_error *err);

/*
 * Gives it bytes without waiting for the reader, in the order of the calls.  A
 * file keeps the bytes that the pipe does not take.  Where that is full it
 * waits after all.  -EPIPE: the reader is gone.
 */
int hb_pager_write(struct hb_pager *pager, const void *bytes, size_t n,
		   struct hb_error *err);

/*
 * Gives it the rest, closes stdout, which must have been flushed, waits for the
 * pager and frees it.  Then stdout is as before.  May be NULL.
 */
void hb_pager_end(struct hb_pager *pager);

/*
 * Lets the user change a text in $VISUAL, $EDITOR or vi, by a private file that
 * is gone afterwards.  The caller frees *ret_text.  -HB_E_STATE: the editor
 * failed, or left no text.
 */
int hb_edit_text(const char *text, size_t n, char *const *envp, char **ret_text,
		 struct hb_error *err);

/*
 * Reads a file of the user's own: a regular one, at most `max` bytes, with a
 * NUL behind them.  The caller frees.  -ENOENT: there is none.
 */
int hb_read_own_file(const char *path, size_t max, char **ret_text,
		     size_t *ret_n, struct hb_error *err);

#endif
