/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_PLAN_FILTER_RC_VALUE_H
#define HB_PLAN_FILTER_RC_VALUE_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

/*
 * The user's configuration of a package manager as a view shows it: the keys of
 * a list, and no others.  User and password are cut from a URL; a value that
 * has a query, or that `is_secret` knows, is left out.  Pure; any bytes may
 * come in.
 */
enum rc_kind {
	RC_NPM,	  /* ~/.npmrc */
	RC_PIP,	  /* pip.conf */
	RC_CARGO, /* ~/.cargo/config.toml */
	RC_UV,	  /* uv.toml */
	RC_MISE,  /* mise's config.toml */
};

struct rc {
	enum rc_kind kind;
	/* Whether the value of the key is a secret.  May be NULL. */
	bool (*is_secret)(void *ctx, const char *name, const char *value,
			  size_t n);
	/* Shows a file of certificates; a negated code ends.  May be NULL. */
	int (*show)(void *ctx, const char *path);
	void *ctx;
	size_t n_left_out; /* grows by each key that was cut or left out */
};

/*
 * For the readers of single formats: adds a value to `out`, in quotes of the
 * format, if the list has the key.  1: it was added; 0: it is left out.
 */
int rc_add_value(struct rc *rc, const char *name, const char *value, char quote,
		 struct buf *out);

#endif
