/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_DIFF_CONFIG_LINES_H
#define HB_CLI_DIFF_CONFIG_LINES_H

/*
 * git's configuration files, as far as a few plain keys need it: sections,
 * comments, quotes, escapes and lines that go on.  Sections with a second name
 * are skipped, and files are not included.
 */
#define GITCONFIG_VALUE 4096 /* longer ones are cut */

/* `name` is "section.key" in lower case; `value` is "true" where none stands.
 */
typedef void (*gitconfig_fn)(void *ctx, const char *name, const char *value);

/*
 * Reads a text, which ends with a NUL.  0, or -EINVAL at the first thing that
 * git would not take; what stood before was told.
 */
int gitconfig_parse(const char *text, gitconfig_fn fn, void *ctx);

#endif
