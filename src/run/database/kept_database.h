/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_RUN_DATABASE_KEPT_DATABASE_H
#define HB_RUN_DATABASE_KEPT_DATABASE_H

#include "holdback/holdback.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct hb_error;
struct hb_session;
struct hb_store;
struct mounted;
struct run;

/*
 * A database of a server that a run holds back: store/pictures.h.
 *
 * The setting db = postgres:///NAME becomes one more directory that is held
 * back, the picture of the database.  The box of a command has a private server
 * with the database of the picture's archive.  After the command a box without
 * it brings the picture up to date.  No box reaches the real server.
 */

/* Where a box has its parts. */
#define DATABASE_PICTURE  "/run/holdback/database"
#define DATABASE_SERVER	  "/run/holdback/server"
#define DATABASE_ORIGINAL "/run/holdback/original"
#define DATABASE_FACTS	  "/run/holdback/facts"
#define DATABASE_PROGRAM  "/run/holdback/postgres"

/* The settings of a caller, with the directory in the place of the URL. */
struct database_start {
	struct hb_setting *settings; /* NULL: no database is asked for */
	size_t n_settings;
	const char *url;
	char cow[PATH_MAX + sizeof(DATABASE_PICTURE) + 1];
	int lock; /* of the place, until a session refers to it */
};

#define DATABASE_START_NONE     \
	(struct database_start) \
	{                       \
		.lock = -1      \
	}

/*
 * Looks for the setting, and makes the picture.  A database that the session
 * has already may be named again.  With `is_quick` -EAGAIN without words: it
 * takes longer.  -HB_E_USAGE, and -HB_E_UNSUPPORTED with the package that is
 * missing.  On failure nothing is left.
 */
int database_begin(const struct hb_store *store,
		   const struct hb_session *session,
		   const struct hb_setting *settings, size_t n_settings,
		   char *const *envp, bool is_quick, struct database_start *ret,
		   struct hb_error *err);

/* Whether a setting asks for one. */
bool database_is_asked(const struct hb_setting *settings, size_t n_settings);

/* Without a session that refers to it the place is gone afterwards. */
void database_end(const struct hb_store *store, struct database_start *start);

bool database_is_kept(const struct hb_session *session);

/*
 * Before the view is built: shows the parts, and sets the variables by which
 * programs find the server.
 */
int database_show(struct run *run, const struct mounted *m,
		  struct hb_error *err);

/* Before a command's box: the picture is not of the data any more. */
int database_spoil(const struct hb_session *session, struct hb_error *err);

/* The words of the plan's command with the server around it. */
int database_wrap(struct run *run, bool is_inspection, struct hb_error *err);

/* The words of the box that looks: for struct hb_run_options. */
#define DATABASE_WORDS 7
void database_words(char *argv[DATABASE_WORDS]);

/*
 * After that box: whether it could look.  If not, says why, and the changes
 * cannot be committed before it can.
 */
void database_inspected(const struct hb_session *session, int status);

#endif
