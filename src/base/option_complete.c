/* SPDX-License-Identifier: Apache-2.0 */
#include "base/option_complete.h"

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

/* ---- bash ---- */

static const char *const bash_offers[] = {
	[OFFER_NOTHING] = "compopt +o default 2>/dev/null",
	[OFFER_FILES] = ":",
	[OFFER_DIRS] = "compopt -o dirnames +o default 2>/dev/null",
	[OFFER_COMMANDS] = "COMPREPLY=($(compgen -c -- \"$cur\"))",
};

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
			(void)buf_add_fmt(out, "%s ;;\n",
					  bash_offers[o->offer]);
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
	(void)buf_add_str(out, "\tif [[ $takes ]]; then\n"
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
	     c = next_command(c + 1))
		(void)buf_add_fmt(out, "\t\t%s) %s ;;\n", c->name,
				  bash_offers[c->offer]);
	(void)buf_add_str(out, "\t\t*) words=$'");
	for (const struct command *c = first_command(p); c;
	     c = next_command(c + 1))
		(void)buf_add_fmt(out, "%s\\n", c->name);
	(void)buf_add_str(out, "' ;;\n\t\tesac\n\tfi\n");
}

static void add_bash(struct buf *out, const struct program *p)
{
	const char *name = plain(p->name);

	(void)buf_add_fmt(out,
			  "# bash completion for %s\n"
			  "_%s() {\n"
			  "\tlocal cur=${COMP_WORDS[COMP_CWORD]} cmd= rest= "
			  "takes= words= i w IFS=$'\\n'\n"
			  "\tCOMPREPLY=()\n",
			  name, name);
	bash_scan(out, p);
	bash_answers(out, p);
	(void)buf_add_fmt(out,
			  "\t[[ $words ]] && "
			  "COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
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
};

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
static void zsh_spec(struct buf *out, const struct option *o, const char *word,
		     const char *mark)
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
			(void)buf_add_str(out, zsh_offers[o->offer]);
		}
	}
	(void)buf_add_char(out, '\'');
}

static void zsh_options(struct buf *out, const struct option *table)
{
	for (const struct option *o = next_shown(table); o;
	     o = next_shown(o + 1)) {
		bool optional = option_arg_of(o) == OPTION_ARG_OPTIONAL;
		char letter[] = { '-', o->letter, '\0' };
		struct buf word = BUF_INIT(256);

		(void)buf_add_fmt(&word, "--%s", plain(o->name));
		zsh_spec(out, o, buf_str(&word), optional ? "=-" : "=");
		if (o->letter)
			zsh_spec(out, o, letter, optional ? "-" : "+");
		buf_done(&word);
	}
}

static void add_zsh(struct buf *out, const struct program *p)
{
	const char *name = plain(p->name);

	/* Not "commands": that is how zsh knows all programs. */
	(void)buf_add_fmt(out,
			  "#compdef %s\n"
			  "_%s() {\n"
			  "\tlocal curcontext=$curcontext state line\n"
			  "\tlocal -A opt_args\n"
			  "\tlocal -a names=(\n",
			  name, name);
	for (const struct command *c = first_command(p); c;
	     c = next_command(c + 1)) {
		(void)buf_add_fmt(out, "\t\t'%s:", plain(c->name));
		zsh_text(out, c->summary);
		(void)buf_add_str(out, "'\n");
	}
	(void)buf_add_str(out, "\t)\n\t_arguments -C");
	zsh_options(out, p->options);
	(void)buf_add_str(
		out, " \\\n\t\t\t'1: :->command' '*:: :->words' && return\n"
		     "\tcase $state in\n"
		     "\tcommand) _describe -t commands command names ;;\n"
		     "\twords)\n"
		     "\t\tcase $line[1] in\n");
	for (const struct command *c = first_command(p); c;
	     c = next_command(c + 1)) {
		(void)buf_add_fmt(out, "\t\t%s) _arguments%s", c->name,
				  c->flags & COMMAND_STOPS ? " -S" : "");
		zsh_options(out, c->options);
		zsh_options(out, c->shared);
		zsh_options(out, p->options);
		if (c->flags & COMMAND_STOPS)
			(void)buf_add_fmt(out,
					  " \\\n\t\t\t'(-)1:operand:%s' "
					  "'*::words:_normal' ;;\n",
					  zsh_offers[c->offer]);
		else
			(void)buf_add_fmt(out, " \\\n\t\t\t'*:operand:%s' ;;\n",
					  zsh_offers[c->offer]);
	}
	/* Autoloaded, the file is the body of the function on first use. */
	(void)buf_add_fmt(out,
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
};

static const char *const fish_operands[] = {
	[OFFER_NOTHING] = NULL,
	[OFFER_FILES] = " -F",
	[OFFER_DIRS] = " -a '(__fish_complete_directories)'",
	[OFFER_COMMANDS] = " -a '(__fish_complete_command)'",
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
		} else if (option_arg_of(o) == OPTION_ARG_REQUIRED) {
			(void)buf_add_str(out, fish_offers[o->offer]);
		}
		fish_sentence(out, o->help);
		(void)buf_add_char(out, '\n');
	}
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
		if (fish_operands[c->offer]) {
			fish_start(out, p, c);
			(void)buf_add_fmt(out, "%s\n", fish_operands[c->offer]);
		}
	}
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
