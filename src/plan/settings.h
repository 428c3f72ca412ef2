/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_PLAN_SETTINGS_H
#define HB_PLAN_SETTINGS_H

#include "base/option.h"
#include "plan/keys.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The settings of a run.  Profiles, configuration files, variables and options
 * are all keys with values, and each key is a long option of `run`.  The later
 * value wins; a list keeps its items, and each value knows its origin.  Pure:
 * text in, values out.
 *
 * The order is: profile `base`, the command's profile, /etc/holdback,
 * ~/.config/holdback, the environment, options.  A file in the workspace comes
 * last and may only take away.
 */

#define SETTING_ID(id, ...) KEY_##id,
enum setting_key {
	RUN_KEYS(SETTING_ID) SETTING_KEYS
};
#undef SETTING_ID

enum setting_source {
	SETTING_DEFAULT,
	SETTING_BUILT_IN,    /* file: the profile's name */
	SETTING_SYSTEM,	     /* /etc/holdback */
	SETTING_USER,	     /* ~/.config/holdback */
	SETTING_ENVIRONMENT, /* file: the variable's name */
	SETTING_OPTION,
	SETTING_SESSION,   /* recorded when it was made */
	SETTING_WORKSPACE, /* may only tighten */
	SETTING_SOURCES
};

struct setting_origin {
	enum setting_source source;
	const char *file; /* NULL where there is none */
	size_t line;	  /* 0 where there is none */
};

/* One value of a list. */
struct setting_item {
	enum setting_key key;
	const char *value;
	struct setting_origin origin;
};

#define SETTING_ITEMS_MAX 1024
#define SETTING_SIZE	  (1ULL << 30) /* the default of KEY_SIZE */

struct settings {
	const char *profile; /* NULL: by the command's name */
	const char *session; /* to be made or used; NULL: one of its own */
	bool is_ephemeral;
	bool verifies;	  /* the real directories, after a run in memory */
	bool is_direct;	  /* the workspace is the real one */
	const char *code; /* a file to run, instead of a command */
	uint64_t sync;	  /* seconds; settings_sync() has what it means */
	bool is_yolo;
	uint64_t size;
	/* Limits of the whole box; 0: none. */
	uint64_t memory;
	uint64_t cpus; /* thousandths */
	uint64_t pids;
	uint64_t timeout; /* seconds */
	/* What the box leaves free on disk; PLAN_MIN_FREE_USUAL; 0: nothing */
	uint64_t min_free;
	/* PLAN_USUAL; 0: what the host allows */
	uint64_t inodes;  /* files in each place in memory */
	uint64_t inotify; /* instances */
	const char *view; /* "run", or "host": all of it, read-only */
	const char *net;  /* of key_nets; settings_net() has what it means */
	bool net_asks, net_is_loose;
	const char *net_proxy; /* a URL, or "none"; NULL: the host's */
	const char *at; /* where the workspace is; NULL: at its own path */
	const char *chdir;
	const char *go_on;    /* what the command takes to go on; or NULL */
	const char *gate_run; /* checks what a commit would bring; or NULL */
	const char *strategy; /* of key_strategies; NULL: each type's default */
	const char *git;      /* of key_gits; NULL: it is not said */
	bool no_ptrace;
	const char *tty;       /* "own": a terminal for the command; "real" */
	bool has_own_terminal; /* in spite of `tty` */
	const char *audit;     /* of key_audits */
	const char *log;       /* a file that gets the records; or NULL */
	const char *clipboard; /* "no", or "write": what is shown may set it */
	bool allow_nested;
	bool marks_turns;
	const char *rename_directories; /* "yes" or "no" */
	bool is_required;    /* every lack of the host stops the run */
	bool allow_degraded; /* also a run without namespaces */
	bool is_quiet;
	struct setting_item *items; /* of all lists, in the order they came */
	size_t n_items, room_items;
	struct setting_origin origins[SETTING_KEYS]; /* of all else */

	/* Private. */
	char **kept;
	size_t n_kept, room_kept;
	struct setting_item now; /* what is being set */
};

/* Nothing but defaults.  settings_done() also takes zero. */
void settings_init(struct settings *s);
void settings_done(struct settings *s);

/* Seconds between two syncs of a live session; 0: there are none. */
uint64_t settings_sync(const struct settings *s);

/* The table of keys, in the order of enum setting_key. */
extern const struct option settings_table[SETTING_KEYS + 1];

/*
 * The network that is in force.  A host that is allowed, a port, and net-ask
 * make the network one by name if they come from a stronger source than `net`
 * itself.  A host that is denied does so where it would be the host's.
 */
enum net_mode settings_net(const struct settings *s);

/* Whether the box has the network of the host. */
bool settings_share_net(const struct settings *s);

/* Whether it has a network by name: NET_NAMES or NET_STRICT. */
bool settings_net_by_name(const struct settings *s);

/* Whether there is a record of the run in the log. */
bool settings_keep_log(const struct settings *s);

/* Whether each call that changes a file is in it. */
bool settings_record_calls(const struct settings *s);

/* Whether the whole host is shown. */
bool settings_shows_host(const struct settings *s);

/* Whether that is the name of the strategy that holds nothing back. */
bool settings_is_none(const char *strategy);

const char *setting_name(enum setting_key key);
bool setting_is_list(enum setting_key key);

/* Whether it holds for every run in the session, not for this one alone. */
bool setting_lasts(enum setting_key key);
bool setting_is_path(enum setting_key key); /* "~/" may stand in it */

/* One word for a source: "built-in", "user". */
const char *setting_source_name(enum setting_source source);

/*
 * Where a value came from, in words for people: "FILE:LINE", "profile 'base'
 * (built in), line 7", "option '--net'".  Returns `out`.
 */
const char *setting_origin_words(const struct setting_origin *origin,
				 enum setting_key key, char *out, size_t size);

/*
 * Sets one key.  `value` and origin->file are borrowed and must live as long as
 * the settings.  In a file an empty value empties a list.
 *
 * -HB_E_CONFIG with the place, the cause and for an unknown key a suggestion;
 * -HB_E_USAGE where the origin is an option.
 */
int settings_set(struct settings *s, const char *key, const char *value,
		 const struct setting_origin *origin, struct hb_error *err);

/*
 * Sets what the `n` bytes of a file say; any bytes.  `name` is copied, the text
 * is not needed after.
 */
int settings_read(struct settings *s, enum setting_source source,
		  const char *name, const char *text, size_t n,
		  struct hb_error *err);

/* Whether something is at a path, with its colons, as a variable has it. */
typedef bool (*settings_path_fn)(void *ctx, const char *path);

/*
 * Sets what variables HOLDBACK_KEY say: HOLDBACK_NO_PTRACE is no-ptrace.  Paths
 * have colons between them.  A value for which `is_there` says yes is one path;
 * NULL is always no.
 */
int settings_environment(struct settings *s, char *const *envp,
			 settings_path_fn is_there, void *ctx,
			 struct hb_error *err);

/* What such a variable says of one key; NULL: there is none. */
const char *settings_variable(char *const *envp, enum setting_key key);

/* Sets what the compiled-in profile says.  1, or 0 if there is none. */
int settings_profile(struct settings *s, const char *name,
		     struct hb_error *err);

/* What is in force of KEY_TTY and KEY_PTY: "own" or "real". */
const char *settings_tty(const struct settings *s);

/* The value of a key that is no list, as text, or NULL if it has none. */
const char *settings_text(const struct settings *s, enum setting_key key,
			  char *out, size_t size);

/* A compiled-in profile: data/profiles/NAME.conf, read when this was built. */
struct profile_entry {
	const char *key, *value;
	unsigned line;
};

struct profile {
	const char *name, *summary;
	const struct profile_entry *entries;
	size_t n;
};

#define PROFILE_BASE	"base"
#define PROFILE_GENERIC "generic"

#endif
