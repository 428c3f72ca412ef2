/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_SHOW_DOC_H
#define HB_CLI_SHOW_DOC_H

#include "base/buf.h"
#include "base/json.h"

#include <stdbool.h>

struct hb_error;

/*
 * What a command prints on stdout: text, or one JSON document.  Written piece
 * by piece, so that a long list needs no memory.
 */
struct doc {
	struct buf out;
	struct json json; /* is_json: an object is open */
	bool is_json;
	int fd; /* where it goes; 0: stdout */
	/* Of text: */
	bool has_colour;
	bool is_raw;	/* bytes that are not ours: no line is broken */
	size_t columns; /* of the terminal that it goes to; 0: of none */
};

/* What stands against a command, piece by piece: objects of JSON. */
struct evidence {
	struct buf findings, conflicts, merge_conflicts, denied;
};

void evidence_init(struct evidence *evidence);
void evidence_done(struct evidence *evidence);

/*
 * An object for the evidence: writes it between these two, to `doc`.  What
 * fails is left out.
 */
void evidence_begin(struct doc *doc);
void evidence_add(struct buf *list, struct doc *doc);

#define DOC_VERSION 1

/* The document begins with its version and the name of the command. */
void doc_begin(struct doc *doc, bool is_json, const char *command);
void doc_done(struct doc *doc);
#define auto_doc __attribute__((cleanup(doc_done)))

/* Writes what there is, if it is much. */
int doc_flow(struct doc *doc, struct hb_error *err);

/* Ends the document and writes the rest. */
int doc_end(struct doc *doc, struct hb_error *err);

/* One member of the object that is open. */
void doc_str(struct doc *doc, const char *key, const char *value);
void doc_uint(struct doc *doc, const char *key, uint64_t value);
void doc_bool(struct doc *doc, const char *key, bool value);

/*
 * A document that says only what went wrong, to that descriptor or with 0 to
 * stdout.  `evidence` may be NULL.
 */
void doc_error(int fd, const char *command, const struct hb_error *err,
	       const struct evidence *evidence);

#endif
