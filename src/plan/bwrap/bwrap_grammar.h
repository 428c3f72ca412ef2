/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_PLAN_BWRAP_BWRAP_GRAMMAR_H
#define HB_PLAN_BWRAP_BWRAP_GRAMMAR_H

#include "plan/bwrap/bwrap.h"
#include "plan/plan.h"

/*
 * What the option table (bwrap_options.c) and the loop over the words
 * (bwrap_parse.c) share, and no other file includes.
 */

/* How many words follow an option; ONE and AN differ in the complaint only. */
enum bwrap_arity {
	NONE,
	AN,
	ONE,
	TWO,
	THREE,
};

/* The parser between two words. */
struct bwrap_state {
	const struct bwrap_world *world;
	struct plan *plan;
	struct bwrap_call *call;

	unsigned ns, ns_try; /* enum plan_ns, as asked for by name */
	size_t n_words;	     /* counted against BWRAP_MAX_ARGS */
	bool in_file;	     /* the words come from --args */
	bool has_args;	     /* --args was met: args_fd is to be read */
	int args_fd;
	int seccomp_fd; /* of --seccomp, -1 without */
	bool has_hostname;

	/* What the option after a modifier consumes. */
	int perms;     /* -1: none */
	uint64_t size; /* 0: none */
	size_t n_layers;
};

struct bwrap_option {
	const char *name;
	enum bwrap_arity arity;
	/*
	 * `words` are the arguments.  0 goes on, 1 ends the parse with the
	 * request that is in s->call.
	 */
	int (*apply)(struct bwrap_state *s, const struct bwrap_option *o,
		     char *const *words, struct hb_error *err);
	unsigned what;	/* what a family differs in: see its handler */
	unsigned flags; /* enum plan_op_flag, or a second `what` */
	const char *args;
	const char *help;
};

/* The option of that name, NULL if there is none. */
const struct bwrap_option *bwrap_option_find(const char *name);

#endif
