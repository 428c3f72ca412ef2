/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_AGENT_SHELF_H
#define HB_AGENT_SHELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hb_error;

/*
 * The state of one agent in one project, and where it lies:
 *
 *	STATE/agents/PROJECT/where	the project's path, for people
 *	STATE/agents/PROJECT/AGENT/	carried.h
 *	STATE/logins/AGENT/		the files that a published login
 *					replaced, as carried.h has them
 */
#define SHELF_DIR	"agents"
#define SHELF_LOGINS	"logins"
#define SHELF_WHERE	"where"
#define SHELF_NAME_SIZE 65
#define SHELF_BYTES_MAX ((uint64_t)64 << 20)
#define SHELF_FILES_MAX 2048

struct shelf_project {
	char name[SHELF_NAME_SIZE]; /* device, inode and birth time */
};

/* Of the directory `fd`: another one at the same path is another project. */
int shelf_find_project(int fd, struct shelf_project *ret, struct hb_error *err);

/* Whether an agent of this name can have one. */
bool shelf_is_agent(const char *agent);

/*
 * Opens the agent's directory below `state`; with `where`, the project's path,
 * makes it.  -ENOENT; -HB_E_STATE: it is a link, or another user's.
 */
int shelf_open(int state, const struct shelf_project *project,
	       const char *agent, const char *where, struct hb_error *err);

/* The files that published logins replaced; with `makes`, makes it. */
int shelf_open_logins(int state, const char *agent, bool makes,
		      struct hb_error *err);

/*
 * Waits a while for others that settle; -HB_E_BUSY.  Returns a descriptor that
 * holds the lock until it is closed.
 */
int shelf_lock(int dir, struct hb_error *err);

/* What an agent's directory holds. */
struct shelf_load {
	uint64_t bytes, files;
};

int shelf_weigh(int dir, struct shelf_load *ret, struct hb_error *err);

/* Whether it is more than an agent may have. */
bool shelf_is_full(const struct shelf_load *load);

/* Removes the directories that hold nothing any more. */
void shelf_tidy(int state, const struct shelf_project *project,
		const char *agent);

/* Every agent of a project, or of all: `project` "" and NULL. */
struct shelf {
	struct shelf_project project;
	char agent[SHELF_NAME_SIZE];
	const char *where; /* "": unknown */
	int dir;
};
typedef int (*shelf_fn)(void *ctx, const struct shelf *shelf,
			struct hb_error *err);
int shelf_each(int state, const struct shelf_project *project, shelf_fn fn,
	       void *ctx, struct hb_error *err);

#endif
