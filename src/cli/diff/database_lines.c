/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/diff/database_lines.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/json.h"
#include "base/quote.h"
#include "cli/diff/paint.h"
#include "cli/diff/patch.h"
#include "cli/diff/remarks.h"
#include "cli/show/doc.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct remarks {
	struct patch *patch;
	const struct hb_change *change;
};

/* Names and statements are the session's. */
static int remark_line(void *ctx, const struct hb_database_line *line,
		       struct hb_error *err)
{
	struct remarks *to = ctx;
	const char *text = quoted(line->text);

	(void)err;
	switch (line->kind) {
	case '+':
	case '-':
		remark_words(to->patch, to->change, "schema %c %s", line->kind,
			     text);
		break;
	case '!':
		remark_words(to->patch, to->change, "rows: %s", text);
		break;
	case '?':
		remark_words(to->patch, to->change,
			     "table %s: other columns; %llu rows, before %llu",
			     text, (unsigned long long)line->added,
			     (unsigned long long)line->removed);
		break;
	default:
		remark_words(to->patch, to->change,
			     "table %s%s: rows added %llu, removed %llu, "
			     "changed %llu",
			     text,
			     line->kind == 'A'	 ? " (new)"
			     : line->kind == 'D' ? " (gone)"
						 : "",
			     (unsigned long long)line->added,
			     (unsigned long long)line->removed,
			     (unsigned long long)line->changed);
		break;
	}
	return 0;
}

int database_remarks(struct patch *p, struct hb_changes *changes,
		     const struct hb_change *change, struct hb_error *err)
{
	struct remarks to = { p, change };
	int r = hb_changes_database(changes, remark_line, &to, err);

	return r < 0 ? r : 0;
}

struct members {
	struct doc *doc;
	bool is_begun;
};

static int add_line(void *ctx, const struct hb_database_line *line,
		    struct hb_error *err)
{
	struct members *to = ctx;
	const char kind[] = { line->kind, '\0' };

	(void)err;
	if (!to->is_begun) {
		json_key(&to->doc->json, "database");
		json_array(&to->doc->json);
		to->is_begun = true;
	}
	json_object(&to->doc->json);
	doc_str(to->doc, "kind", kind);
	if (strchr("+-!", line->kind)) {
		doc_str(to->doc, line->kind == '!' ? "words" : "sql",
			line->text);
	} else {
		doc_str(to->doc, "table", line->text);
		doc_uint(to->doc, "added", line->added);
		doc_uint(to->doc, "removed", line->removed);
		doc_uint(to->doc, "changed", line->changed);
	}
	json_end(&to->doc->json);
	return 0;
}

int database_members(struct hb_changes *changes, struct doc *doc,
		     struct hb_error *err)
{
	struct members to = { .doc = doc };
	int r = hb_changes_database(changes, add_line, &to, err);

	if (to.is_begun)
		json_end(&doc->json);
	return r < 0 ? r : 0;
}
