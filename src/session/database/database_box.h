/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_DATABASE_DATABASE_BOX_H
#define HB_SESSION_DATABASE_DATABASE_BOX_H

#include <stddef.h>
#include <sys/types.h>

struct hb_error;

/*
 * libexec/holdback/db (src/db/db.h) in a box of its own.  The databases that it
 * opens there may be made by an enemy.  It sees libraries and one directory,
 * and has no network.
 *
 * `dir` is that directory.  `out` has room for `size` bytes, or is NULL; what
 * was answered is terminated and may be cut short.  -HB_E_STATE: the database
 * is at fault; -HB_E_UNSUPPORTED: no such box can be made.
 */
int database_box_run(const char *command, int dir, char *out, size_t size,
		     struct hb_error *err);

/*
 * The same program outside, for a database of the base.  It works in `dir`, has
 * `from` as descriptor 3, and its pipes are the caller's.
 */
struct database_process {
	pid_t pid;
	int in, out; /* its standard input and output */
	int words;   /* what it says about a failure */
};
int database_process_start(struct database_process *p, int dir, int from,
			   char *const argv[], struct hb_error *err);

/* Its end: of a process that goes on when its input ends, that is waited for.
 */
void database_process_end(struct database_process *p);

/* Its last words, as text of one line. */
void database_process_words(const struct database_process *p, char *ret,
			    size_t size);

#endif
