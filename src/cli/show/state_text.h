/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_SHOW_STATE_TEXT_H
#define HB_CLI_SHOW_STATE_TEXT_H

#include <stddef.h>

struct buf;
struct doc;
struct hb_error;
struct hb_session;
struct hb_state_file;

/*
 * The state of agents that is carried for a session's project: a section of its
 * own, with the member `state` in a document.
 */
int state_show(struct hb_session *session, struct doc *doc,
	       struct hb_error *err);

/* A line on stderr for each agent that has some; a commit leaves it out. */
int state_say(struct hb_session *session, struct hb_error *err);

/* One file: a line without its end, or an object. */
void state_show_file(const struct hb_state_file *file, const char *home,
		     struct doc *doc);

/* A path of the host, with ~ for the home directory, quoted. */
void state_add_path(const char *path, const char *home, struct buf *out);

/* The home directory as the environment has it, or "". */
const char *state_home(char *const *envp);

#endif
