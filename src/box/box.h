/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_BOX_H
#define HB_BOX_BOX_H

#include "base/report.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hb_listener;
struct hb_error;
struct plan;

/*
 * A box is a running sandbox: a plan carried out.
 *
 *	supervisor (the caller) -> init (pid 1 of the box) -> the command
 *
 * There is an init if the box has a pid namespace of its own, unless the plan
 * makes the command pid 1.  Everything that the plan asks for is in force when
 * the command starts, or the command does not start.
 */

/* What became of the clipboard that the command wanted to set. */
enum box_clipboard {
	BOX_CLIPBOARD_NOTHING, /* it did not want to */
	BOX_CLIPBOARD_REFUSED,
	BOX_CLIPBOARD_SET,
};

/* How it ended. */
struct box_result {
	int status; /* exit status; 128 + n for signal n */
	struct hb_death death;
	bool was_started;    /* false: set-up or exec failed, see the error */
	unsigned n_leftover; /* processes that outlived the command */
	bool has_timed_out;  /* it was ended because its time was up */
	bool has_missed_network; /* it failed, and had wanted one */
	bool is_nested_counted;	 /* there is a number of: */
	uint64_t n_nested;	 /* user namespaces that it was refused */
	uint64_t full_pids; /* the limit by which it got no process; or 0 */
	/* The limit of a place in memory that was full at the end; or 0. */
	uint64_t full_bytes;
	enum box_clipboard clipboard;
	bool was_lent; /* what is behind PLAN_FD_LENT may have changed */
	/*
	 * The command has ended, and so many others go on in the box, which is
	 * another process's now (box/keeper.h).  0: the box is gone.
	 */
	size_t n_staying;
	/* We are that process, and the box has ended. */
	bool is_keeper;
};

/*
 * Builds the box, runs plan->argv in it with the environment `envp` and waits
 * for its end.  `listener` may be NULL.
 *
 * Returns 0 when the command ran, with any status.  If commands that joined go
 * on it returns in two processes (struct box_result).  One is the caller's. The
 * other is a copy of it without terminal and standard streams, and must not
 * return to the caller's caller.  On failure nothing of the
 * box is left: no process, no mount; `err` names the stage.  The caller's
 * signal mask, terminal modes and foreground group are as before in any case.
 */
int box_run(const struct plan *plan, char *const *envp,
	    const struct hb_listener *listener, struct box_result *ret_result,
	    struct hb_error *err);

#endif
