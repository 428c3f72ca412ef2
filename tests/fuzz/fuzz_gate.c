/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzzes: base gate
 *
 * The input is read as a file of rules by the user and by a workspace, and as
 * each format that rules read: what is found must be bounded, and the same text
 * has no news against itself.  Then it is a path, of which the index must find
 * what each pattern says by itself, and words of --allow.
 */
#include "base/buf.h"
#include "base/glob.h"
#include "fuzz.h"
#include "gate/attributes.h"
#include "gate/built_in.h"
#include "gate/fold.h"
#include "gate/git_config.h"
#include "gate/index.h"
#include "gate/items.h"
#include "gate/json_items.h"
#include "gate/line_items.h"
#include "gate/rules.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int reader_fn(struct items *items, const char *text, size_t n);

static reader_fn *const readers[] = {
	items_read_git_config, items_read_attributes, items_read_json,
	items_read_jsonc,      items_read_lines,      items_read_hosts
};

static void read_rules(enum gate_source source, const char *text, size_t n)
{
	static const char own[] = "rule = a\nseverity = ask\nreason = r\n"
				  "path = p\nlimit = 5\ntest = larger\n";
	struct gate_rules *rules = gate_rules_empty();

	MUST(rules);
	MUST(gate_rules_read(rules, GATE_CONFIGURED, "own", own,
			     sizeof(own) - 1, NULL) == 0);
	if (gate_rules_read(rules, source, "in", text, n, NULL) == 0)
		(void)gate_rules_complete(rules, NULL);
	MUST(rules->n <= GATE_RULES_MAX);
	gate_rules_free(rules);
}

static void read_items(reader_fn *reader, const char *text, size_t n)
{
	char star[] = "*", *words[] = { star };
	const struct gate_rule rule = { .keys = { .words = words, .n = 1 } };
	auto_items struct items a = { .rule = &rule };
	auto_items struct items b = { .rule = &rule };
	int r = reader(&a, text, n);

	MUST(reader(&b, text, n) == r);
	MUST(a.n == b.n && a.n <= ITEMS_MAX);
	for (size_t i = 0; i < b.n; i++)
		MUST(items_news(&a, &b.items[i]) == 0);
}

/* Whatever the bytes, a name never grows. */
static void fold_twice(const char *text, size_t n)
{
	auto_buf struct buf name = BUF_INIT(n + 1);
	auto_buf struct buf once = BUF_INIT(n + 1);
	auto_buf struct buf twice = BUF_INIT(n + 1);

	MUST(buf_add(&name, text, n) == 0);
	MUST(gate_fold(&once, buf_str(&name)) == 0 && once.len <= name.len);
	MUST(gate_fold(&twice, buf_str(&once)) == 0);
	MUST(twice.len <= once.len);
}

static bool is_taken(const struct gate_rule *rule, const char *whole,
		     const char *path)
{
	for (size_t i = 0; i < rule->n_paths; i++)
		if (glob_match(rule->paths[i].pattern,
			       rule->paths[i].is_whole ? whole : path,
			       GLOB_FOLD))
			return true;
	return false;
}

static void look_up(const struct gate_rules *rules, const char *path,
		    size_t above)
{
	struct gate_seen seen[GATE_RULES_MAX] = { 0 };

	(void)gate_index_find(rules->index, path, above, seen);
	for (size_t i = 0; i < rules->n; i++)
		MUST(!(seen[i].hits & GATE_HIT_PATH) ==
		     !is_taken(&rules->rules[i], path, path + above));
}

static void take_for_path(const char *text, size_t n)
{
	static const char own[] = "rule = own\nseverity = ask\nreason = r\n"
				  "path = a/b*\npath = *c\npath = d/\n"
				  "path = [e-g]?\n";
	static struct gate_rules *rules;
	char path[PATH_MAX];
	const char *slash;

	if (!rules) {
		MUST(gate_rules_new(&rules, NULL) == 0);
		MUST(gate_rules_read(rules, GATE_CONFIGURED, "own", own,
				     sizeof(own) - 1, NULL) == 0);
		MUST(gate_rules_complete(rules, NULL) == 0);
	}
	n = strnlen(text, n < sizeof(path) - 1 ? n : sizeof(path) - 1);
	memcpy(path, text, n);
	path[n] = '\0';
	look_up(rules, path, 0);
	slash = memchr(path, '/', n);
	if (slash)
		look_up(rules, path, (size_t)(slash + 1 - path));
	if (gate_allow_check(rules, path, NULL) == 0)
		(void)gate_allow_matches(path, "own", "a/b");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;

	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++)
		read_items(readers[i], text, size);
	fold_twice(text, size);
	take_for_path(text, size);
	read_rules(GATE_CONFIGURED, text, size);
	read_rules(GATE_WORKSPACE, text, size);
	return 0;
}
