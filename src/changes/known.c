/* SPDX-License-Identifier: Apache-2.0 */
#include "changes/known.h"

#include "base/path.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "sys/place.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* In front of the records; the version is that of the records as well. */
#define MAGIC	  "holdback compared 3"
#define BOOT_SIZE (SPILL_HEAD - sizeof(MAGIC))

struct head {
	char magic[sizeof(MAGIC)];
	char boot[BOOT_SIZE];
};

static void fill_head(struct head *head, const char *boot)
{
	*head = (struct head){ .magic = MAGIC };
	(void)snprintf(head->boot, sizeof(head->boot), "%s", boot);
}

static void advance(struct known *known)
{
	/* A record that is damaged ends it, and what follows is not known. */
	known->has_record =
		spill_next(&known->spill, &known->record, NULL) == 1;
	known->n_read += known->has_record;
}

void known_begin(struct known *known, int file, uint64_t size)
{
	*known = (struct known){ .spill.file = -1 };
	spill_resume(&known->spill, file, size);
	advance(known);
}

void known_skip(struct known *known)
{
	if (known->has_record)
		advance(known);
}

void known_open(struct known *known, int dir, const char *name,
		const char *boot)
{
	struct head wanted, found;
	struct sys_attr a;
	int fd;

	*known = (struct known){ .spill.file = -1 };
	fd = sys_openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	if (fd < 0)
		return;
	fill_head(&wanted, boot);
	if (sys_attr_at(fd, "", &a) < 0 || !S_ISREG(a.mode) ||
	    sys_pread_full(fd, &found, sizeof(found), 0) !=
		    (ssize_t)sizeof(found) ||
	    memcmp(&found, &wanted, sizeof(found)) != 0) {
		sys_close(fd);
		return;
	}
	known_begin(known, fd, a.size);
}

void known_done(struct known *known)
{
	spill_done(&known->spill);
	known->has_record = false;
}

const struct spilled *known_find(struct known *known, const char *path)
{
	int order = -1;

	while (known->has_record) {
		order = path_compare(known->record.change.path, path);
		if (order >= 0)
			break;
		advance(known);
	}
	return known->has_record && order == 0 ? &known->record : NULL;
}

void known_keep(struct spill *spill, int dir, const char *name,
		const char *boot)
{
	char fresh[64];
	struct head head;

	fill_head(&head, boot);
	if (snprintf(fresh, sizeof(fresh), "%s.new", name) >=
	    (int)sizeof(fresh))
		return;
	/* One of a crash may be in the way. */
	(void)sys_unlinkat(dir, fresh, 0);
	if (sys_pwrite_all(spill->file, &head, sizeof(head), 0) < 0 ||
	    sys_name_file(spill->file, dir, fresh) < 0)
		return;
	if (sys_renameat(dir, fresh, dir, name) < 0)
		(void)sys_unlinkat(dir, fresh, 0);
}
