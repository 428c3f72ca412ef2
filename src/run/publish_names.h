/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_RUN_PUBLISH_NAMES_H
#define HB_RUN_PUBLISH_NAMES_H

#include "plan/settings.h"

#include <stdbool.h>

struct hb_error;
struct hb_session;
struct publish_item;
struct run;

/*
 * The files that the settings of a run name for publish.h, noted before its
 * box.
 */

/* `login`, or its older name. */
bool publish_is_login(enum setting_key key);

/* FILE:KEYS into path and keys. */
void publish_split(const char *value, struct publish_item *item);

/* Notes them, and fills the home directory that run->host.home_dir then has. */
int publish_prepare(struct run *run, struct hb_session *s,
		    struct hb_error *err);

/*
 * The session's home directory, made if it is missing: run->host.home_dir has
 * its path.  Returns a descriptor.
 */
int publish_home(struct run *run, struct hb_session *s, struct hb_error *err);

#endif
