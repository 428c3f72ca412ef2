/* SPDX-License-Identifier: Apache-2.0 */
#include "base/option.h"
#include "base/shells/option_complete.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/option_help.h"
#include "base/suggest.h"

#include "tap.h"

#include <limits.h>
#include <stdarg.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct values {
	bool json;
	bool color;
	bool help;
	unsigned int verbose;
	const char *to;
	const char *mode;
	const char *diff;
	const char *session;
	int64_t depth;
	uint64_t size;
	uint64_t every;
	char dirs[64];
};

static int add_dir(void *values, const struct option *o, const char *arg,
		   struct hb_error *err)
{
	struct values *v = values;

	(void)o;
	if (arg[0] != '/')
		return hb_fail(err, -HB_E_USAGE, "'%s' is not absolute", arg);
	(void)strncat(v->dirs, arg, sizeof(v->dirs) - strlen(v->dirs) - 1);
	return 0;
}

#define AT(field) .offset = offsetof(struct values, field)

static const char *const modes[] = { "secure", "direct", "ephemeral", NULL };

static const struct option run_options[] = {
	{ .name = "to",
	  .letter = 't',
	  .kind = OPTION_STRING,
	  AT(to),
	  .metavar = "MARK",
	  .help = "go back to this mark" },
	{ .name = "mode",
	  .kind = OPTION_STRING,
	  AT(mode),
	  .choices = modes,
	  .metavar = "MODE",
	  .help = "how changes are held back; it's [one] of: three" },
	{ .name = "ro",
	  .letter = 'r',
	  .kind = OPTION_CALL,
	  .call = add_dir,
	  .metavar = "DIR",
	  .offer = OFFER_DIRS,
	  .help = "show this directory" },
	{ .name = "diff",
	  .letter = 'd',
	  .kind = OPTION_STRING,
	  .arg = OPTION_ARG_OPTIONAL,
	  AT(diff),
	  .metavar = "HOW",
	  .help = "show differences" },
	{ .name = "no-color",
	  .kind = OPTION_CLEAR,
	  AT(color),
	  .group = "Limits",
	  .help = "no colours" },
	{ .name = "depth",
	  .kind = OPTION_INT,
	  AT(depth),
	  .min = 1,
	  .max = 9,
	  .help = "how deep, in a sentence that is long enough to be broken "
		  "into several lines of the help" },
	{ .name = "size", .kind = OPTION_SIZE, AT(size), .help = "how large" },
	{ .name = "every-so-often-or-more",
	  .kind = OPTION_DURATION,
	  AT(every),
	  .help = "how often" },
	{ .name = "session",
	  .sigil = '@',
	  .kind = OPTION_STRING,
	  AT(session),
	  .metavar = "NAME",
	  .help = "in this one" },
	{ .name = "secret",
	  .kind = OPTION_SET,
	  AT(json),
	  .is_hidden = true,
	  .help = "unseen" },
	{ 0 },
};

static const struct option all_options[] = {
	{ .name = "json",
	  .letter = 'j',
	  .kind = OPTION_SET,
	  AT(json),
	  .help = "print one document" },
	{ .name = "verbose",
	  .letter = 'v',
	  .kind = OPTION_COUNT,
	  AT(verbose),
	  .help = "say more" },
	{ .name = "help",
	  .letter = 'h',
	  .kind = OPTION_SET,
	  AT(help),
	  .is_final = true,
	  .help = "show this" },
	{ 0 },
};

static const struct command commands[] = {
	{ .name = "run",
	  .synopsis = "[OPTIONS] [--] COMMAND [ARG...]",
	  .summary = "run a command",
	  .about = "First paragraph, which is long enough to be filled anew, "
		   "as it would not fit into one line.\n\nSecond one.",
	  .flags = COMMAND_STOPS,
	  .options = run_options,
	  .operands_min = 1,
	  .operands_max = OPERANDS_ANY,
	  .offer = OFFER_COMMANDS },
	{ .name = "commit",
	  .synopsis = "[PATH]",
	  .summary = "apply what is held back",
	  .group = "After a run",
	  .operands_max = 1,
	  .options = run_options,
	  .offer = OFFER_FILES },
	{ .name = "status", .summary = "show what was changed" },
	{ .name = "plumb", .summary = "unseen", .flags = COMMAND_HIDDEN },
	{ 0 },
};

static const struct program prog = {
	.name = "prog",
	.summary = "holds things back",
	.options = all_options,
	.commands = commands,
};

#define RUN    (&commands[0])
#define COMMIT (&commands[1])
#define STATUS (&commands[2])
#define WORDS  16

struct line {
	char text[256];
	char *words[WORDS + 1];
	struct values v;
	struct hb_error err;
	int n;
};

/* Parses a line whose words have single spaces between them. */
static void parse(struct line *l, const struct command *c, const char *text)
{
	char *save = NULL;
	size_t n = 0;

	*l = (struct line){ .v.color = true };
	(void)snprintf(l->text, sizeof(l->text), "%s", text);
	for (char *w = strtok_r(l->text, " ", &save); w && n < WORDS;
	     w = strtok_r(NULL, " ", &save))
		l->words[n++] = w;
	l->n = option_parse(&prog, c, l->words, &l->v, l->words, &l->err);
}

static bool same(const char *a, const char *b)
{
	if (!a || !b)
		return a == b;
	if (strcmp(a, b) != 0)
		printf("# got '%s', expected '%s'\n", a, b);
	return strcmp(a, b) == 0;
}

static void every_kind_is_stored(void)
{
	struct line l;

	parse(&l, RUN,
	      "--to m1 --mode=direct --no-color --depth 9 --size 2K "
	      "--every-so-often-or-more=5m --json --verbose -v x");
	CHECK_INT(l.n, 1);
	CHECK_INT(l.err.code, 0);
	CHECK(same(l.v.to, "m1") && same(l.v.mode, "direct"));
	CHECK(!l.v.color && l.v.json);
	CHECK_INT(l.v.depth, 9);
	CHECK_INT(l.v.size, 2048);
	CHECK_INT(l.v.every, 300);
	CHECK_INT(l.v.verbose, 2);
	CHECK(same(l.words[0], "x") && l.words[1] == NULL);
}

static void defaults_stay(void)
{
	struct line l;

	parse(&l, STATUS, "");
	CHECK_INT(l.n, 0);
	CHECK(l.v.color && !l.v.json && l.v.to == NULL);
}

static void letters_bundle(void)
{
	struct line l;

	parse(&l, COMMIT, "-vjvt mark");
	CHECK_INT(l.n, 0);
	CHECK_INT(l.v.verbose, 2);
	CHECK(l.v.json && same(l.v.to, "mark"));
	parse(&l, COMMIT, "-vtmark");
	CHECK(l.n == 0 && same(l.v.to, "mark"));
	parse(&l, COMMIT, "-t -v");
	CHECK(l.n == 0 && same(l.v.to, "-v") && l.v.verbose == 0);
}

static void optional_arguments_are_attached(void)
{
	struct line l;

	parse(&l, COMMIT, "--diff x");
	CHECK(l.n == 1 && same(l.v.diff, ""));
	parse(&l, COMMIT, "--diff=x");
	CHECK(l.n == 0 && same(l.v.diff, "x"));
	parse(&l, COMMIT, "--diff=");
	CHECK(l.n == 0 && same(l.v.diff, ""));
	parse(&l, COMMIT, "-dx");
	CHECK(l.n == 0 && same(l.v.diff, "x"));
	parse(&l, COMMIT, "-vd x");
	CHECK(l.n == 1 && same(l.v.diff, ""));
}

static void calls_may_repeat(void)
{
	struct line l;

	parse(&l, RUN, "--ro /a -r /b -r/c --ro=/d x");
	CHECK_INT(l.n, 1);
	CHECK(same(l.v.dirs, "/a/b/c/d"));
	parse(&l, RUN, "--ro x y");
	CHECK_INT(l.n, -HB_E_USAGE);
	CHECK(same(l.err.text, "option '--ro': 'x' is not absolute"));
}

static void operands_and_options_may_mix(void)
{
	struct line l;

	parse(&l, COMMIT, "a -v --json");
	CHECK(l.n == 1 && l.v.verbose == 1 && l.v.json);
	CHECK(same(l.words[0], "a"));
	parse(&l, COMMIT, "-v -");
	CHECK(l.n == 1 && same(l.words[0], "-"));
	parse(&l, COMMIT, "-- -v");
	CHECK(l.n == 1 && same(l.words[0], "-v") && l.v.verbose == 0);
}

static void a_command_keeps_its_own_options(void)
{
	struct line l;

	parse(&l, RUN, "-v ls -v --json -- x");
	CHECK(l.n == 5 && l.v.verbose == 1 && !l.v.json);
	CHECK(same(l.words[0], "ls") && same(l.words[1], "-v"));
	CHECK(same(l.words[3], "--"));
	parse(&l, RUN, "-v -- -x -v");
	CHECK(l.n == 2 && same(l.words[0], "-x") && l.v.verbose == 1);
	parse(&l, RUN, "-- -- x");
	CHECK(l.n == 2 && same(l.words[0], "--"));
	parse(&l, RUN, "- -v");
	CHECK(l.n == 2 && same(l.words[1], "-v") && l.v.verbose == 0);
	parse(&l, NULL, "-v run -v");
	CHECK(l.n == 2 && l.v.verbose == 1 && same(l.words[0], "run"));
}

static void a_sigil_is_an_option(void)
{
	struct line l;

	parse(&l, RUN, "@s1 -v ls @x");
	CHECK(l.n == 2 && same(l.v.session, "@s1") && l.v.verbose == 1);
	CHECK(same(l.words[1], "@x"));
	parse(&l, RUN, "-- @s1");
	CHECK(l.n == 1 && l.v.session == NULL);
	parse(&l, COMMIT, "--session s2");
	CHECK(l.n == 0 && same(l.v.session, "s2"));
}

static void help_asks_nothing_else(void)
{
	struct line l;

	parse(&l, RUN, "--help --nonsense");
	CHECK(l.n == 0 && l.v.help);
	parse(&l, RUN, "-vh --nonsense");
	CHECK(l.n == 0 && l.v.help && l.v.verbose == 1);
}

struct fault {
	const struct command *command;
	const char *line;
	const char *text;
	const char *fix;
};

static const struct fault faults[] = {
	{ RUN, "--jsn x", "unknown option '--jsn'", "did you mean '--json'?" },
	{ RUN, "--jsn=x", "unknown option '--jsn=x'",
	  "did you mean '--json'?" },
	{ RUN, "--verb", "unknown option '--verb'",
	  "did you mean '--verbose'?" },
	{ RUN, "--xyzzy", "unknown option '--xyzzy'", "try 'prog run --help'" },
	{ NULL, "--xyzzy", "unknown option '--xyzzy'", "try 'prog --help'" },
	{ RUN, "-vx", "unknown option '-vx'", "try 'prog run --help'" },
	{ RUN, "--a\033b", "unknown option '\"--a\\033b\"'",
	  "try 'prog run --help'" },
	/* Hidden ones are not told. */
	{ RUN, "--secre", "unknown option '--secre'", "try 'prog run --help'" },
	{ STATUS, "--to x", "unknown option '--to'",
	  "try 'prog status --help'" },
	{ RUN, "--to", "option '--to' needs an argument",
	  "try 'prog run --help'" },
	{ RUN, "--to --json x",
	  "option '--to' needs an argument before '--json'",
	  "give it MARK; or, if the word is meant: --to=--json" },
	{ RUN, "-vt -- x", "option '--to' needs an argument before '--'",
	  "give it MARK; or, if the word is meant: --to=--" },
	{ RUN, "-vt", "option '--to' needs an argument",
	  "try 'prog run --help'" },
	{ RUN, "--json=x", "option '--json' takes no argument",
	  "try 'prog run --help'" },
	{ RUN, "--mode dirct",
	  "option '--mode': 'dirct' is not one of its values",
	  "did you mean 'direct'?" },
	{ RUN, "--depth 10", "option '--depth': '10' is not between 1 and 9",
	  "try 'prog run --help'" },
	{ RUN, "--depth 1x", "option '--depth': '1x' is not a number",
	  "try 'prog run --help'" },
	{ RUN, "--size 1T", "option '--size': '1T' is not a number",
	  "give a number with K, M or G, such as 64M" },
	{ RUN, "--size 99999999999G",
	  "option '--size': '99999999999G' is out of range",
	  "try 'prog run --help'" },
	{ RUN, "-v", "'run' needs an operand", "try 'prog run --help'" },
	{ COMMIT, "a b", "'commit' does not take the operand 'b'",
	  "try 'prog commit --help'" },
	{ STATUS, "a", "'status' does not take the operand 'a'",
	  "try 'prog status --help'" },
};

static void faults_have_words_and_a_fix(void)
{
	struct line l;

	for (size_t i = 0; i < COUNT(faults); i++) {
		parse(&l, faults[i].command, faults[i].line);
		CHECK_INT(l.n, -HB_E_USAGE);
		CHECK_INT(l.err.code, HB_E_USAGE);
		CHECK(same(l.err.text, faults[i].text));
		CHECK(same(l.err.fix, faults[i].fix));
	}
}

static void long_words_are_survived(void)
{
	struct line l;
	char text[200] = "--";

	memset(text + 2, 'x', 150);
	parse(&l, RUN, text);
	CHECK_INT(l.n, -HB_E_USAGE);
	CHECK(strlen(l.err.text) < 180);
}

static void commands_are_found_or_suggested(void)
{
	struct hb_error err = { 0 };

	CHECK(command_find(&prog, "commit") == COMMIT);
	CHECK(command_find(&prog, "plumb") != NULL);
	CHECK(command_find(&prog, "comit") == NULL);
	CHECK(same(command_suggest(&prog, "comit"), "commit"));
	CHECK(same(command_suggest(&prog, "stauts"), "status"));
	CHECK(same(command_suggest(&prog, "stat"), "status"));
	CHECK(command_suggest(&prog, "claude") == NULL);
	CHECK(command_suggest(&prog, "plum") == NULL);
	CHECK(command_suggest(&prog, "ls") == NULL);
	CHECK_INT(command_unknown(&prog, "comit", &err), -HB_E_USAGE);
	CHECK(same(err.text, "unknown command 'comit'"));
	CHECK(same(err.fix, "did you mean 'prog commit'?"));
}

static void distances_are_edits(void)
{
	char big[SUGGEST_MAX + 2] = { 0 };

	CHECK_INT(edit_distance("", ""), 0);
	CHECK_INT(edit_distance("", "abc"), 3);
	CHECK_INT(edit_distance("abc", "abc"), 0);
	CHECK_INT(edit_distance("abc", "acb"), 1);
	CHECK_INT(edit_distance("abcd", "badc"), 2);
	CHECK_INT(edit_distance("kitten", "sitting"), 3);
	CHECK_INT(edit_distance("sitting", "kitten"), 3);
	memset(big, 'x', SUGGEST_MAX);
	CHECK_INT(edit_distance(big, ""), SUGGEST_MAX);
	big[SUGGEST_MAX] = 'x';
	CHECK(edit_distance(big, "x") == UINT_MAX);
}

struct entry {
	const char *name;
	const char *value;
	const char *text; /* NULL: it is good */
	const char *fix;
};

static int store_key(const struct option *table, const char *key,
		     const char *value, struct values *v, struct hb_error *err)
{
	return option_store(option_find(table, key), value, v, err);
}

static void a_key_is_stored_as_its_long_option(void)
{
	static const struct entry bad[] = {
		{ "mode", "x", "'x' is not one of its values",
		  "say one of 'secure', 'direct', 'ephemeral'" },
		{ "no-color", "maybe", "it is neither yes nor no",
		  "write 'no-color = yes' or 'no-color = no'" },
		{ "depth", "0", "'0' is not between 1 and 9", "" },
	};
	struct values v = { .color = true };

	CHECK(!option_find(run_options, "moed"));
	CHECK_INT(store_key(run_options, "mode", "direct", &v, NULL), 0);
	CHECK(same(v.mode, "direct"));
	CHECK_INT(store_key(run_options, "no-color", "yes", &v, NULL), 0);
	CHECK(!v.color);
	CHECK_INT(store_key(run_options, "no-color", "off", &v, NULL), 0);
	CHECK(v.color);
	CHECK_INT(store_key(run_options, "ro", "/x", &v, NULL), 0);
	CHECK(same(v.dirs, "/x"));
	CHECK_INT(store_key(all_options, "json", "true", &v, NULL), 0);
	CHECK(v.json);
	CHECK_INT(store_key(all_options, "json", "no", &v, NULL), 0);
	CHECK(!v.json);
	CHECK_INT(store_key(all_options, "verbose", "no", &v, NULL),
		  -HB_E_CONFIG);
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct hb_error err = { 0 };

		CHECK(store_key(run_options, bad[i].name, bad[i].value, &v,
				&err) < 0);
		CHECK(same(err.text, bad[i].text));
		CHECK(same(err.fix, bad[i].fix));
	}
}

static void help_shows_the_table(void)
{
	static const char want[] =
		"usage: prog run [OPTIONS] [--] COMMAND [ARG...]\n"
		"\n"
		"run a command\n"
		"\n"
		"First paragraph, which is long enough to be filled anew, as "
		"it would not fit\ninto one line.\n"
		"\n"
		"Second one.\n"
		"\n"
		"Options:\n"
		"  -t, --to MARK           go back to this mark\n"
		"      --mode MODE         how changes are held back; it's "
		"[one] of: three\n"
		"  -r, --ro DIR            show this directory\n"
		"  -d, --diff[=HOW]        show differences\n"
		"\n"
		"Limits:\n"
		"      --no-color          no colours\n"
		"      --depth N           how deep, in a sentence that is "
		"long enough to be\n"
		"                          broken into several lines of the "
		"help\n"
		"      --size SIZE         how large\n"
		"      --every-so-often-or-more TIME\n"
		"                          how often\n"
		"      --session NAME, @NAME\n"
		"                          in this one\n"
		"\n"
		"Options of every command:\n"
		"  -j, --json              print one document\n"
		"  -v, --verbose           say more\n"
		"  -h, --help              show this\n";
	auto_buf struct buf b = BUF_INIT(1 << 16);

	CHECK_INT(option_help(&prog, RUN, &b), 0);
	CHECK(same(buf_str(&b), want));
}

static void help_lists_the_commands(void)
{
	static const char want[] =
		"usage: prog COMMAND [OPTIONS]\n"
		"\n"
		"holds things back\n"
		"\n"
		"Commands:\n"
		"  run                     run a command\n"
		"\n"
		"After a run:\n"
		"  commit                  apply what is held back\n"
		"  status                  show what was changed\n"
		"\n"
		"Options:\n"
		"  -j, --json              print one document\n"
		"  -v, --verbose           say more\n"
		"  -h, --help              show this\n"
		"\n"
		"'prog COMMAND --help' tells more.\n";
	auto_buf struct buf b = BUF_INIT(1 << 16);

	CHECK_INT(option_help(&prog, NULL, &b), 0);
	CHECK(same(buf_str(&b), want));
}

static void the_list_is_for_man_pages(void)
{
	auto_buf struct buf b = BUF_INIT(1 << 16);

	CHECK_INT(option_list(&prog, &b), 0);
	CHECK(strstr(buf_str(&b), "-\t--json\t-j\t-\n") == b.data);
	CHECK(strstr(buf_str(&b), "\nrun\t-\t-\t-\nrun\t--to\t-t\tMARK\n"));
	CHECK(strstr(buf_str(&b), "\nrun\t--diff\t-d\t[HOW]\n"));
	CHECK(strstr(buf_str(&b), "\nrun\t--depth\t-\tN\n"));
	CHECK(strstr(buf_str(&b), "\nstatus\t-\t-\t-\n"));
	CHECK(!strstr(buf_str(&b), "secret") && !strstr(buf_str(&b), "plumb"));
}

/*
 * Runs the shell on the script followed by `tail`; returns what it printed, or
 * NULL if there is no such shell.
 */
static const char *ask_shell(enum option_shell shell, const char *tail)
{
	static char answer[1 << 12];
	auto_buf struct buf b = BUF_INIT(1 << 16);
	char command[160], name[] = "/tmp/t_option.XXXXXX";
	FILE *file, *out;
	size_t n;
	int fd;

	(void)snprintf(command, sizeof(command),
		       "command -v %s >/dev/null || exit 99",
		       option_shell_names[shell]);
	if (system(command) != 0)
		return NULL;
	CHECK_INT(option_completion(&prog, shell, &b), 0);
	fd = mkstemp(name);
	CHECK(fd >= 0);
	file = fdopen(fd, "w");
	CHECK(file != NULL);
	(void)fprintf(file, "%s%s\n", buf_str(&b), tail);
	CHECK_INT(fclose(file), 0);
	/* A home of its own: fish keeps a history even so. */
	(void)snprintf(command, sizeof(command),
		       "d=$(mktemp -d); HOME=$d %s %s %s 2>&1; rm -r \"$d\"",
		       option_shell_names[shell],
		       shell == OPTION_SHELL_ZSH ? "-f" : "", name);
	out = popen(command, "r");
	CHECK(out != NULL);
	n = fread(answer, 1, sizeof(answer) - 1, out);
	answer[n] = '\0';
	(void)pclose(out);
	CHECK_INT(remove(name), 0);
	return answer;
}

/* What bash offers for the last of the words. */
static const char *ask_bash(const char *words)
{
	char tail[256];

	(void)snprintf(tail, sizeof(tail),
		       "COMP_WORDS=(prog %s); COMP_CWORD=$((${#COMP_WORDS[@]} "
		       "- 1)); _prog; echo \"${COMPREPLY[*]}\"",
		       words);
	return ask_shell(OPTION_SHELL_BASH, tail);
}

static void bash_completes(void)
{
	static const char *const all[][2] = {
		{ "''", "run commit status\n" },
		{ "st", "status\n" },
		{ "--j", "--json\n" },
		{ "run --m", "--mode\n" },
		{ "run --mode ''", "secure direct ephemeral\n" },
		{ "run --mode d", "direct\n" },
		{ "run --mode =", "secure direct ephemeral\n" },
		{ "run --mode = e", "ephemeral\n" },
		{ "-v run --verb", "--verbose\n" },
		{ "run --to --mode --mod", "--mode\n" },
		{ "run @s --mod", "--mode\n" },
		{ "run ls --mod", "\n" },
		{ "run -- --mod", "\n" },
		{ "commit x --mod", "--mode\n" },
		{ "status --t", "\n" },
		{ "run --secr", "\n" },
		{ "plum", "\n" },
	};

	for (size_t i = 0; i < COUNT(all); i++) {
		const char *got = ask_bash(all[i][0]);

		CHECK(got != NULL);
		if (!same(got, all[i][1]))
			printf("# for '%s'\n", all[i][0]);
		CHECK(same(got, all[i][1]));
	}
	/* Any system has other programs that begin so. */
	CHECK(strstr(ask_bash("run -- bas"), "bash") != NULL);
}

static void fish_completes(void)
{
	static const char *const all[][2] = {
		{ "prog st", "status\tshow what was changed\n" },
		{ "prog run --mod", "--mode\thow changes are held back; it's "
				    "[one] of: three\n" },
		{ "prog run --mode d", "direct\t" },
		{ "prog run --jso", "--json\tprint one document\n" },
		{ "prog status --mod", "" },
		{ "prog plum", "" },
	};
	char tail[128];

	for (size_t i = 0; i < COUNT(all); i++) {
		const char *got;

		(void)snprintf(tail, sizeof(tail), "complete -C '%s'",
			       all[i][0]);
		got = ask_shell(OPTION_SHELL_FISH, tail);
		if (!got) {
			printf("# skipped: there is no fish\n");
			return;
		}
		/* An empty row means that there is nothing to offer. */
		CHECK(all[i][1][0] ? strstr(got, all[i][1]) == got
				   : got[0] == '\0');
	}
}

static void zsh_reads_the_script(void)
{
	auto_buf struct buf b = BUF_INIT(1 << 16);
	const char *got;

	CHECK_INT(option_completion(&prog, OPTION_SHELL_ZSH, &b), 0);
	CHECK(strstr(buf_str(&b), "#compdef prog\n") == b.data);
	CHECK(strstr(buf_str(&b), "'(-t --to)--to=[go back to this mark]"
				  ":MARK: '"));
	CHECK(strstr(buf_str(&b), "'--mode=[how changes are held back; "
				  "it'\\''s \\[one\\] of\\: three]"
				  ":MODE:(secure direct ephemeral)'"));
	CHECK(strstr(buf_str(&b), "'*--ro=[show this directory]:DIR:"
				  "_files -/'"));
	CHECK(!strstr(buf_str(&b), "secret") && !strstr(buf_str(&b), "plumb"));

	/* The last line registers; without its system there is no compdef. */
	got = ask_shell(OPTION_SHELL_ZSH, "whence -w _prog");
	if (!got) {
		printf("# skipped: there is no zsh\n");
		return;
	}
	CHECK(strstr(got, "_prog: function\n") != NULL);
	CHECK(strstr(got, "parse error") == NULL);
}

TESTS(T(every_kind_is_stored), T(defaults_stay), T(letters_bundle),
      T(optional_arguments_are_attached), T(calls_may_repeat),
      T(operands_and_options_may_mix), T(a_command_keeps_its_own_options),
      T(a_sigil_is_an_option), T(help_asks_nothing_else),
      T(faults_have_words_and_a_fix), T(long_words_are_survived),
      T(commands_are_found_or_suggested), T(distances_are_edits),
      T(a_key_is_stored_as_its_long_option), T(help_shows_the_table),
      T(help_lists_the_commands), T(the_list_is_for_man_pages),
      T(bash_completes), T(fish_completes), T(zsh_reads_the_script))
