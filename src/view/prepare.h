/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_VIEW_PREPARE_H
#define HB_VIEW_PREPARE_H

#include "base/error.h"
#include "host/roster.h"
#include "plan/inner.h"
#include "plan/network/network.h"
#include "plan/plan.h"
#include "plan/settings.h"
#include "plan/view.h"
#include "store/record.h"
#include "view/code.h"
#include "view/home/filtered.h"

#include <limits.h>
#include <stddef.h>
#include <time.h>

#define PATH_LACKS_NAMED 3
#define RC_FILES	 7
#define RUN_NAMES	 3

/* A session that a run goes on in, as far as its view depends on it. */
struct run_session {
	const struct session_record *record;
	const char *store;		 /* its path */
	bool gone[RECORD_RESOURCES_MAX]; /* the real directory is not there */
};

/*
 * One run before it starts: what was asked for, what the host has, and the plan
 * that follows from both.
 *
 *	run_configure()		settings: profiles, files, variables, options
 *	run_find_workspace()	the workspace, and what its file tightens
 *	run_look()		that, and the rest of the host: resources and
 *				entries of the view
 *	run_prepare()		all of these, and the command
 *	run_plan()		the plan, and the environment of the command:
 *				the caller frees it; NULL: not wanted
 *
 * Between the last two the caller may give each resource an upper and a work
 * directory, and more frozen layers.  A resource without is kept in memory.
 * The effective settings are run->settings.  Nothing here changes the host.
 */
struct run {
	const struct hb_run_options *options; /* the caller's, or code's */
	struct code code;
	const char *program; /* whose profile the command has; or NULL */
	const struct run_session *session; /* goes on in it; or NULL */
	/* What is held back instead of the workspace around us; or NULL. */
	const struct session_record *chosen;
	struct setting_item view_item;	    /* the request's `host` */
	const struct hb_listener *listener; /* may be NULL */
	struct settings settings;
	struct view_request request;
	struct view_host host;
	struct view_entry *entries;	 /* the request's, allocated */
	struct view_resource *resources; /* likewise; the workspace first */
	size_t n_entries, n_resources;
	size_t room_entries; /* of entries_more() */
	size_t n_direct; /* so many of the resources, the first ones, are real
			  */
	struct gate_rules *rules; /* of direct_protect(), or NULL */
	struct timespec rules_at; /* when that looked */
	size_t direct_end;	  /* its entries end there */
	size_t n_kept; /* and so many behind them are for a session to keep */
	/* Which of the session each is: what is gone there is not here. */
	size_t numbers[RECORD_RESOURCES_MAX];
	struct plan plan;
	struct network network; /* the plan's, if it is by name */
	char **argv;		/* the plan's, allocated */
	struct inner inner;	/* of the agent's own sandbox */
	/*
	 * Paths, which the plan keeps; "": none.  Not arrays: each would be
	 * a page of its own for as long as the box lives.
	 */
	const char *cwd;   /* the caller's */
	const char *chdir; /* inside, if it is another one */
	const char *workspace;
	const char *store, *store_inside;
	const char *home;
	const char *command;	  /* as it was found */
	const char *command_real; /* what that leads to */
	struct ladder *ladder;	  /* NULL: nothing runs */
	bool is_bare;		  /* without namespaces: ladder_begin() */
	const char *tmp;	  /* without namespaces: for temporary files */
	const char *worktree_why; /* its repository is not shown: why not */
	const char *covered;	  /* the store, if something may show it */
	const char **covers; /* where things of ours are, for the request */
	struct run_berth {
		const char *source; /* the resource's */
		int fd;		    /* of berth_hold() */
	} * berths;
	size_t n_berths;
	/* The home directory, and two in it of which profiles name much. */
	struct run_names {
		const char *dir;
		struct roster names;
	} home_names[RUN_NAMES];
	size_t n_home_names;
	/* Of PATH: directories that are not shown, the first ones by name. */
	const char *path_lacks[PATH_LACKS_NAMED];
	size_t n_path_lacks, n_program_lacks;
	/* Of the files of rcfiles_find(): what is not shown. */
	struct run_rc {
		const char *name; /* in the home directory; NULL: none */
		bool is_whole;	  /* nothing of it is shown */
		size_t n_keys;
	} rc_lacks[RC_FILES];
	struct filtered filtered; /* made once: its rules are many */
	char **hidden;		  /* of entries_would_hide() */
	size_t n_hidden;
	bool knows_hidden;
	/* Of git's configuration: left out, or cut; not shown at all. */
	size_t n_git_keys, n_git_files;
	bool signs; /* git outside signs commits or tags */
	/* Directories of objects that the repository borrows: borrowed_show()
	 */
	size_t n_borrowed, n_borrowed_lacks;
	size_t n_closed_whole; /* directories of /etc: closed_find() */
	bool may_lack_command; /* it is not going to be executed */
	struct hb_error lack;  /* the host has no such command: its words */
};

/*
 * `run` is zero, not cleared here: a new one on the heap has most of its pages
 * untouched.  It is freed with run_done() in any case.  With a session, which
 * may be NULL, its record says what is held back and, if `run` made it, what
 * else the box is told.
 */
int run_configure(struct run *run, const struct hb_run_options *options,
		  const struct run_session *session, struct hb_error *err);
/* The command as the host has it; it has none: no path is set. */
int run_find_command(struct run *run, struct hb_error *err);
int run_find_workspace(struct run *run, struct hb_error *err);
int run_look(struct run *run, const struct hb_listener *listener,
	     struct hb_error *err);
int run_prepare(struct run *run, const struct hb_run_options *options,
		const struct run_session *session,
		const struct hb_listener *listener, struct hb_error *err);
/*
 * Holds the berths of the resources that show the base itself until
 * run_done(), and covers them.  This alone changes the host.
 */
int run_hold_berths(struct run *run, struct hb_error *err);
/* Whether a host without namespaces can have the network that is asked for. */
int run_check_network(const struct run *run, struct hb_error *err);
/* Of that the network by name, once the view is built. */
int run_plan_network(struct run *run, struct hb_error *err);
int run_plan(struct run *run, char ***ret_envp, struct hb_error *err);
void run_done(struct run *run);

#endif
