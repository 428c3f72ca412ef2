/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shells/option_complete.h"

#include "base/buf.h"
#include "base/option.h"

#include <assert.h>
#include <string.h>

/*
 * Three scripts from the same tables.  Names of commands, options and choices
 * are not quoted, so they have only letters without a meaning in any shell.
 * Sentences are quoted.
 */

const char *const option_shell_names[OPTION_SHELLS + 1] = {
	[OPTION_SHELL_BASH] = "bash",
	[OPTION_SHELL_ZSH] = "zsh",
	[OPTION_SHELL_FISH] = "fish",
	[OPTION_SHELLS] = NULL,
};

static const char *plain(const char *word)
{
	assert(word[strspn(word, "abcdefghijklmnopqrstuvwxyz"
				 "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				 "0123456789-_.")] == '\0');
	return word;
}

/* Adds text in which a backslash is put before each of these. */
static void add_escaped(struct buf *out, const char *text, const char *these)
{
	for (; text && *text; text++) {
		if (strchr(these, *text))
			(void)buf_add_char(out, '\\');
		(void)buf_add_char(out, *text);
	}
}

static const struct option *next_shown(const struct option *o)
{
	while (o && o->name && o->is_hidden)
		o++;
	return o && o->name ? o : NULL;
}

static const struct command *next_command(const struct command *c)
{
	while (c && c->name && (c->flags & COMMAND_HIDDEN))
		c++;
	return c && c->name ? c : NULL;
}

static const struct command *first_command(const struct program *p)
{
	return next_command(p->commands);
}

static void add_choices(struct buf *out, const struct option *o,
			const char *between)
{
	for (size_t i = 0; o->choices[i]; i++)
		(void)buf_add_fmt(out, "%s%s", i > 0 ? between : "",
				  plain(o->choices[i]));
}

/* By enum option_offer: the lists of PROGRAM complete; NULL: no list. */
static const char *const own_lists[] = {
	[OFFER_SESSIONS] = "sessions", [OFFER_NAMES] = "names",
	[OFFER_MARKS] = "marks",       [OFFER_PROFILES] = "profiles",
	[OFFER_OWN] = "commands",
};

/* What a word in this place may be: a session where there is nothing else. */
static enum option_offer operand_of(const struct command *c)
{
	return c->offer == OFFER_NOTHING && (c->flags & COMMAND_NAMES)
		       ? OFFER_SESSIONS
		       : c->offer;
}

/* ---- bash ---- */

static const char *const bash_offers[] = {
	[OFFER_NOTHING] = "compopt +o default 2>/dev/null",
	[OFFER_FILES] = ":",
	[OFFER_DIRS] = "compopt -o dirnames +o default 2>/dev/null",
	[OFFER_COMMANDS] = "COMPREPLY=($(compgen -c -- \"$cur\"))",
	[OFFER_OWN] = "",
};

static void bash_offer(struct buf *out, enum option_offer offer)
{
	if (own_lists[offer])
		(void)buf_add_fmt(out, "$ask %s ;;\n", own_lists[offer]);
	else
		(void)buf_add_fmt(out, "%s ;;\n", bash_offers[offer]);
}

/* A pattern for the option after this command, "" being all of them. */
static void bash_pattern(struct buf *out, const char *command,
			 const struct option *o)
{
	const char *prefix = command[0] ? command : "*";

	(void)buf_add_fmt(out, "%s:--%s", prefix, plain(o->name));
	if (o->letter)
		(void)buf_add_fmt(out, " | %s:-%c", prefix, o->letter);
}

/* Rows of a case: options whose argument is the next word. */
static void bash_takers(struct buf *out, const char *command,
			const struct option *table)
{
	for (const struct option *o = next_shown(table); o;
	     o = next_shown(o + 1)) {
		if (option_arg_of(o) != OPTION_ARG_REQUIRED)
			continue;
		(void)buf_add_str(out, "\t\t");
		bash_pattern(out, command, o);
		(void)buf_add_str(out, ") takes=$w ;;\n");
	}
}

/* Rows of a case: words that are arguments by their first letter. */
static void bash_sigils(struct buf *out, const char *command,
			const struct option *table)
{
	for (const struct option *o = next_shown(table); o;
	     o = next_shown(o + 1))
		if (o->sigil)
			(void)buf_add_fmt(out, "\t\t%s:'%c'*) ;;\n", command,
					  o->sigil);
}

/* Rows of a case: what is offered for the argument of an option. */
static void bash_arguments(struct buf *out, const char *command,
			   const struct option *table)
{
	for (const struct option *o = next_shown(table); o;
	     o = next_shown(o + 1)) {
		if (option_arg_of(o) != OPTION_ARG_REQUIRED)
			continue;
		(void)buf_add_str(out, "\t\t");
		bash_pattern(out, command, o);
		(void)buf_add_str(out, ") ");
		if (o->choices) {
			(void)buf_add_str(out, "words=$'");
			add_choices(out, o, "\\n");
			(void)buf_add_str(out, "' ;;\n");
		} else {
			bash_offer(out, o->offer);
		}
	}
}

static void bash_option_words(struct buf *out, const struct option *table)
{
	for (const struct option *o = next_shown(table); o;
	     o = next_shown(o + 1)) {
		(void)buf_add_fmt(out, "--%s\\n", plain(o->name));
		if (o->letter)
			(void)buf_add_fmt(out, "-%c\\n", o->letter);
	}
}

/* The loop that finds out where in the line we are. */
static void bash_scan(struct buf *out, const struct program *p)
{
	(void)buf_add_str(out, "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
			       "\t\tw=${COMP_WORDS[i]}\n"
			       "\t\t[[ $w == = ]] && continue\n"
			       "\t\t[[ $takes ]] && { takes=; continue; }\n"
			       /* A session; '@' may be a word of its own. */
			       "\t\tif [[ $cmd && $w == @* ]]; then\n"
			       "\t\t\t[[ $w == @ ]] && ((i++))\n"
			       "\t\t\tcontinue\n"
			       "\t\tfi\n"
			       "\t\tcase $cmd:$w in\n");
	bash_takers(out, "", p->options);
	for (const struct command *c = first_command(p); c;
	     c = next_command(c + 1)) {
		bash_takers(out, plain(c->name), c->options);
		bash_takers(out, plain(c->name), c->shared);
	}
	(void)buf_add_str(out, "\t\t*:--) rest=1; break ;;\n"
			       "\t\t*:-*) ;;\n");
	for (const struct command *c = first_command(p); c;
	     c = next_command(c + 1))
		(void)buf_add_fmt(out, "\t\t:%s) cmd=$w ;;\n", c->name);
	bash_sigils(out, "*", p->options);
	for (const struct command *c = first_command(p); c;
	     c = next_command(c + 1)) {
		bash_sigils(out, c->name, c->options);
		bash_sigils(out, c->name, c->shared);
	}
	(void)buf_add_str(out, "\t\t:*) rest=2; break ;;\n");
	for (const struct command *c = first_command(p); c;
	     c = next_command(c + 1))
		if (c->flags & COMMAND_STOPS)
			(void)buf_add_fmt(out, "\t\t%s:*) rest=2; break ;;\n",
					  c->name);
	(void)buf_add_str(out, "\t\tesac\n\tdone\n");
}

static void bash_answers(struct buf *out, const struct program *p)
{
	(void)buf_add_str(
		out, "\tif [[ $at && $cmd && ! $takes && ! $rest ]]; then\n"
		     "\t\t$ask sessions\n"
		     "\t\t((at == 1)) && words=${words//@/}\n"
		     "\telif [[ $takes ]]; then\n"
		     "\t\t[[ $cur == = ]] && cur=\n"
		     "\t\tcase $cmd:$takes in\n");
	for (const struct command *c = first_command(p); c;
	     c = next_command(c + 1)) {
		bash_arguments(out, c->name, c->options);
		bash_arguments(out, c->name, c->shared);
	}
	bash_arguments(out, "", p->options);
	(void)buf_add_fmt(out,
			  "\t\tesac\n"
			  "\telif [[ $rest ]]; then\n"
			  "\t\t((COMP_CWORD == i + 1 && rest == 1)) && %s\n"
			  "\telif [[ $cur == -* ]]; then\n"
			  "\t\tcase $cmd in\n",
			  bash_offers[OFFER_COMMANDS]);
	for (const struct command *c = first_command(p); c;
	     c = next_command(c + 1)) {
		(void)buf_add_fmt(out, "\t\t%s) words=$'", c->name);
		bash_option_words(out, c->options);
		bash_option_words(out, c->shared);
		bash_option_words(out, p->options);
		(void)buf_add_str(out, "' ;;\n");
	}
	(void)buf_add_str(out, "\t\t*) words=$'");
	bash_option_words(out, p->options);
	(void)buf_add_str(out, "' ;;\n"
			       "\t\tesac\n"
			       "\telse\n"
			       "\t\tcase $cmd in\n");
	for (const struct command *c = first_command(p); c;
	     c = next_command(c + 1)) {
		(void)buf_add_fmt(out, "\t\t%s) ", c->name);
		bash_offer(out, operand_of(c));
	}
	(void)buf_add_str(out, "\t\t*) words=$'");
	for (const struct command *c = first_command(p); c;
	     c = next_command(c + 1))
		(void)buf_add_fmt(out, "%s\\n", c->name);
	(void)buf_add_fmt(out, "'%s ;;\n\t\tesac\n\tfi\n",
			  p->runs_programs ? "; programs=$cur" : "");
}

static void add_bash(struct buf *out, const struct program *p)
{
	const char *name = plain(p->name);

	(void)buf_add_fmt(
		out,
		"# bash completion for %s\n"
		"_%s() {\n"
		"\tlocal cur=${COMP_WORDS[COMP_CWORD]} cmd= rest= "
		"takes= words= programs= at= ask=_%s_ask i w IFS=$'\\n'\n"
		"\tCOMPREPLY=()\n"
		"\t_%s_ask() {\n"
		"\t\tcompopt +o default 2>/dev/null\n"
		"\t\twords=$(%s complete \"$1\" -- "
		"\"${COMP_WORDS[@]}\" 2>/dev/null)\n"
		"\t}\n"
		/* $2 is what readline replaces. */
		"\tif [[ ${2-} == @* ]]; then\n"
		"\t\tat=2 cur=$2\n"
		"\telif [[ $cur == @ && $COMP_WORDBREAKS == *@* ]]; then\n"
		"\t\tat=1 cur=\n"
		"\telif [[ $cur == @* ]]; then\n"
		"\t\tat=2\n"
		"\telif [[ ${COMP_WORDS[COMP_CWORD - 1]} == @ ]]; then\n"
		"\t\tat=1\n"
		"\tfi\n",
		name, name, name, name, name);
	bash_scan(out, p);
	bash_answers(out, p);
	(void)buf_add_fmt(out,
			  "\t[[ $words ]] && "
			  "COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
			  "\t[[ $programs ]] && "
			  "COMPREPLY+=($(compgen -c -- \"$cur\"))\n"
			  "}\n"
			  "complete -o default -F _%s %s\n",
			  name, name);
}

/* ---- zsh ---- */

static const char *const zsh_offers[] = {
	[OFFER_NOTHING] = " ",
	[OFFER_FILES] = "_files",
	[OFFER_DIRS] = "_files -/",
	/* The blank keeps zsh from putting words before the -e. */
	[OFFER_COMMANDS] = " _command_names -e",
	[OFFER_OWN] = "",
};

/* The blank as above: our function takes one argument. */
static void zsh_offer(struct buf *out, const struct program *p,
		      enum option_offer offer, bool has_sessions)
{
	if (own_lists[offer])
		(void)buf_add_fmt(out, " _%s_ask %s", p->name,
				  own_lists[offer]);
	else if (has_sessions)
		(void)buf_add_fmt(out, " _%s_or%s", p->name,
				  offer == OFFER_COMMANDS ? "_program" : "");
	else
		(void)buf_add_str(out, zsh_offers[offer]);
}

/* Text inside of single quotes, for the grammar of _arguments in them. */
static void zsh_text(struct buf *out, const char *text)
{
	for (; text && *text; text++) {
		if (*text == '\'')
			(void)buf_add_str(out, "'\\''");
		else
			add_escaped(out, (const char[]){ *text, '\0' },
				    "\\[]:");
	}
}

/* One specification: what stands before the brackets is `word` and `mark`. */
static void zsh_spec(struct buf *out, const struct program *p,
		     const struct option *o, const char *word, const char *mark)
{
	enum option_arg arg = option_arg_of(o);
	bool repeats = o->kind == OPTION_CALL || o->kind == OPTION_COUNT;

	(void)buf_add_str(out, " \\\n\t\t\t'");
	if (repeats)
		(void)buf_add_char(out, '*');
	else if (o->letter)
		(void)buf_add_fmt(out, "(-%c --%s)", o->letter, o->name);
	(void)buf_add_fmt(out, "%s%s[", word,
			  arg == OPTION_ARG_NONE ? "" : mark);
	zsh_text(out, o->help);
	(void)buf_add_char(out, ']');
	if (arg != OPTION_ARG_NONE) {
		(void)buf_add_str(out, arg == OPTION_ARG_OPTIONAL ? "::" : ":");
		zsh_text(out, option_metavar(o));
		(void)buf_add_char(out, ':');
		if (o->choices) {
			(void)buf_add_char(out, '(');
			add_choices(out, o, " ");
			(void)buf_add_char(out, ')');
		} else {
			zsh_offer(out, p, o->offer, false);
		}
	}
	(void)buf_add_char(out, '\'');
}

static void zsh_options(struct buf *out, const struct program *p,
			const struct option *table)
{
	for (const struct option *o = next_shown(table); o;
	     o = next_shown(o + 1)) {
		bool optional = option_arg_of(o) == OPTION_ARG_OPTIONAL;
		char letter[] = { '-', o->letter, '\0' };
		struct buf word = BUF_INIT(256);

		(void)buf_add_fmt(&word, "--%s", plain(o->name));
		zsh_spec(out, p, o, buf_str(&word), optional ? "=-" : "=");
		if (o->letter)
			zsh_spec(out, p, o, letter, optional ? "-" : "+");
		buf_done(&word);
	}
}

/* Functions for the lists that the program has, and for either of two. */
static void zsh_functions(struct buf *out, const char *name)
{
	(void)buf_add_fmt(
		out,
		"#compdef %s\n"
		"_%s_ask() {\n"
		"\tcompadd -- ${(f)\"$(%s complete $1 -- $words "
		"2>/dev/null)\"}\n"
		"}\n"
		"_%s_or() {\n"
		"\t[[ $PREFIX == @* ]] && { _%s_ask sessions; return; }\n"
		"\t_files\n"
		"}\n"
		"_%s_or_program() {\n"
		"\t[[ $PREFIX == @* ]] && { _%s_ask sessions; return; }\n"
		"\t_command_names -e\n"
		"}\n",
		name, name, name, name, name, name, name);
}

static void add_zsh(struct buf *out, const struct program *p)
{
	const char *name = plain(p->name);

	zsh_functions(out, name);
	/* Not "commands": that is how zsh knows all programs. */
	(void)buf_add_fmt(out,
			  "_%s() {\n"
			  "\tlocal curcontext=$curcontext state line\n"
			  "\tlocal -A opt_args\n"
			  "\tlocal -a names=(\n",
			  name);
	for (const struct command *c = first_command(p); c;
	     c = next_command(c + 1)) {
		(void)buf_add_fmt(out, "\t\t'%s:", plain(c->name));
		zsh_text(out, c->summary);
		(void)buf_add_str(out, "'\n");
	}
	(void)buf_add_str(out, "\t)\n\t_arguments -C");
	zsh_options(out, p, p->options);
	(void)buf_add_str(
		out, " \\\n\t\t\t'1: :->command' '*:: :->words' && return\n"
		     "\tcase $state in\n"
		     "\tcommand) _describe -t commands command names\n"
		     "\t\t[[ $PREFIX ]] && _command_names -e ;;\n"
		     "\twords)\n"
		     "\t\tcase $line[1] in\n");
	for (const struct command *c = first_command(p); c;
	     c = next_command(c + 1)) {
		(void)buf_add_fmt(out, "\t\t%s) _arguments%s", c->name,
				  c->flags & COMMAND_STOPS ? " -S" : "");
		zsh_options(out, p, c->options);
		zsh_options(out, p, c->shared);
		zsh_options(out, p, p->options);
		(void)buf_add_fmt(out, " \\\n\t\t\t'%s:operand:",
				  c->flags & COMMAND_STOPS ? "(-)1" : "*");
		zsh_offer(out, p, operand_of(c), c->flags & COMMAND_NAMES);
		(void)buf_add_fmt(
			out, "'%s ;;\n",
			c->flags & COMMAND_STOPS ? " '*::words:_normal'" : "");
	}
	/* Autoloaded, the file is the body of the function on first use. */
	(void)buf_add_fmt(out,
			  "\t\t*) _normal ;;\n"
			  "\t\tesac ;;\n"
			  "\tesac\n"
			  "}\n"
			  "if [[ $funcstack[1] == _%s ]]; then\n"
			  "\t_%s \"$@\"\n"
			  "else\n"
			  "\tcompdef _%s %s\n"
			  "fi\n",
			  name, name, name, name);
}

/* ---- fish ---- */

/* Of an option's argument, and of operands. */
static const char *const fish_offers[] = {
	[OFFER_NOTHING] = " -x",
	[OFFER_FILES] = " -r -F",
	[OFFER_DIRS] = " -x -a '(__fish_complete_directories)'",
	[OFFER_COMMANDS] = " -x -a '(__fish_complete_command)'",
	[OFFER_OWN] = NULL,
};

static const char *const fish_operands[] = {
	[OFFER_NOTHING] = NULL,
	[OFFER_FILES] = " -F",
	[OFFER_DIRS] = " -a '(__fish_complete_directories)'",
	[OFFER_COMMANDS] = " -a '(__fish_complete_command)'",
	[OFFER_OWN] = NULL,
};

static void fish_sentence(struct buf *out, const char *text)
{
	(void)buf_add_str(out, " -d '");
	add_escaped(out, text, "\\'");
	(void)buf_add_char(out, '\'');
}

static void fish_start(struct buf *out, const struct program *p,
		       const struct command *c)
{
	(void)buf_add_fmt(out, "complete -c %s", p->name);
	if (c)
		(void)buf_add_fmt(out, " -n '__fish_seen_subcommand_from %s'",
				  c->name);
}

static void fish_list(struct buf *out, const struct program *p,
		      enum option_offer offer)
{
	(void)buf_add_fmt(out, " -a '(%s complete %s -- (commandline -opc))'",
			  p->name, own_lists[offer]);
}

static void fish_options(struct buf *out, const struct program *p,
			 const struct command *c, const struct option *table)
{
	for (const struct option *o = next_shown(table); o;
	     o = next_shown(o + 1)) {
		fish_start(out, p, c);
		(void)buf_add_fmt(out, " -l %s", plain(o->name));
		if (o->letter)
			(void)buf_add_fmt(out, " -s %c", o->letter);
		if (option_arg_of(o) != OPTION_ARG_NONE && o->choices) {
			(void)buf_add_str(
				out, option_arg_of(o) == OPTION_ARG_REQUIRED
					     ? " -x -a '"
					     : " -f -a '");
			add_choices(out, o, " ");
			(void)buf_add_char(out, '\'');
		} else if (option_arg_of(o) == OPTION_ARG_REQUIRED &&
			   own_lists[o->offer]) {
			(void)buf_add_str(out, " -x");
			fish_list(out, p, o->offer);
		} else if (option_arg_of(o) == OPTION_ARG_REQUIRED) {
			(void)buf_add_str(out, fish_offers[o->offer]);
		}
		fish_sentence(out, o->help);
		(void)buf_add_char(out, '\n');
	}
}

static void fish_operand(struct buf *out, const struct program *p,
			 const struct command *c)
{
	if (c->flags & COMMAND_NAMES) {
		fish_start(out, p, c);
		fish_list(out, p, OFFER_SESSIONS);
		(void)buf_add_char(out, '\n');
	}
	if (!own_lists[c->offer] && !fish_operands[c->offer])
		return;
	fish_start(out, p, c);
	if (own_lists[c->offer])
		fish_list(out, p, c->offer);
	else
		(void)buf_add_str(out, fish_operands[c->offer]);
	(void)buf_add_char(out, '\n');
}

static void add_fish(struct buf *out, const struct program *p)
{
	(void)buf_add_fmt(out, "# fish completion for %s\ncomplete -c %s -f\n",
			  plain(p->name), p->name);
	fish_options(out, p, NULL, p->options);
	for (const struct command *c = first_command(p); c;
	     c = next_command(c + 1)) {
		(void)buf_add_fmt(out,
				  "complete -c %s -n __fish_use_subcommand "
				  "-a %s",
				  p->name, plain(c->name));
		fish_sentence(out, c->summary);
		(void)buf_add_char(out, '\n');
		fish_options(out, p, c, c->options);
		fish_options(out, p, c, c->shared);
		fish_operand(out, p, c);
	}
	if (p->runs_programs)
		(void)buf_add_fmt(out,
				  "complete -c %s -n __fish_use_subcommand "
				  "-a '(__fish_complete_command)'\n",
				  p->name);
}

int option_completion(const struct program *p, enum option_shell shell,
		      struct buf *out)
{
	static void (*const add[])(struct buf *, const struct program *) = {
		[OPTION_SHELL_BASH] = add_bash,
		[OPTION_SHELL_ZSH] = add_zsh,
		[OPTION_SHELL_FISH] = add_fish,
	};

	assert(shell < OPTION_SHELLS);
	add[shell](out, p);
	return out->error;
}
