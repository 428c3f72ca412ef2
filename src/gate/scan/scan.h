/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GATE_SCAN_SCAN_H
#define HB_GATE_SCAN_SCAN_H

#include "base/sha256.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hb_error;

/*
 * Finds secrets: files by their names, and contents by the formats in
 * data/secrets.rules, which says what a format is.
 *
 * The bytes are hostile.  Memory is bounded for any input, and so is the time
 * per byte.  Nothing that is told about a secret has a part of it.
 */
struct scan;

struct scan_kind {
	const char *id;	   /* as in "github-token" */
	const char *words; /* for people, as in "a GitHub token" */
	bool is_guess;	   /* looks like one, and no format says that it is */
};

struct scan_finding {
	const struct scan_kind *kind; /* lives as long as the scan */
	uint64_t line;		      /* where the secret begins, from 1 */
	/*
	 * Tells whether two findings of a kind are the same secret.  Never to
	 * be stored or shown: of a short secret it could be tried out.
	 */
	uint8_t digest[SHA256_SIZE];
};

/* A negated code ends the scan, which returns it. */
typedef int (*scan_found_fn)(void *ctx, const struct scan_finding *finding,
			     struct hb_error *err);

/* With the rules that are compiled in.  The caller frees. */
int scan_new(struct scan **ret, struct hb_error *err);

/*
 * The same with the rules in `n` bytes of `text`, which messages call `name`.
 * -HB_E_CONFIG: they are no rules.
 */
int scan_new_rules(const char *name, const void *text, size_t n,
		   struct scan **ret, struct hb_error *err);
void scan_free(struct scan *scan);

/*
 * What a file of this name is for, or NULL: nothing secret.  The path is
 * relative; letter case does not matter.  Nothing is opened.
 */
const struct scan_kind *scan_name(const struct scan *scan, const char *path);

/*
 * Every kind that there is, `i` from 0; NULL after the last one.
 */
const struct scan_kind *scan_kind_at(const struct scan *scan, size_t i);

/*
 * Tells each secret in a regular file, from its beginning to its end; holes are
 * skipped.  The descriptor's position stays.  Returns 0, what `found` returned,
 * or why it cannot be read.
 */
int scan_fd(struct scan *scan, int fd, scan_found_fn found, void *ctx,
	    struct hb_error *err);

/*
 * The same for bytes that are not in a file: begin, add and skip in any order
 * and in parts of any size, end.  What was found is told at the latest by
 * scan_end().  After a failure only scan_begin() makes sense.
 */
void scan_begin(struct scan *scan, scan_found_fn found, void *ctx);
int scan_add(struct scan *scan, const void *bytes, size_t n,
	     struct hb_error *err);

/* `n` NUL bytes, at no cost. */
int scan_skip(struct scan *scan, uint64_t n, struct hb_error *err);
int scan_end(struct scan *scan, struct hb_error *err);

#endif
