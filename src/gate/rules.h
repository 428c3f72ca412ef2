/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GATE_RULES_H
#define HB_GATE_RULES_H

#include "gate/class.h"
#include "gate/severity.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hb_error;

/*
 * The rules of the gate, as data/gate.rules says them.  A later file adds to a
 * rule or replaces a value; a file of the workspace may only make it stricter.
 */
#define GATE_RULES_MAX 256
#define GATE_LIST_MAX  1024 /* patterns in one list of one rule */
#define GATE_ID_MAX    48   /* bytes in a name */

enum gate_source {
	GATE_BUILT_IN,
	GATE_CONFIGURED, /* of the system or the user */
	GATE_WORKSPACE,	 /* may only tighten */
};

/* Which changes a rule is about. */
enum gate_on {
	GATE_ON_ADDED = 1 << 0,
	GATE_ON_MODIFIED = 1 << 1,
	GATE_ON_DELETED = 1 << 2,
	GATE_ON_MODE = 1 << 3, /* attributes; of a rule without test: +x */
};

/* Something that has to hold besides; what each means is in run.c. */
enum gate_test {
	GATE_TEST_NONE,
	GATE_TEST_BINARY,
	GATE_TEST_EMPTIED, /* of all that is no comment */
	GATE_TEST_EXECUTABLE,
	GATE_TEST_GROUP,   /* nothing here: group.h puts findings together */
	GATE_TEST_HISTORY, /* nothing here: git/git_news.h tells */
	GATE_TEST_HOME,	   /* the resource is the home directory */
	GATE_TEST_LARGER,  /* than the limit */
	GATE_TEST_LEAVES,
	GATE_TEST_RUN,	    /* nothing here: session/check.h tells */
	GATE_TEST_MANY,	    /* more than the limit of them, all in all */
	GATE_TEST_OBJECTS,  /* gone, and no pack is new */
	GATE_TEST_REF_GONE, /* and no packed reference has its name */
	GATE_TEST_SECRET,
	GATE_TEST_SECRET_GUESS, /* looks like one */
	GATE_TEST_SECRET_NAME,
	GATE_TEST_SETID,
	GATE_TEST_WRITABLE, /* by everybody, now */
	GATE_TESTS
};

/* How contents are read; items.h. */
enum gate_content {
	GATE_CONTENT_NONE,
	GATE_CONTENT_ATTRIBUTES,
	GATE_CONTENT_GIT_CONFIG,
	GATE_CONTENT_HOSTS,
	GATE_CONTENT_JSON,
	GATE_CONTENT_JSONC,
	GATE_CONTENT_LINES,
};

struct gate_list {
	char **words;
	size_t n;
};

struct gate_path {
	char *pattern;
	size_t reason; /* its number in the rule's reasons, plus 1; 0: none */
	/* Built in: it is about names above the resource as well. */
	bool is_whole;
};

struct gate_rule {
	char *id, *reason;
	struct gate_list reasons; /* of single paths */
	enum gate_class class;
	enum gate_severity severity;
	enum gate_source source; /* who said it first */
	unsigned on;		 /* enum gate_on */
	unsigned key_on;	 /* the same, of its keys */
	unsigned types;		 /* 1 << enum entry_type; 0: all but dirs */
	enum gate_test test;
	enum gate_content content;
	uint64_t limit;
	struct gate_path *paths;
	size_t n_paths;
	struct gate_list except, keys, except_keys, values;
	struct gate_list marks; /* files whose directory is a group; group.h */
	struct gate_list parts; /* RULE:PATTERN, by nature in such a one */
};

struct gate_rules {
	struct gate_rule *rules;
	size_t n;
	struct gate_index *index; /* of their paths, once they are complete */
};

/* None, for tests and for the program that builds them in. */
struct gate_rules *gate_rules_empty(void);
void gate_rules_free(struct gate_rules *rules);

/*
 * Adds what the `n` bytes of a file say; any bytes.  -HB_E_CONFIG with the name
 * of the file, the line and the cause; the rules can only be freed then.
 */
int gate_rules_read(struct gate_rules *rules, enum gate_source source,
		    const char *name, const char *text, size_t n,
		    struct hb_error *err);

/*
 * Nothing more is added: checks that each rule says what it is about, and makes
 * the index.  -HB_E_CONFIG.
 */
int gate_rules_complete(struct gate_rules *rules, struct hb_error *err);

/* The rule of that name, or NULL. */
const struct gate_rule *gate_rules_find(const struct gate_rules *rules,
					const char *id);

/*
 * -HB_E_USAGE, with a suggestion, unless `words` is RULE or RULE:GLOB with a
 * rule that is there and a pattern that is well-formed.
 */
int gate_allow_check(const struct gate_rules *rules, const char *words,
		     struct hb_error *err);

/* Whether such words are about this finding. */
bool gate_allow_matches(const char *words, const char *rule, const char *path);

#endif
