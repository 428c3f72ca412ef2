/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SESSION_DATABASE_LIST_H
#define HB_SESSION_DATABASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct database_list;
struct hb_error;
struct session_record;

/*
 * The SQLite databases of the key `db` that lie in one resource, by the
 * session's record.  Empty where there are none.
 */
int database_list_read(const struct session_record *record, size_t resource,
		       struct database_list *ret, struct hb_error *err);
void database_list_done(struct database_list *list);

/* Whether the record has any of them; costs no look at the disk. */
bool database_list_is_any(const struct session_record *record);

#endif
