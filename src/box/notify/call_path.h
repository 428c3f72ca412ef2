/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_NOTIFY_CALL_PATH_H
#define HB_BOX_NOTIFY_CALL_PATH_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Paths of callers, as the view has them: absolute and without links.  What
 * does not change often is kept for a second: the working directory and the
 * program of a process, and where a directory really is.  box/notify/caller.h
 * says how far such a path can be trusted.
 */
#define CALL_KEPT_MAX	  256 /* bytes of a path that is kept */
#define CALL_PROCESSES	  64
#define CALL_DIRECTORIES  64
#define CALL_PROGRAM_SIZE 16

struct call_process {
	pid_t pid; /* 0: none */
	int64_t used;
	char cwd[CALL_KEPT_MAX]; /* "": not known */
	char program[CALL_PROGRAM_SIZE];
};

struct call_directory {
	int64_t found;
	char name[CALL_KEPT_MAX]; /* "": none */
	char real[CALL_KEPT_MAX];
};

struct call_paths {
	int proc; /* the host's; borrowed */
	bool has_links;
	struct call_process processes[CALL_PROCESSES];
	struct call_directory directories[CALL_DIRECTORIES];
};

/* A path of a call: the words are the caller's. */
struct call_where {
	pid_t pid;
	int dir; /* a descriptor of the caller, or AT_FDCWD */
	uint64_t word;
	bool is_followed; /* a link in the last place is */
};

/*
 * Whether it is there and a directory is told by *ret_mode, a mode or 0;
 * `is_looked` says that this is wanted.  -errno: the caller has no such path.
 */
int call_path(struct call_paths *paths, const struct call_where *where,
	      bool is_looked, char ret[PATH_MAX], unsigned *ret_mode);

/* Of the process, or "?". */
const char *call_program(struct call_paths *paths, pid_t pid);

/* A process may have another program from here on. */
void call_paths_drop(struct call_paths *paths, pid_t pid);

/* Names may lead elsewhere from here on: of processes, or of directories. */
void call_paths_moved(struct call_paths *paths);
void call_paths_made(struct call_paths *paths);

#endif
