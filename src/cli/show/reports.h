/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_SHOW_REPORTS_H
#define HB_CLI_SHOW_REPORTS_H

#include "holdback/holdback.h"
#include "holdback/report.h"

/*
 * The command line listens: reports of the library as words on stderr.  The
 * table in reports.c says for each kind when it is shown, and how.
 */
struct reports {
	struct hb_listener listener;
	/* Takes findings of the gate; NULL: they are not shown. */
	void (*found)(void *ctx, const struct hb_finding *finding);
	void *found_ctx;
	/* Takes paths that stand against an undo or a merge; NULL: they are not
	 * shown. */
	void (*against)(void *ctx, const struct hb_report *report);
	void *against_ctx;
	/* Gets a document when a command has started; 0: none. */
	int json_fd;
	const char *command;		    /* json_fd: of which it is */
	char *const *envp;		    /* of a service; or NULL */
	char session[HB_SESSION_NAME_SIZE]; /* that it started in; or "" */
};

/* The struct stays where it is for as long as anything may report. */
void reports_init(struct reports *reports, char *const *envp);

/* The line that a report of the library would be. */
void reports_say(enum hb_report_kind kind, const char *text);

#endif
