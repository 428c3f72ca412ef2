/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BASE_GLOB_H
#define HB_BASE_GLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hb_error;

/*
 * Patterns over paths, by the rules of gitignore(5), in bytes:
 *
 *	?	one byte but a slash
 *	*	any number of bytes but slashes
 *	[a-z]	one byte of the class, [!a-z] and [^a-z] of the others; never a
 *		slash; "]" may stand first, "-" first or last; [:alpha:] and its
 *		like inside of it are those of ASCII
 *	\x	x itself
 *	**	as a whole component: any number of components.  "a/ ** /b"
 *		(without the blanks) matches a/b and a/x/y/b, "**" at the start
 *		any beginning, and at the end everything below but not the
 *		directory itself.  Beside other bytes it is a "*".
 *
 * A pattern matches from the start of the path if it begins with a slash or has
 * one before its last byte.  Any other matches the last component.  A slash at
 * the end makes it match directories only.
 *
 * A leading "!" is not known: the owner of a list of patterns decides its
 * meaning.
 */
#define GLOB_PATTERN_MAX 1024

enum glob_flags {
	GLOB_FOLD = 1 << 0, /* A to Z are the same as a to z */
	GLOB_DIR = 1 << 1,  /* the path names a directory */
	/* Of a pattern from the start: also if a directory above matches. */
	GLOB_ABOVE = 1 << 2,
};

/*
 * Returns 0, or -HB_E_CONFIG with words for a pattern that is empty, too long
 * or malformed.  The reader of a pattern checks it once.
 */
int glob_check(const char *pattern, struct hb_error *err);

/*
 * Whether the pattern matches the path, which is relative and normalised.  A
 * pattern that glob_check() refuses matches nothing.  Takes time in proportion
 * to the product of both lengths at most, and no memory but the stack.
 */
bool glob_match(const char *pattern, const char *path, unsigned int flags);

/*
 * Whether the pattern's `n` bytes match all of the text.  Slashes at the ends
 * have no meaning, and the start counts as that of a component.
 *
 * Every byte of the pattern that is looked at, for a byte of the text, lowers
 * `*work` by one.  At 0 the match is given up, and the answer is false.
 */
bool glob_match_all(const char *pattern, size_t n, const char *text, size_t len,
		    uint64_t *work);

#endif
