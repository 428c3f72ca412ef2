/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/diff/ended.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/num.h"
#include "cli/commands/cmd_session.h"
#include "cli/diff/git2.h"
#include "cli/diff/tally.h"
#include "cli/diff/way_on.h"
#include "cli/show/colour.h"
#include "cli/show/delivery_text.h"
#include "cli/show/doc.h"
#include "cli/show/ended_doc.h"
#include "cli/show/git_text.h"
#include "cli/show/reports.h"
#include "cli/show/say.h"
#include "cli/show/show.h"
#include "cli/show/sync_text.h"
#include "cli/show/wrap.h"
#include "holdback/git.h"
#include "holdback/holdback.h"
#include "holdback/session.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* More rows than this are for `status`; lines of more are not counted. */
#define ROWS_MAX  20
#define COUNT_MAX 200
#define BYTES_MAX ((uint64_t)8 << 20)

#define TEXT_MAX  ((size_t)1 << 20)
#define NAME_WIDE 60

#define REFS_MAX   10 /* lines about branches and tags */
#define SIGNAL_MAX 64

struct ended {
	char *const *envp;
	char **command; /* its words; NULL at the end, and may have none */
	int json_fd;	/* for the document of the end; 0: none */
	struct hb_run_result result;
	struct hb_session *session;
	struct hb_changes *changes;
	struct tally tally;
	bool has_lines, has_colour;
	size_t n_refs;
	struct buf out;
};

static int name_of(const struct ended *e, const struct hb_change *change,
		   struct buf *out)
{
	const struct hb_session_info *info = hb_session_info(e->session);

	if (change->from) {
		(void)show_path(info, change, change->from, out);
		(void)buf_add_str(out, " -> ");
	}
	return show_path(info, change, change->path, out);
}

/* A directory that comes or goes is told by what is in it. */
static bool is_mere_directory(const struct hb_change *c)
{
	return c->is_directory && !c->is_git &&
	       (c->kind == 'A' || c->kind == 'D');
}

static void add_painted(struct ended *e, enum colour colour, const char *words)
{
	(void)buf_add_fmt(&e->out, "%s%s%s",
			  colour_begin(e->has_colour, colour), words,
			  colour_end(e->has_colour, colour));
}

static int add_row(struct ended *e, const struct hb_change *change,
		   const struct tally_row *row, size_t wide)
{
	const char kind[] = { change->kind, '\0' };
	auto_buf struct buf name = BUF_INIT(TEXT_MAX);
	char plus[32], minus[32];
	struct buf *out = &e->out;
	size_t n;

	if (name_of(e, change, &name) < 0)
		return name.error;
	(void)buf_add_str(out, "  ");
	add_painted(e, colour_of_kind(change->kind), kind);
	(void)buf_add_fmt(out, "  %s", buf_str(&name));
	n = wrap_width(buf_str(&name), name.len);
	if (row && row->plus != TALLY_NO_LINES && (row->plus || row->minus)) {
		(void)buf_add_fill(out, ' ', n < wide ? wide - n : 0);
		(void)snprintf(plus, sizeof(plus), "  +%u", row->plus);
		(void)snprintf(minus, sizeof(minus), "  -%u", row->minus);
		if (row->plus)
			add_painted(e, COLOUR_ADDED, plus);
		if (row->minus)
			add_painted(e, COLOUR_DELETED, minus);
	}
	return buf_add_char(out, '\n');
}

/* Twice: the widest name is known after the first. */
static int add_rows(struct ended *e, bool measure, size_t *wide,
		    struct hb_error *err)
{
	struct hb_change change;
	struct show_walk walk;
	size_t i = 0, n = 0;
	int r;

	show_walk_init(&walk, e->changes, false);
	while ((r = show_walk_next(&walk, &change, err)) == 1) {
		const struct tally_row *row = e->has_lines && i < e->tally.n
						      ? &e->tally.rows[i]
						      : NULL;

		i++;
		if (is_mere_directory(&change) || ++n > ROWS_MAX)
			continue;
		if (measure) {
			auto_buf struct buf name = BUF_INIT(TEXT_MAX);

			r = name_of(e, &change, &name);
			if (r >= 0 &&
			    wrap_width(buf_str(&name), name.len) > *wide)
				*wide = wrap_width(buf_str(&name), name.len);
		} else {
			r = add_row(e, &change, row, *wide);
		}
		if (r < 0)
			break;
	}
	show_walk_done(&walk);
	if (*wide > NAME_WIDE)
		*wide = NAME_WIDE;
	if (r < 0)
		return r;
	if (!measure && n > ROWS_MAX)
		(void)buf_add_fmt(&e->out, "  … and %zu more\n", n - ROWS_MAX);
	return hb_changes_rewind(e->changes, err);
}

/* Of type hb_git_fn. */
static int add_ref(void *ctx, const struct hb_git_ref *ref,
		   struct hb_error *err)
{
	struct ended *e = ctx;

	(void)err;
	if (e->n_refs++ >= REFS_MAX)
		return 0;
	(void)buf_add_str(&e->out, "  ");
	(void)git_text_line(ref, &e->out);
	return buf_add_char(&e->out, '\n');
}

/* What the command did with git, and what a commit would make of it. */
static int add_refs(struct ended *e, struct hb_error *err)
{
	const struct hb_delivery *list;
	size_t n = 0;
	int r;

	if (hb_changes_summary(e->changes)->n_git == 0)
		return 0;
	r = hb_changes_git(e->session, e->changes, add_ref, e, err);
	if (r >= 0 && e->n_refs > REFS_MAX)
		(void)buf_add_fmt(&e->out, "  … and %zu more of git\n",
				  e->n_refs - REFS_MAX);
	/* That a branch moves forward is said by its line above. */
	list = hb_session_deliveries(e->session, &n);
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i].verdict, "forward") != 0)
			deliveries_show(&list[i], 1, "  ", &e->out);
	return r;
}

/* The last line: the command that goes on, of the agent as well. */
static int add_way_on(struct ended *e)
{
	add_painted(e, COLOUR_HEAD, "Go on:");
	(void)buf_add_char(&e->out, ' ');
	(void)way_on_add(e->command, e->envp, &e->out);
	return buf_add_char(&e->out, '\n');
}

static int make_picture(struct ended *e, struct hb_error *err)
{
	const struct hb_summary *summary = hb_changes_summary(e->changes);
	const char *name = hb_session_info(e->session)->name;
	size_t wide = 0;
	int r = 0;

	e->has_lines =
		summary->n_files <= COUNT_MAX && summary->bytes <= BYTES_MAX;
	if (e->has_lines) {
		r = git2_start(err);
		if (r >= 0) {
			r = tally_count(&e->tally, err);
			git2_stop();
		}
	}
	if (r >= 0)
		r = add_rows(e, true, &wide, err);
	if (r >= 0)
		r = add_rows(e, false, &wide, err);
	if (r >= 0)
		r = add_refs(e, err);
	if (r < 0)
		return r;
	(void)show_summary_lines(summary, e->has_lines ? &e->tally.lines : NULL,
				 &e->out);
	(void)buf_add_char(&e->out, '\n');
	add_painted(e, COLOUR_HEAD, "Next:");
	(void)buf_add_fmt(&e->out,
			  " holdback diff @%s · holdback commit @%s ·\n"
			  "      holdback rollback @%s\n",
			  name, name, name);
	return add_way_on(e);
}

static int make_line(struct ended *e, struct hb_error *err)
{
	int r;

	(void)buf_add_fmt(&e->out, "holdback: session %s is kept: ",
			  hb_session_info(e->session)->name);
	(void)show_summary(hb_changes_summary(e->changes), &e->out);
	(void)buf_add_char(&e->out, '\n');
	r = add_refs(e, err);
	return r < 0 ? r : add_way_on(e);
}

static int show(struct ended *e, struct hb_error *err)
{
	const struct hb_changes_options options = { .without_hash = true };
	int r;

	r = hb_session_changes(e->session, &options, &e->changes, err);
	if (r < 0)
		return r;
	if (!show_has_changes(hb_changes_summary(e->changes), true)) {
		r = hb_session_forget(e->session, e->changes, err);
		if (r > 0)
			e->result.session[0] = '\0';
		if (r != 0)
			return r;
	}
	r = hb_changes_record(e->session, e->changes, err);
	if (r < 0 || e->result.is_quiet)
		return r;
	e->has_colour = colour_is_on(STDERR_FILENO);
	tally_init(&e->tally, hb_session_info(e->session), e->changes, false);
	r = hb_is_terminal(STDERR_FILENO) ? make_picture(e, err)
					  : make_line(e, err);
	tally_done(&e->tally);
	if (r >= 0 && !e->out.error)
		cli_put(buf_str(&e->out));
	return r;
}

/* The run as the front end has it, and without a session that is gone. */
static void tell_result(struct ended *e)
{
	auto_doc struct doc doc = { .fd = e->json_fd };

	if (e->json_fd == 0)
		return;
	ended_doc_begin(&doc, &e->result);
	if (e->changes && e->result.session[0]) {
		/* A document without it is better than none. */
		(void)sync_text_show(e->session, &doc, NULL);
		(void)git_show(e->session, e->changes, &doc, NULL);
		show_summary_json(hb_changes_summary(e->changes), &doc);
	}
	(void)doc_end(&doc, NULL);
}

/* STATUS SIGNAL typed|sent quiet|loud FD MS NESTED COMMAND… */
static int read_end(char **words, struct ended *e)
{
	int64_t status, signal, fd;

	for (int i = 0; i < 7; i++)
		if (!words[i])
			return -HB_E_USAGE;
	if (num_int(words[0], 0, 255, &status) < 0 ||
	    num_int(words[1], 0, SIGNAL_MAX, &signal) < 0 ||
	    num_int(words[4], 0, INT_MAX, &fd) < 0 ||
	    num_int(words[5], 0, INT64_MAX, &e->result.ms) < 0 ||
	    num_int(words[6], -1, INT64_MAX, &e->result.n_nested) < 0)
		return -HB_E_USAGE;
	e->result.status = (int)status;
	e->result.death.signal = (int)signal;
	e->result.death.is_typed = strcmp(words[2], "typed") == 0;
	e->result.is_quiet = strcmp(words[3], "quiet") == 0;
	e->json_fd = (int)fd;
	e->command = words + 7;
	return 0;
}

int ended_show(char **words, char *const *envp)
{
	struct ended e = { .out = BUF_INIT(TEXT_MAX), .envp = envp };
	struct reports reports;
	const struct hb_store_options options = {
		.envp = envp,
		.listener = &reports.listener,
	};
	struct hb_store *store = NULL;
	struct hb_error err = { 0 };
	int r;

	if (!words[0] || read_end(words + 1, &e) < 0)
		return HB_EXIT_OURS;
	(void)snprintf(e.result.session, sizeof(e.result.session), "%s",
		       words[0] + 1);
	reports_init(&reports, envp);
	r = hb_store_open(&options, false, &store, &err);
	if (r >= 0)
		r = hb_session_open(store, words[0], HB_OPEN_CHANGE, &e.session,
				    &err);
	if (r >= 0)
		r = show(&e, &err);
	if (r < 0)
		(void)cli_fail(&err);
	tell_result(&e);
	hb_changes_free(e.changes);
	hb_session_free(e.session);
	hb_store_free(store);
	buf_done(&e.out);
	return cli_end(e.result.status, &e.result.death);
}
