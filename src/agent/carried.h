/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_AGENT_CARRIED_H
#define HB_AGENT_CARRIED_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct hb_error;

/*
 * One file of an agent's state that is carried to its next run: a file of ours
 * that holds a head and the content.  docs/decisions/0026.
 *
 * (a) A file is replaced by rename and is on disk by then: a crash leaves the
 *     old one or the new one.
 * (b) Everything in it was written by a box.  A head that is not whole is no
 *     file, and the caller that uses a path from it looks at that path.
 *
 * tests/unit/t_carry.c holds both.
 */

/* What an agent does with a file. */
enum state_class {
	STATE_RUNS,  /* executes or obeys it, or may do so */
	STATE_DATA,  /* reads it */
	STATE_LOGIN, /* shows it to its service */
	STATE_CLASSES
};
const char *state_class_name(enum state_class class);
/* STATE_CLASSES: there is none of this name. */
enum state_class state_class_named(const char *name);

enum carried_type {
	CARRIED_FILE,
	CARRIED_LINK, /* a symbolic link; the text is its target */
	CARRIED_GONE, /* the host has a file there, and the agent removed it */
	CARRIED_TYPES
};

const char *carried_type_name(enum carried_type type);

#define CARRIED_FILE_MAX    ((size_t)16 << 20)
#define CARRIED_POLICY_SIZE 4096
#define CARRIED_KEYS_SIZE   1024
#define CARRIED_POLICY_ANY  "any" /* the user has said so */
#define CARRIED_NAME_SIZE   65	  /* hexadecimal digits */
#define CARRIED_HOST_SIZE   65	  /* a digest, or one of these: */
#define CARRIED_HOST_NONE   ""	  /* the host has none */
#define CARRIED_HOST_OTHER  "?"	  /* it was changed since */
#define CARRIED_HOST_SAID   "!"	  /* the same, and the user was told */

struct carried {
	char path[PATH_MAX]; /* the host's */
	char root[PATH_MAX]; /* the state directory; "": the home */
	char name[PATH_MAX]; /* the agent's for it, if a link leads there; or ""
			      */
	enum state_class class;
	enum carried_type type;
	uint64_t mode; /* permissions */
	int64_t time;  /* seconds since 1970 */
	char session[17];
	char host[CARRIED_HOST_SIZE]; /* what the host had */
	char policy[CARRIED_POLICY_SIZE];
	char keys[CARRIED_KEYS_SIZE];  /* members left out of `host` */
	char login[CARRIED_HOST_SIZE]; /* these members of the host's */
	uint64_t size;		       /* of the text */
	uint64_t ino; /* of the file that has it, once it was read */
};

/* The name of the file for a path. */
void carried_name(const char *path, char ret[CARRIED_NAME_SIZE]);

/*
 * Reads the file `name` in `dir`; `text`, which may be NULL, gets the content.
 * -ENOENT; -HB_E_CORRUPT: it is not whole.
 */
int carried_read(int dir, const char *name, struct carried *ret,
		 struct buf *text, struct hb_error *err);

/*
 * Replaces the file of `c->path`.  `temporary` is the caller's own name, which
 * begins with CARRIED_NEW.
 */
#define CARRIED_NEW "new-"
int carried_write(int dir, const struct carried *c, const void *text,
		  const char *temporary, struct hb_error *err);

/* Nothing is carried for the path any more; 0 also if nothing was. */
int carried_remove(int dir, const char *path);

/* In the order of their names; what is not whole is left out. */
typedef int (*carried_fn)(void *ctx, int dir, const struct carried *c,
			  struct hb_error *err);
int carried_each(int dir, carried_fn fn, void *ctx, struct hb_error *err);

/* How many of them are not whole. */
size_t carried_damaged(int dir);

/*
 * Removes these, and temporary files that a kill left: the caller has the lock
 * of the directory.  How many were not whole.
 */
int carried_sweep(int dir, struct hb_error *err);

#endif
