/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/attributes.h"
#include "gate/built_in.h"
#include "gate/git_config.h"
#include "gate/items.h"
#include "gate/json_items.h"
#include "gate/line_items.h"

#include "tap.h"

#include <errno.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Asks for everything. */
static struct gate_rule everything(void)
{
	static char star[] = "*";
	static char *words[] = { star };

	return (struct gate_rule){ .keys = { .words = words, .n = 1 } };
}

static struct gate_rules *built_in(void)
{
	struct gate_rules *rules = NULL;

	CHECK_INT(gate_rules_new(&rules, NULL), 0);
	return rules;
}

typedef int reader_fn(struct items *items, const char *text, size_t n);

/* "name:line name:line", or the error. */
static const char *read_all(reader_fn *read, const struct gate_rule *rule,
			    const char *text)
{
	static char out[512];
	auto_items struct items items = { .rule = rule };
	int r = read(&items, text, strlen(text));
	size_t at = 0;

	out[0] = '\0';
	if (r < 0) {
		(void)snprintf(out, sizeof(out), "%d", r);
		return out;
	}
	for (size_t i = 0; i < items.n; i++)
		at += (size_t)snprintf(out + at, sizeof(out) - at, "%s%s:%llu",
				       i ? " " : "", items.items[i].name,
				       (unsigned long long)items.items[i].line);
	return out;
}

static void check_all(reader_fn *read, const char *text, const char *want)
{
	const struct gate_rule rule = everything();
	const char *got = read_all(read, &rule, text);

	if (strcmp(got, want) != 0)
		printf("# %s\n# got %s\n# not %s\n", text, got, want);
	CHECK(strcmp(got, want) == 0);
}

static void git_config_is_read_as_git_does(void)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "", "" },
		{ "[core]\n\tpager = x\n", "core.pager:2" },
		{ "[core] pager = x\n", "core.pager:1" },
		{ "[core]pager=x", "core.pager:1" },
		{ "[CORE]\nPager = x\n", "core.pager:2" },
		{ "[core]\npager\n", "core.pager:2" },
		{ "[core]\r\npager = x\r\n", "core.pager:2" },
		{ "\xef\xbb\xbf[core]\npager = x\n", "core.pager:2" },
		{ "# [a]\n; b = c\n[core]\npager = x ; y\n", "core.pager:4" },
		{ "[filter \"A b\"]\nclean = x\n", "filter.A b.clean:2" },
		{ "[filter \"a\\\"b\"]\nclean = x\n", "filter.a\"b.clean:2" },
		{ "[filter \"a\\b\"]\nclean = x\n", "filter.ab.clean:2" },
		{ "[filter \t\"a\"]\nclean = x\n", "filter.a.clean:2" },
		{ "[filter.A]\nclean = x\n", "filter.a.clean:2" },
		{ "[a]\nb = x\\\n[core]\\\n pager = y\nc = d\n",
		  "a.b:2 a.c:5" },
		{ "[a]\nb = \"x\n", "-22" },
		{ "[a]\nb = \"x # y\"\nc = d\n", "a.b:2 a.c:3" },
		{ "[a]\nb = x # \"\nc = d\n", "a.b:2 a.c:3" },
		{ "[a]\nb = \\x\n", "-22" },
		{ "b = c\n", "-22" },
		{ "[a\nb = c\n", "-22" },
		{ "[a b]\nb = c\n", "-22" },
		{ "[a \"b\" ]\nb = c\n", "-22" },
		{ "[a]\n1b = c\n", "-22" },
		{ "[a]\nb c\n", "-22" },
		{ "[a]\nb = c\n[core]\npager = x\n[a]\nb = d\n",
		  "a.b:6 core.pager:4" },
		{ "[filter \"a/b\"]\nclean = x\n", "filter.a/b.clean:2" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++)
		check_all(items_read_git_config, cases[i].text, cases[i].want);
}

static void attributes_are_read(void)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "", "" },
		{ "*.c text eol=lf\n", "eol.lf:1" },
		{ "# *.c filter=x\n*.d filter=y", "filter.y:2" },
		{ "  *.c\tfilter=x diff=y\n", "filter.x:1 diff.y:1" },
		{ "\"a b\" filter=x\r\n", "filter.x:1" },
		{ "[attr]m filter=x\n", "filter.x:1" },
		{ "filter=x\n", "" },
		{ "* -filter !diff merge\n", "" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++)
		check_all(items_read_attributes, cases[i].text, cases[i].want);
}

static void json_is_read_with_its_escapes(void)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "{}", "" },
		{ "{\"a\": 1,\n \"b\": {\"c\": \"x\"}}", "a:1 b.c:2 b:2" },
		{ "{\"scripts\": {\"postinst\\u0061ll\": \"x\"}}",
		  "scripts.postinstall:1 scripts:1" },
		{ "{\"a\\u0041\\n\\\"\\/b\": 1}", "aA\n\"/b:1" },
		{ "{\"a\": [1, {\"b\": [true]}, \"}\"], \"c\": null}",
		  "a.b:1 a:1 c:1" },
		{ "{\"a\": \"\\\\\", \"b\": \"\\\"\"}", "a:1 b:1" },
		{ "{\"a\":1,\"a\":2}", "a:1" },
		{ "\xef\xbb\xbf{\"a\":1}", "a:1" },
		{ "{\"a\":1,}", "-22" },
		{ "[1]", "-22" },
		{ "", "-22" },
		{ "{\"a\":1} x", "-22" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++)
		check_all(items_read_json, cases[i].text, cases[i].want);
}

static void json_with_comments(void)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "{\"a\": 1, // x\n\"b\": 2,}", "a:1 b:2" },
		{ "{/* \"b\": 2\n */\"a\": [1,2 , ],}", "a:2" },
		{ "{\"a\": \"// x\", \"b\": \"/*\"}", "a:1 b:1" },
		{ "{\"a\": \"\\\"//\", \"b\": 1 /* */ , /**/ }", "a:1 b:1" },
		{ "{\"a\": 1 /* no end", "-22" },
		{ "{\"a\": \"", "-22" },
		{ "{,}", "" },
		{ "/", "-22" },
	};

	for (size_t i = 0; i < LENGTH(cases); i++)
		check_all(items_read_jsonc, cases[i].text, cases[i].want);
}

static void lines_and_hosts(void)
{
	static const struct {
		const char *text, *want;
	} lines[] = {
		{ "", "" },
		{ "a\n\n  b c \r\n# d\n", "a:1 b c:3" },
		{ "\xef\xbb\xbf"
		  "a",
		  "a:1" },
	};
	static const struct {
		const char *text, *want;
	} hosts[] = {
		{ "resolved \"https://a.b/c\"\nresolved http://d:1/x",
		  "a.b:1 d:1:2" },
		{ "home https://a.b/c", "" },
		{ "url git+ssh://u:p@h/x https://i", "h:1 i:1" },
		{ "source ://", "" },
	};

	for (size_t i = 0; i < LENGTH(lines); i++)
		check_all(items_read_lines, lines[i].text, lines[i].want);
	for (size_t i = 0; i < LENGTH(hosts); i++)
		check_all(items_read_hosts, hosts[i].text, hosts[i].want);
}

/* Whether the second text has news for the rule. */
static bool has_news(reader_fn *read, const char *id, const char *old,
		     const char *new)
{
	struct gate_rules *rules = built_in();
	const struct gate_rule *rule = gate_rules_find(rules, id);
	struct items a = { .rule = rule }, b = { .rule = rule };
	bool is_news = false;

	CHECK_INT(read(&a, old, strlen(old)), 0);
	CHECK_INT(read(&b, new, strlen(new)), 0);
	for (size_t i = 0; i < b.n; i++)
		is_news |= (items_news(&a, &b.items[i]) & rule->key_on) != 0;
	items_done(&a);
	items_done(&b);
	gate_rules_free(rules);
	return is_news;
}

static const struct {
	reader_fn *read;
	const char *rule, *old, *new;
	bool is_news;
} news[] = {
	{ items_read_git_config, "git-config", "[core]\n",
	  "[core]\nfsmonitor = x\n", true },
	{ items_read_git_config, "git-config", "[core]\nfsmonitor = x\n",
	  "\n[core]\n fsmonitor = x\n", false },
	{ items_read_git_config, "git-config", "[core]\nfsmonitor = x\n",
	  "[core]\nfsmonitor = y\n", true },
	{ items_read_git_config, "git-config", "[core]\nfsmonitor = x\n",
	  "[core]\n", false },
	{ items_read_git_config, "git-config",
	  "[core]\npager = evil\npager = less\n", "[core]\npager = evil\n",
	  true },
	{ items_read_git_config, "git-config", "",
	  "[branch \"m\"]\nremote = o\nmerge = m\n[remote \"o\"]\n"
	  "url = x\nfetch = y\n[user]\nname = z\n",
	  false },
	{ items_read_json, "install-script", "{}",
	  "{\"scripts\":{\"postinstall\":\"x\"}}", true },
	{ items_read_json, "install-script",
	  "{\"scripts\":{\"postinstall\":\"x\"}}",
	  "{\"scripts\":{\"postinstall\":\"x\",\"test\":\"y\"},"
	  "\"dependencies\":{\"a\":\"1\"}}",
	  false },
	{ items_read_json, "install-script", "{}",
	  "{\"scripts\":{\"test\":\"x\"},\"postinstall\":\"x\"}", false },
	{ items_read_json, "install-source", "{}",
	  "{\"dependencies\":{\"a\":\"^1\",\"b\":\"npm:c@1\"}}", false },
	{ items_read_json, "install-source", "{}",
	  "{\"dependencies\":{\"a\":\"git\\u002bssh://x/y\"}}", true },
	{ items_read_json, "install-source",
	  "{\"dependencies\":{\"a\":\"^1\"}}",
	  "{\"dependencies\":{\"a\":\"https://x/y.tgz\"}}", true },
	{ items_read_git_config, "git-alias", "", "[alias]\nst = status -sb\n",
	  false },
	{ items_read_git_config, "git-alias", "[alias]\nst = status -sb\n",
	  "[alias]\nst = !/x/y\n", true },
	{ items_read_git_config, "git-remote", "", "[remote \"o\"]\nurl = x\n",
	  false },
	{ items_read_git_config, "git-remote", "[remote \"o\"]\nurl = x\n",
	  "[remote \"o\"]\nurl = y\n", true },
	{ items_read_git_config, "git-remote-new", "",
	  "[remote \"o\"]\nurl = x\n", true },
	{ items_read_git_config, "git-remote-new", "[remote \"o\"]\nurl = x\n",
	  "[remote \"o\"]\nurl = y\n", false },
	{ items_read_hosts, "lock-host", "resolved https://a/x\n",
	  "resolved https://a/y\n", false },
	{ items_read_hosts, "lock-host", "resolved https://a/x\n",
	  "resolved https://b/x\n", true },
	{ items_read_lines, "build-source", "module m\nrequire x v1\n",
	  "module m\nrequire x v2\n", false },
	{ items_read_lines, "build-source", "module m\n",
	  "module m\nreplace x => ../y\n", true },
	{ items_read_jsonc, "editor-plugin", "{}",
	  "{\"compilerOptions\": {\"strict\": true, // x\n}}", false },
	{ items_read_jsonc, "editor-plugin", "{}",
	  "{\"compilerOptions\": {\"plugins\": [{}],},}", true },
	{ items_read_attributes, "git-attributes", "",
	  "*.c text eol=lf diff=cpp merge=union\n", false },
	{ items_read_attributes, "git-attributes", "*.a filter=lfs\n",
	  "*.a filter=lfs\n*.b filter=lfs\n", true },
	{ items_read_git_config, "git-submodule",
	  "[submodule \"a\"]\nurl = x\n",
	  "[submodule \"a\"]\nurl = x\n[submodule \"b\"]\nurl = y\n", true },
};

static void only_what_is_new_counts(void)
{
	for (size_t i = 0; i < LENGTH(news); i++) {
		bool is_news = has_news(news[i].read, news[i].rule, news[i].old,
					news[i].new);

		if (is_news != news[i].is_news)
			printf("# %s: %s\n", news[i].rule, news[i].new);
		CHECK_INT(is_news, news[i].is_news);
	}
}

static void too_many_are_refused(void)
{
	const struct gate_rule rule = everything();
	auto_items struct items items = { .rule = &rule };
	char name[32];
	int r = 0;

	for (int i = 0; i < ITEMS_MAX; i++) {
		(void)snprintf(name, sizeof(name), "k%d", i);
		r = items_add(&items, name, strlen(name), "", 0, 1);
		CHECK_INT(r, 0);
	}
	CHECK_INT(items_add(&items, "k0", 2, "", 0, 1), 0);
	CHECK_INT(items_add(&items, "more", 4, "", 0, 1), -E2BIG);
}

/* Each of these took time by the square of its length. */
static void a_long_text_is_too_much(void)
{
	static char text[1 << 19];
	const struct gate_rule rule = everything();
	auto_items struct items line = { .rule = &rule };
	auto_items struct items names = { .rule = &rule };
	auto_items struct items some = { .rule = &rule };
	size_t at = 0;

	/* One line, of which each word has all of it for its value. */
	text[at++] = '*';
	while (at + 10 < sizeof(text))
		at += (size_t)snprintf(text + at, 10, " filter=x");
	CHECK_INT(items_read_attributes(&line, text, at), -E2BIG);
	/* A long name with much in it. */
	at = (size_t)snprintf(text, sizeof(text), "{\"%060000d\":{\"a\":1", 0);
	while (at + 10 < sizeof(text))
		at += (size_t)snprintf(text + at, 10, ",\"a\":1");
	at += (size_t)snprintf(text + at, 10, "}}");
	CHECK_INT(items_read_json(&names, text, at), -E2BIG);
	/* What people write is not. */
	at = 0;
	while (at + 40 < sizeof(text))
		at += (size_t)snprintf(text + at, 40, "*.%zu filter=x diff=y\n",
				       at);
	CHECK_INT(items_read_attributes(&some, text, at), 0);
	CHECK_INT(some.n, 2);
}

TESTS(T(git_config_is_read_as_git_does), T(attributes_are_read),
      T(json_is_read_with_its_escapes), T(json_with_comments),
      T(lines_and_hosts), T(only_what_is_new_counts), T(too_many_are_refused),
      T(a_long_text_is_too_much))
