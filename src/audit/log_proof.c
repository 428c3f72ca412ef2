/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/log_proof.h"

#include "audit/chain.h"
#include "audit/log_append.h"
#include "audit/log_lines.h"
#include "base/auto.h"
#include "base/error.h"
#include "holdback/events.h"
#include "sys/durable.h"
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * A block is the smallest thing that a seal speaks of.  The numbers of the
 * records say more: which one is missing, or stands at another place.
 */

#define TORN ",\"kind\":\"torn\","

struct proof {
	int state;
	struct log_head head;
	bool has_head;
	struct chain chain;
	uint64_t seq;	    /* of the next record; 0: any */
	uint64_t line;	    /* of this segment */
	uint64_t block;	    /* the line that this block begins with */
	bool has_numbers;   /* a fault of this block was told by its numbers */
	bool has_strange;   /* this block has a line that is no record */
	bool has_said_torn; /* and says so */
	const char *file;
	prove_fault_fn tell;
	void *context;
	struct hb_events_proof *result;
};

static int tell(struct proof *p, uint64_t from, uint64_t to, const char *words)
{
	const struct hb_events_fault fault = { p->file, from, to, words };

	p->result->n_faults++;
	return p->tell(p->context, &fault);
}

/* Bytes that are no record are said behind them, or they were put there. */
static int end_block(struct proof *p, int fits)
{
	int r = 0;

	p->result->n_blocks++;
	if (fits < 0 && !p->has_numbers)
		r = tell(p, p->block, p->line,
			 "a line was changed, or lines before were removed");
	else if (p->has_strange && !p->has_said_torn)
		r = tell(p, p->block, p->line, "a line is no record");
	p->block = p->line + 1;
	p->has_numbers = p->has_strange = p->has_said_torn = false;
	return r;
}

static int take_record(struct proof *p, uint64_t seq, const char *line,
		       size_t n)
{
	uint64_t wanted = p->seq;
	char words[96];

	p->result->n_records++;
	p->seq = seq + 1;
	if (memmem(line, n, TORN, sizeof(TORN) - 1)) {
		p->has_said_torn = true;
		p->result->n_torn++;
	}
	if (wanted == 0 || wanted == seq)
		return 0;
	p->has_numbers = true;
	if (seq > wanted)
		(void)snprintf(words, sizeof(words),
			       "before it, %" PRIu64
			       " record%s missing: number "
			       "%" PRIu64,
			       seq - wanted,
			       seq - wanted == 1 ? " is" : "s are", wanted);
	else
		(void)snprintf(words, sizeof(words),
			       "record %" PRIu64 " is not at its place", seq);
	return tell(p, p->line, p->line, words);
}

static int take_line(struct proof *p, const char *line, size_t n)
{
	uint8_t prev[SHA256_SIZE];
	uint64_t seq = log_seq_of(line, n);
	int fits;

	p->line++;
	if (p->line == 1 && log_segment_prev(line, n, prev) >= 0) {
		/* Of the oldest there is nothing to compare it with. */
		if (p->result->n_segments == 1)
			chain_begin(&p->chain, prev);
		chain_add(&p->chain, line, n);
		return 0;
	}
	fits = chain_take(&p->chain, line, n);
	if (fits != 0)
		return end_block(p, fits);
	if (seq > 0 && line[n - 1] == '\n')
		return take_record(p, seq, line, n);
	p->has_strange = true;
	return 0;
}

/* What is behind the last seal: torn, if the next segment goes on without it.
 */
static void end_segment(struct proof *p, bool has_rest, bool is_last)
{
	if (!has_rest)
		return;
	if (is_last)
		p->result->is_cut_short = true;
	chain_begin(&p->chain, p->chain.head);
	/* Numbers that were given to it are given again. */
	if (!is_last)
		p->seq = 0;
}

static int prove_segment(struct proof *p, unsigned number, bool is_last)
{
	char name[LOG_SEGMENT_SIZE];
	uint64_t seq = p->seq;
	struct log_lines lines;
	auto_fd int fd = -1;
	const char *line;
	size_t n = 0;
	int r;

	p->file = log_segment_name(number, name) + sizeof(LOG_DIR);
	p->line = 0;
	p->block = 1;
	p->result->n_segments++;
	fd = sys_openat(p->state, name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
	if (fd == -ENOENT) {
		p->seq = 0;
		return tell(p, 0, 0, "the file is missing");
	}
	if (fd < 0)
		return fd;
	log_lines_init(&lines, fd, 0);
	while ((r = log_lines_next(&lines, &line, &n)) == 1) {
		r = take_line(p, line, n);
		if (r < 0)
			break;
		seq = p->block > p->line ? p->seq : seq;
	}
	log_lines_done(&lines);
	if (r < 0)
		return r;
	end_segment(p, n > 0 || p->block <= p->line, is_last);
	if (is_last)
		p->seq = seq;
	return 0;
}

/* The head says how far the log went: less than that is a cut. */
static int prove_end(struct proof *p)
{
	p->file = "head";
	if (!p->has_head)
		return tell(p, 0, 0,
			    "it is missing, and a cut at the end of the log "
			    "cannot be seen");
	if (p->seq > 0 && p->seq < p->head.seq)
		return tell(p, 0, 0,
			    "records at the end of the log are missing");
	if (p->seq == p->head.seq &&
	    memcmp(p->head.hash, p->chain.head, SHA256_SIZE) != 0)
		return tell(p, 0, 0, "it does not fit the end of the log");
	return 0;
}

int log_prove(int state, prove_fault_fn fn, void *context,
	      struct hb_events_proof *ret, struct hb_error *err)
{
	struct proof p = {
		.state = state, .tell = fn, .context = context, .result = ret
	};
	auto_fd int lock = -1;
	unsigned first, last;
	int r;

	*ret = (struct hb_events_proof){ 0 };
	lock = sys_lock_file(state, LOG_HEAD, 0, LOG_WAIT);
	if (lock < 0 && lock != -ENOENT)
		return hb_fail(err, lock, "cannot lock the log");
	r = lock < 0 ? lock : log_head_read(lock, &p.head);
	if (r < 0 && r != -ENOENT)
		return hb_fail(err, r, "cannot read the head of the log");
	p.has_head = r >= 0;
	r = log_find_segments(state, &first, &last);
	if (r == -ENOENT && !p.has_head)
		return 0;
	if (r < 0 && r != -ENOENT)
		return hb_fail(err, r, "cannot list the log");
	if (p.has_head) {
		first = p.head.first;
		last = r >= 0 && last > p.head.segment ? last : p.head.segment;
	}
	chain_begin(&p.chain, p.chain.head);
	p.seq = first == 1;
	r = 0;
	for (unsigned i = first; r >= 0 && i <= last; i++)
		r = prove_segment(&p, i, i == last);
	if (r >= 0)
		r = prove_end(&p);
	return r < 0 ? hb_fail(err, r, "cannot verify the log") : 0;
}
