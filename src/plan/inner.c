/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/inner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * What each agent documents.  codex's sandbox is always on, and its modes are
 * words of its command line, which its settings give way to.  claude's is on
 * where its settings say so, and an option gives way to nothing but itself.
 * gemini's is switched off by a variable of its profile, which beats its
 * settings.  Its option sets that variable, and gives way to a later one.
 */

/* As claude takes both from its settings. */
#define SANDBOX_OFF "\"sandbox\":{\"enabled\":false}"
#define STOP_HOOK                            \
	"\"hooks\":{\"Stop\":[{\"hooks\":[{" \
	"\"type\":\"command\","              \
	"\"command\":\"" TURNS_PROGRAM " mark --turn\"}]}]}"

#define COUNT(a)  (sizeof(a) / sizeof((a)[0]))
#define WORDS_MAX 2
#define FILES_MAX 2

/* An option whose value says what the sandbox does. */
struct mode_option {
	const char *name;
	const char *key;   /* the value begins with it; "" is every value */
	const char *off;   /* as the word after the option */
	const char *whole; /* as one word with it */
};

/* An option that switches the sandbox on, maybe beside something else. */
struct mode_word {
	const char *name;
	const char *rest; /* the word without a sandbox */
	bool takes_true;  /* the next word is its value if it is `true` */
};

static const struct agent {
	const char *program;
	bool is_asked_for; /* off already unless settings or `words` say so */
	const char *files[FILES_MAX]; /* the settings, and then: */
	const char *variable;
	struct mode_option options[4];
	struct mode_word words[4];
	const char *stricter;
	const char *profile[2]; /* options that name a file of settings */
	const char *insert[WORDS_MAX];
	const char *own; /* the caller's use of this option is left alone */
	/* The value of the inserted option with the hook, and with both. */
	const char *turns, *turns_off;
	/* First words that make it another program than an agent. */
	const char *others[24];
	/* With this word anywhere the sandbox itself was asked for. */
	const char *wanted;
} agents[] = {
	{
		.program = "codex",
		.options = {
			{ "-s", "", "danger-full-access",
			  "--sandbox=danger-full-access" },
			{ "--sandbox", "", "danger-full-access",
			  "--sandbox=danger-full-access" },
			{ "-c", "sandbox_mode=",
			  "sandbox_mode=\"danger-full-access\"",
			  "--config=sandbox_mode=\"danger-full-access\"" },
			{ "--config", "sandbox_mode=",
			  "sandbox_mode=\"danger-full-access\"",
			  "--config=sandbox_mode=\"danger-full-access\"" },
		},
		.words = {
			{ "--approve-for-me",
			  "--config=approvals_reviewer=\"auto_review\"" },
			/* Of earlier versions; the rest of it was usual. */
			{ "--full-auto", "--sandbox=danger-full-access" },
		},
		.stricter = "read-only",
		.profile = { "-p", "--profile" },
		.insert = { "-c", "sandbox_mode=\"danger-full-access\"" },
		.others = { "-h", "--help", "-V", "--version", "login",
			    "logout", "mcp", "plugin", "completion", "update",
			    "doctor", "debug", "apply", "a", "archive",
			    "unarchive", "delete", "features", "help" },
		.wanted = "sandbox",
	},
	{
		.program = "claude",
		.is_asked_for = true,
		.files = { ".claude/settings.json",
			   ".claude/settings.local.json" },
		.insert = { "--settings", "{" SANDBOX_OFF "}" },
		.own = "--settings",
		.turns = "{" STOP_HOOK "}",
		.turns_off = "{" SANDBOX_OFF "," STOP_HOOK "}",
	},
	{
		.program = "gemini",
		.is_asked_for = true,
		.files = { ".gemini/settings.json" },
		.variable = "GEMINI_SANDBOX",
		.words = {
			{ "-s", "--sandbox=false", true },
			{ "--sandbox", "--sandbox=false", true },
			{ "-s=true", "--sandbox=false", false },
			{ "--sandbox=true", "--sandbox=false", false },
		},
		/* Of some of these -s is another option. */
		.others = { "-h", "--help", "-v", "--version", "mcp",
			    "extensions", "extension", "skills", "skill",
			    "hooks", "hook", "gemma" },
	},
};

static const struct agent *find(const char *program)
{
	for (size_t i = 0; program && i < COUNT(agents); i++)
		if (strcmp(agents[i].program, program) == 0)
			return &agents[i];
	return NULL;
}

size_t inner_settings(const char *program, const char *const **ret_names,
		      const char **ret_variable)
{
	const struct agent *agent = find(program);
	size_t n = 0;

	*ret_names = agent ? agent->files : NULL;
	*ret_variable = agent ? agent->variable : NULL;
	while (agent && n < FILES_MAX && agent->files[n])
		n++;
	return n;
}

bool inner_is_on(const char *value)
{
	return value && value[0] && strcmp(value, "0") != 0 &&
	       strcmp(value, "false") != 0;
}

static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && *p && strchr(" \t\r\n", *p))
		p++;
	return p;
}

/* Behind a string that begins at `p`. */
static const char *skip_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		if (*p == '\\')
			p++;
	return p < end ? p + 1 : end;
}

/* Whether the member NAME begins at `p`; then `ret` is where its value does. */
static bool is_member(const char *p, const char *end, const char *name,
		      const char **ret)
{
	size_t n = strlen(name);

	if ((size_t)(end - p) < n + 2 || *p != '"' ||
	    strncmp(p + 1, name, n) != 0 || p[n + 1] != '"')
		return false;
	p = skip_blanks(p + n + 2, end);
	if (p == end || *p != ':')
		return false;
	*ret = skip_blanks(p + 1, end);
	return true;
}

/* Whether the object that begins at `p` has `enabled`, and that is true. */
static bool is_enabled(const char *p, const char *end)
{
	const char *value;
	int depth = 0;

	for (; p < end; p++) {
		if (depth == 1 && is_member(p, end, "enabled", &value))
			return end - value >= 4 &&
			       strncmp(value, "true", 4) == 0;
		if (*p == '{' || *p == '[')
			depth++;
		else if (*p == '}' || *p == ']')
			depth--;
		else if (*p == '"')
			p = skip_string(p, end) - 1;
		if (depth == 0)
			break;
	}
	return false;
}

/* Whether the value at `p` is on: an object, a name, or the word itself. */
static bool is_on(const char *p, const char *end)
{
	char name[16] = "";
	size_t n = (size_t)(end - p);

	if (n > 0 && *p == '{')
		return is_enabled(p, end);
	if (n == 0 || *p != '"')
		return n >= 4 && strncmp(p, "true", 4) == 0;
	n = (size_t)(skip_string(p, end) - p);
	if (n < 2)
		return false;
	/* The words for off are shorter. */
	memcpy(name, p + 1, n - 2 < sizeof(name) ? n - 2 : sizeof(name) - 1);
	return inner_is_on(name);
}

/*
 * As far as needed here: a wrong answer switches off a sandbox that is off, or
 * leaves on a sandbox that cannot work.
 */
bool inner_is_set(const char *text, size_t n)
{
	const char *end = text + n, *value;

	for (const char *p = text; p < end; p++) {
		if (*p != '"')
			continue;
		if (is_member(p, end, "sandbox", &value) && is_on(value, end))
			return true;
		p = skip_string(p, end) - 1;
	}
	return false;
}

static bool is_among(const char *word, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n && words[i]; i++)
		if (strcmp(word, words[i]) == 0)
			return true;
	return false;
}

/* Whether the agent's words are about something else, or say it all. */
static bool is_left_alone(const struct agent *agent, char *const *argv)
{
	if (argv[1] && is_among(argv[1], agent->others, COUNT(agent->others)))
		return true;
	for (size_t i = 1; argv[i] && strcmp(argv[i], "--") != 0; i++)
		if ((agent->wanted && strcmp(argv[i], agent->wanted) == 0) ||
		    (agent->own &&
		     strncmp(argv[i], agent->own, strlen(agent->own)) == 0))
			return true;
	return false;
}

/* Whether a value is this mode, which may stand in quotes behind the key. */
static bool says(const char *value, const char *key, const char *mode)
{
	size_t n = strlen(mode);

	if (strncmp(value, key, strlen(key)) != 0)
		return false;
	value += strlen(key);
	if (*value == '"' || *value == '\'')
		value++;
	return strncmp(value, mode, n) == 0 &&
	       strspn(value + n, "\"'") == strlen(value + n);
}

/* The value of an option in the same word, behind `=` or a letter; or NULL. */
static const char *attached(const char *word, const char *name)
{
	size_t n = strlen(name);

	if (strncmp(word, name, n) != 0 || !word[n])
		return NULL;
	if (word[n] == '=')
		return word + n + 1;
	return name[1] == '-' ? NULL : word + n;
}

/* Gives one option another value; its place in `argv` is `i`. */
static bool change_option(const struct mode_option *o, const char *stricter,
			  size_t i, struct inner *inner)
{
	bool is_two =
		strcmp(inner->argv[i], o->name) == 0 && inner->argv[i + 1];
	const char *value =
		is_two ? inner->argv[i + 1] : attached(inner->argv[i], o->name);

	if (!value || strncmp(value, o->key, strlen(o->key)) != 0)
		return false;
	inner->is_by_file = false;
	if (says(value, o->key, stricter))
		inner->stricter = value;
	if (is_two)
		inner->argv[i + 1] = o->off;
	else
		inner->argv[i] = o->whole;
	return true;
}

static const struct mode_word *find_word(const struct agent *agent,
					 const char *word)
{
	for (size_t k = 0; k < COUNT(agent->words) && agent->words[k].name; k++)
		if (strcmp(word, agent->words[k].name) == 0)
			return &agent->words[k];
	return NULL;
}

static void change_word(const struct agent *agent, size_t i,
			struct inner *inner)
{
	const struct mode_word *word = find_word(agent, inner->argv[i]);

	if (!word)
		return;
	inner->is_by_file = false;
	if (word->takes_true && inner->argv[i + 1] &&
	    strcmp(inner->argv[i + 1], "true") == 0)
		inner->argv[i + 1] = "false";
	else
		inner->argv[i] = word->rest;
}

/* Whether a word of the caller switches the sandbox on. */
static bool has_word(const struct agent *agent, char *const *argv)
{
	for (size_t i = 1; argv[i] && strcmp(argv[i], "--") != 0; i++)
		if (find_word(agent, argv[i]))
			return true;
	return false;
}

static void note_profile(const struct agent *agent, size_t i,
			 struct inner *inner)
{
	const char *word = inner->argv[i];

	for (size_t k = 0; k < COUNT(agent->profile) && agent->profile[k]; k++)
		if (strcmp(word, agent->profile[k]) == 0)
			inner->profile = inner->argv[i + 1];
		else if (attached(word, agent->profile[k]))
			inner->profile = attached(word, agent->profile[k]);
}

static void change_options(const struct agent *agent, size_t first,
			   struct inner *inner)
{
	for (size_t i = first; inner->argv[i]; i++) {
		if (strcmp(inner->argv[i], "--") == 0)
			return;
		note_profile(agent, i, inner);
		change_word(agent, i, inner);
		for (size_t k = 0; k < COUNT(agent->options); k++)
			if (agent->options[k].name &&
			    change_option(&agent->options[k], agent->stricter,
					  i, inner))
				break;
	}
}

/* The agent's words with ours before them; the place of its own, or -ENOMEM. */
static int insert_words(const struct agent *agent, char *const *argv,
			struct inner *inner)
{
	size_t n = 0, first = 1;

	while (argv[n])
		n++;
	inner->argv = calloc(n + WORDS_MAX + 1, sizeof(*inner->argv));
	if (!inner->argv)
		return -ENOMEM;
	inner->argv[0] = argv[0];
	for (; first <= WORDS_MAX && agent->insert[first - 1]; first++)
		inner->argv[first] = agent->insert[first - 1];
	memcpy(inner->argv + first, argv + 1, (n - 1) * sizeof(*argv));
	return (int)first;
}

int inner_switch_off(const char *program, char *const *argv, bool is_set,
		     struct inner *ret)
{
	const struct agent *agent = find(program);
	int first;

	*ret = (struct inner){ 0 };
	if (!agent || is_left_alone(agent, argv) ||
	    (agent->is_asked_for && !is_set && !has_word(agent, argv)))
		return 0;
	first = insert_words(agent, argv, ret);
	if (first < 0)
		return first;
	ret->is_by_file = agent->stricter;
	ret->is_off = true;
	change_options(agent, (size_t)first, ret);
	return 0;
}

int inner_mark_turns(const char *program, char *const *argv,
		     struct inner *inner)
{
	const struct agent *agent = find(program);

	if (!agent || !agent->turns || is_left_alone(agent, argv))
		return 0;
	if (!inner->argv && insert_words(agent, argv, inner) < 0)
		return -ENOMEM;
	/* The option and its value are the first words. */
	inner->argv[2] = inner->is_off ? agent->turns_off : agent->turns;
	inner->marks_turns = true;
	return 0;
}

/* Of the first table, which has no head, as that of TOML is. */
int inner_mode(const char *text, size_t n)
{
	static const char key[] = "sandbox_mode", mode[] = "read-only";
	const char *end = text + n;

	for (const char *line = text; line < end; line++) {
		const char *p = skip_blanks(line, end);

		if (p < end && *p == '[')
			return -1;
		if ((size_t)(end - p) > strlen(key) &&
		    strncmp(p, key, strlen(key)) == 0) {
			p = skip_blanks(p + strlen(key), end);
			if (p < end && *p == '=') {
				p = skip_blanks(p + 1, end);
				return (size_t)(end - p) > strlen(mode) &&
				       (*p == '"' || *p == '\'') &&
				       strncmp(p + 1, mode, strlen(mode)) == 0;
			}
		}
		line = memchr(line, '\n', (size_t)(end - line));
		if (!line)
			break;
	}
	return -1;
}
