/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzzes: base gate
 *
 * The input is read as a file of rules by the user and by a workspace, and as
 * each format that rules read: what is found must be bounded, and the same text
 * has no news against itself.
 */
#include "base/buf.h"
#include "fuzz.h"
#include "gate/fold.h"
#include "gate/items.h"
#include "gate/rules.h"

#include <stdint.h>
#include <stdlib.h>

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;

	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++)
		read_items(readers[i], text, size);
	fold_twice(text, size);
	read_rules(GATE_CONFIGURED, text, size);
	read_rules(GATE_WORKSPACE, text, size);
	return 0;
}
