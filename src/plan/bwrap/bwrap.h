/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_PLAN_BWRAP_BWRAP_H
#define HB_PLAN_BWRAP_BWRAP_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct hb_error;
struct hb_listener;
struct plan;

/*
 * The bubblewrap command line, text to plan.
 *
 * Pure: the caller answers questions about the world through `struct
 * bwrap_world`.  So the parser can be fuzzed, and `holdback plan` can print the
 * plan.  Errors are HB_E_USAGE with exactly bubblewrap's words, without the
 * "bwrap: " in front.
 */
#define BWRAP_MAX_ARGS 9000

struct bwrap_world {
	void *ctx;
	/*
	 * Reads descriptor `fd` to its end and closes it.  *ret_data comes
	 * from malloc and is followed by a NUL that *ret_len does not count.
	 */
	int (*read_fd)(void *ctx, int fd, char **ret_data, size_t *ret_len,
		       struct hb_error *err);
	/* Whether the caller is uid 0, and its group. */
	bool is_root;
	unsigned gid;
	/* Whether `--unshare-user-try` and `--unshare-cgroup-try` can work. */
	bool (*can_unshare_user)(void *ctx);
	bool (*can_unshare_cgroup)(void *ctx);
	/* Hears diagnostics that stop nothing ("Only the last ..."), or NULL.
	 */
	const struct hb_listener *listener;
};

enum bwrap_request {
	BWRAP_RUN = 0,
	BWRAP_HELP,    /* --help: print the usage on stdout, exit 0 */
	BWRAP_VERSION, /* --version */
	BWRAP_USAGE,   /* no arguments or no command: usage on stderr, exit 1 */
};

struct bwrap_call {
	enum bwrap_request request;
	bool level_prefix; /* in force from that point of parsing on */
};

/*
 * Parses argv[1..], which a NULL follows, into `plan`, which the caller has
 * initialized and frees in any case.  Strings of the plan point into argv.
 * *ret_call is filled on failure too, because the form of the diagnostic
 * depends on it.
 */
int bwrap_parse(int argc, char *const argv[], const struct bwrap_world *world,
		struct plan *plan, struct bwrap_call *ret_call,
		struct hb_error *err);

/* The usage text of `--help`, made from the option table. */
int bwrap_usage(const char *argv0, struct buf *out, struct hb_error *err);

/* The option names in table order, NULL past the end; for tests and docs. */
const char *bwrap_option_name(size_t i);

#endif
