/* SPDX-License-Identifier: Apache-2.0 */
#include "holdback/events.h"

#include "audit/log_head.h"
#include "audit/log_proof.h"
#include "audit/log_reader.h"
#include "base/auto.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "host/look.h"
#include "store/store.h"
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The log of a store for its readers; src/audit writes it. */

struct hb_events {
	struct log_reader reader;
	/* Of single calls; by time the two are one. */
	int calls_dir;
	struct log_reader calls;
	struct hb_event next, next_call; /* read, and not given out */
	bool has_next, has_next_call;
};

/* -1: there were none. */
static int open_calls(int state)
{
	int fd = state < 0 ? -1
			   : sys_openat(state, LOG_CALLS_DIR,
					O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);

	return fd < 0 ? -1 : fd;
}

int hb_events_open(struct hb_store *store, struct hb_events **ret_events,
		   struct hb_error *err)
{
	struct hb_events *log = calloc(1, sizeof(*log));

	if (!log)
		return hb_fail(err, -ENOMEM, "cannot open the log");
	log_reader_init(&log->reader, store->dir);
	log->calls_dir = open_calls(store->dir);
	log_reader_init(&log->calls, log->calls_dir);
	*ret_events = log;
	return 0;
}

void hb_events_free(struct hb_events *log)
{
	if (!log)
		return;
	log_reader_done(&log->reader);
	log_reader_done(&log->calls);
	fd_closep(&log->calls_dir);
	free(log);
}

static int fill(struct log_reader *reader, struct hb_event *ret, bool *ret_has,
		struct hb_error *err)
{
	int r;

	if (*ret_has || reader->state < 0)
		return 0;
	r = log_reader_next(reader, ret, err);
	*ret_has = r == 1;
	return r < 0 ? r : 0;
}

int hb_events_next(struct hb_events *log, struct hb_event *ret_event,
		   struct hb_error *err)
{
	int r;

	/* A state directory that does not exist has no log. */
	r = fill(&log->reader, &log->next, &log->has_next, err);
	/* The first call of all may come while it is followed. */
	if (log->calls_dir < 0 && !log->has_next)
		log->calls.state = log->calls_dir =
			open_calls(log->reader.state);
	if (r >= 0)
		r = fill(&log->calls, &log->next_call, &log->has_next_call,
			 err);
	if (r < 0)
		return r;
	if (!log->has_next && !log->has_next_call)
		return 0;
	/* The form of the time is such that it can be compared as text. */
	if (log->has_next &&
	    !(log->has_next_call &&
	      strcmp(log->next_call.time, log->next.time) < 0)) {
		*ret_event = log->next;
		log->has_next = false;
	} else {
		*ret_event = log->next_call;
		log->has_next_call = false;
	}
	return 1;
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

struct calls_proof {
	int (*tell)(void *context, const struct hb_events_fault *fault);
	void *context;
};

/* By a name that tells it from that of the other log. */
static int tell_of_calls(void *context, const struct hb_events_fault *fault)
{
	const struct calls_proof *calls = context;
	struct hb_events_fault told = *fault;
	char file[64];

	(void)snprintf(file, sizeof(file), LOG_CALLS_DIR "/%s", fault->file);
	told.file = file;
	return calls->tell(calls->context, &told);
}

int hb_events_verify(struct hb_store *store,
		     int (*tell)(void *context,
				 const struct hb_events_fault *fault),
		     void *context, struct hb_events_proof *ret_proof,
		     struct hb_error *err)
{
	struct calls_proof calls = { tell, context };
	struct hb_events_proof proof = { 0 };
	auto_fd int dir = open_calls(store->dir);
	int r;

	*ret_proof = (struct hb_events_proof){ 0 };
	r = store->dir < 0
		    ? 0
		    : log_prove(store->dir, tell, context, ret_proof, err);
	if (r < 0 || dir < 0)
		return r;
	r = log_prove(dir, tell_of_calls, &calls, &proof, err);
	ret_proof->n_records += proof.n_records;
	ret_proof->n_blocks += proof.n_blocks;
	ret_proof->n_segments += proof.n_segments;
	ret_proof->n_faults += proof.n_faults;
	ret_proof->n_torn += proof.n_torn;
	ret_proof->is_cut_short |= proof.is_cut_short;
	return r;
}
