/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_STORE_PROJECTS_H
#define HB_STORE_PROJECTS_H

#include <stddef.h>

struct hb_error;
struct hb_store;
struct session_record;

/*
 * Which sessions hold a directory, without a look at every session: a run asks
 * that before its command starts.  docs/formats/session.md has the format,
 * docs/decisions/0033 the reason.
 */

/*
 * Notes the session under each of its directories.  The caller gives it its
 * name afterwards, so that no session is without its notes.
 */
int projects_add(const struct hb_store *store,
		 const struct session_record *record, struct hb_error *err);

/* Takes the notes back.  The caller has taken the session's name before. */
void projects_remove(const struct hb_store *store,
		     const struct session_record *record);

/*
 * The names of sessions that may hold the directory `path`, the last made
 * first, and at most `max`.  A name is a hint: the session may be gone, and
 * its record decides.  In another boot than the last time it reads all records
 * once.  Where it cannot write, it returns the names of all sessions.  The
 * caller frees by store_free_names().
 */
int projects_find(const struct hb_store *store, const char *path, size_t max,
		  char ***ret_names, size_t *ret_n, struct hb_error *err);

/* Removes notes of sessions that are gone, and what held them. */
void projects_collect(const struct hb_store *store);

#endif
