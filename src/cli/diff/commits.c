/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/diff/commits.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/quote.h"
#include "cli/diff/commit_text.h"
#include "cli/diff/lines.h"
#include "cli/diff/paint.h"
#include "cli/diff/patch.h"
#include "cli/show/doc.h"
#include "cli/show/git_text.h"
#include "holdback/git.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX ((size_t)64 << 10)

struct commits {
	struct hb_log *log;
	const struct hb_session_info *info;
	struct patch patch; /* its sides are those of the present file */
	char *bytes[2];	    /* of the sides */
};

static int begin(struct commits *c, struct hb_session *session,
		 struct hb_changes *changes, struct paint *paint,
		 struct hb_error *err)
{
	*c = (struct commits){ .info = hb_session_info(session) };
	patch_init(&c->patch, paint, NULL, changes, false);
	return hb_changes_log(session, changes, &c->log, err);
}

static void drop_sides(struct commits *c)
{
	for (int i = 0; i < 2; i++) {
		free(c->bytes[i]);
		c->bytes[i] = NULL;
		c->patch.sides.of[i] = (struct side){ 0 };
	}
}

static void end(struct commits *c)
{
	drop_sides(c);
	patch_done(&c->patch);
	hb_log_free(c->log);
}

/* A side that cannot be read has its error. */
static int load(struct commits *c, const struct hb_commit_file *file,
		struct hb_error *err)
{
	const unsigned modes[] = { file->old_mode, file->new_mode };
	bool is_same = strcmp(file->old, file->new) == 0;

	drop_sides(c);
	for (int i = 0; i < 2; i++) {
		struct side *side = &c->patch.sides.of[i];
		size_t n = 0;
		int r = 0;

		side->is_there = modes[i] != 0;
		side->mode = modes[i];
		if (!side->is_there || is_same)
			continue;
		r = hb_log_read(c->log, (enum hb_side)i, SIDES_WHOLE,
				&c->bytes[i], &n);
		if (r == -ENOMEM)
			return hb_fail(err, r, "cannot read a commit's file");
		side->error = r;
		side->size = n;
		side->bytes = c->bytes[i];
		side->is_whole = r >= 0;
	}
	return 0;
}

/* Why a file has no text: git would show it. */
static void paint_unread(const struct commits *c,
			 const struct hb_commit_file *file, struct paint *paint)
{
	const char *const names[] = { file->old, file->new };

	for (int i = 0; i < 2; i++) {
		int error = c->patch.sides.of[i].error;

		if (error < 0)
			paint_words(paint, PAINT_META,
				    error == -EFBIG
					    ? "# %s is too large to be shown"
					    : "# %s is missing or damaged",
				    names[i]);
	}
}

static int paint_file(struct commits *c, const struct hb_commit_file *file,
		      struct paint *paint, struct hb_error *err)
{
	const char *const names[] = { file->old, file->new };
	int r = load(c, file, err);

	if (r < 0)
		return r;
	paint_unread(c, file, paint);
	r = patch_file(&c->patch, file->path, names, err);
	return r < 0 ? r : paint_flow(paint, err);
}

static int paint_files(struct commits *c, struct paint *paint,
		       struct hb_error *err)
{
	struct hb_commit_file file;
	bool is_first = true;
	int r;

	while ((r = hb_log_file(c->log, &file, err)) == 1) {
		if (is_first)
			paint_words(paint, PAINT_PLAIN, "%s", "");
		is_first = false;
		r = paint_file(c, &file, paint, err);
		if (r < 0)
			return r;
	}
	if (r == 2)
		paint_words(paint, PAINT_META,
			    "# more files differ: their trees are missing, "
			    "damaged or too large");
	return r < 0 ? r : paint_flow(paint, err);
}

/* Its own repository is known without. */
static void paint_repository(const char *dir, struct paint *paint)
{
	auto_buf struct buf line = BUF_INIT(WORDS_MAX);

	if (strcmp(dir, ".git") == 0 || !dir[0])
		return;
	(void)quote_name(dir, strlen(dir), &line);
	paint_words(paint, PAINT_META, "# repository %s", buf_str(&line));
}

/* Of type hb_git_fn: what no commit tells. */
static int paint_rest(void *ctx, const struct hb_git_ref *ref,
		      struct hb_error *err)
{
	struct paint *paint = ctx;
	auto_buf struct buf line = BUF_INIT(WORDS_MAX);

	if (ref->name && ref->new && ref->n_commits > 0 && ref->n_lost == 0)
		return 0;
	if (git_text_line(ref, &line) < 0)
		return hb_fail(err, line.error, "cannot name a reference");
	paint_words(paint, PAINT_META, "# git: %s", buf_str(&line));
	return paint_flow(paint, err);
}

static int paint_all(struct commits *c, struct paint *paint,
		     struct hb_error *err)
{
	const char *repository = NULL;
	struct hb_commit commit;
	bool is_first = true;
	int r;

	while ((r = hb_log_next(c->log, &commit, err)) > 0) {
		if (!is_first)
			paint_words(paint, PAINT_PLAIN, "%s", "");
		is_first = false;
		if (repository != commit.repository)
			paint_repository(commit.repository, paint);
		repository = commit.repository;
		if (r == 2) {
			paint_words(paint, PAINT_META,
				    "# its commits are too many to be shown");
			continue;
		}
		commit_text_paint(&commit, paint);
		r = paint_files(c, paint, err);
		if (r < 0)
			return r;
	}
	return r;
}

int commits_paint(struct hb_session *session, struct hb_changes *changes,
		  struct paint *paint, struct hb_error *err)
{
	struct commits c;
	int r = begin(&c, session, changes, paint, err);

	if (r >= 0)
		r = paint_all(&c, paint, err);
	if (r >= 0)
		r = hb_changes_git(session, changes, paint_rest, paint, err);
	end(&c);
	return r;
}

static void add_person(const char *key, const char *line, struct doc *doc)
{
	struct person p;
	char zone[16];

	person_parse(line, &p);
	(void)snprintf(zone, sizeof(zone), "%+05d", p.zone);
	json_key(&doc->json, key);
	json_object(&doc->json);
	json_key(&doc->json, "name");
	json_bytes(&doc->json, p.name, p.name_len);
	json_key(&doc->json, "mail");
	json_bytes(&doc->json, p.mail, p.mail_len);
	json_key(&doc->json, "time");
	json_int(&doc->json, p.time);
	doc_str(doc, "zone", zone);
	json_end(&doc->json);
}

static void add_list(const char *key, const char *const *words, size_t n,
		     struct doc *doc)
{
	json_key(&doc->json, key);
	json_array(&doc->json);
	for (size_t i = 0; i < n; i++)
		json_str(&doc->json, words[i]);
	json_end(&doc->json);
}

static void add_side(const char *mode_key, unsigned mode, const char *id_key,
		     const char *id, struct doc *doc)
{
	char text[16];

	if (mode == 0)
		return;
	(void)snprintf(text, sizeof(text), "%06o", mode);
	doc_str(doc, mode_key, text);
	doc_str(doc, id_key, id);
}

static int add_hunks(struct commits *c, struct doc *doc, struct hb_error *err)
{
	const struct sides *sides = &c->patch.sides;
	struct lines lines;
	int r;

	if (!sides_are_text(sides))
		return 0;
	r = lines_compare(sides, NULL, NULL, &lines, err);
	if (r < 0)
		return r;
	doc_uint(doc, "lines_added", lines.plus);
	doc_uint(doc, "lines_removed", lines.minus);
	return lines_json(sides, doc, err);
}

static int add_file(struct commits *c, const struct hb_commit_file *file,
		    struct doc *doc, struct hb_error *err)
{
	int r = load(c, file, err);

	if (r < 0)
		return r;
	json_object(&doc->json);
	doc_str(doc, "kind",
		file->old_mode == 0			      ? "A"
		: file->new_mode == 0			      ? "D"
		: (file->old_mode ^ file->new_mode) & 0170000 ? "T"
							      : "M");
	doc_str(doc, "path", file->path);
	add_side("old_mode", file->old_mode, "old", file->old, doc);
	add_side("new_mode", file->new_mode, "new", file->new, doc);
	if (strcmp(file->old, file->new) != 0)
		r = add_hunks(c, doc, err);
	json_end(&doc->json);
	return r < 0 ? r : doc_flow(doc, err);
}

static int add_commit(struct commits *c, const struct hb_commit *commit,
		      struct doc *doc, struct hb_error *err)
{
	struct hb_commit_file file;
	int r;

	doc_str(doc, "id", commit->id);
	doc_bool(doc, "missing", commit->is_missing);
	add_list("refs", commit->refs, commit->n_refs, doc);
	if (commit->is_missing)
		return 0;
	add_list("parents", commit->parents, commit->n_parents, doc);
	add_person("author", commit->author, doc);
	add_person("committer", commit->committer, doc);
	doc_str(doc, "message", commit->message);
	json_key(&doc->json, "files");
	json_array(&doc->json);
	while ((r = hb_log_file(c->log, &file, err)) == 1) {
		r = add_file(c, &file, doc, err);
		if (r < 0)
			break;
	}
	json_end(&doc->json);
	doc_bool(doc, "cut", r == 2);
	return r;
}

int commits_json(struct hb_session *session, struct hb_changes *changes,
		 struct doc *doc, struct hb_error *err)
{
	struct hb_commit commit;
	struct commits c;
	int r = begin(&c, session, changes, NULL, err);

	json_key(&doc->json, "commits");
	json_array(&doc->json);
	while (r >= 0 && (r = hb_log_next(c.log, &commit, err)) > 0) {
		/* That they are too many is told by "git". */
		if (r == 2)
			continue;
		json_object(&doc->json);
		doc_str(doc, "source",
			c.info->resources[commit.resource].source);
		doc_str(doc, "repository", commit.repository);
		r = add_commit(&c, &commit, doc, err);
		json_end(&doc->json);
		if (r >= 0)
			r = doc_flow(doc, err);
	}
	json_end(&doc->json);
	end(&c);
	return r;
}
