/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOLDBACK_REPORT_H
#define HOLDBACK_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * News: everything that the library tells while it works, and the only way in
 * which it does.  Results are returned, and so are errors; the library never
 * prints.  The log is one listener, and the command line is another.
 */
struct hb_finding; /* holdback/session.h */

/* Members of a report that a kind may use, beside `session` and `is_quiet`. */
enum hb_report_member {
	HB_HAS_TEXT = 1 << 0,
	HB_HAS_N = 1 << 1,
	HB_HAS_PATH = 1 << 2,
	HB_HAS_SOURCE = 1 << 3, /* and `resource` */
	HB_HAS_FINDING = 1 << 4,
	HB_HAS_NET = 1 << 5,
	HB_HAS_CALL = 1 << 6,
};

/*
 * The kinds, one row each.
 *
 *	id		HB_REPORT_ID
 *	name		hb_report_name(): for logs
 *	members		enum hb_report_member
 */
/* clang-format off */
#define HB_REPORTS(ROW) \
	/* something that the user wants to know */ \
	ROW(SAID, said, HB_HAS_TEXT) \
	/* how a run begins: for a person who looks on */ \
	ROW(NOTED, noted, HB_HAS_TEXT) \
	/* some usual isolation is off */ \
	ROW(WEAKENED, weakened, HB_HAS_TEXT) \
	/* a question; the listener returns the answer */ \
	ROW(ASKED, asked, HB_HAS_TEXT) \
	/* something takes long: n are done, 0 if nothing counts; text NULL: it is over */ \
	ROW(PROGRESS, progress, HB_HAS_TEXT | HB_HAS_N) \
	/* a command is about to be run; text: its words, source: the project */ \
	ROW(ORDERED, ordered, HB_HAS_TEXT | HB_HAS_SOURCE) \
	/* the settings of that, with a hash of all of them */ \
	ROW(POLICY, policy, HB_HAS_TEXT) \
	/* a command runs; path: the program, n: its pid; "" and 0: a box is held open */ \
	ROW(STARTED, started, HB_HAS_PATH | HB_HAS_N) \
	/* a command still runs after a second: records of it are worth a write */ \
	ROW(LASTED, lasted, 0) \
	/* all of the box is stopped for want of room; n: bytes that are left */ \
	ROW(STOPPED, stopped, HB_HAS_TEXT | HB_HAS_N) \
	/* the box goes on */ \
	ROW(RESUMED, resumed, HB_HAS_TEXT) \
	/* the command ended; n: its status, 128 + s for signal s */ \
	ROW(ENDED, ended, HB_HAS_N) \
	/* the sandbox kept the command from something */ \
	ROW(DENIED, denied, HB_HAS_TEXT | HB_HAS_N | HB_HAS_CALL) \
	/* how connections of the command are caught; n: 1 if a port may be missed */ \
	ROW(CAUGHT, caught, HB_HAS_TEXT | HB_HAS_N) \
	/* a connection of the command was decided about, or has ended */ \
	ROW(NET, net, HB_HAS_NET) \
	/* a process asked the kernel for a change; text: the verb, n: its pid */ \
	ROW(CALLED, called, HB_HAS_TEXT | HB_HAS_PATH | HB_HAS_N | HB_HAS_CALL) \
	/* calls are missing in the log, or twice in it */ \
	ROW(GAP, gap, HB_HAS_TEXT) \
	/* a rule of the gate applies to a change */ \
	ROW(FINDING, finding, HB_HAS_SOURCE | HB_HAS_PATH | HB_HAS_FINDING) \
	/* a session or real files are about to be changed; text: by which command */ \
	ROW(BEGUN, begun, HB_HAS_TEXT) \
	/* that is done; n: operations on files, where they were counted */ \
	ROW(DONE, done, HB_HAS_TEXT | HB_HAS_N) \
	/* that, or the start of a command, failed; n: the code */ \
	ROW(FAILED, failed, HB_HAS_TEXT | HB_HAS_N) \
	/* a commit, an undo or a redo was refused, and nothing changed; n: the code */ \
	ROW(REFUSED, refused, HB_HAS_TEXT | HB_HAS_N) \
	/* this path stands against an undo or a redo, which is refused */ \
	ROW(CONFLICTED, conflicted, HB_HAS_SOURCE | HB_HAS_PATH | HB_HAS_TEXT) \
	/* the real file at `path` is another one now, or gone */ \
	ROW(CHANGED, changed, HB_HAS_SOURCE | HB_HAS_PATH) \
	/* a change at `path` is pending after a run; text: the letter of its kind */ \
	ROW(HELD, held, HB_HAS_SOURCE | HB_HAS_PATH | HB_HAS_TEXT) \
	/* a real file fits neither side of a commit, and stays; n: 1 if the session's is pending */ \
	ROW(LEFT, left, HB_HAS_SOURCE | HB_HAS_PATH | HB_HAS_TEXT | HB_HAS_N)
/* clang-format on */

enum hb_report_kind {
#define HB_REPORT_ID(id, name, members) HB_REPORT_##id,
	HB_REPORTS(HB_REPORT_ID)
#undef HB_REPORT_ID
	HB_REPORT_KINDS /* one past the last */
};

/* The signal that ended a command. */
struct hb_death {
	int signal;    /* 0: it ended by itself */
	bool is_typed; /* by a key, which is for the whole job of the user */
};

/* One connection; texts are ASCII without quotes, and "" where unknown. */
struct hb_net {
	const char
		*verdict; /* allow, deny, fail, end; or gap: n were left out */
	uint64_t id;	  /* the same at its end */
	const char *host; /* the name or the address that was asked for */
	unsigned port;
	const char *rule;     /* that decided */
	const char *address;  /* to which it was connected */
	const char *protocol; /* none, tls, http, ssh, other */
	const char *cause;    /* of a refusal or a failure */
	uint64_t up, down;    /* bytes, at its end */
	uint64_t ms;
	uint64_t n; /* of a gap */
};

/* One call of a process in the box; strings may be NULL. */
struct hb_call {
	const char *to;	     /* of a move: the new path */
	const char *program; /* its name, of up to 15 bytes */
	const char *fix;     /* of a call that was refused: the option for it */
	int64_t seconds, nanoseconds; /* when, since 1970 */
};

/* Borrowed by the listener for the length of the call; paths are raw bytes. */
struct hb_report {
	enum hb_report_kind kind;
	bool is_quiet;	     /* the user asked for nothing but failures */
	const char *session; /* its name; NULL: it belongs to none */
	const char *text;    /* one line, lower case, without a full stop */
	const char *source;  /* the real directory; NULL: none */
	size_t resource;     /* its number in the session */
	const char *path;    /* relative to `source` where that is set */
	uint64_t n;
	const struct hb_finding *finding;
	const struct hb_net *net;
	const struct hb_call *call; /* NULL: it is of no single call */
};

/*
 * Hears all news.  It may not call the library, and it cannot fail: a failure
 * of its own it keeps, and its owner looks for it afterwards.
 */
struct hb_listener {
	/* The answer to HB_REPORT_ASKED; without meaning for other kinds. */
	bool (*hear)(void *context, const struct hb_report *report);
	void *context;
	/*
	 * HB_REPORT_PROGRESS is for a listener that wants it.  It is told in a
	 * process of its own, which shares nothing with the caller but 0, 1
	 * and 2, and not before `progress_after` ms.
	 */
	bool wants_progress;
	int64_t progress_after;
};

/* For logs, and the members that a report of that kind may have. */
const char *hb_report_name(enum hb_report_kind kind);
unsigned hb_report_members(enum hb_report_kind kind);

#endif
