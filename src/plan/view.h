/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_PLAN_VIEW_H
#define HB_PLAN_VIEW_H

#include "plan/role.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct hb_error;
struct plan;

/*
 * The view of `holdback run`, as a plan: an empty root into which things are
 * put.  Pure: what depends on the host is in the entries and resources, which
 * the caller makes from the settings by looking at the host.
 *
 * All paths are absolute and normalised.
 */

enum view_class {
	VIEW_SHOW,    /* read-only, or the link it is */
	VIEW_HIDE,    /* where something shows it: covered */
	VIEW_RO,      /* read-only, asked for by name */
	VIEW_RW,      /* the same, and writes reach the real one */
	VIEW_SOCKET,  /* the same for one socket */
	VIEW_TEXT,    /* a file of ours */
	VIEW_EMPTY,   /* an empty one, where nothing else is shown */
	VIEW_FRESH,   /* a directory in memory, in the place of the host's; of a
		       * file nothing is there */
	VIEW_PASSING, /* a directory of the host, with changes in memory */
	VIEW_COPY,    /* a file of the home directory, copied to memory */
};

enum view_found {
	VIEW_ABSENT, /* or, for what is to be hidden, out of reach anyway */
	VIEW_DIR,
	VIEW_FILE,
	VIEW_LINK,     /* a symbolic link */
	VIEW_OWN_LINK, /* a link of ours, which shows nothing itself */
};

struct view_entry {
	enum view_class class;
	enum view_found found;
	const char *path;   /* where in the view */
	const char *source; /* the host's path; VIEW_TEXT, VIEW_COPY: the
			     * content */
	const char *target; /* of a link: what it says */
	const char *name;   /* another name for the place, or NULL */
	const struct setting_item *item; /* what asked for it; NULL: nothing */
	bool is_single; /* one program of PATH, or the name of one */
	bool is_real;  /* no link leads to the source, nor may one at the end */
	uint64_t mark; /* what was there, for who looks again; or 0 */
};

/* A directory whose changes are held back. */
struct view_resource {
	enum view_role role;
	const char *source; /* the real one, without links */
	const char *inside; /* where the view has it */
	mode_t mode;	    /* the real one's */
	/*
	 * Where the changes go.  Without an upper they are in memory and gone
	 * at the end.
	 */
	const char *const *layers; /* frozen ones, the lowest first */
	size_t n_layers;
	const char *upper, *work;
	const char *record; /* beside them: plan_op.record */
	const char *tree;   /* shown instead, and written to; or NULL */
	bool is_direct;	    /* nothing is held back: writes are real */
	const struct setting_item *item; /* what asked for it; NULL: nothing */
};

struct view_host {
	const char *home;      /* without links; NULL: none that can be used */
	const char *home_name; /* as the caller spells it */
	const char *home_dir;  /* what is there instead; NULL: memory */
	bool is_root;
	char *const *envp;
};

struct view_request {
	const struct settings *settings;
	const struct view_resource *resources; /* the workspace first */
	size_t n_resources;
	const struct view_entry *entries;
	size_t n_entries;
	const char *session;  /* the name of its session, or NULL */
	const char *cwd;      /* inside */
	const char *cwd_name; /* another name it is known by, or NULL */
	/* Places of ours: covered wherever something shows them. */
	const char *const *covered;
	size_t n_covered;
	bool is_volatile; /* resources with an upper need not sync */
	/* Who asked for the whole host; NULL: no file did. */
	const struct setting_item *host;
};

/*
 * Fills `plan`, which is initialized and freed by the caller; its command is
 * not set.  Strings of the request, its settings and the host are borrowed.
 */
int view_build(const struct view_request *request, const struct view_host *host,
	       struct plan *plan, struct hb_error *err);

/* Whose terminal the command has, and what it may do there. */
void view_terminal(const struct settings *s, struct plan *plan);

/* The limits that were asked for. */
void view_limits(const struct settings *s, struct plan *plan);

#endif
