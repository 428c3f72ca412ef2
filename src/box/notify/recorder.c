/* SPDX-License-Identifier: Apache-2.0 */
#include "box/notify/recorder.h"

#include "base/path.h"
#include "base/quote.h"
#include "base/report.h"
#include "box/notify/call_ring.h"
#include "box/notify/heard.h"
#include "box/state.h"
#include "sys/file.h"
#include "sys/proc.h"
#include "sys/signal.h"
#include "sys/sock.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Notes that are told before they are taken. */
#define BATCH 256

/* Refusals that were told: the same again is no news. */
#define TOLD_MAX 1024

struct recorder {
	const struct heard *heard;
	struct call_ring *ring;
	uint32_t told[TOLD_MAX]; /* by their hash */
};

/* How a verb is told; those without a name are refusals. */
static const char *const verbs[CALL_VERBS] = {
	[CALL_CREATE] = "CREATE", [CALL_MODIFY] = "MODIFY",
	[CALL_DELETE] = "DELETE", [CALL_MOVE] = "MOVE",
	[CALL_ATTRIB] = "ATTRIB", [CALL_EXEC] = "EXEC",
};

/* Where changes are held back a name that is missing was deleted. */
static bool is_held_back(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->n_ops; i++)
		if (heard_is_overlay(&plan->ops[i]) &&
		    path_is_beneath(path, plan->ops[i].dest))
			return true;
	return false;
}

/* Whether the host has it, and the view does not. */
static bool is_outside(const struct recorder *r, const char *path)
{
	struct stat st;

	return !path_is_beneath(path, "/proc") &&
	       !is_held_back(r->heard->box->plan, path) &&
	       sys_fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) >= 0;
}

/* The first of its kind. */
static bool is_news(struct recorder *r, const struct call_note *note)
{
	uint32_t hash = 2166136261U + (uint32_t)note->verb;
	uint32_t *place;

	for (const char *p = note->path; *p; p++)
		hash = (hash ^ (unsigned char)*p) * 16777619U;
	/* 0 is an empty place. */
	hash |= 1;
	place = &r->told[(hash >> 1) % TOLD_MAX];
	if (*place == hash)
		return false;
	*place = hash;
	return true;
}

static void tell_denied(struct recorder *r, const struct call_note *note,
			struct hb_report *report, struct hb_call *call)
{
	char text[HB_TEXT_SIZE], fix[HB_TEXT_SIZE];

	if (note->verb != CALL_CONNECT && note->verb != CALL_NAMESPACE &&
	    !is_outside(r, note->path))
		return;
	report->kind = HB_REPORT_DENIED;
	report->text = text;
	/* The user's terminal is the command's, and the end says it. */
	report->is_quiet = true;
	call->fix = fix;
	if (note->verb == CALL_CONNECT) {
		(void)snprintf(text, sizeof(text),
			       "connect to %s: the command has no network",
			       note->path);
		call->fix = "--net host";
	} else if (note->verb == CALL_NAMESPACE) {
		(void)snprintf(text, sizeof(text), "a user namespace");
		call->fix = "--allow-nested";
	} else {
		(void)snprintf(text, sizeof(text),
			       "open '%s': it is not in the view",
			       quoted(note->path));
		(void)snprintf(fix, sizeof(fix), "--ro %s", quoted(note->path));
	}
	if (is_news(r, note))
		(void)report_send(r->heard->listener, report);
	report->text = NULL;
	call->fix = NULL;
}

static void tell(struct recorder *r, const struct call_note *note)
{
	struct hb_call call = { .to = note->to,
				.program = note->program,
				.seconds = note->when.tv_sec,
				.nanoseconds = note->when.tv_nsec };
	struct hb_report report = { .kind = HB_REPORT_CALLED,
				    .text = verbs[note->verb],
				    .path = note->path,
				    .n = (uint64_t)note->pid,
				    .call = &call };

	if (report.text)
		(void)report_send(r->heard->listener, &report);
	else
		tell_denied(r, note, &report, &call);
}

/* What is missing, or may be there twice. */
static void tell_gaps(struct recorder *r)
{
	struct call_ring *ring = r->ring;
	uint32_t n = __atomic_load_n(&ring->n_gaps, __ATOMIC_ACQUIRE);
	uint64_t lost = __atomic_load_n(&ring->lost, __ATOMIC_ACQUIRE);

	if (n != ring->n_told)
		report_text(r->heard->listener, HB_REPORT_GAP,
			    "the auditor was killed and started again: calls "
			    "before this may be told twice");
	if (lost != ring->lost_told)
		report_text(r->heard->listener, HB_REPORT_GAP,
			    "%" PRIu64 " calls could not be recorded in time",
			    lost - ring->lost_told);
	ring->n_told = n;
	ring->lost_told = lost;
}

static void drain(struct recorder *r)
{
	const struct hb_report over = { .kind = HB_REPORT_LASTED };
	uint64_t at = r->ring->taken;
	struct call_note note;

	tell_gaps(r);
	for (size_t n = 1; call_ring_next(r->ring, &at, &note); n++) {
		tell(r, &note);
		if (n % BATCH == 0) {
			(void)report_send(r->heard->listener, &over);
			call_ring_take(r->ring, at);
		}
	}
	(void)report_send(r->heard->listener, &over);
	call_ring_take(r->ring, at);
}

static void keep_descriptors(const struct heard *h)
{
	const struct plan *plan = h->box->plan;
	int keep[PLAN_RECORDING_FDS + 1];
	size_t n = plan->recording
			   ? plan->recording(plan->recording_context, keep)
			   : 0;

	keep[n++] = h->wake[0];
	fds_close_but(3, keep, n);
}

void recorder_main(const struct heard *h)
{
	static struct recorder r;
	struct notify_record record = { 0 };
	int n;

	/* Neither ^C nor ^Z is for us. */
	(void)sys_setsid();
	(void)sys_set_dumpable(0);
	r.heard = h;
	r.ring = h->notify.page->ring;
	keep_descriptors(h);
	do {
		drain(&r);
		n = sys_recv_record(h->wake[0], &record, sizeof(record), NULL);
	} while (n > 0 && record.word != NOTIFY_END);
	drain(&r);
	sys_exit(0);
}
