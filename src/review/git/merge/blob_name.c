/* SPDX-License-Identifier: Apache-2.0 */
#include "review/git/merge/blob_name.h"

#include "base/auto.h"
#include "base/error.h"
#include "git/githash.h"
#include "sys/file.h"
#include "tree/content.h"

#include <errno.h>
#include <limits.h>

#define BLOCK	 65536
#define EXECUTES 0100 /* all that git keeps of a mode */

enum gittree_mode blob_mode(const struct entry *entry)
{
	if (entry->type == ENTRY_LINK)
		return GITTREE_LINK;
	return entry->mode & EXECUTES ? GITTREE_PROGRAM : GITTREE_FILE;
}

static int name_link(const struct content_place *place, size_t digits,
		     struct git_id *ret, struct hb_error *err)
{
	char target[PATH_MAX + 1];
	ssize_t n = content_target(place, target, sizeof(target), err);
	struct githash hash;

	if (n < 0)
		return (int)n;
	githash_init_object(&hash, digits, git_type_word(GIT_BLOB),
			    (uint64_t)n);
	githash_add(&hash, target, (size_t)n);
	githash_end(&hash, ret);
	return 0;
}

static int name_file(const struct content_place *place, size_t digits,
		     struct git_id *ret, struct hb_error *err)
{
	uint64_t left = place->entry->size;
	auto_fd int fd = content_open(place, err);
	char block[BLOCK];
	struct githash hash;
	ssize_t n;

	if (fd < 0)
		return fd;
	githash_init_object(&hash, digits, git_type_word(GIT_BLOB), left);
	while ((n = sys_read(fd, block, sizeof(block))) > 0) {
		if ((uint64_t)n > left)
			break;
		left -= (uint64_t)n;
		githash_add(&hash, block, (size_t)n);
	}
	/* It grew or shrank: no content that anybody wrote has that name. */
	if (n >= 0 && (n > 0 || left > 0))
		n = -EBUSY;
	githash_end(&hash, ret);
	return n < 0 ? hb_fail_at(err, (int)n, place->path, "cannot read") : 0;
}

int blob_name(const struct content_place *place, size_t digits,
	      struct git_id *ret, struct hb_error *err)
{
	return place->entry->type == ENTRY_LINK
		       ? name_link(place, digits, ret, err)
		       : name_file(place, digits, ret, err);
}
