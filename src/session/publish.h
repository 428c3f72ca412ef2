/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_PUBLISH_H
#define HB_SESSION_PUBLISH_H

struct hb_error;
struct hb_session;
struct hb_store;
struct run;

/*
 * Files of an agent that are data and have to reach the host without a commit:
 * a login that was renewed inside makes the one outside worthless.
 *
 *	STATE/sessions/NAME/publish	which, and what the host's were like
 *	STATE/sessions/NAME/home/	the home directory of the box, if such a
 *					file lies at its top
 *	STATE/pending/NAME		there is something to be published
 *
 * (a) A file reaches the host only if its name was in the settings of the run,
 *     it is a regular file that is whole, and the host's is still the object
 *     that it was when the box began; else the host's stays and ours is kept.
 * (b) Of a file with keys only these come from the box; all else is the host's.
 * (c) It is replaced by rename; what is interrupted is done again by whoever
 *     opens the store next.
 *
 * tests/cli/state.sh holds these.
 */

/*
 * Before a box: notes what the settings name, and fills the home directory that
 * run->host.home_dir then has.
 */
int publish_prepare(struct run *run, struct hb_session *s,
		    struct hb_error *err);

/*
 * The session's home directory, made if it is missing: run->host.home_dir has
 * its path.  Returns a descriptor.
 */
int publish_home(struct run *run, struct hb_session *s, struct hb_error *err);

/*
 * After a box, with the lock.  Says what could not be published; it fails only
 * where it has to be tried again.
 */
int publish_settle(struct hb_session *s, struct hb_error *err);

/* The same for every session that nobody works on. */
void publish_pending(struct hb_store *store);

#endif
