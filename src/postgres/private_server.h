/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_POSTGRES_PRIVATE_SERVER_H
#define HB_POSTGRES_PRIVATE_SERVER_H

#include "postgres/database_facts.h"

#include <postgresql/libpq-fe.h>
#include <stdbool.h>
#include <sys/types.h>

struct hb_error;

/*
 * A server of our own, on a socket in the directory that holds its data.  It
 * listens to no network.  It runs in a box alone: its data are as hostile as
 * the command that wrote them.
 */
struct private_server {
	const struct database_facts *facts; /* borrowed */
	char *const *envp;
	int dir;	  /* of the data and the socket; borrowed */
	const char *path; /* of that directory */
	const char *data; /* the name of the data in it */
	bool is_brief;	  /* nothing of it has to survive the machine */
	pid_t pid;	  /* 0: it does not run */
};

/*
 * The superuser that it is made with.  The user's own role cannot be it: a name
 * with quotes is refused there.
 */
#define PRIVATE_OWNER "holdback"

/* Makes the data anew: a server without the database. */
int private_init(struct private_server *s, struct hb_error *err);

/*
 * Starts it on its data and waits until it answers.  A server on these data
 * that was killed has left files that name its process, which go before.
 */
int private_start(struct private_server *s, struct hb_error *err);

/* Stops it: connections are ended, nothing is lost.  Can be repeated. */
int private_stop(struct private_server *s, struct hb_error *err);

/* A connection by this role; the caller ends it by PQfinish(). */
int private_connect(const struct private_server *s, const char *role,
		    const char *database, PGconn **ret, struct hb_error *err);

/*
 * The roles that the archive may name, as roles that cannot log in, and the
 * empty database with the encoding and the locale of the original.  `owner` is
 * its owner, and a superuser if that is asked for.
 */
int private_prepare(const struct private_server *s, const char *owner,
		    bool is_superuser, struct hb_error *err);

/*
 * Restores an archive by this role.  With `log`, objects that the role cannot
 * restore are passed over, and that file of the directory tells of them.
 */
int private_restore(const struct private_server *s, const char *role,
		    const char *archive, const char *log, struct hb_error *err);

/*
 * The statements of an archive that are about no row, with owners and rights.
 * No server is asked.
 */
int private_schema(const struct private_server *s, const char *archive,
		   const char *to, struct hb_error *err);

/* Else each text that PostgreSQL writes has another random word in it. */
#define PRIVATE_KEY "--restrict-key=holdback"

/* pg_dump of the database by this role, with these arguments, to a file. */
int private_dump(const struct private_server *s, const char *role,
		 const char *const *arguments, const char *to,
		 struct hb_error *err);

#endif
