/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_NOTIFY_HEARD_H
#define HB_BOX_NOTIFY_HEARD_H

#include "box/notify/notifier.h"
#include "plan/plan.h"

#include <poll.h>

struct box;
struct hb_listener;

/*
 * The supervisor's side of calls that a filter hands to a listener.
 *
 * It keeps a descriptor of every listener, so that no call is lost with the
 * notifier.  As long as there is no notifier it answers by itself the calls
 * that need no look at the caller.  The first other call starts the notifier.
 */
struct heard {
	const struct box *box;
	struct notify notify;
	bool is_counted; /* there was a listener when the command started */
	struct notify_listener listeners[NOTIFY_LISTENERS];
	size_t n_listeners;
	uint32_t next_number;
	int user, mounts; /* namespaces of the box; -1: there is none */
	int *records;	  /* one for each overlay: base/move_record.h */
	size_t n_records;
	pid_t pid; /* of the notifier; 0: there is none */
	int pidfd;
	int control;	   /* to it */
	bool is_quiet;	   /* heard_hold(): no directory is being renamed */
	unsigned n_starts; /* of notifiers */
	bool is_broken;	   /* no notifier can be started: calls go on */
	struct notify_page own; /* as long as there was no notifier */
	/* Notes for the log: box/notify/recorder.h */
	const struct hb_listener *listener;
	int wake[2];	/* the recorder's end, and the notifier's */
	pid_t recorder; /* 0: there is none */
	int recorder_fd;
	unsigned n_recorders; /* so far */
};

/* Whether it is an overlay that is written to. */
static inline bool heard_is_overlay(const struct plan_op *op)
{
	return op->kind == OP_OVERLAY && !(op->flags & PLAN_OVERLAY_RO);
}

/*
 * Descriptors to poll: the notifier's end and word, the recorder's end, and the
 * listeners.
 */
#define HEARD_OWN 3
#define HEARD_FDS (HEARD_OWN + NOTIFY_LISTENERS)

/* The classes of calls (1 << enum filter_class) that a box is to have heard. */
unsigned heard_wants(const struct box *box);

/* Of these, those of a command that joins the box: only a notifier answers. */
unsigned heard_notified(const struct box *box);

/* `listener` is told of calls, if the plan says so; it is borrowed. */
void heard_init(struct heard *h, const struct box *box,
		const struct hb_listener *listener);

/*
 * The namespaces of the box, as its init sent them: descriptors that stay the
 * caller's.  Without them no directory is renamed, and no call is recorded.
 */
void heard_enter(struct heard *h, int user, int mounts);

/*
 * Takes a listener: the first one is the command's, the others are of commands
 * that joined.  What cannot be taken is closed, so that its calls fail.
 */
void heard_take(struct heard *h, int fd);

/* The command starts: what was refused before was a trial of our own. */
void heard_start(struct heard *h);

/* Fills HEARD_FDS places, and serves them.  Neither waits. */
void heard_wants_fds(const struct heard *h, struct pollfd *fds);
void heard_serve(struct heard *h, const struct pollfd *fds);

/*
 * From here on no rename of a directory begins; a rename under way ends
 * first.  h->is_quiet says when, after this or after a heard_serve().  Calls
 * that would begin one wait until heard_release().
 */
void heard_hold(struct heard *h);
void heard_release(struct heard *h);

/*
 * Another process takes the listeners over, by fork.  heard_part() is before
 * the fork: there is no notifier after it.  heard_go_on() is for the process
 * that has them now.  heard_leave() is for the other process: it closes its own
 * descriptors, and leaves the callers alone.
 */
void heard_part(struct heard *h);
void heard_go_on(struct heard *h);
void heard_leave(struct heard *h);

/*
 * Ends the notifier and waits for its end: it keeps the layers mounted.  No
 * caller is left waiting.  A second time does nothing.
 */
void heard_done(struct heard *h);

#endif
