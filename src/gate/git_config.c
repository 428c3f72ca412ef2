/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/git_config.h"

#include "base/gitconfig.h"
#include "gate/items.h"

static int add_key(void *ctx, const struct gitconfig_key *key)
{
	return items_add(ctx, key->name, key->n_name,
			 key->value ? key->value : "", key->n_value, key->line);
}

int items_read_git_config(struct items *items, const char *text, size_t n)
{
	size_t mark = items_skip_mark(text, n);

	return gitconfig_read(text + mark, n - mark, add_key, items);
}
