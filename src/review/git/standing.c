/* SPDX-License-Identifier: Apache-2.0 */
#include "review/git/standing.h"

#include "base/auto.h"
#include "changes/begun/begun.h"
#include "git/ancestry.h"
#include "git/kept/kept_refs.h"
#include "git/objectstore.h"
#include "review/git/deciding.h"
#include "session/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SYMBOLIC "ref: "
#define BRANCHES SYMBOLIC "refs/heads/"

void standing_done(struct standing *standing)
{
	free(standing->branch);
	free(standing->beside);
	*standing = (struct standing){ 0 };
}

/* HEAD of the user's desk, and the commit below it if `now` has none. */
static int read_base(const struct deciding *d, struct git_id *now,
		     struct standing *ret)
{
	char head[sizeof(d->desk) + sizeof("/HEAD")];
	auto_free char *value = NULL, *below = NULL;
	int r;

	(void)snprintf(head, sizeof(head), "%s%sHEAD", d->desk,
		       d->desk[0] ? "/" : "");
	r = kept_refs_now(d->resource->base, d->unit->prefix, head, &value);
	if (r >= 0 && strncmp(value, BRANCHES, strlen(BRANCHES)) == 0) {
		ret->beside = strdup(value + strlen(BRANCHES));
		r = ret->beside
			    ? kept_refs_now(d->resource->base, d->unit->prefix,
					    value + strlen(SYMBOLIC), &below)
			    : -ENOMEM;
	}
	if (r >= 0 && !now->hex[0])
		(void)git_id_parse(below ? below : value,
				   strlen(below ? below : value), now);
	return r == -ENOMEM ? r : 0;
}

static int count(struct objectstore *objects, const struct git_id *new,
		 const struct git_id *old, uint64_t *ret)
{
	auto_ancestry struct ancestry found = { 0 };
	int r = ancestry_find(objects, new, 1, old, old->hex[0] != '\0',
			      &found);

	*ret = found.n;
	return r;
}

int standing_read(const struct deciding *d, struct standing *ret)
{
	const struct begun *begun = d->session->resources[d->tree].begun;
	const struct delivery *delivery = d->delivery;
	bool is_own = !delivery->head.hex[0] && begun;
	const char *branch = is_own ? begun->branch : delivery->head_branch;
	struct git_id now = delivery->now;
	struct objectstore *objects = NULL;
	int r = read_base(d, &now, ret);

	ret->then = delivery->then;
	ret->head = is_own ? delivery->tip : delivery->head;
	if (is_own)
		(void)git_id_parse(begun->commit, strlen(begun->commit),
				   &ret->then);
	ret->branch = branch ? strdup(branch) : NULL;
	if (branch && !ret->branch)
		r = -ENOMEM;
	if (r < 0 || !ret->head.hex[0])
		return r;
	r = deciding_objects(d, &objects);
	if (r >= 0)
		r = count(objects, &ret->head, &now, &ret->ahead);
	if (r >= 0 && now.hex[0])
		r = count(objects, &now, &ret->head, &ret->behind);
	ret->is_merged = r >= 0 && ret->ahead == 0;
	/* Too many to count: then nothing is told. */
	if (r < 0)
		ret->head = (struct git_id){ 0 };
	objectstore_free(objects);
	return r == -ENOMEM ? r : 0;
}
