/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_REVIEW_GIT_SIGNING_H
#define HB_REVIEW_GIT_SIGNING_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct buf;
struct hb_error;
struct hb_session;

/*
 * The user's way to sign: format, program and key, as git's configuration of
 * the user and the system has them.  A repository has no say, and no program in
 * a directory of the session is run.
 */
struct signing {
	char *const *envp;
	bool is_ssh;
	bool has_literal;	/* `key` is the text of a public key */
	char key[4096];		/* for gpg: an id; for ssh: a file or a text */
	char program[PATH_MAX]; /* as it was found */
};

/*
 * `git_dir` is the absolute path of the repository, for conditions.
 * -HB_E_CONFIG: no key is configured, or no program is there.
 */
int signing_find(const struct hb_session *s, const char *git_dir,
		 char *const *envp, struct signing *ret, struct hb_error *err);

/* The signature of the text, as git has it in a header. */
int signing_run(const struct signing *signing, const char *text, size_t n,
		struct buf *out, struct hb_error *err);

#endif
