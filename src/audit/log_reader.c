/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/log_reader.h"

#include "audit/log_append.h"
#include "base/auto.h"
#include "base/error.h"
#include "base/json_keys.h"
#include "base/json_text.h"
#include "base/num.h"
#include "base/time_text.h"
#include "holdback/events.h"
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

void log_reader_init(struct log_reader *reader, int state)
{
	*reader = (struct log_reader){ .state = state, .fd = -1 };
	buf_init(&reader->strings, 2 * LOG_LINE_MAX);
}

void log_reader_done(struct log_reader *reader)
{
	log_lines_done(&reader->lines);
	fd_closep(&reader->fd);
	buf_done(&reader->strings);
}

/* 1: it is open; 0: it is not there. */
static int open_segment(struct log_reader *reader, unsigned number)
{
	char name[LOG_SEGMENT_SIZE];
	int fd = sys_openat(reader->state, log_segment_name(number, name),
			    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);

	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return fd;
	fd_closep(&reader->fd);
	log_lines_done(&reader->lines);
	reader->fd = fd;
	reader->segment = number;
	log_lines_init(&reader->lines, fd, 0);
	return 1;
}

/* The next segment, or the first that there still is. */
static int go_on(struct log_reader *reader)
{
	unsigned first, last;
	int r;

	if (reader->segment > 0) {
		r = open_segment(reader, reader->segment + 1);
		if (r != 0)
			return r;
	}
	r = log_find_segments(reader->state, &first, &last);
	if (r == -ENOENT)
		return 0;
	if (r < 0 || last <= reader->segment)
		return r < 0 ? r : 0;
	return open_segment(
		reader, first > reader->segment ? first : reader->segment + 1);
}

/* The strings of a record, by their names; kept as places in the buffer. */
enum field {
	TIME,
	KIND,
	SESSION,
	ID,
	PROJECT,
	SOURCE,
	PATH,
	TEXT,
	RULE,
	SEVERITY,
	DETAIL,
	VERDICT,
	HOST,
	CAUSE,
	VERB,
	TO,
	PROGRAM,
	FIX,
	FIELDS,
};

static const char *const names[FIELDS] = {
	[TIME] = "time",       [KIND] = "kind",
	[SESSION] = "session", [ID] = "id",
	[PROJECT] = "project", [SOURCE] = "source",
	[PATH] = "path",       [TEXT] = "text",
	[RULE] = "rule",       [SEVERITY] = "severity",
	[DETAIL] = "detail",   [VERDICT] = "verdict",
	[HOST] = "host",       [CAUSE] = "cause",
	[VERB] = "verb",       [TO] = "to",
	[PROGRAM] = "program", [FIX] = "fix",
};

static const char *const numbers[] = { "pid",	     "status", "code",
				       "operations", "left",   "port" };

struct parse {
	struct buf *strings;
	struct hb_event *record;
	bool has[FIELDS];
	size_t at[FIELDS];
};

static bool is_named(const struct json_member *m, const char *name)
{
	return m->n_key == strlen(name) && memcmp(m->key, name, m->n_key) == 0;
}

static void take_number(struct parse *p, const struct json_member *m)
{
	char digits[24];

	if (m->n >= sizeof(digits))
		return;
	memcpy(digits, m->value, m->n);
	digits[m->n] = '\0';
	p->record->has_number = num_u64(digits, &p->record->number) >= 0;
}

/* Of type json_member_fn. */
static void take_member(void *ctx, const struct json_member *m)
{
	struct parse *p = ctx;

	if (m->depth != 1 || !m->value || m->n == 0)
		return;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (is_named(m, numbers[i]))
			take_number(p, m);
	if (is_named(m, "allowed"))
		p->record->is_allowed = m->value[0] == 't';
	if (is_named(m, "answer"))
		p->record->answer = m->value[0] == 't';
	for (size_t i = 0; m->value[0] == '"' && i < FIELDS; i++) {
		if (!is_named(m, names[i]))
			continue;
		p->at[i] = p->strings->len;
		p->has[i] = json_text_of(m->value, m->n, p->strings) >= 0 &&
			    buf_add_char(p->strings, '\0') >= 0;
	}
}

/* 1: it is a record. */
static int parse_line(struct log_reader *reader, const char *line, size_t n,
		      struct hb_event *ret)
{
	struct parse p = { .strings = &reader->strings, .record = ret };
	const char *found[FIELDS] = { 0 };

	*ret = (struct hb_event){ .line = line, .n_line = n - 1 };
	ret->seq = log_seq_of(line, n);
	buf_cut(&reader->strings, 0);
	reader->strings.error = 0;
	if (ret->seq == 0 || line[n - 1] != '\n' ||
	    json_each_member(line, n - 1, take_member, &p) < 0)
		return 0;
	for (size_t i = 0; i < FIELDS; i++)
		if (p.has[i])
			found[i] = reader->strings.data + p.at[i];
	if (!found[KIND] || !found[TIME] ||
	    time_parse(found[TIME], &ret->seconds) < 0)
		return 0;
	ret->time = found[TIME];
	ret->kind = found[KIND];
	ret->session = found[SESSION];
	ret->id = found[ID];
	ret->project = found[PROJECT];
	ret->source = found[SOURCE];
	ret->path = found[PATH];
	ret->text = found[TEXT];
	ret->rule = found[RULE];
	ret->severity = found[SEVERITY];
	ret->detail = found[DETAIL];
	ret->verdict = found[VERDICT];
	ret->host = found[HOST];
	ret->cause = found[CAUSE];
	ret->verb = found[VERB];
	ret->to = found[TO];
	ret->program = found[PROGRAM];
	ret->fix = found[FIX];
	return 1;
}

int log_reader_next(struct log_reader *reader, struct hb_event *ret,
		    struct hb_error *err)
{
	const char *line;
	size_t n;
	int r = 1;

	while (r > 0) {
		r = reader->segment > 0
			    ? log_lines_next(&reader->lines, &line, &n)
			    : 0;
		if (r > 0 && parse_line(reader, line, n, ret) > 0)
			return 1;
		if (r == 0)
			r = go_on(reader);
	}
	return r < 0 ? hb_fail(err, r, "cannot read the log") : 0;
}
