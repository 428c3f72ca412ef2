/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/net/why_host.h"

#include "cli/show/doc.h"
#include "holdback/net.h"

void why_add_origin(struct doc *doc, const struct hb_config_value *by)
{
	if (!by->key)
		return;
	doc_str(doc, "key", by->key);
	doc_str(doc, "value", by->value);
	doc_str(doc, "source", by->source);
	if (by->file)
		doc_str(doc, "file", by->file);
	if (by->line)
		doc_uint(doc, "line", by->line);
}

void why_add_host(void *context, const struct hb_net_why *why)
{
	struct doc *doc = context;

	if (doc->is_json) {
		doc_str(doc, "host", why->host);
		doc_uint(doc, "port", why->port);
		doc_str(doc, "what", why->what);
		doc_str(doc, "reason", why->words);
		if (why->rule)
			doc_str(doc, "rule", why->rule);
		if (why->group)
			doc_str(doc, "group", why->group);
		why_add_origin(doc, &why->by);
		return;
	}
	(void)buf_add_fmt(&doc->out, "%s port %u: %s: %s\n", why->host,
			  why->port, why->what, why->words);
	if (why->rule)
		(void)buf_add_fmt(&doc->out, "%s  ", why->rule);
	if (why->group)
		(void)buf_add_fmt(&doc->out, "of @%s  ", why->group);
	if (why->by.key)
		(void)buf_add_fmt(&doc->out, "# %s\n", why->by.words);
	else if (why->port == 443)
		(void)buf_add_fmt(&doc->out, "--allow %s would allow it\n",
				  why->host);
	else
		(void)buf_add_fmt(&doc->out, "--allow %s:%u would allow it\n",
				  why->host, why->port);
}
