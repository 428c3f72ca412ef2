/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/item_readers.h"

#include "gate/attributes.h"
#include "gate/git_config.h"
#include "gate/items.h"
#include "gate/json_items.h"
#include "gate/line_items.h"
#include "gate/rules.h"

static int (*const readers[])(struct items *items, const char *text,
			      size_t n) = {
	[GATE_CONTENT_ATTRIBUTES] = items_read_attributes,
	[GATE_CONTENT_GIT_CONFIG] = items_read_git_config,
	[GATE_CONTENT_HOSTS] = items_read_hosts,
	[GATE_CONTENT_JSON] = items_read_json,
	[GATE_CONTENT_JSONC] = items_read_jsonc,
	[GATE_CONTENT_LINES] = items_read_lines,
};

int items_read(struct items *items, const char *text, size_t n)
{
	return readers[items->rule->content](items, text, n);
}
