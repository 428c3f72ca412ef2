/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GATE_SCAN_SCAN_RULES_H
#define HB_GATE_SCAN_SCAN_RULES_H

#include "gate/scan/scan.h"
#include "gate/scan/scan_check.h"
#include "gate/scan/scan_pattern.h"

/*
 * The rules of data/secrets.rules, which has their grammar, as they are used.
 */
#define SCAN_KINDS_MAX	  1024
#define SCAN_FORMATS_MAX  4096
#define SCAN_NAMES_MAX	  4096
#define SCAN_HARMLESS_MAX 256

struct rule_kind {
	struct scan_kind public;	/* owns its strings */
	const struct scan_check *check; /* NULL: none */
	unsigned entropy;		/* tenths of a bit per byte */
	struct scan_pattern value;
	bool has_value;
};

/* A line `match` or `assign`. */
struct rule_format {
	size_t kind;
	bool is_assign;
	struct scan_pattern pattern;
};

/* A line `name` or `except`. */
struct rule_name {
	size_t kind;
	bool is_except;
	char *glob;
};

struct scan_rules {
	struct rule_kind *kinds;
	struct rule_format *formats;
	struct rule_name *names;
	char **harmless; /* in lower case */
	size_t kind_count, format_count, name_count, harmless_count;
};

/*
 * Reads `n` bytes of `text`, which messages call `name`.  -HB_E_CONFIG with the
 * line, or -ENOMEM.  The caller releases with rules_done() in any case.
 */
int rules_read(struct scan_rules *rules, const char *name, const void *text,
	       size_t n, struct hb_error *err);
void rules_done(struct scan_rules *rules);

/* As scan_name(). */
const struct scan_kind *rules_name(const struct scan_rules *rules,
				   const char *path);

/*
 * Whether the format stands at `at` and is meant.  Looks at most SCAN_SPAN_MAX
 * bytes ahead.
 */
enum scan_answer rules_match(const struct scan_rules *rules,
			     const struct rule_format *format,
			     const struct scan_text *t, size_t at,
			     struct scan_match *ret);

#endif
