/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_PUBLISH_CARRY_FILL_H
#define HB_SESSION_PUBLISH_CARRY_FILL_H

#include <stdbool.h>

struct carried;
struct carry_note;
struct hb_error;
struct hb_session;

/*
 * Before a box, with the session's lock.  Puts the state that is carried into
 * the upper layers of the session's state directories, and writes the note.
 * What is not put there is said: the host's version was changed, or the run may
 * do more than the run that wrote it.
 */
int carry_fill(struct hb_session *s, struct carry_note *note,
	       struct hb_error *err);

/*
 * The same for the files at the top of the home directory, which `home` is, and
 * for the note.
 */
int carry_fill_home(struct hb_session *s, int home, struct hb_error *err);

/*
 * For a session that is to be committed: the files that may be executed, and no
 * note.
 */
int carry_take(struct hb_session *s, struct carry_note *note,
	       struct hb_error *err);

/* Whether the host has the same file as is carried, in the directory `host`. */
bool carry_is_equal(int shelf, const struct carried *c, int host,
		    const char *name);

#endif
