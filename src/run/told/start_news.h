/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_RUN_START_NEWS_H
#define HB_RUN_START_NEWS_H

struct run;

/* A weakening: `audit = none`. */
#define NEWS_DIRECT "nothing is held back: writes in the workspace are real"
#define NEWS_NO_LOG "nothing of this command is in the log"

/* Another: `audit = calls`, without namespaces. */
#define NEWS_NO_CALLS                                            \
	"calls of the command cannot be heard here, so the log " \
	"has changes alone"

/*
 * Reports of a run that is prepared: all that is weaker than usual, with what
 * the host lacks; and the lines of the start.
 */
void news_weakenings(const struct run *run);
void news_start(const struct run *run, const char *session);

#endif
