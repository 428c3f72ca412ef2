/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CHANGES_DATABASE_H
#define HB_CHANGES_DATABASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct conflict_rule;
struct resource;
struct sighting;
enum conflict;

/*
 * An SQLite database X with X-wal and X-journal is one unit.  The side files
 * hold rows that X does not have yet, or rows that must come back into it.
 * Each of them alone is another database, or none.
 *
 * A program that has X open holds a lock on it, except for an idle connection
 * that keeps a rollback journal.  If a commit exchanges the file under such a
 * program, the program goes on writing into the copy for undo.
 */
enum database_part {
	DATABASE_NONE = 0,
	DATABASE_MAIN,
	DATABASE_WAL,
	DATABASE_JOURNAL,
	DATABASE_INDEX, /* X-shm: the programs that have X open share it */
};

/* Whether a file of that size can be X; nearly no other file has such a one. */
bool database_has_size(uint64_t size);

/* Endings of the side files, by enum database_part; "" for X itself. */
extern const char *const database_endings[DATABASE_INDEX + 1];

/*
 * The part that a name can be, by its ending alone, and how many bytes of it
 * name X.  DATABASE_MAIN: no ending of a side file.
 */
enum database_part database_part_of_name(const char *name, size_t *ret_main);

/*
 * The part that a sighting is, by its name and by the first bytes of the file
 * or of its X, on either side.
 */
enum database_part database_part_of(const struct sighting *s);

/*
 * Whether the rest of the unit stands against the change.  CONFLICT_OPEN: a
 * program has X of the base open; `*ret_holder` is its process or 0.
 * CONFLICT_DATABASE: the base's version of a file that the session leaves alone
 * has changed since T0.  CONFLICT_EDITED: the session replaces that file too.
 */
enum conflict database_conflict(const struct conflict_rule *rule,
				const struct sighting *s,
				enum database_part part, pid_t *ret_holder);

/*
 * Databases of a resource that are committed by their rows, while programs
 * outside use them.  Paths from its root, in path order.
 */
struct database_list {
	char **paths;
	size_t n;
};

/* Whether the path is one of them, or a side file of it: `ret_part`. */
bool database_is_listed(const struct resource *resource, const char *path,
			enum database_part *ret_part);

/*
 * Whether a layer has rows for the database that are not in the file itself:
 * a side file that holds something.
 */
bool database_has_log(const struct resource *resource, const char *path);

/* Whether another program wrote to the database at the path since T0. */
bool database_is_touched(const struct conflict_rule *rule, int dir,
			 const char *path);

/* What tells that no program has written to the files of a database. */
struct database_state {
	struct database_file {
		uint64_t ino, size; /* size 0: as good as none */
		struct timespec ctime;
	} files[DATABASE_INDEX];
};
void database_read_state(int dir, const char *main, struct database_state *ret);
bool database_is_state(const struct database_state *a,
		       const struct database_state *b);

/*
 * Whether `name` in `dir` is a database that a program has open: 1 and its
 * process, or 0 where that is in another namespace.  0: it is not, it is no
 * database, or it may not be read.
 */
int database_is_held(int dir, const char *name, pid_t *ret_holder);

#endif
