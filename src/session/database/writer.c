/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "holdback/holdback.h"
#include "session/database/database_box.h"
#include "session/database/unit.h"
#include "sys/file.h"
#include "txn/databases.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One process of libexec/holdback/db, which is told when to go on. */
struct database_writer {
	struct database_process process;
};

#define WORDS 400

/* What it answers: a letter of src/db/db.h. */
static int hear(struct database_writer *w, char wanted, struct hb_error *err)
{
	char heard = 0, words[WORDS];
	ssize_t n = sys_read(w->process.out, &heard, 1);

	if (n == 1 && heard == wanted)
		return 0;
	if (n == 1 && heard == 'B') {
		hb_fix(err, "try again when that program has ended its "
			    "transaction");
		return hb_fail(err, -HB_E_BUSY,
			       "another program has the database locked");
	}
	database_process_words(&w->process, words, sizeof(words));
	return hb_fail(err, n < 0 ? (int)n : -EIO, "%s",
		       words[0] ? words
				: "the program that writes the database ended");
}

static int tell(struct database_writer *w, char letter, struct hb_error *err)
{
	return hb_write_to(w->process.in, &letter, 1, err);
}

static void drop(struct database_writer *w)
{
	if (!w)
		return;
	database_process_end(&w->process);
	free(w);
}

static int begin(int base, const char *main, int dir, const char *from,
		 struct database_writer **ret, struct hb_error *err)
{
	struct database_writer *w = calloc(1, sizeof(*w));
	char helper[] = "db", write[] = "write", path[NAME_MAX + 32];
	auto_free char *name = strdup(main);
	char *argv[] = { helper, write, name, path, NULL };
	int r;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/3/%s", from);
	if (!w || !name) {
		free(w);
		return hb_fail(err, -ENOMEM, "cannot lock the database");
	}
	r = database_process_start(&w->process, base, dir, argv, err);
	if (r < 0) {
		free(w);
		return r;
	}
	r = hear(w, 'L', err);
	if (r < 0) {
		drop(w);
		return r;
	}
	*ret = w;
	return 0;
}

static int pages(struct database_writer *w, struct hb_error *err)
{
	int r = tell(w, 'p', err);

	return r < 0 ? r : hear(w, 'P', err);
}

static int end(struct database_writer *w, struct hb_error *err)
{
	int r = tell(w, 'c', err);

	if (r == 0)
		r = hear(w, 'D', err);
	drop(w);
	return r;
}

const struct txn_databases session_databases = {
	.clean = database_clean,
	.picture = database_picture,
	.begin = begin,
	.pages = pages,
	.end = end,
	.drop = drop,
};
