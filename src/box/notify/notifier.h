/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_NOTIFY_NOTIFIER_H
#define HB_BOX_NOTIFY_NOTIFIER_H

#include "box/filter/filter.h"
#include "sys/kernel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The notifier: the process that answers calls of a box which its filter hands
 * to a listener.  One filter, one listener for each command, one process.
 *
 * The supervisor forks it at the first call that is not answered at once
 * (box/notify/heard.h), and again if it is killed.  It is outside of the box's
 * pid namespace, not dumpable, in a session of its own, and dies with the
 * supervisor.  It has the box's user and mount namespaces, and one capability,
 * to read callers.  It changes no file: a worker does that, which has the box's
 * landlock rules as well.
 */

#define NOTIFY_LISTENERS 64 /* commands at once */
#define NOTIFY_JOBS	 32 /* directory renames that wait */

/* What becomes of a call. */
enum notify_answer {
	NOTIFY_GO_ON,	/* the kernel carries it out, by the caller's rights */
	NOTIFY_REFUSED, /* it fails with `error` */
	NOTIFY_LATER,	/* a worker answers it */
	NOTIFY_FORK,	/* only the notifier can tell: box/notify/heard.h */
};

enum notify_state {
	NOTIFY_FREE,
	NOTIFY_WAITS,
	NOTIFY_BEGUN, /* by a worker, which may have left a record */
};

/* A call that was received and not answered yet. */
struct notify_call {
	uint32_t listener; /* number of the command: 0 is the first one */
	uint32_t state;	   /* enum notify_state */
	struct k_seccomp_notif data;
};

/*
 * Shared by the supervisor, the notifier and its workers, and the only state
 * that outlives a notifier.  It is in no other process's memory.
 */
struct notify_page {
	struct call_ring *ring; /* notes for the log; NULL: there are none */
	uint32_t records;	/* classes that notes are made of */
	uint32_t has_renames;	/* FILTER_RENAMES is heard, and not for notes */
	uint32_t is_started;	/* the command: what comes before is ours */
	uint64_t n_refused;	/* user namespaces, of the first command */
	uint32_t is_restricted; /* a process inside has a landlock domain */
	uint32_t is_held;	/* no rename of a directory may begin */
	pid_t worker;		/* the last one; 0: there was none */
	struct notify_call now; /* is being looked at */
	/* Directory renames, the first of them under way. */
	struct notify_call jobs[NOTIFY_JOBS];
};

struct notify_listener {
	int fd;
	uint32_t number;
};

struct notifier;
struct call_paths;
struct call_ring;

/* What handlers work on; `process` is NULL in the supervisor. */
struct notify {
	struct notify_page *page;
	struct notifier *process;
};

/* An overlay of the box, in which a directory may be one of the base's. */
struct notify_overlay {
	const char *dest; /* in the view */
	uint64_t mount;
	int upper;   /* -1: it is in memory */
	int *lowers; /* all layers below */
	size_t n_lowers;
	int record; /* base/move_record.h */
};

/* The process. */
struct notifier {
	const struct box *box;
	struct notify notify;
	int proc;    /* the host's */
	int control; /* to the supervisor */
	struct notify_listener listeners[NOTIFY_LISTENERS];
	size_t n_listeners;
	struct notify_overlay *overlays;
	size_t n_overlays;
	pid_t worker; /* 0: there is none */
	int worker_fd;
	unsigned n_tries;	  /* of the first job */
	struct call_paths *paths; /* NULL: no notes are made */
	int wake;		  /* to the recorder */
	bool has_notes;		  /* that it was not told of */
	bool has_waited;	  /* for room, in vain */
	uint64_t woken_at;	  /* call_ring.written, when it was */
};

/* The listener of that number; -1: its command has ended. */
static inline int notify_listener(const struct notifier *p, uint32_t number)
{
	for (size_t i = 0; i < p->n_listeners; i++)
		if (p->listeners[i].number == number)
			return p->listeners[i].fd;
	return -1;
}

/* What the supervisor says, one record each, and is told. */
enum notify_word {
	NOTIFY_LISTEN = 1, /* with a descriptor, and its number */
	NOTIFY_HOLD,	   /* notify_page.is_held was set */
	NOTIFY_RELEASE,
	NOTIFY_QUIET, /* to the supervisor: no directory is being renamed */
	NOTIFY_NOTES, /* to the recorder: there are notes */
	NOTIFY_END,   /* to the recorder: there will be no more */
};

struct notify_record {
	enum notify_word word;
	uint32_t number;
};

/* How a notifier ends that cannot enter the box. */
#define NOTIFY_CANNOT 3

/*
 * Waits for the end of the last worker, which dies with its notifier, but not
 * at once.
 */
void notify_await_worker(const struct notify_page *page);

struct heard;

/* In a child of the supervisor. */
_Noreturn void notifier_main(const struct heard *h, int control,
			     pid_t supervisor);

#endif
