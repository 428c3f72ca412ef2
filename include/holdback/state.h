/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOLDBACK_STATE_H
#define HOLDBACK_STATE_H

#include <stdbool.h>
#include <stdint.h>

struct hb_error;
struct hb_session;
struct hb_store;

/*
 * The state of agents that is carried from run to run: holdback-state(1).
 */
struct hb_state_options {
	const char *project; /* its directory; NULL: of the working directory */
	bool is_all;	     /* all projects instead */
	const char *agent;   /* NULL: every one */
	const char *path;    /* NULL: every file */
};

struct hb_state_file {
	const char *project; /* its path when the state was written, or "" */
	const char *agent;
	const char *path;  /* the host's */
	const char *class; /* "runs", "data" or "login" */
	const char *type;  /* "file", "link" or "gone" */
	uint64_t size;
	int64_t time;	    /* when it was written */
	const char *policy; /* a line for each thing that the run was allowed */
	/* The host's was changed since: runs get that. */
	bool is_outdated;
	const char *text; /* of one path that was asked for; else NULL */
};

typedef int (*hb_state_fn)(void *ctx, const struct hb_state_file *file,
			   struct hb_error *err);
int hb_state_list(struct hb_store *store,
		  const struct hb_state_options *options, hb_state_fn fn,
		  void *ctx, struct hb_error *err);

/* The same for the project of a session. */
int hb_session_state(struct hb_session *session, hb_state_fn fn, void *ctx,
		     struct hb_error *err);

/* Nothing of it is carried any more. */
int hb_state_forget(struct hb_store *store,
		    const struct hb_state_options *options, uint64_t *ret_n,
		    struct hb_error *err);

/* The next run gets it, also with more rights, and over a newer host's file. */
int hb_state_take(struct hb_store *store,
		  const struct hb_state_options *options, uint64_t *ret_n,
		  struct hb_error *err);

/*
 * The login that is carried for the project is the host's from now on; what it
 * replaces is kept.  `ret_n` files; 0: the host has it already.  -HB_E_STATE:
 * no login of this agent is carried, or it is not whole.
 */
int hb_state_publish(struct hb_store *store,
		     const struct hb_state_options *options, uint64_t *ret_n,
		     struct hb_error *err);

/*
 * The login that the last one replaced is the host's again.  Again, and it is
 * the other way round.  -HB_E_STATE: there is none, or the host's was changed.
 */
int hb_state_undo(struct hb_store *store, const char *agent, uint64_t *ret_n,
		  struct hb_error *err);

/*
 * A session in which the files of class "runs" are pending, to be committed;
 * -HB_E_STATE: there are none.  Who does not commit it removes it;
 * hb_state_end() forgets the files that the host has after a commit.
 */
int hb_state_begin(struct hb_store *store,
		   const struct hb_state_options *options,
		   struct hb_session **ret_session, struct hb_error *err);
int hb_state_end(struct hb_store *store, const struct hb_state_options *options,
		 struct hb_error *err);

#endif
