/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "base/num.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/time_text.h"
#include "cli/commands/cmd_session.h"
#include "cli/front/table.h"
#include "cli/show/doc.h"
#include "cli/show/log_text.h"
#include "cli/show/say.h"
#include "holdback/events.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* `holdback log`. */

#define LINES_USUAL 20

/* How often a log that is followed is looked at. */
#define PAUSE_NS 200000000L

struct log {
	const struct cmd_call *call;
	struct hb_events *events;
	char session[HB_SESSION_NAME_SIZE]; /* its id or name; "": of all */
	char project[PATH_MAX];
	int64_t since; /* seconds; 0: all */
	/* The last lines so far, as a ring; room is 0 where all are shown. */
	char **ring;
	size_t room, n;
	struct doc doc;
};

static int bad_time(const char *word, struct hb_error *err)
{
	hb_fix(err, "10m, 2h, 3d, or a time in UTC: 2026-11-15T22:04");
	return hb_fail(err, -HB_E_USAGE, "option '--since': '%s' is no time",
		       quoted(word));
}

static int read_since(struct log *log, const char *word, struct hb_error *err)
{
	int64_t now = (int64_t)time(NULL);
	uint64_t ago;

	if (!word)
		return 0;
	if (num_duration(word, &ago) >= 0) {
		if (ago > (uint64_t)now)
			return bad_time(word, err);
		log->since = now - (int64_t)ago;
		return 0;
	}
	return time_parse(word, &log->since) < 0 ? bad_time(word, err) : 0;
}

/*
 * The id of a session that is there: others may have had its name.  Else the
 * name itself: the session is gone.
 */
static int find_session(struct log *log, struct hb_store *store,
			const char *ref, struct hb_error *err)
{
	struct hb_session *session = NULL;
	struct hb_error why = { 0 };
	int r;

	if (!ref)
		return 0;
	r = hb_session_open(store, ref, HB_OPEN_GLANCE, &session, &why);
	if (r < 0 && !ref[1])
		return hb_pass(err, &why, r);
	(void)snprintf(log->session, sizeof(log->session), "%s",
		       r < 0 ? ref + 1 : hb_session_info(session)->id);
	hb_session_free(session);
	return 0;
}

static bool is_wanted(const struct log *log, const struct hb_event *event)
{
	const struct cli_values *v = log->call->values;

	if (event->seconds < log->since ||
	    (v->kind && strcmp(v->kind, event->kind) != 0) ||
	    (v->denied && !log_text_is_denial(event)))
		return false;
	if (log->session[0] &&
	    !(event->session && strcmp(event->session, log->session) == 0) &&
	    !(event->id && strcmp(event->id, log->session) == 0))
		return false;
	return !log->project[0] ||
	       (event->project &&
		path_is_beneath(event->project, log->project));
}

static void add_line(struct log *log, const struct hb_event *event,
		     struct buf *out)
{
	const char *fix =
		log->call->values->denied ? log_text_fix(event) : NULL;

	if (log->call->values->json) {
		(void)buf_add(out, event->line, event->n_line);
		(void)buf_add_char(out, '\n');
		return;
	}
	(void)log_text_add(event, log->doc.has_colour, out);
	if (fix)
		(void)buf_add_fmt(out, "  fix: %s\n", fix);
}

/* Into the ring, in the place of the oldest. */
static int keep_line(struct log *log, const struct hb_event *event,
		     struct hb_error *err)
{
	auto_buf struct buf line = BUF_INIT(1U << 20);
	char **place = &log->ring[log->n++ % log->room];

	add_line(log, event, &line);
	free(*place);
	*place = strdup(buf_str(&line));
	return *place ? 0 : hb_fail(err, -ENOMEM, "cannot keep the lines");
}

/* All that there is; lines are shown at once where the ring has no room. */
static int read_all(struct log *log, struct hb_error *err)
{
	struct hb_event event;
	int r;

	while ((r = hb_events_next(log->events, &event, err)) == 1) {
		if (!is_wanted(log, &event))
			continue;
		if (log->room > 0) {
			r = keep_line(log, &event, err);
		} else {
			add_line(log, &event, &log->doc.out);
			r = doc_flow(&log->doc, err);
		}
		if (r < 0)
			return r;
	}
	return r;
}

static int show_ring(struct log *log, struct hb_error *err)
{
	size_t first = log->n > log->room ? log->n - log->room : 0;
	int r = 0;

	for (size_t i = first; r >= 0 && i < log->n; i++) {
		(void)buf_add_str(&log->doc.out, log->ring[i % log->room]);
		r = doc_flow(&log->doc, err);
	}
	return r;
}

/* Until the reader or the user ends it. */
static int follow(struct log *log, struct hb_error *err)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	int r = 0;

	log->room = 0;
	while (r >= 0) {
		r = hb_write_to(STDOUT_FILENO, buf_str(&log->doc.out),
				log->doc.out.len, err);
		buf_cut(&log->doc.out, 0);
		if (r < 0)
			break;
		(void)nanosleep(&pause, NULL);
		r = read_all(log, err);
	}
	return r == -EPIPE ? 0 : r;
}

static int show(struct log *log, struct hb_error *err)
{
	const struct cli_values *v = log->call->values;
	int r;

	log->room = v->lines > 0       ? (size_t)v->lines
		    : v->since != NULL ? 0
				       : LINES_USUAL;
	log->ring =
		log->room > 0 ? calloc(log->room, sizeof(*log->ring)) : NULL;
	if (log->room > 0 && !log->ring)
		return hb_fail(err, -ENOMEM, "cannot keep the lines");
	doc_begin(&log->doc, false, "log");
	log->doc.is_raw = v->json || log->doc.columns == 0;
	r = read_all(log, err);
	if (r >= 0 && log->room > 0)
		r = show_ring(log, err);
	for (size_t i = 0; i < log->room; i++)
		free(log->ring[i]);
	free(log->ring);
	if (r >= 0 && v->follow)
		return follow(log, err);
	return r < 0 ? r : doc_end(&log->doc, err);
}

static int tell_fault(void *context, const struct hb_events_fault *fault)
{
	struct doc *doc = context;

	if (doc->is_json) {
		json_object(&doc->json);
		doc_str(doc, "file", fault->file);
		if (fault->line > 0) {
			doc_uint(doc, "line", fault->line);
			doc_uint(doc, "last_line", fault->last_line);
		}
		doc_str(doc, "text", fault->words);
		json_end(&doc->json);
		return doc_flow(doc, NULL);
	}
	(void)buf_add_str(&doc->out, fault->file);
	if (fault->line > 0)
		(void)buf_add_fmt(&doc->out, ":%" PRIu64, fault->line);
	if (fault->last_line > fault->line)
		(void)buf_add_fmt(&doc->out, "-%" PRIu64, fault->last_line);
	(void)buf_add_fmt(&doc->out, ": %s\n", fault->words);
	return doc_flow(doc, NULL);
}

static void show_proof(const struct hb_events_proof *proof, struct doc *doc)
{
	if (doc->is_json) {
		json_end(&doc->json);
		doc_bool(doc, "whole", proof->n_faults == 0);
		doc_uint(doc, "records", proof->n_records);
		doc_uint(doc, "blocks", proof->n_blocks);
		doc_uint(doc, "segments", proof->n_segments);
		doc_uint(doc, "torn", proof->n_torn);
		doc_bool(doc, "cut_short", proof->is_cut_short);
		return;
	}
	(void)buf_add_fmt(&doc->out,
			  "%s: %" PRIu64 " records in %" PRIu64 " blocks\n",
			  proof->n_faults == 0 ? "the log is whole"
					       : "the log is damaged",
			  proof->n_records, proof->n_blocks);
	if (proof->n_torn > 0)
		(void)buf_add_fmt(&doc->out,
				  "torn: %" PRIu64 " write%s cut short, and "
				  "the log says so\n",
				  proof->n_torn,
				  proof->n_torn == 1 ? " was" : "s were");
	if (proof->is_cut_short)
		(void)buf_add_str(&doc->out,
				  "torn: the last write was cut short; the "
				  "next record says so\n");
}

static int verify(const struct cmd_call *call, struct hb_store *store,
		  struct hb_error *err)
{
	struct hb_events_proof proof;
	auto_doc struct doc doc = { 0 };
	int r;

	doc_begin(&doc, call->values->json, "log");
	if (doc.is_json) {
		json_key(&doc.json, "faults");
		json_array(&doc.json);
	}
	r = hb_events_verify(store, tell_fault, &doc, &proof, err);
	if (r < 0)
		return r;
	show_proof(&proof, &doc);
	r = doc_end(&doc, err);
	if (r < 0 || proof.n_faults == 0)
		return r;
	return HB_EXIT_STATE;
}

/* Of this directory, or of a directory above it. */
static bool is_denial_here(const struct hb_event *event, const char *here)
{
	return log_text_is_denial(event) && event->project &&
	       (path_is_beneath(event->project, here) ||
		path_is_beneath(here, event->project));
}

static int find_denial(struct hb_store *store, const char *here,
		       struct buf *out, struct hb_error *err)
{
	struct hb_events *events = NULL;
	struct hb_event event;
	int r = hb_events_open(store, &events, err);

	while (r >= 0 && (r = hb_events_next(events, &event, err)) == 1) {
		const char *fix = log_text_fix(&event);

		if (!is_denial_here(&event, here))
			continue;
		buf_cut(out, 0);
		(void)log_text_add(&event, false, out);
		if (fix)
			(void)buf_add_fmt(out, "fix: %s\n", fix);
	}
	hb_events_free(events);
	return r;
}

int cmd_last_denial(const struct cmd_call *call, struct hb_error *err)
{
	auto_doc struct doc doc = { 0 };
	struct hb_store *store = NULL;
	char here[PATH_MAX];
	int r;

	if (call->values->json) {
		hb_fix(err, "holdback log --denied --json -n 1");
		return hb_fail(err, -HB_E_USAGE, "--json needs a path");
	}
	r = hb_events_place(".", here, sizeof(here), err);
	if (r >= 0)
		r = cmd_open_store(call, false, &store, err);
	if (r < 0)
		return r;
	doc_begin(&doc, false, "why");
	r = find_denial(store, here, &doc.out, err);
	hb_store_free(store);
	if (r >= 0 && doc.out.len == 0)
		(void)buf_add_str(&doc.out,
				  "nothing was refused in this directory\n");
	return r < 0 ? r : doc_end(&doc, err);
}

int cmd_log(const struct cmd_call *call, struct hb_error *err)
{
	auto_free struct log *log = calloc(1, sizeof(*log));
	struct hb_store *store = NULL;
	const char *ref = NULL;
	int rest, r;

	if (!log)
		return hb_fail(err, -ENOMEM, "cannot read the log");
	log->call = call;
	r = cmd_session_operand(call, false, &ref, &rest, err);
	if (r >= 0)
		r = read_since(log, call->values->since, err);
	if (r >= 0)
		r = call->values->project
			    ? hb_events_place(call->values->project,
					      log->project,
					      sizeof(log->project), err)
			    : 0;
	if (r >= 0)
		r = cmd_open_store(call, false, &store, err);
	if (r >= 0)
		r = find_session(log, store, ref, err);
	if (r >= 0 && call->values->verify) {
		r = verify(call, store, err);
	} else if (r >= 0) {
		r = hb_events_open(store, &log->events, err);
		if (r >= 0)
			r = show(log, err);
		hb_events_free(log->events);
	}
	doc_done(&log->doc);
	hb_store_free(store);
	return r;
}
