/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/audit.h"

#include "audit/audit_line.h"
#include "audit/log_append.h"
#include "audit/log_copy.h"
#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/report.h"
#include "sys/file.h"
#include "sys/place.h"
#include "sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A block is written before it is larger than that. */
#define KEPT_LIMIT (2 * LOG_BLOCK_MAX)

struct audit {
	struct hb_listener listener;
	const struct hb_listener *next;
	pid_t pid; /* of the process that writes */
	int state; /* borrowed; -1: none */
	int copy;  /* -1: none */
	struct buf kept;
	size_t n_kept;
	char *session, *id, *project;
	bool is_stopped;
	bool is_changing; /* between the begin and the end of a change */
	bool was_told;	  /* that the log cannot be written */
};

/* What is done with a kind. */
enum act {
	SKIP,	   /* no record */
	FLUSH,	   /* the same, and what is kept is written */
	KEEP,	   /* a record, in the next block */
	IN_CHANGE, /* the same, if it belongs to a change: looks are no news */
	WRITE,	   /* a record, written at once */
	SYNC,	   /* the same, and on disk before the caller goes on */
};

/* A kind without a line here does not compile. */
/* clang-format off */
#define ACT_said       SKIP
#define ACT_noted      SKIP
#define ACT_weakened   KEEP
#define ACT_asked      KEEP
#define ACT_progress   SKIP
#define ACT_ordered    KEEP
#define ACT_policy     KEEP
#define ACT_started    KEEP
#define ACT_lasted     FLUSH
#define ACT_stopped    WRITE
#define ACT_resumed    WRITE
#define ACT_ended      KEEP
#define ACT_denied     KEEP
#define ACT_caught     KEEP
#define ACT_net	       KEEP
#define ACT_called     KEEP
#define ACT_gap        KEEP
#define ACT_finding    IN_CHANGE
#define ACT_begun      WRITE
#define ACT_done       SYNC
#define ACT_failed     WRITE
#define ACT_refused    WRITE
#define ACT_conflicted KEEP
#define ACT_changed    KEEP
#define ACT_held       KEEP
#define ACT_left       KEEP
/* clang-format on */

static const enum act acts[] = {
#define ROW(id, name, members) [HB_REPORT_##id] = ACT_##name,
	HB_REPORTS(ROW)
#undef ROW
};

/* Once: a full disk is no news at every step. */
static void tell_lost(struct audit *audit, int r)
{
	if (audit->was_told)
		return;
	audit->was_told = true;
	report_text(audit->next, HB_REPORT_SAID,
		    "the log cannot be written, and misses this: %s",
		    hb_strerror(-r));
}

static int write_copy(int copy, const struct buf *written)
{
	struct stat st;
	int r = sys_fstat(copy, &st);

	if (r >= 0 && !sys_may_grow_to((uint64_t)st.st_size + written->len))
		r = -EFBIG;
	return r < 0 ? r : sys_write_all(copy, buf_str(written), written->len);
}

static void flush(struct audit *audit, bool is_durable)
{
	auto_buf struct buf written = BUF_INIT(2 * KEPT_LIMIT);
	int r;

	if (audit->n_kept == 0 || audit->state < 0 ||
	    audit->pid != sys_getpid())
		return;
	r = log_append(audit->state, audit->kept.data, audit->kept.len,
		       is_durable, audit->copy >= 0 ? &written : NULL);
	if (r >= 0 && audit->copy >= 0)
		r = write_copy(audit->copy, &written);
	if (r < 0)
		tell_lost(audit, r);
	buf_cut(&audit->kept, 0);
	audit->n_kept = 0;
}

static bool is_wanted(const struct audit *audit, const struct hb_report *report)
{
	enum act act = acts[report->kind];

	return act != SKIP && !(act == IN_CHANGE && !audit->is_changing) &&
	       !audit->is_stopped;
}

static void record(struct audit *audit, const struct hb_report *report,
		   bool answer)
{
	const struct line_about about = { audit->session, audit->id,
					  audit->project };
	enum act act = acts[report->kind];

	if (audit_line(report, &about, sys_now(), answer, &audit->kept) >= 0)
		audit->n_kept++;
	else
		/* For want of memory: it stays empty, and works again. */
		audit->kept.error = 0;
	if (report->kind == HB_REPORT_BEGUN)
		audit->is_changing = true;
	if (report->kind == HB_REPORT_DONE ||
	    report->kind == HB_REPORT_REFUSED ||
	    report->kind == HB_REPORT_FAILED)
		audit->is_changing = false;
	if (act == WRITE || act == SYNC || audit->kept.len >= LOG_BLOCK_MAX)
		flush(audit, act == SYNC);
}

static bool hear(void *context, const struct hb_report *report)
{
	struct audit *audit = context;
	bool answer = report_send(audit->next, report);

	if (acts[report->kind] == FLUSH)
		flush(audit, false);
	else if (is_wanted(audit, report))
		record(audit, report, answer);
	return answer;
}

struct audit *audit_new(const struct hb_listener *next)
{
	struct audit *audit = calloc(1, sizeof(*audit));

	if (!audit)
		return NULL;
	audit->next = next;
	audit->listener =
		(struct hb_listener){ .hear = hear, .context = audit };
	if (next) {
		audit->listener.wants_progress = next->wants_progress;
		audit->listener.progress_after = next->progress_after;
	}
	audit->pid = sys_getpid();
	audit->state = audit->copy = -1;
	buf_init(&audit->kept, KEPT_LIMIT);
	return audit;
}

void audit_free(struct audit *audit)
{
	if (!audit)
		return;
	flush(audit, false);
	fd_closep(&audit->copy);
	buf_done(&audit->kept);
	audit_about(audit, NULL, NULL, NULL);
	free(audit);
}

const struct hb_listener *audit_listener(const struct audit *audit)
{
	return &audit->listener;
}

struct audit *audit_of(const struct hb_listener *listener)
{
	return listener && listener->hear == hear ? listener->context : NULL;
}

void audit_set_state(struct audit *audit, int state)
{
	flush(audit, false);
	audit->state = state;
}

/* Without memory a record lacks it, and nothing else. */
static void set(char **field, const char *value)
{
	if (value && *field && strcmp(*field, value) == 0)
		return;
	free(*field);
	*field = value ? strdup(value) : NULL;
}

void audit_about(struct audit *audit, const char *session, const char *id,
		 const char *project)
{
	if (!audit)
		return;
	set(&audit->session, session);
	set(&audit->id, id);
	set(&audit->project, project);
}

void audit_about_here(struct audit *audit)
{
	char cwd[PATH_MAX];

	if (!audit->project && sys_getcwd(cwd, sizeof(cwd)) >= 0)
		set(&audit->project, cwd);
}

void audit_forget(struct audit *audit)
{
	buf_cut(&audit->kept, 0);
	audit->n_kept = 0;
}

void audit_take_over(struct audit *audit)
{
	audit_forget(audit);
	audit->pid = sys_getpid();
}

size_t audit_take_calls(struct audit *audit, int *ret_fds)
{
	int dir = -1;
	size_t n = 0;

	audit_take_over(audit);
	if (audit->state >= 0) {
		(void)sys_mkdirat(audit->state, LOG_CALLS_DIR, 0700);
		dir = sys_openat(audit->state, LOG_CALLS_DIR,
				 O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	}
	audit->state = dir;
	if (dir >= 0)
		ret_fds[n++] = dir;
	if (audit->copy >= 0)
		ret_fds[n++] = audit->copy;
	return n;
}

void audit_stop(struct audit *audit)
{
	audit->is_stopped = true;
}

bool audit_has_kept(const struct audit *audit)
{
	return audit->n_kept > 0;
}

int audit_copy_to(struct audit *audit, const char *path, struct hb_error *err)
{
	int fd = log_copy_open(path, err);

	if (fd < 0)
		return fd;
	fd_closep(&audit->copy);
	audit->copy = fd;
	return 0;
}
