/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CHANGES_BEGUN_H
#define HB_CHANGES_BEGUN_H

#include "base/sha256.h"
#include "changes/walk.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct change;

/*
 * How a session began that began with other files than those of its base: on a
 * branch of its own, from the commit of HEAD.  Its layers have differences to
 * the base then that no command made.  As long as an object is as it was at
 * that beginning, it is no change.
 *
 *	branch = holdback/claude-1
 *	commit = ID
 *	entry = TYPE EXECUTES INDEX CONTENT PATH
 *	sum = HEX			SHA-256 of all lines before
 */
struct begun_entry {
	char *path; /* from the resource on */
	enum entry_type type;
	bool executes;
	uint64_t index; /* of an index of git: git_index_name(); else 0 */
	uint8_t content[SHA256_SIZE];
};

struct begun {
	char *branch, *commit;	     /* NULL: there is none */
	struct begun_entry *entries; /* sorted by path */
	size_t n;
};

void begun_done(struct begun *begun);
#define auto_begun __attribute__((cleanup(begun_done)))

/* Adds what a layer has at that path; begun_sort() before it is asked. */
int begun_add(struct begun *begun, const struct change *change,
	      const int *layers, struct hb_error *err);
void begun_sort(struct begun *begun);

/*
 * Marks a change as CHANGE_BEGUN if the session has at its path what it began
 * with: 1, 0.  Content, type
 * and the permission to execute count, which is all that git knows.  Without a
 * record, NULL, nothing is marked.
 */
int begun_mark(const struct begun *begun, const struct sighting *s,
	       struct change *change, struct hb_error *err);

/* Whether it has the path at all. */
bool begun_names(const struct begun *begun, const char *path);

/* Whether both say the same of the path of an entry. */
bool begun_agrees(const struct begun *begun, const struct begun_entry *entry);

/* The record as text, and back.  -EBADMSG: that is no whole record. */
int begun_write(const struct begun *begun, struct buf *out);
int begun_parse(const char *text, size_t len, struct begun *ret);

#endif
