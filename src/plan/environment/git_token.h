/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_PLAN_GIT_TOKEN_H
#define HB_PLAN_GIT_TOKEN_H

struct hb_error;

/*
 * A value of KEY_GIT_TOKEN, VAR[=HOST[:PORT]]: git inside answers the host's
 * question for a password with the variable, by https alone.  Pure.
 *
 * The name stands in a line of shell, and has letters, digits and '_'.  The
 * host stands in a key of git, and has letters, digits, '.', '-' and a port.
 */
#define GIT_TOKEN_HOST	   "github.com"
#define GIT_TOKEN_NAME_MAX 128
#define GIT_TOKEN_HOST_MAX 260

struct git_token {
	char name[GIT_TOKEN_NAME_MAX + 1];
	char host[GIT_TOKEN_HOST_MAX + 1];
};

/* -HB_E_USAGE with the cause; *ret is undefined then. */
int git_token_parse(const char *text, struct git_token *ret,
		    struct hb_error *err);

#endif
