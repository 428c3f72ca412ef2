/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BASE_OPTION_H
#define HB_BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cmd_call;
struct hb_error;
struct option;

/*
 * One table of options yields the parser, the configuration keys, the help and
 * the completions of three shells.  A test compares it with the man page.
 *
 *	struct run_values {
 *		bool json;
 *		const char *to;
 *	};
 *
 *	static const struct option run_options[] = {
 *		{ .name = "json", .letter = 'j', .kind = OPTION_SET,
 *		  .offset = offsetof(struct run_values, json),
 *		  .help = "print one JSON document" },
 *		{ .name = "to", .kind = OPTION_STRING, .metavar = "MARK",
 *		  .offset = offsetof(struct run_values, to),
 *		  .help = "go back to this mark" },
 *		{ 0 },
 *	};
 *
 * Nothing here prints, and no value is copied: strings point into the words
 * that were given.
 */

enum option_kind {
	OPTION_SET,	 /* bool: becomes true; takes no argument */
	OPTION_CLEAR,	 /* bool: becomes false; takes no argument */
	OPTION_COUNT,	 /* unsigned int: one more each time; no argument */
	OPTION_STRING,	 /* const char *: borrowed; the last one wins */
	OPTION_INT,	 /* int64_t within min..max */
	OPTION_SIZE,	 /* uint64_t: bytes, with K, M, G */
	OPTION_DURATION, /* uint64_t: seconds, with s, m, h, d */
	OPTION_DECIMAL,	 /* uint64_t: thousandths, from "1.5" */
	OPTION_CALL,	 /* read by `call`; may repeat */
};

enum option_arg {
	OPTION_ARG_BY_KIND,  /* none for the first three, else required */
	OPTION_ARG_NONE,     /* for OPTION_CALL */
	OPTION_ARG_REQUIRED, /* --x V, --x=V, -x V, -xV */
	OPTION_ARG_OPTIONAL, /* --x, --x=V, -x, -xV; the kind is string or call
			      */
};

/* What a shell offers for an argument or an operand. */
enum option_offer {
	OFFER_NOTHING,
	OFFER_FILES,
	OFFER_DIRS,
	OFFER_COMMANDS, /* programs, and what they take */
	/* What the program itself lists: PROGRAM complete NAME -- WORDS… */
	OFFER_SESSIONS,
	OFFER_NAMES,
	OFFER_MARKS,
	OFFER_PROFILES,
	OFFER_OWN, /* its commands */
};

/*
 * `values` is the struct that options are stored in; `arg` is NULL where none
 * was given.  Returns 0, or a negated code after hb_fail() with words that say
 * what is wrong with the argument; the option's name is put before them.
 */
typedef int option_fn(void *values, const struct option *option,
		      const char *arg, struct hb_error *err);

struct option {
	const char *name; /* long, without dashes; NULL ends the table */
	char letter;	  /* short, 0 for none */
	char sigil;	  /* a word that begins with this is an argument too */
	enum option_kind kind;
	enum option_arg arg;
	const char *metavar; /* "DIR": names the argument; NULL: by kind */
	const char *const *choices; /* NULL-ended list of what it may be */
	enum option_offer offer;    /* where there are no choices */
	size_t offset;		    /* in `values` */
	int64_t min, max;	    /* OPTION_INT; both 0: any */
	option_fn *call;	    /* OPTION_CALL */
	bool is_final;	   /* --help: what comes after it is not looked at */
	bool is_hidden;	   /* parsed, but in no help and no completion */
	const char *group; /* its heading in the help; NULL: the last one */
	const char *help;  /* one sentence, lower case, no full stop */
};

enum command_flags {
	/* Options end at the first operand: what follows is not ours. */
	COMMAND_STOPS = 1 << 0,
	/* Parsed, but in no help and no completion. */
	COMMAND_HIDDEN = 1 << 1,
	/* An operand that begins with '@' is a session. */
	COMMAND_NAMES = 1 << 2,
};

#define OPERANDS_ANY (-1)

struct command {
	const char *name;     /* NULL ends the table */
	const char *synopsis; /* after the name: "[OPTIONS] [--] COMMAND…" */
	const char *summary;  /* one line, lower case, no full stop */
	const char *about;    /* paragraphs for the help; may be NULL */
	const char *examples; /* lines of the help; may be NULL */
	const char *group;    /* a heading in the list before this row */
	unsigned int flags;
	const struct option *options; /* may be NULL */
	/* What several commands have in common; may be NULL. */
	const struct option *shared;
	int operands_min;
	int operands_max; /* OPERANDS_ANY */
	enum option_offer offer;
	/*
	 * What carries it out, for the owner of the table, whose struct that
	 * is; NULL: another program does.  The exit status or a negated code.
	 */
	int (*run)(const struct cmd_call *call, struct hb_error *err);
};

/* A word that other programs have for one of our commands. */
struct other_word {
	const char *word; /* NULL ends the table */
	const char *command;
};

struct program {
	const char *name;
	const char *summary;
	const char *examples;	      /* lines of the help; may be NULL */
	const struct option *options; /* of every command; may be NULL */
	const struct command *commands;
	const struct other_word *others; /* may be NULL */
	bool runs_programs; /* a word that is no command is a program */
};

/*
 * Reads the words of a command, NULL at the end, its name not among them.
 * Options go into `values`, which holds the defaults before.  All others go in
 * order into `operands`, NULL at the end, which has room for as many words and
 * may be `words` itself.  `c` may be NULL: the options of the program alone,
 * then, and they end at the first operand.
 *
 * Returns the number of operands, or -HB_E_USAGE with words and a fix; then
 * `values` is filled in part.
 */
int option_parse(const struct program *p, const struct command *c, char **words,
		 void *values, char **operands, struct hb_error *err);

/*
 * The same for a row that is known: what is wrong is said without the option's
 * name, and a bad value is -HB_E_USAGE or -HB_E_CONFIG.
 */
int option_store(const struct option *o, const char *value, void *values,
		 struct hb_error *err);

/* The row of that long name, or NULL.  `table` may be NULL. */
const struct option *option_find(const struct option *table, const char *name);

/* The row of that name, or NULL. */
const struct command *command_find(const struct program *p, const char *name);

/* Our command for a word of other programs, or NULL. */
const char *command_for(const struct program *p, const char *word);

/* The name that was probably meant, or NULL. */
const char *command_suggest(const struct program *p, const char *name);

/* Fails with -HB_E_USAGE, and suggests. */
int command_unknown(const struct program *p, const char *name,
		    struct hb_error *err);

/* What the kind makes of OPTION_ARG_BY_KIND. */
enum option_arg option_arg_of(const struct option *o);

/* What stands for the argument in a help; NULL if it takes none. */
const char *option_metavar(const struct option *o);

#endif
