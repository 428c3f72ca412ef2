/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_STORE_STORE_H
#define HB_STORE_STORE_H

#include "holdback/session.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The state directory.
 *
 *	PATH/sessions/NAME/	a session, 0700
 *	PATH/sessions/.new-ID/	one that is being made
 *	PATH/sessions/.gone-ID/	one that is being removed
 *	PATH/projects/		which directories sessions hold: projects.h
 *	PATH/log/		what was done: audit/log_head.h
 *	PATH/calls/log/		single calls of commands: the same
 *
 * Everything below PATH is reached by descriptor, belongs to us and cannot be
 * written by another user; anything else is refused.
 */
struct audit;

struct hb_store {
	int dir;      /* PATH */
	int sessions; /* -1: there is none yet */
	bool is_made; /* by this process: what leads to it may be as new */
	char *path;   /* absolute, without links */
	char *const *envp;
	/* The log's, with the caller's behind it. */
	const struct hb_listener *listener;
	struct audit *audit; /* whose listener this is */
	bool owns_audit;     /* else it is the caller's */
};

#define STORE_NEW  ".new-"
#define STORE_GONE ".gone-"

/* Where the state directory is, or would be.  -HB_E_CONFIG. */
int store_choose_path(const struct hb_store_options *options, char *ret,
		      size_t size, struct hb_error *err);

/* hb_store_open() without the debts of earlier runs. */
int store_open(const struct hb_store_options *options, bool create,
	       struct hb_store **ret_store, struct hb_error *err);

/* HB_REPORT_SAID to the listener of the store. */
void store_say(const struct hb_store *store, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Opens the directory `name` in `dirfd` for reading, without following it:
 * ours, and of no use to others.  -HB_E_STATE if it is not.
 */
int store_open_own(int dirfd, const char *name, struct hb_error *err);

/* The same without the right to read it: what it holds is found by name. */
int store_open_shut(int dirfd, const char *name, struct hb_error *err);

/*
 * Whether `name` is still that directory, asked with its lock held.  A session
 * that was being made may have got its own name before we had the lock.
 */
bool store_leads_to(const struct hb_store *store, const char *name, int dir);

/* Returns -HB_E_NO_SESSION with words about that name. */
int store_no_session(const char *name, struct hb_error *err);

/* The session's directory; -HB_E_NO_SESSION. */
int store_open_session(const struct hb_store *store, const char *name,
		       struct hb_error *err);

/*
 * Calls `fn` with each name in `dirfd` but "." and "..".  Stops when that
 * returns less than zero, and returns it.
 */
typedef int (*store_name_fn)(void *ctx, const char *name, struct hb_error *err);
int store_each_name(int dirfd, store_name_fn fn, void *ctx,
		    struct hb_error *err);

/* The names of all sessions in order; freed with store_free_names(). */
int store_names(const struct hb_store *store, char ***ret_names, size_t *ret_n,
		struct hb_error *err);
void store_free_names(char **names, size_t n);

#endif
