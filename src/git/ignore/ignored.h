/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_IGNORE_IGNORED_H
#define HB_GIT_IGNORE_IGNORED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hb_error;

/*
 * Which paths git ignores, by the rules that the base has: `.gitignore` files
 * on the way, info/exclude, and the index, whose paths are never ignored.
 * Nothing is run, and no layer has a say.
 *
 * A repository is where the base has a `.git`; a path in no repository is not
 * ignored.  A repository inside another has rules of its own, unless the outer
 * one ignores it altogether.  Where the index cannot be understood nothing is
 * ignored.
 *
 * The git directory of a worktree may lie elsewhere: inside of the base it is
 * found, and that of the base's own top is given.
 */
struct ignored_outside {
	int git;    /* of the worktree: index */
	int common; /* of the repository: info/exclude */
};

/* `outside` may be NULL; both are borrowed.  NULL: no memory. */
struct ignored *ignored_new(int base, const struct ignored_outside *outside);
void ignored_free(struct ignored *x);

struct ignored_question {
	const char *path; /* relative to the base */
	bool is_directory;
	int dir; /* its directory in the base; -1: not known, or not there */
};

/*
 * How much work all answers together may be: as ignore_file_judge() counts it,
 * so that the same tree has the same answers on every machine.  2000 ordinary
 * rules and 20 000 paths take less than a third of it (t_ignorefile.c); rules
 * that are made to be slow take hours otherwise.
 */
#define IGNORED_WORK ((uint64_t)1 << 28)

/*
 * 1: ignored, and `*ret_top` bytes of the path are the topmost directory that
 * is, or all of it.  0: not.  Asked in the order of a walk; in another it is
 * right as well, but slower.  Once the work is used up, a path whose rules were
 * not all looked at is not ignored, and counts as `ignored_unjudged()`.
 */
int ignored_ask(struct ignored *x, const struct ignored_question *q,
		size_t *ret_top, struct hb_error *err);
uint64_t ignored_unjudged(const struct ignored *x);

#endif
