/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOLDBACK_EVENTS_H
#define HOLDBACK_EVENTS_H

#include "holdback/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The log of a store: what was run, what was refused, and what was done with
 * the changes.  It outlives sessions.  docs/formats/log.md has its form.
 */
struct hb_events;
struct hb_store;

/*
 * One record.  A string that it does not have is NULL; paths and texts are any
 * bytes but NUL.
 */
struct hb_event {
	const char *line; /* as it is stored, without its end */
	size_t n_line;
	uint64_t seq;
	const char *time; /* RFC 3339, UTC */
	int64_t seconds;  /* the same since 1970 */
	/* Of enum hb_report_kind, or "torn", "gap", "lost". */
	const char *kind;
	const char *session, *id;
	const char *project; /* the real directory of its first resource */
	const char *source;  /* that of `path`; NULL: the project */
	const char *path, *text;
	const char *rule, *severity, *detail; /* of a finding */
	/* Of a connection, which may have a rule and has its port as number. */
	const char *verdict, *host, *cause;
	const char *verb, *to, *program; /* of a call */
	const char *fix; /* of a call that was refused; NULL: none is known */
	bool is_allowed;
	bool answer; /* to a question */
	bool has_number;
	uint64_t number; /* pid, status, code, operations or port */
};

/* Opens the log at its beginning.  Before the first record it is empty. */
int hb_events_open(struct hb_store *store, struct hb_events **ret_events,
		   struct hb_error *err);
void hb_events_free(struct hb_events *log);

/*
 * 1: a record, valid until the next call.  0: there is no more; a later call
 * looks again.
 */
int hb_events_next(struct hb_events *log, struct hb_event *ret_event,
		   struct hb_error *err);

/*
 * A directory as records have it: absolute.  It need not exist any more.
 * -HB_E_USAGE: it is too long.
 */
int hb_events_place(const char *dir, char *ret, size_t size,
		    struct hb_error *err);

/* What is wrong with a log at one place. */
struct hb_events_fault {
	const char *file;   /* its name in the log's directory */
	uint64_t line;	    /* the first that it is about, from 1; 0: none */
	uint64_t last_line; /* and the last */
	const char *words;
};

struct hb_events_proof {
	uint64_t n_records, n_blocks, n_segments;
	uint64_t n_faults;
	uint64_t n_torn;   /* places where a write was cut short, as it says */
	bool is_cut_short; /* the last write was, and nothing has said so yet */
};

/* Compares every line with the chain, and tells each fault. */
int hb_events_verify(struct hb_store *store,
		     int (*tell)(void *context,
				 const struct hb_events_fault *fault),
		     void *context, struct hb_events_proof *ret_proof,
		     struct hb_error *err);

#endif
