/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOLDBACK_LIVE_H
#define HOLDBACK_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What goes on in a live session; part of holdback/session.h. */

struct hb_error;
struct hb_session;
struct hb_store;

/* A command in the box of a live session. */
struct hb_live_command {
	pid_t pid;
	bool has_joined;   /* false: the box was made for this command */
	const char *words; /* of who started it, any bytes; "": not to be had */
};

/* Something that is mounted in its view; any bytes. */
struct hb_mount {
	const char *path, *type, *source;
	const char *options;	/* of the mount */
	const char *fs_options; /* of the file system */
};

/* A live session from outside, at one moment. */
struct hb_live {
	pid_t pid;     /* of the holdback that has it */
	int64_t since; /* seconds since 1970 */
	/*
	 * Why no more is known, and nothing below is set: it is stopped, or is
	 * about to begin or to end.  NULL: it has answered.
	 */
	const char *silence;
	pid_t init;	   /* pid 1 of the box, as we see it */
	bool is_kept;	   /* held open without a command of its own */
	bool is_full;	   /* all of it is stopped for want of room on disk */
	uint64_t n_joined; /* of which `commands` has the first only */
	size_t n_commands;
	const struct hb_live_command *commands;
	/* Where its user reaches the view's "/" from the host; NULL: nowhere */
	const char *view;
	bool has_mounts; /* else they cannot be read */
	size_t n_mounts;
	const struct hb_mount *mounts;
};

/*
 * What goes on in a session that is live, for who has it open without the lock.
 * Asks the supervisor and waits for an answer no longer than a moment.  1:
 * *ret_live is the caller's to free; 0: it is not live.
 */
int hb_session_live(struct hb_session *session, struct hb_live **ret_live,
		    struct hb_error *err);
void hb_live_free(struct hb_live *live);

/*
 * Takes the pending changes of a session that hb_session_open_live() opened:
 * its commands are still for a moment.  From then on the session is about
 * these, also for hb_session_changes() and hb_session_commit().  Does nothing
 * to a session that is not live.  -HB_E_BUSY: its commands cannot be stopped,
 * git is at work, or its changes are not there before the end.
 */
int hb_session_take(struct hb_session *session, struct hb_error *err);

/*
 * The same for a caller that commits a part.  Where git is at work it does not
 * fail, and the caller leaves that directory out.  hb_session_git_work() says
 * what git does there, in words, or NULL.
 */
int hb_session_take_part(struct hb_session *session, struct hb_error *err);
const char *hb_session_git_work(const struct hb_session *session,
				size_t resource);

/*
 * Waits until the session `ref` (hb_session_open) is not live any more, at most
 * so many milliseconds.  1: it is not live; 0: it is.
 */
int hb_await_end(struct hb_store *store, const char *ref, int64_t ms,
		 struct hb_error *err);

/* What a sync that repeats itself has done for a session. */
struct hb_sync {
	uint64_t interval; /* seconds; 0: it has ended */
	int64_t last;	   /* seconds since 1970; 0: never */
	uint64_t n_times;  /* how often it took something */
	uint64_t n_files;  /* and how many files in all */
	uint64_t n_held;   /* paths that wait for a person, by the last look */
	char held[128];	   /* the same in words; "": none */
};

/* With the lock, which may be borrowed.  Replaces the older note. */
int hb_session_note_sync(struct hb_session *session, const struct hb_sync *sync,
			 struct hb_error *err);

/* 1: there is a note of the last run, or of a later `sync --every`; 0: none. */
int hb_session_noted_sync(const struct hb_session *session,
			  struct hb_sync *ret_sync, struct hb_error *err);

/*
 * In a command that runs in a box with `mark-turns`: asks for a mark of the
 * turn that ends, and waits for it.  -HB_E_STATE: this is no such box.
 */
int hb_turn_ask(struct hb_error *err);

#endif
