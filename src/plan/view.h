/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_PLAN_VIEW_H
#define HB_PLAN_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct hb_error;
struct plan;

/*
 * The view of `holdback run`, as a plan: an empty root into which things are
 * put.  Pure: what depends on the host is in struct view_host, which the caller
 * fills by looking at each row of view_paths.
 */

enum view_class {
	VIEW_SYSTEM,	  /* read-only at its own path, or the link it is */
	VIEW_HIDDEN_DIR,  /* inside of one: covered by an empty directory */
	VIEW_HIDDEN_FILE, /* the same for a file */
	VIEW_TOOL,	  /* below $HOME, relative to it; read-only */
};

struct view_path {
	enum view_class class;
	const char *path;
};

#define VIEW_PATHS 45

extern const struct view_path view_paths[VIEW_PATHS];

enum view_found {
	VIEW_ABSENT,  /* or, for what is to be hidden, out of reach anyway */
	VIEW_PRESENT, /* a directory or a file */
	VIEW_LINK,    /* a symbolic link: `target` is its text */
};

struct view_host {
	enum view_found found[VIEW_PATHS];
	const char *target[VIEW_PATHS];
	const char *home;      /* without links; NULL: none that can be used */
	const char *home_name; /* as the caller spells it */
	const char *resolver;  /* what /etc/resolv.conf leads to, or NULL */
	bool is_root;
	char *const *envp;
};

/* A tree of the host at its own path; `path` is absolute, without links. */
struct view_tree {
	const char *path;
	const char *name; /* another name it is known by; may be the same */
	bool is_writable;
};

struct view_request {
	const char *workspace; /* copy-on-write; absolute, without links */
	mode_t mode;	       /* the workspace's own */
	const char *cwd;       /* inside; absolute */
	const char *cwd_name;  /* another name it is known by, or NULL */
	uint64_t size;	       /* of each thing in memory */
	bool has_net;	       /* the host's network */
	bool no_ptrace;
	bool allow_nested;
	const char *program; /* the last component of the command's name */
	const struct view_tree *trees;
	size_t n_trees;
	const char *const *env; /* NAME or NAME=VALUE */
	size_t n_env;
};

/*
 * Fills `plan`, which is initialized and freed by the caller; its command is
 * not set.  Strings of the request and of the host are borrowed by it.
 */
int view_build(const struct view_request *request, const struct view_host *host,
	       struct plan *plan, struct hb_error *err);

/*
 * Whether a host path, absolute and without "..", shows the same object in a
 * view.  Links that the view itself makes are followed, others are not known.
 */
bool view_has(const struct plan *plan, const char *path);

/*
 * A place that may not be a workspace, because the view puts something of its
 * own there: returns what to say about it, NULL if there is nothing.
 */
const char *view_refuses_workspace(const char *path, const char *home);

#endif
