/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_STORE_RECORD_H
#define HB_STORE_RECORD_H

#include "changes/resource.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct buf;
struct hb_error;

/*
 * What the file `session` in a session's directory says: the truth about its
 * state.  docs/formats/session.md is the format.
 */
#define RECORD_VERSION	     1
#define RECORD_NAME_MAX	     64
#define RECORD_ID_SIZE	     17 /* 16 hexadecimal digits */
#define RECORD_BOOT_SIZE     40
#define RECORD_RESOURCES_MAX 32
#define RECORD_READ_ONLY_MAX 256
#define RECORD_LAYERS_MAX    1000
#define RECORD_POLICY_MAX    1100
#define RECORD_COMMAND_SIZE  64
#define RECORD_FILE_MAX	     ((size_t)1 << 18)

enum session_state {
	SESSION_CREATED, /* being made: never on disk under its name */
	SESSION_IDLE,	 /* nothing is mounted, nothing is under way */
	SESSION_ACTIVE,	 /* a box has its layers mounted */
	SESSION_BROKEN,	 /* memory and disk may disagree: see recover */
	SESSION_GONE,	 /* being removed */
	SESSION_STATES	 /* one past the last */
};

/*
 * A frozen layer: one directory per resource, in the family's part of the
 * store.  The transactions in effect decide whether it counts.  So a commit or
 * a rollback that is undone brings its layers back by itself.
 */
struct record_layer {
	char id[RECORD_ID_SIZE];
	char mark[RECORD_NAME_MAX + 1]; /* its name; "": none was given */
	int64_t frozen;			/* seconds since 1970 */
	uint64_t after; /* the transaction that was the last when it was made */
	uint64_t from;	/* counts only while this one is in effect; 0: always */
	uint64_t until; /* and no more once this one is; 0: never ends */
	/*
	 * A copy of the upper that was made while a box ran.  It counts only
	 * while `from`, the rollback to it, is in effect; 0: there was none.
	 */
	bool is_copy;
	bool is_turn; /* a copy that was asked for from inside of the box */
};

struct session_record {
	char id[RECORD_ID_SIZE];
	char name[RECORD_NAME_MAX + 1];
	enum session_state state;
	uint64_t dir_ino;     /* of the session's own directory */
	int64_t created;      /* seconds since 1970 */
	struct timespec used; /* the last begin or end of something */
	char command[RECORD_COMMAND_SIZE]; /* that ran last; "": none yet */
	char boot[RECORD_BOOT_SIZE];	   /* the boot id when it was written */
	int64_t pid;	  /* SESSION_ACTIVE: the supervisor's, else 0 */
	bool is_durable;  /* its overlays sync as the command asks for */
	bool is_unsynced; /* the last box's writes were not synced by us */
	bool has_lost;	  /* the machine went down while it was active */
	uint64_t undo_bytes;
	char family[RECORD_ID_SIZE]; /* whose layers these are; "": none yet */
	bool is_freezing; /* the upper is on its way to be the last layer */
	struct record_layer *layers; /* the oldest first */
	size_t n_layers;
	struct record_resource *resources;
	size_t n_resources;
	char **read_only; /* of an earlier version: record_adopt() */
	size_t n_read_only;
	bool is_passing; /* `run` made it: removed if it ends without changes */
	/*
	 * Made for a check command of the session with this id, and without an
	 * owner once that is not locked; "": it is not.
	 */
	char checks[RECORD_ID_SIZE];
	bool is_earlier; /* `create` made it when it had a view of its own */
	/* What its boxes are told: KEY=VALUE, see view/policy.h; owned. */
	char **policy;
	size_t n_policy;
};

/* Accepts zero. */
void record_done(struct session_record *record);

/*
 * Notes a command by its name and the word after it, such as `npm test`.  More
 * could be a secret, and so could the argument of an option.
 */
void record_note_command(struct session_record *record, char *const *argv);

#define auto_record __attribute__((cleanup(record_done)))

const char *session_state_name(enum session_state state);

/*
 * A session's name, or a mark's as `what` says.  It has 1 to 64 bytes of UTF-8,
 * no slash, no control or hidden character, and does not begin with '.', '-' or
 * '@'.  -HB_E_USAGE with words.
 */
int record_check_name(const char *what, const char *name, struct hb_error *err);

/*
 * For a session that `create` of an earlier version made, and that has no
 * settings of its own.  Gives it the settings that show what its commands saw:
 * the whole host, read-only.  Any other is left as it is.
 */
int record_adopt(struct session_record *record, struct hb_error *err);

/* The name of the profile that its boxes have; "" if it is not known. */
const char *record_profile(const struct session_record *record);

/* Whether its boxes show the whole host. */
bool record_shows_host(const struct session_record *record);

/* Whether the log has records of its commands: the key `audit`. */
bool record_keeps_log(const struct session_record *record);

/* 16 hexadecimal digits. */
bool record_is_id(const char *text);

/* Adds copies; -E2BIG past the limits above. */
int record_add_resource(struct session_record *record, const char *source,
			const char *inside, struct record_resource **ret,
			struct hb_error *err);
int record_add_read_only(struct session_record *record, const char *path,
			 struct hb_error *err);
int record_add_policy(struct session_record *record, const char *words,
		      struct hb_error *err);
int record_add_layer(struct session_record *record,
		     const struct record_layer *layer, struct hb_error *err);
void record_remove_layer(struct session_record *record, size_t number);

int record_format(const struct session_record *record, struct buf *out,
		  struct hb_error *err);

/*
 * Reads `n` bytes, any bytes.  -HB_E_CORRUPT if they are not a whole record
 * with its checksum; -HB_E_STATE for one of a newer version.  The record is
 * zero before and has to be freed by the caller in any case.
 */
int record_parse(const char *text, size_t n, struct session_record *record,
		 struct hb_error *err);

/*
 * The file in the directory `dir`: read, and replaced atomically.  With `sync`
 * a power cut leaves the old one or the new one.  Without it, where nothing is
 * to be lost yet, perhaps an empty one.
 */
int record_read(int dir, struct session_record *record, struct hb_error *err);
int record_write(int dir, const struct session_record *record, bool sync,
		 struct hb_error *err);

/*
 * Keeps room for one more: record_write() takes it where the disk is full.
 * Without room nothing is kept.
 */
void record_keep_room(int dir, const struct session_record *record);

/*
 * The first record of a session that is not there under its name yet.  It is
 * written in place and without a sync, because no process reads it before it is
 * whole.
 */
int record_create(int dir, const struct session_record *record,
		  struct hb_error *err);

/*
 * Any file of a session, replaced by way of the name `fresh` and durable.  The
 * caller holds the session's lock.
 */
int record_replace(int dir, const char *name, const char *fresh,
		   const struct buf *text);

#endif
