/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_DOOR_H
#define HB_BOX_DOOR_H

#include "sys/file.h"
#include "sys/sock.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct hb_error;
struct hb_listener;
struct box;

/*
 * The way into a live box for commands that are started later.
 *
 * The supervisor listens.  It greets a client of the same user with the box's
 * namespaces and the restrictions of its commands (box/tail.h).  The client
 * enters by itself (box/join.h).  The connection stays for as long as the
 * command runs.  Its end tells the supervisor, and a hang-up of the supervisor
 * tells the client that the box ends. init has no part in it and hears nothing,
 * and nothing of the socket is in the box.
 */

#define DOOR_MAGIC 0x68626474U

/* The first record on a connection, from the supervisor. */
struct door_greeting {
	uint32_t magic;
	uint32_t ns; /* enum plan_ns: those that come after the mounts' */
	uint64_t tail_size;
	uint32_t has_cgroup;	 /* its directory is the last descriptor */
	uint32_t has_group_pids; /* as in struct box */
	struct sys_place root;	 /* what "/" is in the box */
	pid_t supervisor, init;	 /* as the supervisor sees them */
	uint32_t is_heard;	 /* there is room for its listener */
	uint32_t welcomes;	 /* the first DOOR_JOINED is answered */
};

/* The descriptors that come with it; namespaces as in box_namespaces. */
#define DOOR_TAIL	0
#define DOOR_NAMESPACES 1

/* What may follow, from who connected. */
enum door_word {
	/*
	 * `pid` is the command's; 0: there will be one, if this is answered by
	 * DOOR_WELCOME.  From the answer on the box goes on for it.
	 */
	DOOR_JOINED = 1,
	DOOR_STATUS, /* is answered by a struct door_status */
	DOOR_STOP,   /* the box is to end; the hang-up says that it did */
	/*
	 * A box that stopped for want of room goes on; answered as DOOR_STATUS
	 */
	DOOR_RESUME,
	/*
	 * The command that joined was stopped by a SIGSTOP: DOOR_OURS or
	 * DOOR_YOURS tells whose it was.
	 */
	DOOR_WHOSE,
	/* With the listener of a command that joins: box/notify/heard.h. */
	DOOR_LISTENER,
	/*
	 * Asks for the lock of the session; answered by a struct door_loan.
	 * Until the hang-up the supervisor leaves the session alone.
	 */
	DOOR_LEND,
	/*
	 * The command that joined has ended.  Answered by DOOR_STAYS or, if
	 * it was the last of all, by the hang-up at the end of the box.
	 */
	DOOR_LEFT,
	/*
	 * With one end of a record socket: net/control.h.  It is closed at once
	 * if the network of the box is not by name.
	 */
	DOOR_NET,
};

struct door_request {
	uint32_t magic;
	enum door_word word;
	pid_t pid;
};

/* What a client that joins is told, at any time. */
enum door_tidings {
	DOOR_FULL = 1, /* the box is stopped for want of room */
	DOOR_ROOM,     /* it goes on, because there is room again */
	DOOR_ON,       /* it goes on all the same */
	DOOR_OURS,     /* init may have stopped the command */
	DOOR_YOURS,    /* it did not, or has woken it since */
	DOOR_WELCOME,  /* the command may start */
	DOOR_STAYS,    /* others go on in the box */
};

struct door_news {
	uint32_t magic;
	enum door_tidings tidings;
	uint64_t left; /* DOOR_FULL: in bytes */
};

/* The answer to DOOR_LEND: the lock comes with it, if it is lent. */
enum door_loan_verdict {
	DOOR_LENT = 1,
	DOOR_LENT_ALREADY, /* another client has it */
	DOOR_LENT_NEVER,   /* the box ends, or has nothing to lend */
};

struct door_loan {
	uint32_t magic;
	enum door_loan_verdict verdict;
};

/* So many of those who joined are named; all are counted. */
#define DOOR_NAMED 64

struct door_status {
	uint32_t magic;
	pid_t supervisor, init, command; /* command 0: it is kept open */
	int root;	  /* the supervisor's descriptor of the view's "/" */
	uint32_t is_full; /* stopped for want of room, when it was asked */
	uint32_t n_joined;
	struct {
		pid_t client, command;
	} joined[DOOR_NAMED];
};

/* Who is connected. */
struct door_guest {
	int fd;
	pid_t pid; /* 0: not seen from here */
	pid_t command;
	bool is_joined;
	bool waits;   /* for the end of the box: is told by our own */
	bool hears;   /* the news: it has a command here, or will have */
	bool borrows; /* the lock: it has nothing in the box */
};

/* The supervisor's side.  Zero is a box that no command can join. */
struct door {
	bool is_open; /* there is a box to be joined */
	bool is_kept; /* it ends with the last who joined */
	int listener; /* borrowed */
	int lent;     /* borrowed; what DOOR_LEND asks for, or -1 */
	bool was_lent;
	int root;
	int fds[SYS_RECORD_FDS]; /* as they go with a greeting */
	size_t n_fds, n_owned;	 /* the others are the box's */
	struct door_greeting greeting;
	struct door_guest *guests;
	size_t n_guests;
	bool is_full;	       /* no descriptor was left for the last one */
	struct door_news news; /* the last */
	/* Commands of guests who died before them. */
	pid_t *orphans;
	size_t n_orphans;
};

/*
 * Opens the door of a box: `fds` are its root and its
 * namespaces as init sent them, and are taken also on failure.  `init` is pid 1
 * of the box, as we see it.
 */
int door_open(struct door *d, const struct box *box, unsigned ns,
	      const int *fds, size_t n, pid_t init, struct hb_error *err);

/* Lets in and greets who waits outside. */
void door_let_in(struct door *d);

/*
 * The guest has something to say: fills `ret_request` and returns 1; 0 if that
 * was nothing, or he is gone.  Guests behind him may change places.
 * *ret_listener is for DOOR_LISTENER and DOOR_NET, and is the caller's then;
 * else -1.
 */
int door_hear(struct door *d, size_t guest, struct door_request *ret_request,
	      int *ret_listener);

/* The guest's side: sends its listener, which stays the caller's. */
int door_send_listener(int fd, int listener);

/* Answers a DOOR_STATUS; `about` has all but those who joined. */
void door_answer(struct door *d, size_t guest, struct door_status *about);

/*
 * Tells all who joined.  DOOR_FULL comes before the stop itself, so that
 * clients do not take it for their own.  A later client hears of it when it
 * joins.
 */
void door_tell(struct door *d, enum door_tidings tidings, uint64_t left);

/* Answers a DOOR_WHOSE. */
void door_own_up(const struct door *d, size_t guest, bool is_ours);

/*
 * Answers a DOOR_LEND.  A client that has the lock is not told of the end of
 * the box, and is not made to leave: door_await_return().
 */
void door_lend(struct door *d, size_t guest);

/* The box is gone.  Waits until the client that has the lock, if any, is too.
 */
void door_await_return(struct door *d, const struct hb_listener *listener);

/* No other client comes in, and every client hears that the box ends. */
void door_shut(struct door *d);

/* How many still have something in the box, or may have. */
size_t door_count(const struct door *d);

/* How many of them have said that they join. */
size_t door_count_joined(const struct door *d);

/*
 * We are the box's supervisor from now on (box/keeper.h), and the box ends with
 * the last who joined.
 */
void door_keep(struct door *d);

/*
 * Answers a DOOR_LEFT.  Who is the last is told nothing: it waits for the end
 * of the box.
 */
void door_see_off(struct door *d, size_t guest);

/*
 * Whether there are commands whose guests died before them, and all have ended.
 * pid 1 of the box cannot be gone before these are reaped.  The host's init
 * reaps them, not we, and few containers have an init that does.
 */
bool door_has_unburied(const struct door *d);

/* Who has not left by now is made to. */
void door_clear(struct door *d);

/* Closes all but the connections: no box is kept by it any more. */
void door_forget(struct door *d);

/* Closes everything, also the connections of clients that wait. */
void door_done(struct door *d);

#endif
