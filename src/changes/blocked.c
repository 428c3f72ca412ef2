/* SPDX-License-Identifier: Apache-2.0 */
#include "changes/blocked.h"

#include "base/path.h"
#include "changes/changes.h"
#include "changes/stream.h"

#include <stdlib.h>
#include <string.h>

void blocked_forget(struct changes *changes)
{
	free(changes->blocked);
	changes->blocked = NULL;
}

static bool is_in_the_way(const struct change *c)
{
	return (c->flags & CHANGE_CONFLICT) && c->new.type == ENTRY_DIR &&
	       c->old.type != ENTRY_NONE && c->old.type != ENTRY_DIR;
}

/* A directory comes before all that is in it. */
void blocked_lay_over(struct changes *changes, struct change *change)
{
	change->flags &= ~(unsigned)CHANGE_BLOCKED;
	if (changes->blocked &&
	    path_is_beneath(change->path, changes->blocked)) {
		change->flags |= CHANGE_BLOCKED;
		return;
	}
	blocked_forget(changes);
	/* Without memory the commit refuses, as without this. */
	if (is_in_the_way(change))
		changes->blocked = strdup(change->path);
}
