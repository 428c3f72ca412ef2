/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/built_in.h"
#include "gate/rules.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/glob.h"
#include "gate/fold.h"
#include "gate/index.h"
#include "gate/items.h"
#include "gate_sample_keys.h"
#include "gate_samples.h"
#include "gate_samples_more.h"
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

static void check_text(const char *got, const char *want)
{
	if (!got || strcmp(got, want) != 0)
		printf("# '%s', not '%s'\n", got ? got : "", want);
	CHECK(got && strcmp(got, want) == 0);
}

static struct gate_seen seen_by(const struct gate_rules *rules,
				const char *rule, const char *path)
{
	struct gate_seen seen[GATE_RULES_MAX] = { 0 };
	const struct gate_rule *found = gate_rules_find(rules, rule);

	CHECK(found != NULL);
	(void)gate_index_find(rules->index, path, 0, seen);
	return seen[found - rules->rules];
}

static unsigned hit_of(const struct gate_rules *rules, const char *rule,
		       const char *path)
{
	return seen_by(rules, rule, path).hits;
}

#define N_PATHS (LENGTH(gate_paths) + LENGTH(gate_more_paths))

static const struct gate_sample *sample(size_t i)
{
	return i < LENGTH(gate_paths)
		       ? &gate_paths[i]
		       : &gate_more_paths[i - LENGTH(gate_paths)];
}

static void every_pattern_takes_its_path(void)
{
	struct gate_rules *rules = built_in();

	for (size_t i = 0; i < N_PATHS; i++) {
		if (hit_of(rules, sample(i)->rule, sample(i)->hit) &
		    GATE_HIT_PATH)
			continue;
		printf("# %s does not take %s\n", sample(i)->rule,
		       sample(i)->hit);
		CHECK(false);
	}
	gate_rules_free(rules);
}

static void no_pattern_takes_another_path(void)
{
	struct gate_rules *rules = built_in();

	for (size_t i = 0; i < N_PATHS; i++) {
		if (!(hit_of(rules, sample(i)->rule, sample(i)->miss) &
		      GATE_HIT_PATH))
			continue;
		printf("# %s takes %s\n", sample(i)->rule, sample(i)->miss);
		CHECK(false);
	}
	gate_rules_free(rules);
}

static void in_any_letter_case(void)
{
	struct gate_rules *rules = built_in();

	for (size_t i = 0; i < N_PATHS; i++) {
		char path[256];
		size_t n = strlen(sample(i)->hit);

		CHECK(n < sizeof(path));
		for (size_t k = 0; k <= n; k++)
			path[k] =
				(char)toupper((unsigned char)sample(i)->hit[k]);
		CHECK(hit_of(rules, sample(i)->rule, path) & GATE_HIT_PATH);
	}
	gate_rules_free(rules);
}

/* Whether some sample would not be taken without this path of the rule. */
static bool is_needed(const struct gate_rule *rule, size_t path)
{
	for (size_t i = 0; i < N_PATHS; i++) {
		size_t n = 0;

		if (strcmp(sample(i)->rule, rule->id) != 0 ||
		    !glob_match(rule->paths[path].pattern, sample(i)->hit,
				GLOB_FOLD))
			continue;
		for (size_t k = 0; k < rule->n_paths; k++)
			n += glob_match(rule->paths[k].pattern, sample(i)->hit,
					GLOB_FOLD);
		if (n == 1)
			return true;
	}
	return false;
}

static void no_path_can_go_unnoticed(void)
{
	/* Their paths are those of another rule. */
	static const char *const like[] = { "git-alias", "git-remote",
					    "git-remote-new" };
	struct gate_rules *rules = built_in();

	for (size_t i = 0; i < rules->n; i++) {
		const struct gate_rule *rule = &rules->rules[i];
		bool is_like = false;

		for (size_t k = 0; k < LENGTH(like); k++)
			is_like = is_like || strcmp(like[k], rule->id) == 0;
		if (is_like) {
			CHECK_INT(
				rule->n_paths,
				gate_rules_find(rules, "git-config")->n_paths);
			CHECK(hit_of(rules, rule->id, "a/.git/config") &
			      GATE_HIT_PATH);
			continue;
		}
		for (size_t k = 0; k < rule->n_paths; k++) {
			if (is_needed(rule, k))
				continue;
			printf("# %s: no sample needs %s\n", rule->id,
			       rule->paths[k].pattern);
			CHECK(false);
		}
	}
	gate_rules_free(rules);
}

static const char *reason_of(const struct gate_rules *rules, const char *rule,
			     const char *path)
{
	const struct gate_rule *found = gate_rules_find(rules, rule);
	struct gate_seen seen = seen_by(rules, rule, path);
	size_t n;

	CHECK(seen.hits & GATE_HIT_PATH);
	n = found->paths[seen.path].reason;
	return n > 0 ? found->reasons.words[n - 1] : found->reason;
}

static void a_reason_names_the_program_and_when(void)
{
	struct gate_rules *rules = built_in();
	size_t n = 0;

	for (size_t i = 0; i < LENGTH(gate_reasons); i++)
		check_text(reason_of(rules, gate_reasons[i].rule,
				     gate_reasons[i].path),
			   gate_reasons[i].reason);
	for (size_t i = 0; i < rules->n; i++)
		n += rules->rules[i].reasons.n;
	CHECK_INT(n, LENGTH(gate_reasons));
	gate_rules_free(rules);
}

static void a_rule_has_its_class(void)
{
	struct gate_rules *rules = built_in();
	size_t n = 0;

	for (size_t i = 0; i < LENGTH(gate_classes); i++)
		check_text(gate_class_name(
				   gate_rules_find(rules, gate_classes[i].rule)
					   ->class),
			   gate_classes[i].class);
	for (size_t i = 0; i < rules->n; i++)
		n += rules->rules[i].class != GATE_CLASS_NONE;
	CHECK_INT(n, LENGTH(gate_classes));
	gate_rules_free(rules);
}

static void a_rule_asks_unless_it_is_told_otherwise(void)
{
	static const char *const warn[] = {
		"agent-notes",	  "binary",	  "build",
		"build-script",	  "build-source", "executable",
		"git-remote-new", "lock-host",	  "secret-guess",
	};
	struct gate_rules *rules = built_in();

	for (size_t i = 0; i < rules->n; i++) {
		const char *id = rules->rules[i].id;
		enum gate_severity wanted =
			strcmp(id, "device") == 0 ? GATE_DENY : GATE_ASK;

		for (size_t k = 0; k < LENGTH(warn); k++)
			if (strcmp(id, warn[k]) == 0)
				wanted = GATE_WARN;
		if (rules->rules[i].severity != wanted)
			printf("# %s\n", id);
		CHECK_INT(rules->rules[i].severity, wanted);
	}
	gate_rules_free(rules);
}

static void built_in_patterns_know_the_names_above(void)
{
	static const struct {
		const char *rule, *whole;
		size_t above;
		bool is_hit;
	} cases[] = {
		{ "shell", ".config/fish/config.fish", 13, true },
		{ "shell", "src/p/config.fish", 6, false },
		{ "start-up", ".config/systemd/user/x.service", 21, true },
		{ "agent", ".claude/settings.json", 8, true },
		{ "own", "a/b", 2, false },
		{ "own", "a/b", 0, true },
		{ "own", "x/a/b", 2, true },
	};
	static const char own[] = "rule = own\nseverity = ask\nreason = x\n"
				  "path = a/b\n";
	struct gate_rules *rules = NULL;

	CHECK_INT(gate_rules_new(&rules, NULL), 0);
	CHECK_INT(gate_rules_read(rules, GATE_CONFIGURED, "own", own,
				  sizeof(own) - 1, NULL),
		  0);
	CHECK_INT(gate_rules_complete(rules, NULL), 0);
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct gate_seen seen[GATE_RULES_MAX] = { 0 };
		size_t at = (size_t)(gate_rules_find(rules, cases[i].rule) -
				     rules->rules);

		(void)gate_index_find(rules->index, cases[i].whole,
				      cases[i].above, seen);
		CHECK_INT((seen[at].hits & GATE_HIT_PATH) != 0,
			  cases[i].is_hit);
	}
	gate_rules_free(rules);
}

static void names_are_folded_as_file_systems_do(void)
{
	static const struct {
		const char *path, *folded;
	} cases[] = {
		{ "a/.vscode", "a/.vscode" },
		{ ".v\xc5\xbf"
		  "code/x",
		  ".vscode/x" },
		{ ".git/hoo\xe2\x84\xaas", ".git/hooks" },
		{ ".g\xe2\x80\x8cit", ".git" },
		{ ".g\xef\xbb\xbfit", ".git" },
		{ "\xf3\xa0\x80\x81x", "x" },
		{ "\xc3\xa4", "\xc3\xa4" },
		{ "\xe2\x84", "\xe2\x84" },
		{ "\xff\xc5", "\xff\xc5" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		auto_buf struct buf out = BUF_INIT(100);

		CHECK_INT(gate_fold(&out, cases[i].path), 0);
		check_text(buf_str(&out), cases[i].folded);
	}
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
		     const char *name, const char *value)
{
	auto_items struct items items = { .rule = gate_rules_find(rules,
								  rule) };

	CHECK(items.rule != NULL);
	CHECK_INT(
		items_add(&items, name, strlen(name), value, strlen(value), 1),
		0);
	return items.n > 0;
}

static void every_key_takes_its_name(void)
{
	struct gate_rules *rules = built_in();

	for (size_t i = 0; i < LENGTH(gate_keys); i++) {
		const char *rule = gate_keys[i].rule, *hit = gate_keys[i].hit;
		const char *miss = gate_keys[i].miss;
		const char *value = gate_keys[i].value;

		if (!asks_for(rules, rule, hit, value) ||
		    (miss && asks_for(rules, rule, miss, value)))
			printf("# %s: %s, and not %s\n", rule, hit,
			       miss ? miss : "");
		CHECK(asks_for(rules, rule, hit, value));
		CHECK(!miss || !asks_for(rules, rule, miss, value));
	}
	for (size_t i = 0; i < LENGTH(gate_values); i++) {
		const char *rule = gate_values[i].rule;
		const char *key = gate_values[i].key;

		if (!asks_for(rules, rule, key, gate_values[i].hit) ||
		    asks_for(rules, rule, key, gate_values[i].miss))
			printf("# %s: %s and not %s\n", rule,
			       gate_values[i].hit, gate_values[i].miss);
		CHECK(asks_for(rules, rule, key, gate_values[i].hit));
		CHECK(!asks_for(rules, rule, key, gate_values[i].miss));
	}
	for (size_t i = 0; i < LENGTH(gate_not_keys); i++)
		CHECK(!asks_for(rules, gate_not_keys[i].rule,
				gate_not_keys[i].miss, ""));
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
		{ "rule = a\nmark = a/b\n", "first:2: mark: not the name" },
		{ "rule = a\npart = a/b\n", "first:2: part: not RULE:" },
		{ "rule = a\npart = b:[\n", "first:2: part: " },
		{ "rule = a\nreason = x\n", "'a' has no severity" },
		{ "rule = a\nseverity = ask\n", "'a' has no reason" },
		{ "rule = a\nseverity = ask\nreason = x\ncontent = json\n",
		  "needs both" },
		{ "rule = a\nseverity = ask\nreason = x\nkey = k\n",
		  "needs both" },
		{ "rule = a\nclass = x\n", "first:2: class: there is no" },
		{ "rule = a\nby = x\n", "first:2: by: the rule needs a" },
		{ "rule = a\nlike = a\n", "first:2: like: no rule of" },
		{ "rule = a\nlike = b\n", "first:2: like: no rule of" },
		{ "rule = a\nkey-on = never\n", "first:2: key-on: 'never'" },
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
	CHECK_INT(rule->n_paths, 1);
	CHECK_INT(rule->limit, 20);
	CHECK_INT(rule->except.n, 1);
	gate_rules_free(rules);
}

static void a_reason_of_the_users_own_is_told(void)
{
	struct gate_rules *rules = NULL;

	CHECK_INT(
		read_two("rule = r\nseverity = ask\nclass = runs-on-open\n"
			 "reason = why\nby = Vim\npath = a\n",
			 GATE_CONFIGURED,
			 "rule = s\nseverity = ask\nreason = other\nlike = r\n"
			 "rule = r\nreason = mine\npath = b\n",
			 &rules, NULL),
		0);
	check_text(reason_of(rules, "r", "a"), "mine");
	check_text(reason_of(rules, "r", "b"), "mine");
	check_text(reason_of(rules, "s", "a"),
		   "Vim runs it when the folder is opened");
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
		{ "rule = r\nkey-on = deleted\n", false },
		{ "rule = r\nvalue = k\n", false },
		{ "rule = r\nlike = all\n", false },
		{ "rule = r\nclass = runs-on-git\n", false },
		{ "rule = r\nby = x\n", false },
		{ "rule = many\npath = x\n", false },
		{ "rule = r\nmark = pyvenv.cfg\n", false },
		{ "rule = r\npart = a:b\n", false },
		{ "rule = own\nseverity = ask\nreason = x\ntest = group\n",
		  false },
		{ "rule = all\npath = x\n", false },
		{ "rule = own\nseverity = warn\nreason = x\npath = q\n", true },
		{ "rule = own\nseverity = ask\nreason = x\nnot = q\n"
		  "rule = own\nseverity = warn\n",
		  true },
	};

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct gate_rules *rules = NULL;
		int r = read_two(RULE "rule = all\nseverity = ask\n"
				      "reason = why\ntest = setid\n"
				      "rule = many\nseverity = ask\n"
				      "reason = why\ntest = group\n"
				      "path = y\n",
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

TESTS(T(every_pattern_takes_its_path), T(no_pattern_takes_another_path),
      T(in_any_letter_case), T(no_path_can_go_unnoticed),
      T(a_reason_names_the_program_and_when), T(a_rule_has_its_class),
      T(a_rule_asks_unless_it_is_told_otherwise),
      T(built_in_patterns_know_the_names_above),
      T(names_are_folded_as_file_systems_do),
      T(directories_on_the_way_are_known), T(every_key_takes_its_name),
      T(what_is_wrong_is_said), T(the_user_may_change_a_rule),
      T(a_reason_of_the_users_own_is_told), T(a_workspace_may_only_tighten),
      T(words_of_allow), )
