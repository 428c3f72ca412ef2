/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a session's transaction by the names in its directories: each
 * row, combinations that are in none, and the page that has the rows for
 * people.  That every kill leaves a row is t_crash's.
 */
#include "txn/check.h"

#include "base/error.h"
#include "txn/history.h"
#include "txn/journal.h"
#include "world.h"

#include <errno.h>

/* Makes the name, with the directory above it. */
static void plant(struct world *w, const char *path)
{
	char dir[64];
	const char *slash = strrchr(path, '/');

	if (slash) {
		(void)snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path),
			       path);
		if (mkdirat(w->session, dir, 0700) < 0)
			CHECK_INT(errno, EEXIST);
	}
	put_file(w->session, path, "planted");
}

/* A journal without operations, published. */
static void plant_journal(struct world *w, enum journal_kind kind, uint64_t id)
{
	const struct journal_head head = { .kind = kind,
					   .n_resources = 1,
					   .id = id };
	struct journal_writer *writer = NULL;
	struct hb_error err = { 0 };
	bool is_uncertain;

	CHECK_INT(journal_begin(w->session, JOURNAL_COMMIT, &writer, &err), 0);
	CHECK_INT(journal_publish(writer, &head, &is_uncertain, &err), 0);
	journal_writer_free(writer);
}

static void plant_done(struct world *w)
{
	struct journal *journal = NULL;
	struct hb_error err = { 0 };

	CHECK_INT(journal_open(w->session, "journal", &journal, &err), 0);
	CHECK_INT(journal_write_done(w->session, journal_head(journal)->hash,
				     &err),
		  0);
	journal_free(journal);
}

struct plot {
	const char *row; /* NULL: in none */
	enum journal_kind kind;
	bool is_done;
	uint64_t id; /* 0: no journal */
	const char *names[4];
	const char *told; /* among the names of the failure */
};

#define NONE JOURNAL_KINDS

static const struct plot plots[] = {
	{ "idle", NONE, false, 0, { NULL }, NULL },
	{ "idle", NONE, false, 0, { "done/1", "undone/2" }, NULL },
	{ "idle", NONE, false, 0, { "done/1", "r0/undo/1", "r0/txn/1" }, NULL },
	{ "idle", NONE, false, 0, { "r0/undo/1" }, NULL },
	{ "idle", NONE, false, 0, { "r0/trash/3", "seen" }, NULL },
	{ "left over", NONE, false, 0, { "journal.done", "undone/7" }, NULL },
	{ "left over", NONE, false, 0, { "r0/txn/4", "done/3" }, NULL },
	{ "left over", NONE, false, 0, { "r0/parents.new" }, NULL },
	{ "planning", NONE, false, 0, { "journal.new", "r0/txn/4" }, NULL },
	{ "commit", JOURNAL_COMMIT, false, 4, { "done/3", "r0/txn/4" }, NULL },
	{ "commit", JOURNAL_ROLLBACK, false, 4, { "undone/3" }, NULL },
	{ "commit", JOURNAL_COMMIT, false, 4, { "journal.done" }, NULL },
	{ "commit", JOURNAL_COMMIT, false, 4, { "r0/txn/3" }, NULL },
	{ "undo", JOURNAL_UNDO, false, 4, { "done/4", "undone/5" }, NULL },
	{ "undo",
	  JOURNAL_UNDO,
	  false,
	  4,
	  { "done/4", "r0/parents.new" },
	  NULL },
	{ "redo", JOURNAL_REDO, false, 4, { "done/3", "undone/4" }, NULL },
	{ "commit done", JOURNAL_COMMIT, true, 4, { "undone/3" }, NULL },
	{ "undo done", JOURNAL_UNDO, true, 4, { "done/4" }, NULL },
	{ "undo done", JOURNAL_UNDO, true, 4, { "undone/5" }, NULL },
	{ "redo done", JOURNAL_REDO, true, 4, { "undone/4" }, NULL },
	{ "damaged", NONE, false, 0, { "journal", "r0/undo/1" }, NULL },

	{ NULL, JOURNAL_COMMIT, false, 4, { "journal.new" }, "journal.new" },
	{ NULL, NONE, false, 0, { "journal", "journal.new" }, "journal.new" },
	{ NULL, NONE, false, 0, { "done/7", "undone/7" }, "undone/7" },
	{ NULL, NONE, false, 0, { "done/7", "undone/6" }, "undone/6" },
	{ NULL, JOURNAL_COMMIT, false, 4, { "done/4" }, "done/4" },
	{ NULL, JOURNAL_COMMIT, false, 4, { "done/5" }, "done/5" },
	{ NULL, JOURNAL_COMMIT, false, 4, { "undone/5" }, "undone/5" },
	{ NULL, JOURNAL_UNDO, false, 4, { NULL }, "journal" },
	{ NULL, JOURNAL_UNDO, false, 4, { "undone/4" }, "undone/4" },
	{ NULL, JOURNAL_UNDO, false, 4, { "done/4", "done/5" }, "done/5" },
	{ NULL, JOURNAL_UNDO, true, 4, { "undone/4" }, "undone/4" },
	{ NULL,
	  JOURNAL_REDO,
	  false,
	  4,
	  { "undone/4", "undone/3" },
	  "undone/3" },
	{ NULL, JOURNAL_REDO, true, 4, { "done/4" }, "done/4" },
	{ NULL, JOURNAL_REDO, true, 4, { "journal.done.new" }, ".done.new" },
};

#define N_PLOTS (sizeof(plots) / sizeof(plots[0]))

static void build(const struct plot *p, struct world *w)
{
	world_init(w, 1, false);
	if (p->id != 0)
		plant_journal(w, p->kind, p->id);
	if (p->is_done)
		plant_done(w);
	for (size_t i = 0; i < 4 && p->names[i]; i++)
		plant(w, p->names[i]);
}

static void check_plot(const struct plot *p, size_t i)
{
	struct txn_state state = { 0 };
	struct hb_error err = { 0 };
	struct world w;
	int r;

	build(p, &w);
	r = txn_check(&w.txn, &state, &err);
	if (r < 0 && p->row)
		printf("# %zu: %s\n", i, err.text);
	if (r == 0 && !p->row)
		printf("# %zu: in '%s'\n", i, state.row->name);
	CHECK_INT(r, p->row ? 0 : -HB_E_STATE);
	if (p->row) {
		CHECK(strcmp(state.row->name, p->row) == 0);
	} else {
		CHECK(strstr(err.text, p->told) != NULL);
		CHECK(err.fix[0] != '\0');
	}
	world_done(&w);
}

static void each_combination_is_in_its_row_or_in_none(void)
{
	for (size_t i = 0; i < N_PLOTS; i++)
		check_plot(&plots[i], i);
}

/* The sweep would have removed the plan, and the journal have been run. */
static void recovery_touches_nothing_that_is_in_no_row(void)
{
	static const struct plot plot = { NULL, JOURNAL_COMMIT,	   false,
					  4,	{ "journal.new" }, NULL };
	enum txn_recovered what;
	struct hb_error err = { 0 };
	struct world w;

	build(&plot, &w);
	CHECK_INT(txn_recover(&w.txn, false, &what, &err), -HB_E_STATE);
	CHECK(strstr(err.text, "journal, journal.new") != NULL);
	CHECK(strstr(err.fix, "docs/transaction.md") != NULL);
	CHECK_INT(faccessat(w.session, "journal", F_OK, 0), 0);
	CHECK_INT(faccessat(w.session, "journal.new", F_OK, 0), 0);
	CHECK_INT(unlinkat(w.session, "journal.new", 0), 0);
	CHECK_INT(txn_recover(&w.txn, false, &what, &err), 0);
	CHECK_INT(what, RECOVERED_FORWARD);
	world_done(&w);
}

/* The columns behind the journal's, in the page's order. */
static const unsigned columns[] = {
	FACT_JOURNAL_NEW,  FACT_DONE_NEW,      FACT_DONE,
	FACT_DONE_OTHER,   FACT_FILED_DONE,    FACT_FILED_UNDONE,
	FACT_LOOSE_COPIES, FACT_LOOSE_OBJECTS, FACT_PARENTS,
};

static const char *const flights[FLIGHTS] = {
	[FLIGHT_NONE] = "-",	      [FLIGHT_COMMIT] = "commit or rollback",
	[FLIGHT_UNDO] = "undo",	      [FLIGHT_REDO] = "redo",
	[FLIGHT_DAMAGED] = "damaged",
};

/* The row as the page has it. */
static void print_row(const struct txn_row *row, struct buf *out)
{
	(void)buf_add_fmt(out, "| %s | %s |", row->name, flights[row->flight]);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		(void)buf_add_fmt(out, " %s |",
				  row->needs & columns[i] ? "must"
				  : row->may & columns[i] ? "may"
							  : "-");
	(void)buf_add_char(out, '\n');
}

static char *read_page(void)
{
	static char text[1 << 16];
	int fd = open(TRANSACTION_PAGE, O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, text, sizeof(text) - 1);

	CHECK(n > 0 && n < (ssize_t)sizeof(text) - 1);
	(void)close(fd);
	text[n] = '\0';
	return text;
}

static void the_page_has_the_same_rows(void)
{
	static const char head[] =
		"|---|---|---|---|---|---|---|---|---|---|---|\n";
	struct buf all = BUF_INIT(1 << 16);
	const char *table = strstr(read_page(), head);
	size_t n;
	const struct txn_row *rows = txn_rows(&n);

	for (size_t i = 0; i < n; i++)
		print_row(&rows[i], &all);
	/* A row that the page has besides would stand before the blank. */
	(void)buf_add_char(&all, '\n');
	CHECK(table != NULL);
	if (strncmp(table + strlen(head), buf_str(&all), all.len) != 0)
		printf("# the page has:\n%.2000s\n# and the code:\n%s",
		       table + strlen(head), buf_str(&all));
	CHECK(strncmp(table + strlen(head), buf_str(&all), all.len) == 0);
	buf_done(&all);
}

/* Both ways: no column is missing, and no row has a fact of none. */
static void every_fact_but_disorder_is_a_column(void)
{
	unsigned all = 0;
	size_t n;
	const struct txn_row *rows = txn_rows(&n);

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		all |= columns[i];
	CHECK_INT(all | FACT_DISORDER, FACTS_END - 1);
	for (size_t i = 0; i < n; i++) {
		CHECK_INT((rows[i].needs | rows[i].may) & ~all, 0);
		CHECK_INT(rows[i].needs & rows[i].may, 0);
	}
}

TESTS(T(each_combination_is_in_its_row_or_in_none),
      T(recovery_touches_nothing_that_is_in_no_row),
      T(the_page_has_the_same_rows), T(every_fact_but_disorder_is_a_column))
