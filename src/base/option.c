/* SPDX-License-Identifier: Apache-2.0 */
#include "base/option.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/num.h"
#include "base/quote.h"
#include "base/suggest.h"

#include <errno.h>
#include <string.h>

/* What each kind is: one row for each, in the order of the enum. */
struct kind {
	enum option_arg arg;
	const char *metavar;
};

static const struct kind kinds[] = {
	[OPTION_SET] = { OPTION_ARG_NONE, NULL },
	[OPTION_CLEAR] = { OPTION_ARG_NONE, NULL },
	[OPTION_COUNT] = { OPTION_ARG_NONE, NULL },
	[OPTION_STRING] = { OPTION_ARG_REQUIRED, "TEXT" },
	[OPTION_INT] = { OPTION_ARG_REQUIRED, "N" },
	[OPTION_SIZE] = { OPTION_ARG_REQUIRED, "SIZE" },
	[OPTION_DURATION] = { OPTION_ARG_REQUIRED, "TIME" },
	[OPTION_DECIMAL] = { OPTION_ARG_REQUIRED, "N" },
	[OPTION_CALL] = { OPTION_ARG_REQUIRED, "VALUE" },
};

/* One run over the words. */
struct parse {
	const struct program *program;
	const struct command *command; /* may be NULL */
	char **words;		       /* what is still to be read */
	void *values;
	bool is_final; /* an option said that all is said */
	struct hb_error *err;
};

enum option_arg option_arg_of(const struct option *o)
{
	return o->arg == OPTION_ARG_BY_KIND ? kinds[o->kind].arg : o->arg;
}

const char *option_metavar(const struct option *o)
{
	if (option_arg_of(o) == OPTION_ARG_NONE)
		return NULL;
	return o->metavar ? o->metavar : kinds[o->kind].metavar;
}

const struct option *option_find(const struct option *table, const char *name)
{
	for (const struct option *o = table; o && o->name; o++)
		if (strcmp(o->name, name) == 0)
			return o;
	return NULL;
}

const struct command *command_find(const struct program *p, const char *name)
{
	for (const struct command *c = p->commands; c && c->name; c++)
		if (strcmp(c->name, name) == 0)
			return c;
	return NULL;
}

const char *command_for(const struct program *p, const char *word)
{
	for (const struct other_word *o = p->others; o && o->word; o++)
		if (strcmp(word, o->word) == 0)
			return o->command;
	return NULL;
}

const char *command_suggest(const struct program *p, const char *name)
{
	const char *ours = command_for(p, name);
	struct suggestion s;

	if (ours)
		return ours;
	suggestion_init(&s, name);
	for (const struct command *c = p->commands; c && c->name; c++)
		if (!(c->flags & COMMAND_HIDDEN))
			suggestion_offer(&s, c->name);
	return s.best;
}

int command_unknown(const struct program *p, const char *name,
		    struct hb_error *err)
{
	const char *best = command_suggest(p, name);

	if (best)
		hb_fix(err, "did you mean '%s %s'?", p->name, best);
	hb_fix(err, "try '%s --help'", p->name);
	return hb_fail(err, -HB_E_USAGE, "unknown command '%s'", quoted(name));
}

/* The fix of every usage error that has no better one. */
static void fix_with_help(const struct parse *x)
{
	hb_fix(x->err, "try '%s%s%s --help'", x->program->name,
	       x->command ? " " : "", x->command ? x->command->name : "");
}

static void offer_choices(struct suggestion *s, const char *const *choices)
{
	for (size_t i = 0; choices[i]; i++)
		suggestion_offer(s, choices[i]);
}

#define CHOICES_SIZE 256

static void fix_with_choices(const char *const *choices, struct hb_error *err)
{
	auto_buf struct buf list = BUF_INIT(CHOICES_SIZE);

	for (size_t i = 0; choices[i]; i++)
		(void)buf_add_fmt(&list, "%s'%s'", i ? ", " : "", choices[i]);
	if (!list.error)
		hb_fix(err, "say one of %s", buf_str(&list));
}

static int check_choice(const struct option *o, const char *arg,
			struct hb_error *err)
{
	struct suggestion s;

	for (size_t i = 0; o->choices[i]; i++)
		if (strcmp(o->choices[i], arg) == 0)
			return 0;
	suggestion_init(&s, arg);
	offer_choices(&s, o->choices);
	if (s.best)
		hb_fix(err, "did you mean '%s'?", s.best);
	else
		fix_with_choices(o->choices, err);
	return hb_fail(err, -HB_E_USAGE, "'%s' is not one of its values",
		       quoted(arg));
}

static int store_number(const struct option *o, const char *arg, void *at,
			struct hb_error *err)
{
	bool any = o->min == 0 && o->max == 0;
	int r;

	if (o->kind == OPTION_INT)
		r = num_int(arg, any ? INT64_MIN : o->min,
			    any ? INT64_MAX : o->max, at);
	else if (o->kind == OPTION_SIZE)
		r = num_size(arg, at);
	else if (o->kind == OPTION_DECIMAL)
		r = num_thousandths(arg, at);
	else
		r = num_duration(arg, at);
	if (r == 0)
		return 0;

	if (r == -ERANGE && o->kind == OPTION_INT && !any)
		return hb_fail(err, -HB_E_USAGE,
			       "'%s' is not between %lld and %lld", quoted(arg),
			       (long long)o->min, (long long)o->max);
	if (r == -ERANGE)
		return hb_fail(err, -HB_E_USAGE, "'%s' is out of range",
			       quoted(arg));
	if (o->kind == OPTION_SIZE)
		hb_fix(err, "give a number with K, M or G, such as 64M");
	if (o->kind == OPTION_DURATION)
		hb_fix(err, "give a number with s, m, h or d, such as 30s");
	return hb_fail(err, -HB_E_USAGE, "'%s' is not a number", quoted(arg));
}

/* `arg` is NULL exactly where the option was given without one. */
static int store(const struct option *o, const char *arg, void *values,
		 struct hb_error *err)
{
	void *at = (char *)values + o->offset;
	int r;

	if (arg && o->choices) {
		r = check_choice(o, arg, err);
		if (r < 0)
			return r;
	}
	switch (o->kind) {
	case OPTION_SET:
		*(bool *)at = true;
		return 0;
	case OPTION_CLEAR:
		*(bool *)at = false;
		return 0;
	case OPTION_COUNT:
		(*(unsigned int *)at)++;
		return 0;
	case OPTION_STRING:
		*(const char **)at = arg ? arg : "";
		return 0;
	case OPTION_INT:
	case OPTION_SIZE:
	case OPTION_DURATION:
	case OPTION_DECIMAL:
		return store_number(o, arg, at, err);
	case OPTION_CALL:
		return o->call(values, o, arg, err);
	}
	return 0;
}

static int store_given(struct parse *x, const struct option *o, const char *arg)
{
	int r = store(o, arg, x->values, x->err);

	if (r < 0) {
		(void)hb_fail(x->err, r, "option '--%s'", o->name);
		fix_with_help(x);
		return r;
	}
	x->is_final = x->is_final || o->is_final;
	return 0;
}

/* The tables of the command, then the table of all. */
#define TABLES 3

static const struct option *table_of(const struct parse *x, int i)
{
	if (i == TABLES - 1)
		return x->program->options;
	if (!x->command)
		return NULL;
	return i == 0 ? x->command->options : x->command->shared;
}

static int fail_unknown(struct parse *x, const char *word, const char *name)
{
	struct suggestion s;

	suggestion_init(&s, name ? name : "");
	for (int i = 0; i < TABLES; i++)
		for (const struct option *o = table_of(x, i); o && o->name; o++)
			if (!o->is_hidden)
				suggestion_offer(&s, o->name);
	if (s.best)
		hb_fix(x->err, "did you mean '--%s'?", s.best);
	fix_with_help(x);
	return hb_fail(x->err, -HB_E_USAGE, "unknown option '%s'",
		       quoted(word));
}

static int fail_usage(struct parse *x, const struct option *o, const char *what)
{
	fix_with_help(x);
	return hb_fail(x->err, -HB_E_USAGE, "option '--%s' %s", o->name, what);
}

/*
 * Takes the next word as the argument.  A long option there is an argument
 * that was forgotten: taken for a file, it would be in force nowhere.
 */
static int store_next(struct parse *x, const struct option *o)
{
	const char *word = *x->words;

	if (!word)
		return fail_usage(x, o, "needs an argument");
	if (strncmp(word, "--", 2) == 0) {
		hb_fix(x->err, "give it %s; or, if the word is meant: --%s=%s",
		       option_metavar(o), o->name, quoted(word));
		return hb_fail(x->err, -HB_E_USAGE,
			       "option '--%s' needs an argument before '%s'",
			       o->name, quoted(word));
	}
	x->words++;
	return store_given(x, o, word);
}

static int parse_long(struct parse *x, const char *word)
{
	const char *equals = strchr(word + 2, '=');
	size_t n = equals ? (size_t)(equals - word) - 2 : strlen(word + 2);
	const struct option *o = NULL;
	char name[SUGGEST_MAX + 1];
	enum option_arg arg;

	/* A name that does not fit here is in no table. */
	if (n > SUGGEST_MAX)
		return fail_unknown(x, word, NULL);
	memcpy(name, word + 2, n);
	name[n] = '\0';
	for (int i = 0; i < TABLES && !o; i++)
		o = option_find(table_of(x, i), name);
	if (!o)
		return fail_unknown(x, word, name);

	arg = option_arg_of(o);
	if (equals && arg == OPTION_ARG_NONE)
		return fail_usage(x, o, "takes no argument");
	if (equals)
		return store_given(x, o, equals + 1);
	if (arg == OPTION_ARG_REQUIRED)
		return store_next(x, o);
	return store_given(x, o, NULL);
}

static const struct option *find_letter(const struct parse *x, char letter)
{
	for (int i = 0; i < TABLES; i++)
		for (const struct option *o = table_of(x, i); o && o->name; o++)
			if (o->letter == letter)
				return o;
	return NULL;
}

static int parse_letters(struct parse *x, const char *word)
{
	const struct option *o;
	enum option_arg arg;
	int r;

	for (const char *s = word + 1; *s && !x->is_final; s++) {
		o = find_letter(x, *s);
		if (!o)
			return fail_unknown(x, word, NULL);
		arg = option_arg_of(o);
		if (arg != OPTION_ARG_NONE && s[1])
			return store_given(x, o, s + 1);
		r = arg == OPTION_ARG_REQUIRED ? store_next(x, o)
					       : store_given(x, o, NULL);
		if (r < 0)
			return r;
	}
	return 0;
}

static const struct option *find_sigil(const struct parse *x, char c)
{
	for (int i = 0; i < TABLES; i++)
		for (const struct option *o = table_of(x, i); o && o->name; o++)
			if (o->sigil && o->sigil == c)
				return o;
	return NULL;
}

static int check_operands(struct parse *x, int n, char **operands)
{
	const struct command *c = x->command;

	if (!c || x->is_final)
		return n;
	if (n < c->operands_min) {
		fix_with_help(x);
		return hb_fail(x->err, -HB_E_USAGE, "'%s' needs %s", c->name,
			       n == 0 ? "an operand" : "more operands");
	}
	if (c->operands_max != OPERANDS_ANY && n > c->operands_max) {
		fix_with_help(x);
		return hb_fail(x->err, -HB_E_USAGE,
			       "'%s' does not take the operand '%s'", c->name,
			       quoted(operands[c->operands_max]));
	}
	return n;
}

int option_parse(const struct program *p, const struct command *c, char **words,
		 void *values, char **operands, struct hb_error *err)
{
	struct parse x = { p, c, words, values, false, err };
	bool stops = !c || (c->flags & COMMAND_STOPS), ended = false;
	const struct option *o;
	int n = 0, r = 0;

	while (*x.words && !x.is_final) {
		char *word = *x.words++;

		if (ended || strcmp(word, "-") == 0) {
			operands[n++] = word;
			ended = ended || stops;
		} else if (strcmp(word, "--") == 0) {
			ended = true;
		} else if (strncmp(word, "--", 2) == 0) {
			r = parse_long(&x, word);
		} else if (word[0] == '-') {
			r = parse_letters(&x, word);
		} else if ((o = find_sigil(&x, word[0])) != NULL) {
			r = store_given(&x, o, word);
		} else {
			operands[n++] = word;
			ended = stops;
		}
		if (r < 0)
			return r;
	}
	operands[n] = NULL;
	return check_operands(&x, n, operands);
}

/* 1 and 0 for words that mean yes and no, else -EINVAL. */
static int read_bool(const char *s)
{
	static const char *const words[] = { "no",   "yes", "false",
					     "true", "off", "on" };

	for (int i = 0; i < 6; i++)
		if (strcmp(s, words[i]) == 0)
			return i % 2;
	return -EINVAL;
}

static int apply_flag(const struct option *o, const char *value, void *values,
		      struct hb_error *err)
{
	int yes = read_bool(value);

	if (yes < 0) {
		hb_fix(err, "write '%s = yes' or '%s = no'", o->name, o->name);
		return hb_fail(err, -HB_E_CONFIG, "it is neither yes nor no");
	}
	if (yes)
		return store(o, NULL, values, err);
	if (o->kind == OPTION_SET || o->kind == OPTION_CLEAR) {
		*(bool *)((char *)values + o->offset) = o->kind == OPTION_CLEAR;
		return 0;
	}
	return hb_fail(err, -HB_E_CONFIG, "it cannot be switched off");
}

int option_store(const struct option *o, const char *value, void *values,
		 struct hb_error *err)
{
	if (option_arg_of(o) == OPTION_ARG_NONE)
		return apply_flag(o, value, values, err);
	return store(o, value, values, err);
}
