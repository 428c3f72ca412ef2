/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_PUBLISH_CARRY_NOTE_H
#define HB_SESSION_PUBLISH_CARRY_NOTE_H

#include "agent/carried.h"
#include "agent/shelf.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct hb_error;
struct hb_session;
struct sys_attr;

/*
 * What a session has to know about the state that its box was given, from
 * before the box until that is settled:
 *
 *	STATE/sessions/NAME/carry		the note
 *	STATE/sessions/NAME/carry-settling	the same: deletions are settled
 */
#define CARRY_NOTE     "carry"
#define CARRY_SETTLING "carry-settling"
#define CARRY_NEW      "carry.new"

#define CARRY_RESUME_SIZE 256

/*
 * A path of a profile, and the class of what is at and below it.  A star in a
 * component stands for any bytes of that component.
 */
struct carry_rule {
	enum state_class class;
	char *path;
	char *keys;	/* members of a login; "": all of it */
	bool is_hidden; /* the box does not see the host's: carry_hide.h */
};

/* A file as it was given to the box. */
struct carry_given {
	char *path;
	uint64_t ino;
	int64_t sec, nsec; /* its ctime */
	uint64_t carried;  /* the inode of the carried file */
};

struct carry_note {
	struct shelf_project project;
	char where[PATH_MAX]; /* the project's path */
	char agent[SHELF_NAME_SIZE];
	char policy[CARRIED_POLICY_SIZE];
	char home[PATH_MAX];
	/* The command that goes on with a conversation that is only here. */
	char resume[CARRY_RESUME_SIZE];
	bool is_quiet;		   /* what is carried is not said */
	int64_t begun, begun_nsec; /* by the clock of ctimes */
	struct carry_rule *rules;
	size_t n_rules;
	struct carry_given *given;
	size_t n_given;
};

void carry_note_done(struct carry_note *note);
#define auto_carry_note __attribute__((cleanup(carry_note_done)))

int carry_note_rule(struct carry_note *note, enum state_class class,
		    const char *path, const char *keys);
int carry_note_given(struct carry_note *note, const char *path,
		     const struct sys_attr *attr, uint64_t carried);

/* NULL: the box was not given such a file. */
const struct carry_given *carry_note_find(const struct carry_note *note,
					  const char *path);
bool carry_note_is_same(const struct carry_given *given,
			const struct sys_attr *attr);

/* Whether the rule's path is this one, not one above it. */
bool carry_rule_is_at(const struct carry_rule *rule, const char *path);

/* The longest path decides; what no rule names may be executed. */
enum state_class carry_note_class(const struct carry_note *note,
				  const char *path);
/* The members of a login that it has; "": it has none, or is one. */
const char *carry_note_keys(const struct carry_note *note, const char *path);

int carry_note_write(const struct hb_session *s, const struct carry_note *note,
		     struct hb_error *err);

/* -ENOENT: neither is there.  `name` is CARRY_NOTE or CARRY_SETTLING. */
int carry_note_read(const struct hb_session *s, const char *name,
		    struct carry_note *ret, struct hb_error *err);

/*
 * What tells the version of a file that the host has in the directory `dir`
 * from another one: without the members `keys`.  "": there is none.
 */
void carry_text_digest(const char *text, size_t n, const char *keys,
		       char ret[CARRIED_HOST_SIZE]);
int carry_host_digest(int dir, const char *name, const char *keys,
		      char ret[CARRIED_HOST_SIZE]);

/* Puts null in the place of the members of a login. */
int carry_without_login(struct buf *text, const char *keys);

/* The same of these members alone; "": there are none. */
void carry_members_digest(const char *text, size_t n, const char *keys,
			  char ret[CARRIED_HOST_SIZE]);
void carry_login_digest(int dir, const char *name, const char *keys,
			char ret[CARRIED_HOST_SIZE]);

#endif
