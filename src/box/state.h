/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_STATE_H
#define HB_BOX_STATE_H

#include "base/error.h"
#include "box/cgroup.h"
#include "box/stage.h"
#include "plan/plan.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "sys/sock.h"

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The state of one box while it is made: filled by the supervisor before
 * clone(), used by the stages in the child.  Private to src/box.
 */

struct relayed;

#define BOX_CWD_SIZE PATH_MAX

/* "PWD=" and "OLDPWD=", filled after the pivot. */
#define BOX_SPARE_ENV 2

/* What is asked to end has so long before it is killed. */
#define BOX_GRACE_MS 2000

struct raw_filter {
	const struct k_sock_filter *code;
	size_t n;
};

/* Which process group the command is in: PROTOTYPES of job control. */
enum box_group {
	GROUP_SHARED, /* the supervisor's: pipelines work */
	GROUP_OWN,    /* its own, in the foreground of our terminal */
};

/* More binds with masks than this have theirs mounted. */
#define MASKED_MAX 16

struct box {
	const struct plan *plan;
	char **envp; /* ours, with BOX_SPARE_ENV free places at the end */
	size_t n_env;
	char **argv_room;      /* what `argv` lies in, one place before it */
	char **argv;	       /* plan->argv with argv0 in its place */
	const char *path_list; /* PATH in envp */
	const char *home;      /* HOME in envp, may be NULL */

	uid_t uid, gid;	      /* the caller's, outside */
	uid_t in_uid, in_gid; /* the command's, inside */
	unsigned ns;	      /* enum plan_ns, with the try ones decided */
	uint64_t caps;	      /* what the command keeps */
	bool has_init;
	bool wants_go; /* the child waits for the supervisor's word */
	/* A process beside init makes the network namespace. */
	bool is_net_beside;
	struct {
		pid_t pid; /* of that process, 0: there is none */
		int fd;	   /* the namespace, or -errno; by that process */
	} net;
	/*
	 * Calls of which the command's filter has a listener hear: 1 << enum
	 * filter_class.  `is_deaf`: they would fail, as there is none.
	 */
	unsigned heard;
	bool is_deaf;
	int door; /* a guest's: where its listener goes; else -1 */
	enum box_group group;
	bool is_foreground; /* we were in front of `tty` at the start */
	int tty;	    /* GROUP_OWN: the command's terminal, else -1 */
	int peer;	    /* `tty`, if it is one of its own, else -1 */
	sigset_t mask;	    /* the caller's, for the command */
	bool has_mask;	    /* something was blocked on the way */

	struct source *sources; /* box/source.c */
	size_t n_sources;
	struct raw_filter *filters;
	size_t n_filters;

	int report;	  /* the child's end, close-on-exec */
	int watch;	  /* the supervisor's end */
	int go_rd, go_wr; /* the supervisor's word to the child */

	struct relayed *relayed; /* the network by name; NULL: there is none */
	struct cgroup cgroup;	 /* the limits of all processes, or none */
	uint64_t pids;		 /* limits_pids() */
	bool has_group_pids;	 /* and their number is one of them */

	int proc_self; /* the host's /proc/self of the child, -1: not needed */
	struct sys_place root_place;
	bool has_hidden_root; /* the first root is kept out of clones */
	unsigned n_stacked;   /* mounts between the host's root and `root` */
	int root;	      /* the topmost mount at "/" of the box so far */
	int scratch;	  /* tmpfs for overlays in memory, not in the view */
	int scratch_copy; /* what showed that it need not be attached */
	/* Destinations of binds that have their masks in them. */
	const char *masked[MASKED_MAX];
	size_t n_masked;
	bool has_attached_scratch; /* below the new root, see box/mounts.c */
	const char *own_base; /* box/own.c: whose overlay `own` is; NULL: not
			       * tried */
	int own;

	char *cwd; /* the caller's, at the start; "" if it is gone */
};

/* For the initializer of every struct box: zero would be a descriptor. */
/* clang-format off */
#define BOX_NO_DESCRIPTORS                                           \
	.report = -1, .watch = -1, .go_rd = -1, .go_wr = -1, .tty = -1, \
	.peer = -1, .root = -1, .scratch = -1, .scratch_copy = -1,      \
	.own = -1, .proc_self = -1, .door = -1,                         \
	.cgroup = CGROUP_NONE
/* clang-format on */

/* What init, and the command until it executes, tell the supervisor. */
enum message_kind {
	MESSAGE_ERROR = 1, /* `error` is why there will be no command */
	MESSAGE_STARTED,   /* sender's pid is the command's */
	MESSAGE_STOPPED,   /* value: signal */
	MESSAGE_CONTINUED,
	MESSAGE_EXITED,	  /* value: wait status of the command */
	MESSAGE_EMPTIED,  /* the same, and init is alone by now */
	MESSAGE_LEFTOVER, /* value: how many processes were ended */
	MESSAGE_CROWDED,  /* there are as many processes as may be */
	MESSAGE_FULL,	  /* value: the operation whose memory is full */
	MESSAGE_AWAKE,	  /* LEAD_ROOM was done */
	MESSAGE_STAYS,	  /* LEAD_STAY was: init no longer dies with us */
	/*
	 * With the descriptors of the view's root and of the namespaces, of
	 * which value (enum plan_ns) says those after the mounts'.
	 */
	MESSAGE_DOOR,
	MESSAGE_LISTENER, /* with the descriptor: box/notify/heard.h */
	/*
	 * With sockets of the box's network, of which `sockets` tells the
	 * kinds.  value: 1 + enum net_way in the last record of them, else 0.
	 */
	MESSAGE_NET,
};

struct message_socket {
	uint16_t kind; /* enum relay_socket_kind */
	uint16_t port;
};

struct message {
	enum message_kind kind;
	int value;
	struct hb_error error;			       /* MESSAGE_ERROR */
	struct message_socket sockets[SYS_RECORD_FDS]; /* MESSAGE_NET */
};

static_assert(sizeof(struct message) <= PIPE_BUF, "a message is one record");

/* Sends a message without an error; the supervisor may be gone: ignored. */
void message_send(int fd, enum message_kind kind, int value);
void message_error(int fd, const struct hb_error *err);
/* The other side: the error as the reader has it; its code, negated. */
int message_adopt(const struct message *message, struct hb_error *err);

/* With a descriptor, which stays the caller's; -errno if it is not sent. */
int message_send_fd(int fd, enum message_kind kind, int sent);

/*
 * The namespaces of a box, in the order in which they are entered: the user's
 * gives the right to the others.
 */
struct box_namespace {
	unsigned ns; /* enum plan_ns; 0: every box has one of its own */
	int flag;    /* CLONE_NEW* */
	const char *path;
};
#define BOX_NAMESPACES 7
extern const struct box_namespace box_namespaces[BOX_NAMESPACES];

static inline bool has_namespace(unsigned ns, const struct box_namespace *of)
{
	return of->ns == 0 || ns & of->ns;
}

/* Those of a box, in the order of box_namespaces, as init sent them. */
struct namespaces {
	unsigned ns; /* enum plan_ns */
	const int *fds;
	size_t n;
	/* To be done while the host's mounts are there; may be NULL. */
	int (*before_mounts)(void *ctx, struct hb_error *err);
	void *ctx;
};

/* Enters all of them.  The caller is not dumpable: box/join.c. */
int namespaces_enter(const struct namespaces *given, struct hb_error *err);

static inline bool has_door(const struct plan *plan)
{
	return plan->fds[PLAN_FD_DOOR] >= 0;
}

/* The network is by name. */
static inline bool has_relay(const struct box *box)
{
	return box->plan->net && box->ns & PLAN_NS_NET;
}

static inline bool is_set(const struct box *box, unsigned setting)
{
	return (box->plan->settings & setting) != 0;
}

/*
 * Failures whose words bubblewrap's callers know; the object stands between
 * `before` and `after`.
 */
enum box_word {
	WORD_NO_SOURCE,
	WORD_CHDIR,
	WORD_EXEC,
	WORD_DEST,
	WORD_FILE,
	WORD_END
};

int box_fail(const struct box *box, struct hb_error *err, int r,
	     enum box_word word, const char *object);

/* Closes every descriptor from `first` on but those in `keep`; -1 is none. */
void fds_close_but(int first, int *keep, size_t n);

/*
 * The steps of stage.h, in the file of their concern; 0, or a negated code with
 * words.
 */
#define STAGE_STEP(id, name, by, needs, function) \
	int step_##function(struct box *box, struct hb_error *err);
BOX_STAGES(STAGE_STEP)
#undef STAGE_STEP

/*
 * What bears on 0, 1 and 2 before the mounts of the host are gone: whether
 * step_stdio() has anything to do.
 */
bool stdio_needs_mount(void);

/*
 * The filters without a listener.  On top of those with one they refuse
 * without it.
 */
int seccomp_load_plain(const struct box *box, struct hb_error *err);

/* Whether landlock's rules have something to say about what it makes. */
bool landlock_has_rule(const struct plan_op *op);

/*
 * What the command has of its own: the environment with room to spare, the
 * words, the working directory.  Freed by box_lists_free().
 */
int box_lists_make(struct box *box, char *const *envp, struct hb_error *err);
void box_lists_free(struct box *box);

/* Who we are, and who the command is to be. */
int box_identify(struct box *box, struct hb_error *err);

/* The signals that a supervisor handles for its command, into `set`. */
void box_handled_signals(sigset_t *set);

/* The end of set-up: executes the command; returns only to say why not. */
int step_exec(struct box *box, struct hb_error *err);

/*
 * The command's half: its stages, then exec.  Never returns; a failure is
 * reported and ends the process with status 1.
 */
_Noreturn void command_main(struct box *box);

/*
 * init's half: starts the command, then reaps until the box is empty.  Never
 * returns.
 */
_Noreturn void init_main(struct box *box);

/* Writes the maps of the child `pid`: every id that we have ourselves. */
int ids_map_all(pid_t pid, struct hb_error *err);

/* Loopback up; or a process begins to make all of the network (net_beside.c).
 */
int net_bring_up(struct hb_error *err);
void net_begin_beside(struct box *box);

/*
 * Adds to a failed user namespace or map why this host refuses, and what can
 * be done: the causes look alike to the kernel's caller.
 */
int explain_userns(int r, struct hb_error *err);

/* The same for the namespace of one kind, CLONE_NEW*, that cannot be had. */
int explain_kind(int r, unsigned long flag, struct hb_error *err);

/* The same for a clone() with these CLONE_NEW*: which of them is refused. */
int explain_clone(int r, unsigned long flags, struct hb_error *err);

#endif
