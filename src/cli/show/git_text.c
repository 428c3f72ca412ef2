/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show/git_text.h"

#include "base/quote.h"
#include "cli/show/delivery_text.h"
#include "holdback/git.h"

#include <stdio.h>
#include <string.h>

#define IN_A_LINE 3 /* commits with their subject */
#define ID_SHOWN  7
#define WORDS_MAX 50 /* bytes of a subject */

struct listing {
	const struct hb_session_info *info;
	struct doc *doc;
};

/* Where references begin, and how each kind is shown. */
static const struct kind {
	const char *start;
	size_t cut; /* of the name: the rest is shown, behind `shown` */
	const char *shown, *added, *deleted;
} kinds[] = {
	{ "refs/heads/", 11, "", "new branch", "branch deleted" },
	{ "refs/tags/", 10, "tag ", "new tag", "tag deleted" },
	{ "refs/", 0, "", "new reference", "reference deleted" },
	/* A HEAD has no other value of its own. */
	{ "", 0, "", "detached, on no branch", "on a branch again" },
};

static const struct kind *kind_of(const char *name)
{
	const struct kind *kind = kinds;

	while (strncmp(name, kind->start, strlen(kind->start)) != 0)
		kind++;
	return kind;
}

static void add_subject(const char *subject, struct buf *out)
{
	size_t n = strlen(subject);

	if (n <= WORDS_MAX) {
		(void)quote_name(subject, n, out);
		return;
	}
	/* No character of UTF-8 is cut in two. */
	for (n = WORDS_MAX; n > 0 && (subject[n] & 0xc0) == 0x80;)
		n--;
	(void)quote_name(subject, n, out);
	(void)buf_add_str(out, "…");
}

/* "2 commits (abc1234 Add cache, def4567 Fix test)" */
static void add_commits(const struct hb_git_ref *ref, struct buf *out)
{
	size_t n = ref->n_told < IN_A_LINE ? ref->n_told : IN_A_LINE;

	(void)buf_add_fmt(out, "%llu commit%s",
			  (unsigned long long)ref->n_commits,
			  ref->n_commits == 1 ? "" : "s");
	for (size_t i = 0; i < n; i++) {
		(void)buf_add_fmt(out, "%s%.*s", i > 0 ? ", " : " (", ID_SHOWN,
				  ref->commits[i].id);
		if (ref->commits[i].subject[0]) {
			(void)buf_add_char(out, ' ');
			add_subject(ref->commits[i].subject, out);
		}
	}
	if (n > 0)
		(void)buf_add_str(out, ref->n_commits > n ? ", …)" : ")");
}

static void add_move(const struct hb_git_ref *ref, const struct kind *kind,
		     struct buf *out)
{
	if (!ref->new)
		(void)buf_add_str(out, kind->deleted);
	else if (!ref->old)
		(void)buf_add_str(out, kind->added);
	else if (ref->n_commits == 0)
		(void)buf_add_fmt(out, "moved to %.*s", ID_SHOWN, ref->new);
	if (ref->n_commits > 0 && !ref->old)
		(void)buf_add_str(out, ", ");
	if (ref->n_commits > 0)
		add_commits(ref, out);
	if (ref->n_lost > 0)
		(void)buf_add_fmt(
			out, "; %llu commit%s of it %s in no branch any more",
			(unsigned long long)ref->n_lost,
			ref->n_lost == 1 ? "" : "s",
			ref->n_lost == 1 ? "is" : "are");
	if (ref->is_unknown)
		(void)buf_add_str(out, "; its commits are too many to count");
}

int git_text_line(const struct hb_git_ref *ref, struct buf *out)
{
	const struct kind *kind;
	const char *name;

	/* Its own repository is known without. */
	if (strcmp(ref->repository, ".git") != 0 && ref->repository[0]) {
		(void)quote_name(ref->repository, strlen(ref->repository), out);
		(void)buf_add_char(out, ' ');
	}
	if (!ref->name)
		return buf_add_str(
			out, "references that cannot be read or are too many");
	kind = kind_of(ref->name);
	name = ref->name + kind->cut;
	(void)buf_add_str(out, kind->shown);
	(void)quote_name(name, strlen(name), out);
	(void)buf_add_str(out, ": ");
	add_move(ref, kind, out);
	return out->error;
}

static void add_object(const struct hb_git_ref *ref, const char *source,
		       struct doc *doc)
{
	json_object(&doc->json);
	doc_str(doc, "source", source);
	doc_str(doc, "repository", ref->repository);
	if (ref->name)
		doc_str(doc, "ref", ref->name);
	if (ref->old)
		doc_str(doc, "old", ref->old);
	if (ref->new)
		doc_str(doc, "new", ref->new);
	doc_uint(doc, "count", ref->n_commits);
	doc_uint(doc, "lost", ref->n_lost);
	doc_bool(doc, "unknown", ref->is_unknown);
	json_key(&doc->json, "commits");
	json_array(&doc->json);
	for (size_t i = 0; i < ref->n_told; i++) {
		json_object(&doc->json);
		doc_str(doc, "id", ref->commits[i].id);
		doc_str(doc, "subject", ref->commits[i].subject);
		json_end(&doc->json);
	}
	json_end(&doc->json);
	json_end(&doc->json);
}

/* Of type hb_git_fn. */
static int show_one(void *ctx, const struct hb_git_ref *ref,
		    struct hb_error *err)
{
	const struct listing *l = ctx;
	struct doc *doc = l->doc;

	if (doc->is_json) {
		add_object(ref, l->info->resources[ref->resource].source, doc);
		return doc_flow(doc, err);
	}
	(void)buf_add_str(&doc->out, "  ");
	(void)git_text_line(ref, &doc->out);
	(void)buf_add_char(&doc->out, '\n');
	return doc_flow(doc, err);
}

int git_show(struct hb_session *session, struct hb_changes *changes,
	     struct doc *doc, struct hb_error *err)
{
	struct listing listing = { hb_session_info(session), doc };
	const struct hb_delivery *list;
	size_t n;
	int r;

	if (doc->is_json) {
		json_key(&doc->json, "git");
		json_array(&doc->json);
	}
	r = hb_changes_git(session, changes, show_one, &listing, err);
	if (doc->is_json)
		json_end(&doc->json);
	list = hb_session_deliveries(session, &n);
	if (doc->is_json)
		deliveries_json(list, n, doc);
	else
		deliveries_show(list, n, "  ", &doc->out);
	return r;
}
