/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_IGNORE_IGNOREFILE_H
#define HB_GIT_IGNORE_IGNOREFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One file of patterns as gitignore(5) has them: what its lines mean, and what
 * git makes of the odd ones.  Any bytes are a list; what can match nothing
 * matches nothing.
 */
struct ignore_rule {
	const char *pattern; /* without "!", and the slashes at its ends */
	size_t len;
	size_t literal; /* so many bytes at its start are no pattern */
	size_t tail;	/* and so many at its end, in one component */
	size_t needle;	/* offset of the first bytes behind stars that are none
			 */
	size_t needle_len;
	bool is_negated;
	bool is_for_directories;
	bool is_for_names; /* of one component, at any depth */
	bool is_for_ends;  /* a star, and then what a name ends in */
};

struct ignore_file {
	char *text;
	struct ignore_rule *rules; /* in the order of the file */
	size_t n;
};

/*
 * Takes `text`, `size` bytes and a NUL on the heap, also on failure, which is
 * -ENOMEM.  A zeroed struct is an empty list.
 */
int ignore_file_parse(char *text, size_t size, struct ignore_file *ret);
void ignore_file_done(struct ignore_file *file);

enum ignore_verdict {
	IGNORE_SAYS_NOTHING,
	IGNORE_IS_EXCLUDED,
	IGNORE_IS_INCLUDED, /* by a pattern with "!" */
};

/*
 * What the last rule that matches says about a path, relative to the directory
 * that the list is for.  Directories above the path are not asked about.
 *
 * Each rule that is looked at lowers `*work`, by what comparing it costs.  At 0
 * the rest is not looked at, and nothing is said.
 */
enum ignore_verdict ignore_file_judge(const struct ignore_file *file,
				      const char *path, size_t len,
				      bool is_directory, uint64_t *work);

#endif
