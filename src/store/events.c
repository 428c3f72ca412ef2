/* SPDX-License-Identifier: Apache-2.0 */
#include "holdback/events.h"

#include "audit/log_proof.h"
#include "audit/log_reader.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "host/look.h"
#include "store/store.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

/* The log of a store for its readers; src/audit writes it. */

struct hb_events {
	struct log_reader reader;
};

int hb_events_open(struct hb_store *store, struct hb_events **ret_events,
		   struct hb_error *err)
{
	struct hb_events *log = calloc(1, sizeof(*log));

	if (!log)
		return hb_fail(err, -ENOMEM, "cannot open the log");
	log_reader_init(&log->reader, store->dir);
	*ret_events = log;
	return 0;
}

void hb_events_free(struct hb_events *log)
{
	if (!log)
		return;
	log_reader_done(&log->reader);
	free(log);
}

int hb_events_next(struct hb_events *log, struct hb_event *ret_event,
		   struct hb_error *err)
{
	/* A state directory that does not exist has no log. */
	return log->reader.state < 0
		       ? 0
		       : log_reader_next(&log->reader, ret_event, err);
}

int hb_events_place(const char *dir, char *ret, size_t size,
		    struct hb_error *err)
{
	char cwd[PATH_MAX] = "", joined[PATH_MAX];
	int r = path_is_absolute(dir) ? 0 : look_cwd(cwd, err);

	if (r < 0)
		return r;
	r = path_join(cwd, dir, joined, sizeof(joined));
	if (r >= 0)
		r = path_normalise(joined, PATH_DOTS_FOLD, ret, size);
	return r < 0 ? hb_fail(err, -HB_E_USAGE, "'%s' is no directory",
			       quoted(dir))
		     : 0;
}

int hb_events_verify(struct hb_store *store,
		     int (*tell)(void *context,
				 const struct hb_events_fault *fault),
		     void *context, struct hb_events_proof *ret_proof,
		     struct hb_error *err)
{
	*ret_proof = (struct hb_events_proof){ 0 };
	return store->dir < 0
		       ? 0
		       : log_prove(store->dir, tell, context, ret_proof, err);
}
