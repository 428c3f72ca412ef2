/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/audit.h"
#include "audit/log_append.h"
#include "audit/log_proof.h"
#include "audit/log_reader.h"
#include "base/auto.h"
#include "base/error.h"
#include "base/report.h"
#include "holdback/events.h"
#include "sys/fault.h"

#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The log of a state directory: what is written can be read, each edit is
 * found, and a failure or a kill at any call leaves a log that can be verified
 * and gone on with.
 */

#define BODY "\"time\":\"2026-11-16T12:00:00.000Z\",\"kind\":\"said\"}\n"

static char top[4096];
static int state;

static void begin(void)
{
	const char *tmp = getenv("TMPDIR");

	(void)snprintf(top, sizeof(top), "%s/log.XXXXXX", tmp ? tmp : "/tmp");
	CHECK(mkdtemp(top));
	state = open(top, O_RDONLY | O_DIRECTORY);
	CHECK(state >= 0);
}

static void end(void)
{
	unsigned first, last;

	if (log_find_segments(state, &first, &last) >= 0)
		for (; first <= last; first++) {
			char name[LOG_SEGMENT_SIZE];

			(void)unlinkat(state, log_segment_name(first, name), 0);
		}
	(void)unlinkat(state, LOG_HEAD, 0);
	(void)unlinkat(state, LOG_DIR, AT_REMOVEDIR);
	CHECK_INT(close(state), 0);
	CHECK_INT(rmdir(top), 0);
}

static int append(void)
{
	return log_append(state, BODY BODY, 2 * strlen(BODY), false, NULL);
}

static char fault_words[4096];

static int note_fault(void *context, const struct hb_events_fault *fault)
{
	(void)context;
	(void)snprintf(fault_words + strlen(fault_words),
		       sizeof(fault_words) - strlen(fault_words),
		       "%s:%llu %s\n", fault->file,
		       (unsigned long long)fault->line, fault->words);
	return 0;
}

static struct hb_events_proof prove(void)
{
	struct hb_events_proof proof;

	fault_words[0] = '\0';
	CHECK_INT(log_prove(state, note_fault, NULL, &proof, NULL), 0);
	return proof;
}

/* How many records of a kind can be read. */
static unsigned count(const char *kind)
{
	struct log_reader reader;
	struct hb_event event;
	uint64_t last = 0;
	unsigned n = 0;
	int r;

	log_reader_init(&reader, state);
	while ((r = log_reader_next(&reader, &event, NULL)) == 1) {
		CHECK(event.seq > last);
		last = event.seq;
		n += strcmp(event.kind, kind) == 0;
	}
	CHECK_INT(r, 0);
	log_reader_done(&reader);
	return n;
}

/* All of the first segment; the caller frees. */
static char *read_segment(size_t *ret_n)
{
	char name[LOG_SEGMENT_SIZE], *text;
	int fd = openat(state, log_segment_name(1, name), O_RDONLY);
	struct stat st;

	CHECK(fd >= 0 && fstat(fd, &st) == 0);
	text = calloc(1, (size_t)st.st_size + 1);
	CHECK(text && read(fd, text, (size_t)st.st_size) == st.st_size);
	CHECK_INT(close(fd), 0);
	*ret_n = (size_t)st.st_size;
	return text;
}

static void write_segment(const char *text, size_t n)
{
	char name[LOG_SEGMENT_SIZE];
	int fd = openat(state, log_segment_name(1, name), O_WRONLY | O_TRUNC);

	CHECK(fd >= 0 && write(fd, text, n) == (ssize_t)n);
	CHECK_INT(close(fd), 0);
}

static void records_are_numbered_and_can_be_read(void)
{
	begin();
	CHECK_INT(append(), 0);
	CHECK_INT(append(), 0);
	CHECK_INT(count("said"), 4);
	CHECK_INT((long long)prove().n_faults, 0);
	CHECK_INT((long long)prove().n_records, 4);
	CHECK_INT((long long)prove().n_blocks, 2);
	end();
}

/* Where the line with this number of the first segment begins. */
static char *find_line(char *text, unsigned number)
{
	for (; number > 1; number--)
		text = strchr(text, '\n') + 1;
	return text;
}

/* Lines: 1 segment, 2 and 3 records, 4 seal, 5 and 6 records, 7 seal. */
static void swap_lines(char *text, unsigned a, unsigned b)
{
	char *first = find_line(text, a), *second = find_line(text, b);
	size_t n = (size_t)(strchr(first, '\n') + 1 - first);

	CHECK_INT((long long)n, strchr(second, '\n') + 1 - second);
	for (size_t i = 0; i < n; i++) {
		char c = first[i];

		first[i] = second[i];
		second[i] = c;
	}
}

static size_t drop_lines(char *text, size_t n, unsigned from, unsigned to)
{
	char *first = find_line(text, from), *after = find_line(text, to + 1);

	memmove(first, after, (size_t)(text + n + 1 - after));
	return n - (size_t)(after - first);
}

/* The log of two blocks, after an edit of which the fault has these words. */
static void check_edit(unsigned how, const char *words)
{
	char *text;
	size_t n;

	begin();
	CHECK_INT(append(), 0);
	CHECK_INT(append(), 0);
	text = read_segment(&n);
	if (how == 0)
		find_line(text, 3)[20] ^= 1;
	else if (how == 1)
		n = drop_lines(text, n, 3, 3);
	else if (how == 2)
		swap_lines(text, 2, 3);
	else if (how == 3)
		n = drop_lines(text, n, 2, 4);
	else if (how == 4)
		n = drop_lines(text, n, 5, 7);
	else
		swap_lines(text, 3, 6);
	write_segment(text, n);
	free(text);
	CHECK(prove().n_faults > 0);
	if (!strstr(fault_words, words)) {
		printf("# edit %u: %s", how, fault_words);
		CHECK(!"the words of the fault");
	}
	/* It stays a fault when the log goes on. */
	CHECK_INT(append(), 0);
	CHECK(prove().n_faults > 0);
	end();
}

static void a_changed_line_is_found(void)
{
	check_edit(0, "00000001.jsonl:1 a line was changed");
}

static void a_removed_line_is_found(void)
{
	check_edit(1, "a line was changed, or lines before were removed");
}

static void reordered_lines_are_found(void)
{
	check_edit(2, "is not at its place");
	check_edit(5, "is not at its place");
}

static void a_removed_block_is_found(void)
{
	check_edit(3, "before it, 2 records are missing: number 1");
}

static void a_cut_at_the_end_is_found(void)
{
	check_edit(4, "head:0 records at the end of the log are missing");
}

static void a_head_that_is_missing_is_told(void)
{
	begin();
	CHECK_INT(append(), 0);
	CHECK_INT(unlinkat(state, LOG_HEAD, 0), 0);
	CHECK(prove().n_faults == 1 && strstr(fault_words, "head"));
	CHECK_INT(append(), 0);
	CHECK_INT((long long)prove().n_faults, 0);
	CHECK_INT(count("said"), 4);
	CHECK_INT(count("gap"), 1);
	end();
}

static void get_head(char *ret)
{
	int fd = openat(state, LOG_HEAD, O_RDONLY);

	CHECK(fd >= 0 && read(fd, ret, LOG_HEAD_SIZE) == LOG_HEAD_SIZE);
	CHECK_INT(close(fd), 0);
}

static void put_head(const char *head)
{
	int fd = openat(state, LOG_HEAD, O_WRONLY);

	CHECK(fd >= 0 && write(fd, head, LOG_HEAD_SIZE) == LOG_HEAD_SIZE);
	CHECK_INT(close(fd), 0);
}

static void a_torn_tail_is_said_and_nothing_is_lost(void)
{
	begin();
	CHECK_INT(append(), 0);
	for (size_t cut = 1; cut < 220; cut += 13) {
		struct hb_events_proof proof;
		unsigned torn = count("torn");
		char *text, head[LOG_HEAD_SIZE];
		size_t n, before;

		get_head(head);
		text = read_segment(&before);
		free(text);
		CHECK_INT(append(), 0);
		text = read_segment(&n);
		CHECK(n > before + cut);
		write_segment(text, before + cut);
		free(text);
		/* As a process leaves it that was killed before the head. */
		put_head(head);
		CHECK(prove().is_cut_short);
		CHECK_INT(append(), 0);
		proof = prove();
		CHECK_INT((long long)proof.n_faults, 0);
		CHECK(!proof.is_cut_short);
		CHECK_INT(count("torn"), torn + 1);
	}
	end();
}

static void a_full_segment_is_followed_and_the_oldest_goes(void)
{
	char *many = malloc(LOG_BLOCK_MAX + 1);
	size_t n = 0;
	unsigned first = 0, last = 0;

	begin();
	CHECK(many);
	while (n + strlen(BODY) <= LOG_BLOCK_MAX) {
		memcpy(many + n, BODY, strlen(BODY));
		n += strlen(BODY);
	}
	while (last < LOG_SEGMENTS + 3) {
		CHECK_INT(log_append(state, many, n, false, NULL), 0);
		CHECK_INT(log_find_segments(state, &first, &last), 0);
	}
	CHECK_INT(first, last - LOG_SEGMENTS + 1);
	CHECK_INT((long long)prove().n_faults, 0);
	CHECK(count("said") > 100000);
	free(many);
	end();
}

static void a_failure_at_any_call_loses_only_what_it_says(void)
{
	static const enum fault_mode modes[] = { FAULT_EIO, FAULT_ENOSPC,
						 FAULT_DEAD, FAULT_SHORT,
						 FAULT_EINTR };

	for (size_t m = 0; m < sizeof(modes) / sizeof(modes[0]); m++)
		for (unsigned n = 1;; n++) {
			unsigned passages;
			int r;

			begin();
			CHECK_INT(append(), 0);
			fault_arm(modes[m], n);
			r = append();
			passages = fault_passages();
			fault_arm(FAULT_NONE, 0);
			CHECK_INT((long long)prove().n_faults, 0);
			CHECK_INT(count("said"), r < 0 ? 2 : 4);
			CHECK_INT(append(), 0);
			CHECK_INT((long long)prove().n_faults, 0);
			CHECK_INT(count("said"), r < 0 ? 4 : 6);
			end();
			if (passages < n)
				break;
		}
}

static void a_full_disk_is_counted_and_said(void)
{
	begin();
	CHECK_INT(append(), 0);
	fault_arm(FAULT_ENOSPC, 1);
	fault_only("write");
	CHECK_INT(append(), -ENOSPC);
	fault_arm(FAULT_NONE, 0);
	fault_only(NULL);
	CHECK_INT(append(), 0);
	CHECK_INT(count("lost"), 1);
	CHECK_INT((long long)prove().n_faults, 0);
	end();
}

static void a_kill_at_any_call_leaves_a_log_that_goes_on(void)
{
	static const enum fault_mode modes[] = { FAULT_KILL, FAULT_KILL_AFTER };
	unsigned visited = 0;

	for (size_t m = 0; m < sizeof(modes) / sizeof(modes[0]); m++)
		for (unsigned n = 1, is_first = 1; n > 0;) {
			int status;
			pid_t pid;

			begin();
			/* Also the very first append, which makes all. */
			if (!is_first)
				CHECK_INT(append(), 0);
			pid = fork();
			CHECK(pid >= 0);
			if (pid == 0) {
				fault_arm(modes[m], n);
				(void)append();
				_exit(7);
			}
			CHECK(waitpid(pid, &status, 0) == pid);
			if (!is_first)
				CHECK_INT((long long)prove().n_faults, 0);
			CHECK_INT(append(), 0);
			CHECK_INT((long long)prove().n_faults, 0);
			CHECK(count("said") >= (is_first ? 2U : 4U));
			end();
			visited++;
			n++;
			if (!WIFEXITED(status) || WEXITSTATUS(status) != 7)
				continue;
			n = is_first ? 1 : 0;
			is_first = 0;
		}
	CHECK(visited > 12);
}

static void writers_at_once_leave_one_chain(void)
{
	enum {
		WRITERS = 8,
		TIMES = 50
	};
	pid_t pids[WRITERS];

	begin();
	for (int i = 0; i < WRITERS; i++) {
		pids[i] = fork();
		CHECK(pids[i] >= 0);
		if (pids[i] == 0) {
			for (int k = 0; k < TIMES; k++)
				while (append() < 0)
					;
			_exit(0);
		}
	}
	for (int i = 0; i < WRITERS; i++)
		CHECK(waitpid(pids[i], NULL, 0) == pids[i]);
	CHECK_INT((long long)prove().n_faults, 0);
	CHECK_INT(count("said"), WRITERS * TIMES * 2);
	end();
}

/* What the listener behind the log heard. */
static unsigned heard;

static bool hear(void *context, const struct hb_report *report)
{
	(void)context;
	(void)report;
	heard++;
	return true;
}

static void any_bytes_come_back_from_the_log(void)
{
	static const char path[] = "a\nb\"c\\d\xff\xc3\xa9\xf4\x8f\xba\x80 e";
	const struct hb_listener next = { .hear = hear };
	struct log_reader reader;
	struct hb_event event;
	struct audit *audit;

	begin();
	audit = audit_new(&next);
	CHECK(audit);
	audit_set_state(audit, state);
	audit_about(audit, "s", "0123", "/p");
	heard = 0;
	CHECK(report_send(audit_listener(audit),
			  &(struct hb_report){ .kind = HB_REPORT_ASKED,
					       .text = "go on?" }));
	(void)report_send(audit_listener(audit),
			  &(struct hb_report){ .kind = HB_REPORT_CHANGED,
					       .source = "/q",
					       .path = path });
	audit_free(audit);
	CHECK_INT(heard, 2);
	log_reader_init(&reader, state);
	CHECK_INT(log_reader_next(&reader, &event, NULL), 1);
	CHECK(strcmp(event.kind, "asked") == 0 && event.answer);
	CHECK_INT(log_reader_next(&reader, &event, NULL), 1);
	CHECK(strcmp(event.path, path) == 0);
	CHECK(strcmp(event.source, "/q") == 0);
	CHECK(strcmp(event.session, "s") == 0 && strcmp(event.id, "0123") == 0);
	CHECK_INT(log_reader_next(&reader, &event, NULL), 0);
	log_reader_done(&reader);
	end();
}

static void a_log_that_cannot_be_written_stops_nothing(void)
{
	const struct hb_listener next = { .hear = hear };
	struct audit *audit;

	begin();
	audit = audit_new(&next);
	CHECK(audit);
	audit_set_state(audit, state);
	heard = 0;
	fault_arm(FAULT_ENOSPC, 1);
	for (int i = 0; i < 3; i++)
		(void)report_send(audit_listener(audit),
				  &(struct hb_report){ .kind = HB_REPORT_BEGUN,
						       .text = "commit" });
	fault_arm(FAULT_NONE, 0);
	/* Three of them, and one that says it once. */
	CHECK_INT(heard, 4);
	audit_free(audit);
	end();
}

TESTS(T(records_are_numbered_and_can_be_read), T(a_changed_line_is_found),
      T(a_removed_line_is_found), T(reordered_lines_are_found),
      T(a_removed_block_is_found), T(a_cut_at_the_end_is_found),
      T(a_head_that_is_missing_is_told),
      T(a_torn_tail_is_said_and_nothing_is_lost),
      T(a_full_segment_is_followed_and_the_oldest_goes),
      T(a_failure_at_any_call_loses_only_what_it_says),
      T(a_full_disk_is_counted_and_said),
      T(a_kill_at_any_call_leaves_a_log_that_goes_on),
      T(writers_at_once_leave_one_chain), T(any_bytes_come_back_from_the_log),
      T(a_log_that_cannot_be_written_stops_nothing))
