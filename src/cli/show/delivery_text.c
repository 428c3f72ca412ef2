/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show/delivery_text.h"

#include "base/quote.h"

#include <string.h>

bool delivery_text_line(const struct hb_delivery *delivery, struct buf *out)
{
	const char *path = delivery->path;

	if (!delivery->text)
		return false;
	/* The project's own repository is known without. */
	if (path[0] && strcmp(path, ".git") != 0) {
		(void)quote_name(path, strlen(path), out);
		(void)buf_add_str(out, ": ");
	}
	(void)buf_add_str(out, delivery->text);
	if (delivery->fix)
		(void)buf_add_fmt(out, "; %s", delivery->fix);
	return true;
}

void deliveries_show(const struct hb_delivery *list, size_t n,
		     const char *indent, struct buf *out)
{
	for (size_t i = 0; i < n; i++) {
		if (!list[i].text)
			continue;
		(void)buf_add_str(out, indent);
		(void)delivery_text_line(&list[i], out);
		(void)buf_add_char(out, '\n');
	}
}

static void add_standing(const struct hb_delivery *delivery, struct doc *doc)
{
	json_key(&doc->json, "git");
	json_object(&doc->json);
	if (delivery->head_branch)
		doc_str(doc, "branch", delivery->head_branch);
	if (delivery->base)
		doc_str(doc, "base", delivery->base);
	doc_str(doc, "head", delivery->head);
	doc_uint(doc, "ahead", delivery->n_ahead);
	doc_uint(doc, "behind", delivery->n_behind);
	doc_bool(doc, "merged", delivery->is_merged);
	json_end(&doc->json);
}

void deliveries_json(const struct hb_delivery *list, size_t n, struct doc *doc)
{
	json_key(&doc->json, "deliveries");
	json_array(&doc->json);
	for (size_t i = 0; i < n; i++) {
		json_object(&doc->json);
		doc_uint(doc, "resource", list[i].resource);
		doc_str(doc, "path", list[i].path);
		doc_str(doc, "verdict", list[i].verdict);
		if (list[i].branch) {
			doc_str(doc, "branch", list[i].branch);
			doc_uint(doc, "commits", list[i].n_commits);
		}
		if (list[i].head)
			add_standing(&list[i], doc);
		if (list[i].text)
			doc_str(doc, "text", list[i].text);
		if (list[i].fix)
			doc_str(doc, "fix", list[i].fix);
		json_end(&doc->json);
	}
	json_end(&doc->json);
}
