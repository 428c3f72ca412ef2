/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_PUBLISH_LOGIN_PUBLISH_H
#define HB_SESSION_PUBLISH_LOGIN_PUBLISH_H

#include "agent/login.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct carried;
struct hb_error;

#define PUBLISH_KEYS_SIZE 1024

/* One file of the settings, and what the host had there. */
struct publish_item {
	char path[PATH_MAX];	      /* the host's */
	char keys[PUBLISH_KEYS_SIZE]; /* "": all of it */
	int64_t resource;  /* that holds it; -1: the home directory */
	uint64_t ino;	   /* of the host's; 0: there was none */
	int64_t sec, nsec; /* its ctime */
};

/* What the host has now, into the item; -EINVAL: no regular file. */
int login_look(struct publish_item *item);

/*
 * What the host would have with `ours` in it, and how its tokens differ from
 * the host's at the time `now`.  LOGIN_SAME also where nothing would change.
 * -EBADMSG: `ours` is not whole.
 */
int login_merge(const struct publish_item *item, const char *ours, size_t n,
		int64_t now, struct buf *ret, enum login_change *ret_change);

/*
 * Puts `text` in the place of the host's file, and keeps that for undo in
 * STATE/logins/AGENT.  -ESTALE: the host's is not as the item says.  `tag` is
 * for the name of a temporary file.
 */
int login_publish(int state, const char *agent, const struct publish_item *item,
		  const struct buf *text, const char *tag,
		  struct hb_error *err);

/*
 * The same of a login that is carried in the directory `shelf`, which it leaves
 * then.  1: done; 0: the host has it; -ENOENT: it is no login.
 */
int login_publish_carried(int state, const char *agent, int shelf,
			  const struct carried *c, struct hb_error *err);

#endif
