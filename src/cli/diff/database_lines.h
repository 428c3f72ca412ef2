/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_DIFF_DATABASE_LINES_H
#define HB_CLI_DIFF_DATABASE_LINES_H

#include "holdback/session.h"

struct doc;
struct patch;

/* Rows and schema of the change that was given last, if it is a database. */
int database_remarks(struct patch *p, struct hb_changes *changes,
		     const struct hb_change *change, struct hb_error *err);

/* The same as the member "database" of the change's object. */
int database_members(struct hb_changes *changes, struct doc *doc,
		     struct hb_error *err);

#endif
