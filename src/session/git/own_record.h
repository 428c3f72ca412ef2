/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_GIT_OWN_RECORD_H
#define HB_SESSION_GIT_OWN_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct begun;
struct hb_error;
struct hb_session;
struct record_resource;
struct session_record;

/* The record of a beginning on a branch: own_branch.h. */

/* Whether it was asked for. */
bool own_branch_is_asked(const struct record_resource *resource);
bool own_branch_is_any(const struct session_record *record);

/* After the transaction of that number; durable. */
int own_branch_store(int dir, uint64_t after, const struct begun *begun,
		     struct hb_error *err);

/* The record that counts.  -ENOENT: there is none. */
int own_branch_load(const struct hb_session *s, size_t number,
		    struct begun *ret);

/* For a fork: the record that counts there is that of the first session. */
int own_branch_share(const struct hb_session *from, size_t number, int dir,
		     struct hb_error *err);

#endif
