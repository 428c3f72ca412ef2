/* SPDX-License-Identifier: Apache-2.0 */
#include "review/git/placed_index.h"

#include "base/auto.h"
#include "base/time.h"
#include "changes/git/delivered.h"
#include "git/kept/kept_index.h"
#include "review/git/deliveries.h"
#include "session/session.h"
#include "sys/attr.h"
#include "tree/access.h"

#include <stdlib.h>
#include <string.h>

void placed_index_done(struct placed_index *index)
{
	free(index->path);
	free(index->data);
	*index = (struct placed_index){ 0 };
}

void placed_index_note(struct placed_index *index,
		       const struct delivered_item *item)
{
	placed_index_done(index);
	index->data = malloc(item->size + 1);
	if (!index->data)
		return;
	memcpy(index->data, item->data, item->size);
	index->path = strdup(item->path);
	index->size = item->size;
	index->ino = item->old.ino;
	index->ctime = item->old.ctime;
}

void placed_index_keep(const struct deliver *deliver)
{
	for (size_t i = 0; i < deliver->n; i++) {
		const struct placed_index *index = &deliver->repos[i].index;
		size_t resource = deliver->repos[i].resource;

		/* Without it, more is a conflict than has to be. */
		if (index->path)
			(void)kept_index_put(
				deliver->session->resources[resource].dir,
				index->path, index->data, index->size);
	}
}

bool placed_index_is_late(const struct deliver *deliver)
{
	for (size_t i = 0; i < deliver->n; i++) {
		const struct placed_index *index = &deliver->repos[i].index;
		size_t resource = deliver->repos[i].resource;
		struct sys_attr now;
		uint64_t size;
		auto_fd int fd = -1;

		if (!index->path)
			continue;
		fd = access_open_regular(
			deliver->session->resources[resource].base, index->path,
			&size);
		if (fd >= 0 && sys_attr_at(fd, "", &now) >= 0 &&
		    (now.ino != index->ino ||
		     !time_is_same(now.ctime, index->ctime)))
			return true;
	}
	return false;
}
