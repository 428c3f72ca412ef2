/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/linked.h"

#include "base/error.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "tree/carry.h"
#include "tree/tree.h"

#include <errno.h>
#include <stdio.h>

int linked_copy(struct linked *linked, const struct carry *carry,
		uint64_t group, int to, const char *name, struct hb_error *err)
{
	struct sys_attr a;
	char first[32];
	int r;

	(void)snprintf(first, sizeof(first), "%c%llu", linked->prefix,
		       (unsigned long long)group);
	r = sys_attr_at(linked->dir, first, &a);
	if (r == -ENOENT) {
		linked->is_used = true;
		r = carry_copy(carry, linked->dir, first, err);
	}
	if (r < 0)
		return r;
	r = sys_linkat(linked->dir, first, to, name);
	return r < 0 ? hb_fail(err, r, "cannot link the copy of a file") : 0;
}

static int drop_first_name(void *ctx, const struct tree_visit *v,
			   struct hb_error *err)
{
	const struct linked *linked = ctx;
	int r;

	if (v->name[0] != linked->prefix)
		return 0;
	r = sys_unlinkat(v->dir, v->name, 0);
	return r < 0 ? hb_fail(err, r, "cannot finish the copies") : 0;
}

int linked_end(const struct linked *linked, struct hb_error *err)
{
	struct linked ctx = *linked;

	if (!linked->is_used)
		return 0;
	return tree_walk(linked->dir, ".", TREE_FLAT, drop_first_name, &ctx,
			 err);
}
