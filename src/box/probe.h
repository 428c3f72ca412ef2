/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_PROBE_H
#define HB_BOX_PROBE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The features of this host, found out by trying.  Each probe takes the very
 * steps of a box, in a child of its own, and leaves nothing behind.
 */

struct probe {
	const char *name;
	bool is_required;     /* without it no box of `holdback run` starts */
	const char *needs;    /* a probe that must have worked, or NULL */
	const char *used_for; /* what it is for */
	const char *lost;     /* what is different without it */
};

/* The i-th probe, NULL past the last; those that others need come first. */
const struct probe *probe_at(size_t i);

#define PROBE_FOUND_SIZE 128

/*
 * Tries the i-th probe.  `dir` is an empty directory that belongs to us, for
 * the probes that need one; what they leave in it is removed by
 * probe_clean_up().
 *
 * Returns 0, or -errno with words and, where one is known, a fix.  `ret_found`
 * is written in either case: what there is to say beside that, or "".
 */
int probe_try(size_t i, const char *dir, char ret_found[PROBE_FOUND_SIZE],
	      struct hb_error *err);

/* The same for a probe without a directory, by its name. */
int probe_named(const char *name, struct hb_error *err);

/* Empties `dir` of what probes put there. */
void probe_clean_up(const char *dir);

/*
 * Whether a box could have an overlay over the directory `source` with its
 * layers in `dir`, which is empty and ours.  Mounts one, writes, deletes and
 * makes again in it, and touches nothing of `source`.  The caller removes what
 * is in `dir` afterwards.
 *
 * Returns 0, 1 if there is no namespace to try it in, or -errno with words.
 */
int probe_overlay(const char *source, const char *dir, struct hb_error *err);

#endif
