/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOLDBACK_STORE_H
#define HOLDBACK_STORE_H

#include "holdback/error.h"
#include "holdback/report.h"

#include <stdbool.h>

/* The state directory, which has the sessions and the log. */
struct hb_store;

struct hb_store_options {
	const char *dir; /* NULL: $XDG_STATE_HOME/holdback, ~/.local/state/… */
	char *const *envp;
	/* Outlives the store, and hears all news of it; NULL: nothing does. */
	const struct hb_listener *listener;
	/*
	 * A file that gets the records of the log as well; NULL: none.
	 * -HB_E_CONFIG: others could write it.
	 */
	const char *log;
};

/* Opens the state directory, and makes it if `create` is told so. */
int hb_store_open(const struct hb_store_options *options, bool create,
		  struct hb_store **ret_store, struct hb_error *err);
void hb_store_free(struct hb_store *store);

#endif
