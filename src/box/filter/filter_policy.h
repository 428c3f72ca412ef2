/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_FILTER_FILTER_POLICY_H
#define HB_BOX_FILTER_FILTER_POLICY_H

#include "box/filter/filter.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The policy file in memory.  Build time only: parser and checks are written to
 * stop at the first mistake with file and line, not to be linked into anything.
 */

#define POLICY_MAX_RULES  256
#define POLICY_MAX_CONSTS 64
#define POLICY_MAX_CONDS  3
#define POLICY_MAX_VALUES 8
#define POLICY_MAX_NAME	  48
#define POLICY_MAX_LINE	  512

enum policy_arch {
	POLICY_X86_64,
	POLICY_AARCH64,
	POLICY_ARCHES,
};

enum policy_op {
	POLICY_EQ,	/* argument == value[0] */
	POLICY_MASK_EQ, /* (argument & mask) == value[0] */
	POLICY_ABOVE,	/* argument > value[0] */
	POLICY_NONE_OF, /* argument is none of the values */
	POLICY_ANY_OF,	/* (argument & mask) != 0 */
};

struct policy_cond {
	unsigned int arg;
	enum policy_op op;
	uint64_t mask;
	uint64_t value[POLICY_MAX_VALUES];
	size_t n_values;
};

struct policy_rule {
	unsigned int line;
	char call[POLICY_MAX_NAME];
	int number; /* -1: to be looked up by name */
	int error;
	struct policy_cond cond[POLICY_MAX_CONDS];
	size_t n_conds;	       /* all must hold; 0: always */
	unsigned int variants; /* bit 1 << FILTER_*: the rule is in force */
};

struct policy_notify {
	unsigned int line;
	enum filter_class class;
	char call[POLICY_MAX_NAME];
	int number; /* -1: to be looked up by name */
	bool has_cond;
	/*
	 * POLICY_MASK_EQ: one bit is set, or none of the mask's.
	 * POLICY_ANY_OF: one of its bits is set.
	 */
	struct policy_cond cond;
	/* FILTER_REFUSED: those in which a rule refuses it */
	unsigned int variants;
};

struct policy_const {
	char name[POLICY_MAX_NAME];
	uint64_t value;
};

struct policy {
	const char *file;
	int last[POLICY_ARCHES]; /* -1: not given */
	struct policy_const consts[POLICY_MAX_CONSTS];
	size_t n_consts;
	struct policy_rule rules[POLICY_MAX_RULES];
	size_t n_rules;
	struct policy_notify notified[FILTER_NOTIFIED_MAX - 1];
	size_t n_notified;
	/* Those of `watch` lines, whose program is their own. */
	struct policy_notify watched[FILTER_WATCHED_MAX - FILTER_NOTIFIED_MAX];
	size_t n_watched;
};

/*
 * Reads and checks FILE.  Returns 0, or prints `FILE:LINE: message` on stderr
 * and returns -1; *p is then of no use.  Names of system calls are not checked
 * here: that takes libseccomp's tables.
 */
int policy_read(struct policy *p, const char *file);

/* Prints `file:line: message` on stderr; returns -1. */
int policy_fail(const struct policy *p, unsigned int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
