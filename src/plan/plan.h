/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_PLAN_PLAN_H
#define HB_PLAN_PLAN_H

#include "plan/op_kinds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct hb_error;
struct net_access;

/*
 * A plan makes a sandbox: an ordered list of typed operations on its file
 * system, and a set of settings for the rest.  Parsers write plans (the
 * bubblewrap grammar, views, profiles), src/box carries them out, `holdback
 * plan` prints them.  A plan makes no system call and holds no descriptor of
 * its own: descriptor numbers in it are the caller's.
 *
 * Strings are borrowed: they live as long as the source of the plan.  Strings
 * given to plan_keep() are freed by plan_done().
 */

#define PLAN_MAX_OPS	9000
#define PLAN_MAX_LAYERS 500   /* of one overlay: the kernel's own limit */
#define PLAN_MAX_ALL	16384 /* of all of them */

/*
 * Carried out strictly in the order of the list, each inside the root that the
 * operations before it made.  A later mount covers an earlier one.
 */
enum plan_op_flag {
	PLAN_RO = 1 << 0,      /* binds: read-only, recursively */
	PLAN_DEVICES = 1 << 1, /* binds: device nodes work */
	/*
	 * A missing source of a bind is no error, nor an overlay that cannot be
	 * made.  OP_FILE: an object that is there stays, and so does a way that
	 * leads over a link; then there is no file.
	 */
	PLAN_TRY = 1 << 2,
	PLAN_OVERLAY_TMP = 1
			   << 3, /* upper and work in memory, gone at the end */
	PLAN_OVERLAY_RO = 1 << 4, /* no upper */
	PLAN_VOLATILE = 1 << 5,	  /* overlay: the kernel need not sync */
	PLAN_TEXT = 1 << 6,	  /* files: content is `source`, not `fd` */
	PLAN_HAS_PERMS = 1 << 7,  /* `perms` was given, not defaulted */
	PLAN_NOEXEC = 1 << 8,	  /* tmpfs, bind: nothing in it is executed */
	PLAN_MASKED = 1 << 9,	  /* bind of a directory: OP_MASKs follow */
	PLAN_MASK_DIR = 1 << 10,  /* OP_MASK: an empty directory, no file */
	PLAN_OURS = 1 << 11,	  /* bind: nothing of what the host has there */
	PLAN_HOST_PROC = 1 << 12, /* OP_PROC: the host's, read-only */
	/*
	 * What is mounted hides something: dest is never made, and if it is
	 * missing that is an error, or with PLAN_TRY nothing to do.
	 */
	PLAN_COVER = 1 << 13,
	PLAN_REAL = 1 << 14, /* binds: a link on the way to source is refused */
	/*
	 * Nothing of the host is in reach but contents.  Binds: neither
	 * sockets nor locks nor leases; `base` is a directory above source for
	 * which one overlay does, or NULL.  OP_PROC: its keys, and from root
	 * what only root reads, are covered.
	 */
	PLAN_OWN = 1 << 15,
	PLAN_FLAGS_END = 1 << 16, /* one past the last */
};

struct plan_op {
	enum plan_op_kind kind;
	unsigned flags; /* enum plan_op_flag */
	const char *source;
	const char *dest;
	const char *base; /* OP_MASK: dest of a bind with PLAN_MASKED; OP_BIND:
			   * see PLAN_OWN; OP_GONE: dest of the overlay */
	int fd;		  /* -1 where the kind has none */
	mode_t perms;
	uint64_t size;
	/* OP_OVERLAY: plan->layers[first_layer ..], the lowest first */
	size_t first_layer, n_layers;
	const char *upper, *work; /* OP_OVERLAY without TMP and RO */
	/* The same: for the record of base/move_record.h; NULL: in memory */
	const char *record;
	/* For the maker of the plan: the origin of this.  NULL: nothing. */
	const struct setting_item *origin;
};

enum plan_ns {
	PLAN_NS_USER = 1 << 0,
	PLAN_NS_IPC = 1 << 1,
	PLAN_NS_PID = 1 << 2,
	PLAN_NS_NET = 1 << 3, /* with the loopback interface up */
	PLAN_NS_UTS = 1 << 4,
	PLAN_NS_CGROUP = 1 << 5,
};

enum plan_env_kind {
	ENV_SET = 1,
	ENV_UNSET,
	ENV_CLEAR,
	/*
	 * The caller's of this name, or all that a pattern (NAME*) fits but
	 * those that open a door or run code.  Who is the caller is found out
	 * by plan_environment(): a command that joins a box has its own.
	 */
	ENV_PASS,
};

/* Applied in order to the caller's environment. */
struct plan_env {
	enum plan_env_kind kind;
	const char *name;
	const char *value; /* ENV_SET */
};

enum plan_setting {
	PLAN_NEW_SESSION = 1 << 0,     /* setsid() for what runs inside */
	PLAN_DIE_WITH_PARENT = 1 << 1, /* the box ends with its supervisor */
	PLAN_AS_PID_1 = 1 << 2,	       /* no init: the command is pid 1 */
	PLAN_NO_USERNS = 1 << 3, /* no user namespace can be made inside */
	PLAN_PROVE_NO_USERNS = 1 << 4,	/* only check that none can be made */
	PLAN_FILTER = 1 << 5,		/* the default seccomp filter */
	PLAN_FILTER_NO_PTRACE = 1 << 6, /* variants of it */
	PLAN_FILTER_NESTED = 1 << 7,
	PLAN_LANDLOCK = 1 << 8,	  /* writable paths again as landlock rules */
	PLAN_JOBS = 1 << 9,	  /* terminal, job control, signal forwarding */
	PLAN_CLOSE_FDS = 1 << 10, /* descriptors above 2 stay outside */
	PLAN_WAIT_ALL = 1 << 11,  /* the status only after everything is gone */
	PLAN_PROVE = 1 << 12, /* try what must fail before the command runs */
	PLAN_KEEP_ROOT_RW = 1 << 13, /* the root itself stays writable */
	PLAN_MAP_ALL = 1 << 14, /* root: every id is mapped, not only our own */
	PLAN_BWRAP_WORDS = 1 << 15, /* failures in bubblewrap's words */
	PLAN_LIMITS = 1 << 16, /* no core files, no keyring of the caller's */
	/*
	 * No namespaces and no mounts: operations are landlock rules for their
	 * sources, and what none names cannot be opened.
	 */
	PLAN_BARE = 1 << 17,
	PLAN_NO_SOCKETS = 1 << 18,	/* PLAN_BARE: nor sockets */
	PLAN_FILTER_NO_SETID = 1 << 19, /* a variant of the filter, as above */
	PLAN_TTY_REAL = 1 << 20,     /* PLAN_JOBS: at the user's own terminal */
	PLAN_CLIPBOARD = 1 << 21,    /* what is shown may set the clipboard */
	PLAN_RENAMES = 1 << 22,	     /* directories below an overlay, too */
	PLAN_CALLS = 1 << 23,	     /* calls that change files are recorded */
	PLAN_LOOKS = 1 << 24,	     /* and opens that the view refuses */
	PLAN_SETTINGS_END = 1 << 25, /* one past the last */
};

#define PLAN_RECORDING_FDS 4

enum plan_fd {
	PLAN_FD_USERNS,	      /* user namespace to enter before everything */
	PLAN_FD_USERNS2,      /* user namespace to enter after everything */
	PLAN_FD_PIDNS,	      /* pid namespace to enter */
	PLAN_FD_SYNC,	      /* held open by init as long as it lives */
	PLAN_FD_BLOCK,	      /* one byte is read from it before the command */
	PLAN_FD_USERNS_BLOCK, /* one byte is read after info, before the maps */
	PLAN_FD_INFO,	      /* JSON about the box goes there, then closed */
	PLAN_FD_JSON_STATUS,  /* JSON lines, the last one the exit code */
	PLAN_FD_DOOR,	      /* listens for who wants to join: box/door.h */
	PLAN_FD_LENT,	      /* is lent to a client at that door */
	PLAN_FD_TURNS,	      /* listens inside: box/turns.h */
	PLAN_FD_COUNT
};

/* Of the whole box; 0: none. */
struct plan_limits {
	uint64_t memory; /* bytes */
	uint64_t cpus;	 /* thousandths of a processor */
	uint64_t pids;	 /* processes and threads, init not counted */
	/* It was not asked for: where it does not bind there is none. */
	bool is_pids_usual;
	uint64_t seconds;
	uint64_t min_free; /* bytes of each disk that layers are on */
	uint64_t inodes;   /* files in each place in memory */
	uint64_t inotify;  /* instances of all processes together */
};

/* Or a quarter of what the machine has, if that is less. */
#define PLAN_PIDS_USUAL 4096

/* Of inodes and inotify: half of the user's, or plan_inodes(). */
#define PLAN_USUAL UINT64_MAX

/*
 * How many files fit into a place in memory of `size` bytes if plan_limits says
 * `inodes`; 0: the kernel's number.  A name costs memory as well, which the
 * kernel charges to no user: usually a page each.
 */
uint64_t plan_inodes(uint64_t inodes, uint64_t size);

/* plan_limits.min_free: 1 GiB or a twentieth of the disk: box/space.h */
#define PLAN_MIN_FREE_USUAL UINT64_MAX

/* A directory of the host's, and where it is seen. */
struct plan_place {
	const char *source, *inside;
};

struct plan {
	struct plan_op *ops;
	size_t n_ops, room_ops;
	const char **layers;
	size_t n_layers, room_layers;
	struct plan_env *env;
	size_t n_env, room_env;
	const char **lock_files;
	size_t n_lock_files, room_lock_files;
	int *filter_fds; /* raw filters to load, in this order */
	size_t n_filter_fds, room_filter_fds;
	void **kept;
	size_t n_kept, room_kept;

	/* Borrowed: where who joins from there starts, else in the first. */
	const struct plan_place *places;
	size_t n_places;

	/*
	 * Called by the supervisor while pid 1 builds the box.  The command
	 * starts after it has returned.  Not if NULL.
	 */
	void (*meanwhile)(void *context);
	void *meanwhile_context;

	/*
	 * Called by the supervisor as soon as no process is left in the box
	 * but pid 1, and when the box is gone.  Its signals are blocked.
	 * Nothing can come any more.  Mounts of the box may still be there.
	 * Not called if the box failed or was lent, and not if NULL.
	 */
	void (*emptied)(void *context);
	void *emptied_context;

	/*
	 * Called in the process that has the box from then on, which is a copy
	 * of the supervisor (box/keeper.h).  Not if NULL.
	 */
	void (*handed)(void *context);
	void *handed_context;

	/*
	 * PLAN_CALLS: called in the process that tells the listener of calls
	 * (box/notify/recorder.h), which is a copy of the supervisor.  Fills
	 * in the descriptors that the listener needs there, and returns how
	 * many; all others are closed.
	 */
	size_t (*recording)(void *context, int ret_fds[PLAN_RECORDING_FDS]);
	void *recording_context;

	/*
	 * Called in a process without descriptors that ends with it, when a
	 * process in the box asks for a mark (box/turns.h).  Returns as errors
	 * do.
	 */
	int (*turn)(void *context);
	void *turn_context;

	/*
	 * Borrowed: what may be reached by name, from a network namespace of
	 * the box's own.  NULL: nothing, or what `ns` shares.
	 */
	const struct net_access *net;

	unsigned ns;	   /* enum plan_ns: new namespaces; mnt is always new */
	unsigned ns_try;   /* of `ns`: left out if the host lacks them */
	unsigned settings; /* enum plan_setting */
	int fds[PLAN_FD_COUNT]; /* -1 where not given */
	int64_t uid, gid;	/* inside; -1: as outside */
	/* result = (what the caller has by default & caps_keep) | caps_add */
	uint64_t caps_keep, caps_add;
	struct plan_limits limits;
	const char *chdir; /* NULL: the old directory, else $HOME, else / */
	const char *argv0; /* NULL: as argv[0] */
	char *const *argv; /* the command, NULL-terminated */
};

/* Whose terminal the command has: "own" or "real". */
void plan_set_tty(struct plan *plan, const char *tty);

/*
 * An empty plan: every descriptor -1, ids as outside, no capability.
 * plan_done() also takes zero.
 */
void plan_init(struct plan *plan);
void plan_done(struct plan *plan);

/*
 * Appends an operation of `kind` with fd -1 and returns it in *ret_op, to be
 * filled in by the caller; valid until the next call.  -E2BIG past the limit.
 */
int plan_add(struct plan *plan, enum plan_op_kind kind, struct plan_op **ret_op,
	     struct hb_error *err);

/* The same for the lists beside it. */
int plan_add_layer(struct plan *plan, const char *dir, struct hb_error *err);
int plan_add_env(struct plan *plan, enum plan_env_kind kind, const char *name,
		 const char *value, struct hb_error *err);
int plan_add_lock_file(struct plan *plan, const char *path,
		       struct hb_error *err);
int plan_add_filter_fd(struct plan *plan, int fd, struct hb_error *err);

/*
 * Orders the operations by destination, equal ones as they were: what lies
 * inside of something comes after it.
 */
void plan_sort_by_dest(struct plan *plan);

/* Takes `ptr`, which came from malloc, also when it fails. */
int plan_keep(struct plan *plan, void *ptr, struct hb_error *err);

/* A copy of `text` that lives as long as the plan. */
int plan_keep_text(struct plan *plan, const char *text, const char **ret_copy,
		   struct hb_error *err);

#endif
