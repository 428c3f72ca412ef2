/* SPDX-License-Identifier: Apache-2.0 */
#include "changes/change_lines.h"

#include "base/error.h"
#include "changes/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HASH_VERSION "holdback lines 1\n"

int lines_begin(struct lines *lines, const struct changes_request *request,
		struct hb_error *err)
{
	lines->changes = calloc(1, sizeof(*lines->changes));
	if (!lines->changes)
		return hb_fail(err, -ENOMEM, "cannot list changes");
	lines->changes->resource = request->resource->number;
	sha256_init(&lines->hash);
	sha256_add(&lines->hash, HASH_VERSION, strlen(HASH_VERSION));
	return spill_init(&lines->changes->spill, request->spill_dir, err);
}

int lines_add(struct lines *lines, const struct change *change,
	      const void *content, size_t n, struct hb_error *err)
{
	const struct spilled record = { .change = *change };
	const uint8_t kind = (uint8_t)change->kind;
	uint64_t size = n;

	changes_count(&lines->changes->summary, change);
	sha256_add(&lines->hash, &kind, sizeof(kind));
	sha256_add(&lines->hash, change->path, strlen(change->path) + 1);
	sha256_add(&lines->hash, &size, sizeof(size));
	sha256_add(&lines->hash, content, n);
	return spill_add(&lines->changes->spill, &record, err);
}

int lines_end(struct lines *lines, struct changes **ret_changes,
	      struct hb_error *err)
{
	int r;

	sha256_end(&lines->hash, lines->changes->summary.hash);
	r = changes_rewind(lines->changes, err);
	if (r < 0)
		return r;
	*ret_changes = lines->changes;
	lines->changes = NULL;
	return 0;
}

void lines_drop(struct lines *lines)
{
	changes_free(lines->changes);
	lines->changes = NULL;
}
