/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/rules.h"

#include "base/error.h"
#include "gate/index.h"
#include "gate/items.h"
#include "gate_samples.h"
#include "tap.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static struct gate_rules *built_in(void)
{
	struct gate_rules *rules = NULL;

	CHECK_INT(gate_rules_new(&rules, NULL), 0);
	CHECK_INT(gate_rules_complete(rules, NULL), 0);
	return rules;
}

static unsigned hit_of(const struct gate_rules *rules, const char *rule,
		       const char *path)
{
	unsigned char hits[GATE_RULES_MAX] = { 0 };
	const struct gate_rule *found = gate_rules_find(rules, rule);

	CHECK(found != NULL);
	(void)gate_index_find(rules->index, path, hits);
	return hits[found - rules->rules];
}

static void every_pattern_takes_its_path(void)
{
	struct gate_rules *rules = built_in();

	for (size_t i = 0; i < LENGTH(gate_paths); i++) {
		if (hit_of(rules, gate_paths[i].rule, gate_paths[i].hit) &
		    GATE_HIT_PATH)
			continue;
		printf("# %s does not take %s\n", gate_paths[i].rule,
		       gate_paths[i].hit);
		CHECK(false);
	}
	gate_rules_free(rules);
}

static void and_no_other(void)
{
	struct gate_rules *rules = built_in();

	for (size_t i = 0; i < LENGTH(gate_paths); i++) {
		if (!(hit_of(rules, gate_paths[i].rule, gate_paths[i].miss) &
		      GATE_HIT_PATH))
			continue;
		printf("# %s takes %s\n", gate_paths[i].rule,
		       gate_paths[i].miss);
		CHECK(false);
	}
	gate_rules_free(rules);
}

static void in_any_letter_case(void)
{
	struct gate_rules *rules = built_in();

	for (size_t i = 0; i < LENGTH(gate_paths); i++) {
		char path[256];
		size_t n = strlen(gate_paths[i].hit);

		CHECK(n < sizeof(path));
		for (size_t k = 0; k <= n; k++)
			path[k] = (char)toupper(
				(unsigned char)gate_paths[i].hit[k]);
		CHECK(hit_of(rules, gate_paths[i].rule, path) & GATE_HIT_PATH);
	}
	gate_rules_free(rules);
}

static void directories_on_the_way_are_known(void)
{
	static const struct {
		const char *rule, *path;
		bool is_above;
	} cases[] = {
		{ "editor", ".vscode", true },
		{ "editor", "a/.VSCode", true },
		{ "editor", "vscode", false },
		{ "ci", ".github", true },
		{ "ci", ".github/workflows", true },
		{ "ci", "github", false },
		{ "start-up", ".config", true },
		{ "start-up", ".config/systemd", true },
		{ "start-up", ".config/system", false },
		{ "git-hook", ".git/hooks", true },
		{ "environment", ".envrc", false },
		{ "environment", "a", false },
	};
	struct gate_rules *rules = built_in();

	for (size_t i = 0; i < LENGTH(cases); i++)
		CHECK_INT((hit_of(rules, cases[i].rule, cases[i].path) &
			   GATE_HIT_ABOVE) != 0,
			  cases[i].is_above);
	gate_rules_free(rules);
}

static bool asks_for(const struct gate_rules *rules, const char *rule,
		     const char *name)
{
	auto_items struct items items = { .rule = gate_rules_find(rules,
								  rule) };

	CHECK(items.rule != NULL);
	CHECK_INT(items_add(&items, name, strlen(name), "", 0, 1), 0);
	return items.n > 0;
}

static void every_key_takes_its_name(void)
{
	struct gate_rules *rules = built_in();

	for (size_t i = 0; i < LENGTH(gate_keys); i++) {
		const struct gate_sample *s = &gate_keys[i];

		if (!asks_for(rules, s->rule, s->hit) ||
		    asks_for(rules, s->rule, s->miss))
			printf("# %s: %s, and not %s\n", s->rule, s->hit,
			       s->miss);
		CHECK(asks_for(rules, s->rule, s->hit));
		CHECK(!asks_for(rules, s->rule, s->miss));
	}
	for (size_t i = 0; i < LENGTH(gate_not_keys); i++)
		CHECK(!asks_for(rules, gate_not_keys[i].rule,
				gate_not_keys[i].miss));
	gate_rules_free(rules);
}

/* Reads the two texts, the first as the user's and the second as `source`. */
static int read_two(const char *first, enum gate_source source,
		    const char *second, struct gate_rules **ret,
		    struct hb_error *err)
{
	struct gate_rules *rules = gate_rules_empty();
	int r;

	CHECK(rules != NULL);
	r = gate_rules_read(rules, GATE_CONFIGURED, "first", first,
			    strlen(first), err);
	if (r >= 0)
		r = gate_rules_read(rules, source, "second", second,
				    strlen(second), err);
	if (r >= 0)
		r = gate_rules_complete(rules, err);
	*ret = rules;
	return r;
}

#define RULE                                                         \
	"rule = r\nseverity = ask\nreason = why\npath = a\nlimit = " \
	"10\ntest = larger\n"

static void what_is_wrong_is_said(void)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "severity = ask\n", "first:1: no rule was begun" },
		{ "rule = A\n", "first:1: a name has" },
		{ "rule =\n", "first:1: a name has" },
		{ "rule = a\nseverity = maybe\n",
		  "first:2: severity: not one" },
		{ "rule = a\nseverty = ask\n", "first:2: 'severty' is not" },
		{ "rule = a\npath = [\n", "first:2: path: " },
		{ "rule = a\non = never\n", "first:2: on: 'never' is not" },
		{ "rule = a\non = \n", "first:2: on: nothing is said" },
		{ "rule = a\ntype = hole\n", "first:2: type: 'hole' is not" },
		{ "rule = a\ntest = luck\n", "first:2: test: 'luck' is not" },
		{ "rule = a\ncontent = yaml\n", "first:2: content: 'yaml'" },
		{ "rule = a\nlimit = much\n", "first:2: limit: not a number" },
		{ "rule = a\nreason = x\n", "'a' has no severity" },
		{ "rule = a\nseverity = ask\n", "'a' has no reason" },
		{ "rule = a\nseverity = ask\nreason = x\ncontent = json\n",
		  "needs both" },
		{ "rule = a\nseverity = ask\nreason = x\nkey = k\n",
		  "needs both" },
		{ "rule\n", "first:1: " },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct gate_rules *rules = NULL;
		struct hb_error err = { 0 };

		CHECK_INT(read_two(cases[i].text, GATE_CONFIGURED, "", &rules,
				   &err),
			  -HB_E_CONFIG);
		if (!strstr(err.text, cases[i].says)) {
			printf("# '%s' has no '%s'\n", err.text, cases[i].says);
			CHECK(false);
		}
		gate_rules_free(rules);
	}
}

static void the_user_may_change_a_rule(void)
{
	struct gate_rules *rules = NULL;
	const struct gate_rule *rule;

	CHECK_INT(read_two(RULE, GATE_CONFIGURED,
			   "rule = r\nseverity = warn\npath =\npath = b\n"
			   "limit = 20\nnot = c\n",
			   &rules, NULL),
		  0);
	rule = gate_rules_find(rules, "r");
	CHECK(rule->severity == GATE_WARN);
	CHECK_INT(rule->paths.n, 1);
	CHECK_INT(rule->limit, 20);
	CHECK_INT(rule->except.n, 1);
	gate_rules_free(rules);
}

static void a_workspace_may_only_tighten(void)
{
	static const struct {
		const char *text;
		bool may;
	} cases[] = {
		{ "rule = r\nseverity = deny\n", true },
		{ "rule = r\nseverity = ask\n", true },
		{ "rule = r\nseverity = warn\n", false },
		{ "rule = r\nseverity = off\n", false },
		{ "rule = r\npath = b\n", true },
		{ "rule = r\npath =\n", false },
		{ "rule = r\nlimit = 5\n", true },
		{ "rule = r\nlimit = 11\n", false },
		{ "rule = r\nnot = a\n", false },
		{ "rule = r\non = deleted\n", false },
		{ "rule = r\ntype = dir\n", false },
		{ "rule = r\nreason = other\n", false },
		{ "rule = r\ntest = leaves\n", false },
		{ "rule = r\ncontent = json\n", false },
		{ "rule = r\nkey = k\n", false },
		{ "rule = r\nnot-key = k\n", false },
		{ "rule = all\npath = x\n", false },
		{ "rule = own\nseverity = warn\nreason = x\npath = q\n", true },
		{ "rule = own\nseverity = ask\nreason = x\nnot = q\n"
		  "rule = own\nseverity = warn\n",
		  true },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct gate_rules *rules = NULL;
		int r = read_two(RULE "rule = all\nseverity = ask\n"
				      "reason = why\ntest = setid\n",
				 GATE_WORKSPACE, cases[i].text, &rules, NULL);

		if (r != (cases[i].may ? 0 : -HB_E_CONFIG))
			printf("# %s\n", cases[i].text);
		CHECK_INT(r, cases[i].may ? 0 : -HB_E_CONFIG);
		gate_rules_free(rules);
	}
}

static void words_of_allow(void)
{
	struct gate_rules *rules = built_in();

	CHECK_INT(gate_allow_check(rules, "git-hook", NULL), 0);
	CHECK_INT(gate_allow_check(rules, "git-hook:a/*", NULL), 0);
	CHECK_INT(gate_allow_check(rules, "git-hoo", NULL), -HB_E_USAGE);
	CHECK_INT(gate_allow_check(rules, "", NULL), -HB_E_USAGE);
	CHECK_INT(gate_allow_check(rules, "git-hook:", NULL), -HB_E_USAGE);
	CHECK_INT(gate_allow_check(rules, "git-hook:[", NULL), -HB_E_USAGE);
	CHECK(gate_allow_matches("git-hook", "git-hook", "x"));
	CHECK(!gate_allow_matches("git-hoo", "git-hook", "x"));
	CHECK(!gate_allow_matches("git-hook", "git-hoo", "x"));
	CHECK(!gate_allow_matches("", "git-hook", "x"));
	CHECK(gate_allow_matches("ci:a/*", "ci", "a/b"));
	CHECK(!gate_allow_matches("ci:a/*", "ci", "b/b"));
	CHECK(!gate_allow_matches("ci:a/*", "ci", "A/b"));
	gate_rules_free(rules);
}

TESTS(T(every_pattern_takes_its_path), T(and_no_other), T(in_any_letter_case),
      T(directories_on_the_way_are_known), T(every_key_takes_its_name),
      T(what_is_wrong_is_said), T(the_user_may_change_a_rule),
      T(a_workspace_may_only_tighten), T(words_of_allow), )
