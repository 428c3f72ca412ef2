/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_POSTGRES_PROGRAM_H
#define HB_POSTGRES_PROGRAM_H

#include <stdbool.h>
#include <sys/types.h>

struct hb_error;

/*
 * The programs of PostgreSQL: where those of one version lie, and one run of
 * one of them.
 */
#define PROGRAM_DIR_SIZE  256
#define PROGRAM_ARGUMENTS 24

/*
 * The directory with initdb, postgres, pg_dump and pg_restore of that major
 * version.  -HB_E_UNSUPPORTED with the name of the package: there is none.
 */
int program_find(int major, char *const *envp, char ret_dir[PROGRAM_DIR_SIZE],
		 struct hb_error *err);

/* One run.  Everything is borrowed. */
struct program {
	const char *dir, *name;
	const char *const *arguments; /* behind the name; NULL at the end */
	char *const *envp;
	int dir_fd;	 /* where `log` lies */
	const char *log; /* gets all that it says; made anew */
	bool is_apart;	 /* in a session of its own: no key reaches it */
};

/* Starts it, and returns its process; the caller waits. */
int program_start(const struct program *program, struct hb_error *err);

/*
 * Runs it to its end.  A status other than 0 is -HB_E_STATE, with the first
 * line of the log that tells of an error.
 */
int program_run(const struct program *program, struct hb_error *err);

/* Adds that line to a failure. */
int program_fail(const struct program *program, int r, struct hb_error *err);

#endif
