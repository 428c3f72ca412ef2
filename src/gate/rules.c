/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/rules.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/glob.h"
#include "base/grow.h"
#include "base/kv.h"
#include "base/num.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "gate/index.h"
#include "tree/entry.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A workspace's file was written by whom the rules are about, some commits ago.
 * It may add rules.  To a rule of others it may add only entries that make it
 * find more: a higher severity, a lower limit, one more path.  A rule without
 * paths takes none: its first path would take all others away.
 */

/* What is being read. */
struct reading {
	struct gate_rules *rules;
	struct gate_rule *rule; /* the one at hand */
	enum gate_source source;
	bool is_foreign; /* it is not the workspace's own */
	size_t by;	 /* whose words the next path has; struct gate_path */
	const char *value;
};

struct key {
	const char *name;
	int (*set)(struct reading *reading, struct hb_error *err);
	bool may_tighten; /* `set` looks at is_foreign */
};

struct word {
	const char *name;
	unsigned value;
};

static const struct word on_words[] = { { "added", GATE_ON_ADDED },
					{ "modified", GATE_ON_MODIFIED },
					{ "deleted", GATE_ON_DELETED },
					{ "mode", GATE_ON_MODE },
					{ NULL, 0 } };

#define TYPE_WORD(id_, name_, format_, openness_) \
	{ (name_), 1U << ENTRY_##id_ },
static const struct word type_words[] = { ENTRY_ROWS(TYPE_WORD){ NULL, 0 } };

static const struct word test_words[] = {
	{ "binary", GATE_TEST_BINARY },
	{ "emptied", GATE_TEST_EMPTIED },
	{ "executable", GATE_TEST_EXECUTABLE },
	{ "group", GATE_TEST_GROUP },
	{ "history", GATE_TEST_HISTORY },
	{ "home", GATE_TEST_HOME },
	{ "larger", GATE_TEST_LARGER },
	{ "leaves", GATE_TEST_LEAVES },
	{ "many", GATE_TEST_MANY },
	{ "objects", GATE_TEST_OBJECTS },
	{ "ref-gone", GATE_TEST_REF_GONE },
	{ "run", GATE_TEST_RUN },
	{ "secret", GATE_TEST_SECRET },
	{ "secret-guess", GATE_TEST_SECRET_GUESS },
	{ "secret-name", GATE_TEST_SECRET_NAME },
	{ "setid", GATE_TEST_SETID },
	{ "writable", GATE_TEST_WRITABLE },
	{ NULL, 0 }
};

static const struct word content_words[] = {
	{ "attributes", GATE_CONTENT_ATTRIBUTES },
	{ "git-config", GATE_CONTENT_GIT_CONFIG },
	{ "hosts", GATE_CONTENT_HOSTS },
	{ "json", GATE_CONTENT_JSON },
	{ "jsonc", GATE_CONTENT_JSONC },
	{ "lines", GATE_CONTENT_LINES },
	{ NULL, 0 }
};

static int fail_word(const char *word, const struct word *words,
		     struct hb_error *err)
{
	struct suggestion s;

	suggestion_init(&s, word);
	for (; words->name; words++)
		suggestion_offer(&s, words->name);
	if (s.best)
		hb_fix(err, "did you mean '%s'?", s.best);
	return hb_fail(err, -HB_E_CONFIG, "'%s' is not known here",
		       quoted(word));
}

static int find_word(const char *word, const struct word *words, unsigned *ret,
		     struct hb_error *err)
{
	for (const struct word *w = words; w->name; w++) {
		if (strcmp(w->name, word) == 0) {
			*ret = w->value;
			return 0;
		}
	}
	return fail_word(word, words, err);
}

/* Words with blanks between them, as bits. */
static int find_words(const char *text, const struct word *words, unsigned *ret,
		      struct hb_error *err)
{
	auto_free char *copy = strdup(text);
	char *rest = copy, *word;
	unsigned all = 0, one = 0;
	int r;

	if (!copy)
		return hb_fail(err, -ENOMEM, "cannot read the rules");
	while ((word = strsep(&rest, " \t"))) {
		if (!*word)
			continue;
		r = find_word(word, words, &one, err);
		if (r < 0)
			return r;
		all |= one;
	}
	if (all == 0)
		return hb_fail(err, -HB_E_CONFIG, "nothing is said");
	*ret = all;
	return 0;
}

static bool is_id(const char *word)
{
	size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789-");

	return n > 0 && n <= GATE_ID_MAX && !word[n] && word[0] != '-';
}

static int replace_text(char **text, const char *value, struct hb_error *err)
{
	char *copy = strdup(value);

	if (!copy)
		return hb_fail(err, -ENOMEM, "cannot read the rules");
	free(*text);
	*text = copy;
	return 0;
}

static struct gate_rule *find(const struct gate_rules *rules, const char *id)
{
	for (size_t i = 0; i < rules->n; i++)
		if (strcmp(rules->rules[i].id, id) == 0)
			return &rules->rules[i];
	return NULL;
}

static int begin_rule(struct reading *reading, struct hb_error *err)
{
	struct gate_rules *rules = reading->rules;
	enum gate_source source = reading->source;

	if (!is_id(reading->value))
		return hb_fail(err, -HB_E_CONFIG,
			       "a name has a-z, 0-9 and '-', %d at most",
			       GATE_ID_MAX);
	reading->by = 0;
	reading->rule = find(rules, reading->value);
	if (reading->rule) {
		reading->is_foreign = source == GATE_WORKSPACE &&
				      reading->rule->source != source;
		return 0;
	}
	if (rules->n == GATE_RULES_MAX)
		return hb_fail(err, -HB_E_CONFIG, "more than %d rules",
			       GATE_RULES_MAX);
	if (grow(rules->rules, rules->n) < 0)
		return hb_fail(err, -ENOMEM, "cannot read the rules");
	reading->rule = &rules->rules[rules->n++];
	*reading->rule = (struct gate_rule){
		.severity = GATE_SEVERITIES,
		.source = source,
		.on = GATE_ON_ADDED | GATE_ON_MODIFIED,
		.key_on = GATE_ON_ADDED | GATE_ON_MODIFIED,
	};
	reading->is_foreign = false;
	return replace_text(&reading->rule->id, reading->value, err);
}

static int set_severity(struct reading *reading, struct hb_error *err)
{
	int severity = gate_severity_parse(reading->value);

	if (severity < 0)
		return hb_fail(err, -HB_E_CONFIG,
			       "not one of off, warn, ask, deny");
	if (reading->is_foreign && severity < (int)reading->rule->severity)
		return hb_fail(err, -HB_E_CONFIG,
			       "a workspace may only raise it");
	reading->rule->severity = (enum gate_severity)severity;
	return 0;
}

/* Of all paths so far, also if a program was named for them. */
static int set_reason(struct reading *reading, struct hb_error *err)
{
	struct gate_rule *rule = reading->rule;

	for (size_t i = 0; i < rule->n_paths; i++)
		rule->paths[i].reason = 0;
	reading->by = 0;
	return replace_text(&rule->reason, reading->value, err);
}

static int set_class(struct reading *reading, struct hb_error *err)
{
	int class = gate_class_parse(reading->value);

	if (class < 0)
		return hb_fail(err, -HB_E_CONFIG, "there is no such class");
	reading->rule->class = (enum gate_class) class;
	return 0;
}

static void list_done(struct gate_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->words[i]);
	free(list->words);
	*list = (struct gate_list){ 0 };
}

static int add_word(struct gate_list *list, const char *word,
		    struct hb_error *err)
{
	int r;

	if (list->n == GATE_LIST_MAX)
		return hb_fail(err, -HB_E_CONFIG, "more than %d patterns",
			       GATE_LIST_MAX);
	if (grow(list->words, list->n) < 0)
		return hb_fail(err, -ENOMEM, "cannot read the rules");
	list->words[list->n] = NULL;
	r = replace_text(&list->words[list->n], word, err);
	if (r >= 0)
		list->n++;
	return r;
}

/* 1: a well-formed one, 0: an empty value, which empties the list. */
static int check_glob(const struct reading *reading, size_t n,
		      struct hb_error *err)
{
	int r;

	if (reading->is_foreign && (n == 0 || !reading->value[0]))
		return hb_fail(err, -HB_E_CONFIG,
			       "a workspace may only add to it");
	if (!reading->value[0])
		return 0;
	r = glob_check(reading->value, err);
	return r < 0 ? r : 1;
}

static int add_glob(struct reading *reading, struct gate_list *list,
		    struct hb_error *err)
{
	int r = check_glob(reading, list->n, err);

	if (r == 0)
		list_done(list);
	return r > 0 ? add_word(list, reading->value, err) : r;
}

static void paths_done(struct gate_rule *rule)
{
	for (size_t i = 0; i < rule->n_paths; i++)
		free(rule->paths[i].pattern);
	free(rule->paths);
	rule->paths = NULL;
	rule->n_paths = 0;
}

static int keep_path(struct gate_rule *rule, const char *pattern,
		     const struct gate_path *like, struct hb_error *err)
{
	struct gate_path *path;

	if (rule->n_paths == GATE_LIST_MAX)
		return hb_fail(err, -HB_E_CONFIG, "more than %d patterns",
			       GATE_LIST_MAX);
	if (grow(rule->paths, rule->n_paths) < 0)
		return hb_fail(err, -ENOMEM, "cannot read the rules");
	path = &rule->paths[rule->n_paths];
	*path = *like;
	path->pattern = strdup(pattern);
	if (!path->pattern)
		return hb_fail(err, -ENOMEM, "cannot read the rules");
	rule->n_paths++;
	return 0;
}

static int add_path(struct reading *reading, struct hb_error *err)
{
	struct gate_rule *rule = reading->rule;
	const struct gate_path like = {
		.reason = reading->by,
		.is_whole = reading->source == GATE_BUILT_IN,
	};
	int r = check_glob(reading, rule->n_paths, err);

	if (r == 0)
		paths_done(rule);
	/* It would put together what is told one by one. */
	if (r > 0 && rule->test == GATE_TEST_GROUP && reading->is_foreign)
		return hb_fail(err, -HB_E_CONFIG,
			       "a workspace may not add to it");
	return r > 0 ? keep_path(rule, reading->value, &like, err) : r;
}

static int add_by(struct reading *reading, struct hb_error *err)
{
	struct gate_rule *rule = reading->rule;
	auto_free char *words = NULL;
	int r;

	reading->by = 0;
	if (!reading->value[0])
		return 0;
	if (rule->class == GATE_CLASS_NONE)
		return hb_fail(err, -HB_E_CONFIG,
			       "the rule needs a 'class' first");
	if (asprintf(&words, "%s %s", reading->value,
		     gate_class_words(rule->class)) < 0)
		return hb_fail(err, -ENOMEM, "cannot read the rules");
	r = add_word(&rule->reasons, words, err);
	if (r >= 0)
		reading->by = rule->reasons.n;
	return r;
}

static int add_like(struct reading *reading, struct hb_error *err)
{
	const struct gate_rule *from = find(reading->rules, reading->value);
	struct gate_rule *rule = reading->rule;
	const size_t n = rule->reasons.n;
	int r = 0;

	if (!from || from == rule)
		return hb_fail(err, -HB_E_CONFIG,
			       "no rule of this name stands before");
	rule->content = from->content;
	for (size_t i = 0; r >= 0 && i < from->reasons.n; i++)
		r = add_word(&rule->reasons, from->reasons.words[i], err);
	for (size_t i = 0; r >= 0 && i < from->n_paths; i++) {
		struct gate_path like = from->paths[i];

		like.reason += like.reason > 0 ? n : 0;
		r = keep_path(rule, like.pattern, &like, err);
	}
	return r;
}

static int add_not(struct reading *reading, struct hb_error *err)
{
	return add_glob(reading, &reading->rule->except, err);
}

static int add_key(struct reading *reading, struct hb_error *err)
{
	return add_glob(reading, &reading->rule->keys, err);
}

static int add_not_key(struct reading *reading, struct hb_error *err)
{
	return add_glob(reading, &reading->rule->except_keys, err);
}

static int add_value(struct reading *reading, struct hb_error *err)
{
	return add_glob(reading, &reading->rule->values, err);
}

static int set_key_on(struct reading *reading, struct hb_error *err)
{
	return find_words(reading->value, on_words, &reading->rule->key_on,
			  err);
}

static int set_on(struct reading *reading, struct hb_error *err)
{
	return find_words(reading->value, on_words, &reading->rule->on, err);
}

static int set_type(struct reading *reading, struct hb_error *err)
{
	return find_words(reading->value, type_words, &reading->rule->types,
			  err);
}

static int set_test(struct reading *reading, struct hb_error *err)
{
	unsigned test = 0;
	int r = find_word(reading->value, test_words, &test, err);

	if (r >= 0 && test == GATE_TEST_GROUP &&
	    reading->source == GATE_WORKSPACE)
		return hb_fail(err, -HB_E_CONFIG, "a workspace may not say so");
	if (r >= 0)
		reading->rule->test = (enum gate_test)test;
	return r;
}

/* A name, and no pattern: it is looked for, and not compared. */
static int add_mark(struct reading *reading, struct hb_error *err)
{
	if (reading->source == GATE_WORKSPACE)
		return hb_fail(err, -HB_E_CONFIG, "a workspace may not say so");
	if (!reading->value[0] || strchr(reading->value, '/'))
		return hb_fail(err, -HB_E_CONFIG, "not the name of a file");
	return add_word(&reading->rule->marks, reading->value, err);
}

/* RULE:PATTERN */
static int add_part(struct reading *reading, struct hb_error *err)
{
	const char *colon = strchr(reading->value, ':');
	int r;

	if (reading->source == GATE_WORKSPACE)
		return hb_fail(err, -HB_E_CONFIG, "a workspace may not say so");
	if (!colon || colon == reading->value)
		return hb_fail(err, -HB_E_CONFIG, "not RULE:PATTERN");
	r = glob_check(colon + 1, err);
	return r < 0 ? r : add_word(&reading->rule->parts, reading->value, err);
}

static int set_content(struct reading *reading, struct hb_error *err)
{
	unsigned content = 0;
	int r = find_word(reading->value, content_words, &content, err);

	if (r >= 0)
		reading->rule->content = (enum gate_content)content;
	return r;
}

static int set_limit(struct reading *reading, struct hb_error *err)
{
	uint64_t limit;

	if (num_size(reading->value, &limit) < 0)
		return hb_fail(err, -HB_E_CONFIG, "not a number or a size");
	if (reading->is_foreign && limit > reading->rule->limit)
		return hb_fail(err, -HB_E_CONFIG,
			       "a workspace may only lower it");
	reading->rule->limit = limit;
	return 0;
}

/* Those that come often first. */
static const struct key keys[] = {
	{ "path", add_path, true },	   { "by", add_by, false },
	{ "key", add_key, true },	   { "not-key", add_not_key, false },
	{ "value", add_value, false },	   { "severity", set_severity, true },
	{ "reason", set_reason, false },   { "class", set_class, false },
	{ "like", add_like, false },	   { "not", add_not, false },
	{ "on", set_on, false },	   { "type", set_type, false },
	{ "content", set_content, false }, { "key-on", set_key_on, false },
	{ "test", set_test, false },	   { "limit", set_limit, true },
	{ "mark", add_mark, false },	   { "part", add_part, false },
};

static int find_key(const char *name, const struct key **ret,
		    struct hb_error *err)
{
	const size_t n = sizeof(keys) / sizeof(keys[0]);
	struct suggestion s;

	for (size_t i = 0; i < n; i++)
		if (strcmp(keys[i].name, name) == 0) {
			*ret = &keys[i];
			return 0;
		}
	suggestion_init(&s, name);
	suggestion_offer(&s, "rule");
	for (size_t i = 0; i < n; i++)
		suggestion_offer(&s, keys[i].name);
	if (s.best)
		hb_fix(err, "did you mean '%s'?", s.best);
	return hb_fail(err, -HB_E_CONFIG, "'%s' is not known", name);
}

static int set(struct reading *reading, const struct kv_entry *entry,
	       struct hb_error *err)
{
	const struct key *key = NULL;
	int r;

	if (!kv_is_string(entry))
		return hb_fail(err, -HB_E_CONFIG, "a NUL stands in it");
	reading->value = entry->value;
	if (strcmp(entry->key, "rule") == 0)
		return begin_rule(reading, err);
	r = find_key(entry->key, &key, err);
	if (r < 0)
		return r;
	if (!reading->rule)
		return hb_fail(err, -HB_E_CONFIG, "no rule was begun");
	if (reading->is_foreign && !key->may_tighten)
		return hb_fail(err, -HB_E_CONFIG,
			       "a workspace may not change '%s' of '%s'",
			       key->name, reading->rule->id);
	r = key->set(reading, err);
	return r < 0 ? hb_fail(err, r, "%s", key->name) : 0;
}

int gate_rules_read(struct gate_rules *rules, enum gate_source source,
		    const char *name, const char *text, size_t n,
		    struct hb_error *err)
{
	struct reading reading = { .rules = rules, .source = source };
	auto_kv_reader struct kv_reader reader = { 0 };
	struct hb_error why = { 0 };
	struct kv_entry entry;
	int r;

	kv_reader_init(&reader, name, text, n);
	while ((r = kv_next(&reader, &entry, err)) > 0) {
		r = set(&reading, &entry, &why);
		if (r == -HB_E_CONFIG) {
			hb_fix(err, "%s", why.fix);
			return kv_fail(&reader, &entry, err, "%s", why.text);
		}
		if (r < 0)
			return hb_fail(err, r, "cannot read the rules");
	}
	return r;
}

struct gate_rules *gate_rules_empty(void)
{
	return calloc(1, sizeof(struct gate_rules));
}

void gate_rules_free(struct gate_rules *rules)
{
	if (!rules)
		return;
	for (size_t i = 0; i < rules->n; i++) {
		struct gate_rule *rule = &rules->rules[i];

		paths_done(rule);
		list_done(&rule->reasons);
		list_done(&rule->except);
		list_done(&rule->keys);
		list_done(&rule->except_keys);
		list_done(&rule->values);
		list_done(&rule->marks);
		list_done(&rule->parts);
		free(rule->id);
		free(rule->reason);
	}
	free(rules->rules);
	gate_index_free(rules->index);
	free(rules);
}

static int check_rule(const struct gate_rule *rule, struct hb_error *err)
{
	if (rule->severity == GATE_SEVERITIES)
		return hb_fail(err, -HB_E_CONFIG,
			       "the rule '%s' has no severity", rule->id);
	if (!rule->reason)
		return hb_fail(err, -HB_E_CONFIG, "the rule '%s' has no reason",
			       rule->id);
	if ((rule->content != GATE_CONTENT_NONE) != (rule->keys.n > 0) &&
	    rule->severity != GATE_OFF)
		return hb_fail(err, -HB_E_CONFIG,
			       "the rule '%s' needs both 'content' and 'key', "
			       "or neither",
			       rule->id);
	return 0;
}

int gate_rules_complete(struct gate_rules *rules, struct hb_error *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < rules->n; i++)
		r = check_rule(&rules->rules[i], err);
	assert(!rules->index);
	return r < 0 ? r : gate_index_new(rules, &rules->index, err);
}

const struct gate_rule *gate_rules_find(const struct gate_rules *rules,
					const char *id)
{
	return find(rules, id);
}

int gate_allow_check(const struct gate_rules *rules, const char *words,
		     struct hb_error *err)
{
	size_t n = strcspn(words, ":");
	char id[GATE_ID_MAX + 1] = "", shown[QUOTE_SHOWN];
	struct suggestion s;
	int r;

	if (n <= GATE_ID_MAX)
		(void)snprintf(id, sizeof(id), "%.*s", (int)n, words);
	if (!find(rules, id)) {
		suggestion_init(&s, id);
		for (size_t i = 0; i < rules->n; i++)
			suggestion_offer(&s, rules->rules[i].id);
		if (s.best)
			hb_fix(err, "did you mean '%s'?", s.best);
		hb_fix(err, "'holdback gate --rules' lists them");
		return hb_fail(err, -HB_E_USAGE, "there is no rule '%s'",
			       quote_shown(words, shown, sizeof(shown)));
	}
	if (!words[n])
		return 0;
	r = glob_check(words + n + 1, err);
	if (r == -HB_E_CONFIG && err)
		err->code = HB_E_USAGE;
	return r == -HB_E_CONFIG ? -HB_E_USAGE : r;
}

bool gate_allow_matches(const char *words, const char *rule, const char *path)
{
	size_t n = strcspn(words, ":");

	if (strncmp(words, rule, n) != 0 || rule[n])
		return false;
	return !words[n] || glob_match(words + n + 1, path, 0);
}
