/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_PUBLISH_PUBLISH_H
#define HB_SESSION_PUBLISH_PUBLISH_H

#include "base/buf.h"
#include "base/kv.h"
#include "session/publish/login_publish.h"

#include <stddef.h>

#define PUBLISH_PENDING "pending" /* in the state directory */

struct hb_error;
struct hb_session;

/*
 * The logins of an agent: the only files of a box that reach the host without a
 * commit.  A login that was renewed inside makes the one outside worthless.
 *
 *	STATE/sessions/NAME/publish	which, and what the host's were like
 *	STATE/sessions/NAME/home/	the home directory of the box, if such a
 *					file lies at its top
 *	STATE/pending/NAME		there is something to be published
 *	STATE/logins/AGENT/		what was replaced, for undo
 *
 * (a) A file reaches the host only if its name was in the settings of the run
 *     and it is a whole regular file.  Also, the host's must still be the
 *     object that it was when the box began.  Else the host's stays and ours is
 *     kept.
 * (b) Of a file with keys only these come from the box; all else is the host's.
 * (c) It is replaced by rename: the host's is the old one or the new one.
 *     After an interruption the next process that opens the store goes on.
 * (d) Without a question a token replaces only a token that was due: see
 *     agent/login.h.  Any other login is asked about once, or carried for the
 *     project.
 *
 * tests/cli/login.sh holds these.
 */

/*
 * Before a box: publish_begin(), publish_note() for each file with path, keys
 * and resource, publish_write(); publish_done() in any case.
 */
struct publish_list {
	struct buf text;
	struct kv_writer writer;
	size_t n;
};
void publish_begin(struct publish_list *list);
void publish_done(struct publish_list *list);

/* Notes the host's version; a file at the top of the home goes to `home`. */
void publish_note(struct publish_list *list, struct publish_item *item,
		  int home);
int publish_write(struct publish_list *list, struct hb_session *s,
		  struct hb_error *err);

/* PUBLISH_HOME in the session's directory, made if it is missing: opened. */
#define PUBLISH_HOME "home"
int publish_make_home(const struct hb_session *s, struct hb_error *err);

/* Before a box whose end leaves something to settle. */
int publish_note_pending(const struct hb_session *s, struct hb_error *err);

enum publish_flag {
	PUBLISH_ASKS = 1 << 0, /* the user of the box is there */
	PUBLISH_LOST = 1 << 1, /* the machine went down: files may be cut */
};

/*
 * After a box, with the lock.  Says what could not be published; it fails only
 * where it has to be tried again.  What the agent wrote to its state is carried
 * (carry_settle.h).
 */
int publish_settle(struct hb_session *s, unsigned flags, struct hb_error *err);

#endif
