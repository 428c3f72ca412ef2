/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GATE_GIT_RUNS_H
#define HB_GATE_GIT_RUNS_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct gate_rules;
struct gate_seen;
struct hb_error;
struct resource;

/*
 * Files of a project that are run or obeyed by another name than their own.
 * git's configuration names them, or a link in a place that the rules are about
 * leads to them.  Only the base says so, before the stream is read: a
 * session that changes configuration or a link is asked about that.
 */
#define RUNS_MAX 1024

struct run_place {
	char *target; /* from the resource on; it and all below it */
	char *as;     /* what the rules take it for */
	char *why;    /* for people */
};

struct runs {
	struct run_place *list;
	size_t n;
};

/* What cannot be read or understood says nothing, as it does to git. */
int runs_read(struct runs *runs, const struct resource *resource,
	      const struct gate_rules *rules, struct hb_error *err);
void runs_done(struct runs *runs);

/*
 * Adds to `seen` the rules about names that the path is reached by; `scratch`
 * is for these.  The words for people, or NULL: there is none.
 */
const char *runs_find(const struct runs *runs, const struct gate_rules *rules,
		      const char *path, struct buf *scratch,
		      struct gate_seen *seen);

/* Whether git runs a program that the value of this key names. */
bool runs_by_key(const struct gate_rules *rules, const char *key);

#endif
