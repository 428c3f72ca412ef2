/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_POSTGRES_DATABASE_FACTS_H
#define HB_POSTGRES_DATABASE_FACTS_H

#include "postgres/program.h"

#include <stdbool.h>
#include <stddef.h>

struct hb_error;

/*
 * What was found out about the real database when a session was made for it:
 * enough for a server of our own that looks the same from inside.
 */
struct database_facts {
	int major;		    /* version of the server */
	char bin[PROGRAM_DIR_SIZE]; /* its programs */
	char *url;		    /* as it was asked for */
	char *name, *user;	    /* of the database; the role that asked */
	char *encoding, *collate, *ctype;
	char *icu; /* its locale where ICU is the provider; or NULL */
	/* All others of the server, as the archive may name them. */
	struct database_role {
		char *name;
		bool is_superuser;
	} * roles;
	size_t n_roles;
};

/* Adds one. */
int facts_add_role(struct database_facts *f, const char *name,
		   bool is_superuser);

#define FACTS_FILE    "facts"
#define FACTS_ARCHIVE "archive"

void facts_done(struct database_facts *f);
#define auto_facts __attribute__((cleanup(facts_done)))

int facts_write(int dir, const struct database_facts *f, struct hb_error *err);
int facts_read(int dir, struct database_facts *ret, struct hb_error *err);

#endif
