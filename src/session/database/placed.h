/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_DATABASE_PLACED_H
#define HB_SESSION_DATABASE_PLACED_H

struct hb_error;
struct hb_session;

/*
 * The databases of `--db` in the upper.
 *
 * A box must not see a file that a program outside writes to: it would read
 * pages of two times.  So each box finds a picture of the database in the
 * upper, and no side file of the base.  A session that has the database already
 * goes on with its own.  `seen` has the state of the base's files from which
 * the picture was made, which a commit compares with.
 */
int session_place_databases(struct hb_session *s, struct hb_error *err);

/*
 * After the box: a picture that no command wrote to leaves the upper again.  So
 * the next box has the rows of that time, and nothing is pending.
 */
int session_take_databases(struct hb_session *s, struct hb_error *err);

#endif
