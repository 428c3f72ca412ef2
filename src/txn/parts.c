/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/parts.h"

#include "base/error.h"
#include "changes/part.h"
#include "sys/file.h"
#include "txn/apply.h"
#include "txn/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>

typedef int (*part_fn)(const struct resource *resource, uint64_t id,
		       struct hb_error *err);

bool parts_are_there(const struct txn *txn)
{
	for (size_t i = 0; i < txn->n_resources; i++)
		if (!part_is_layers(&txn->resources[i]))
			return true;
	return false;
}

int parts_open_base(const struct resource *resource)
{
	return part_is_layers(resource) ? sys_openat(resource->base, ".",
						     O_RDONLY | O_DIRECTORY, 0)
					: -EACCES;
}

/* A journal that is taken back undoes what it did, and an undo does it again.
 */
static part_fn choose(const struct part *part, uint32_t kind, bool taken_back)
{
	if ((kind == JOURNAL_UNDO) != taken_back)
		return part->undo;
	if (kind == JOURNAL_COMMIT)
		return part->commit;
	if (kind == JOURNAL_ROLLBACK)
		return part->rollback;
	return part->redo;
}

int parts_run(const struct apply *a, bool taken_back, struct hb_error *err)
{
	const struct journal_head *head = journal_head(a->journal);

	if (!(head->flags & JOURNAL_HAS_PARTS))
		return 0;
	for (size_t i = 0; i < a->txn->n_resources; i++) {
		const struct resource *resource = &a->txn->resources[i];
		int r;

		if (part_is_layers(resource))
			continue;
		r = choose(part_of(resource), head->kind,
			   taken_back)(resource, head->id, err);
		if (r < 0)
			return hb_fail(err, r, "'%s'",
				       resource->record->source);
	}
	return 0;
}
