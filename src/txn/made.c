/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/made.h"

#include "base/auto.h"
#include "base/error.h"
#include "changes/git/delivered.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "txn/preflight.h"
#include "txn/way.h"

#include <fcntl.h>

/*
 * From here on it is a staged copy as any other.  Steps, undo and recovery
 * move it by its identity, and the object that it replaces has to be the one
 * that it was made from.
 */

bool made_is(const struct change *c)
{
	return c->item && c->item->how == DELIVERED_MADE;
}

static int make_file(const struct place *to, const struct delivered_item *item)
{
	auto_fd int fd =
		sys_openat(to->dir, to->name,
			   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);

	if (fd < 0)
		return fd;
	return item->size > 0 ? sys_write_all(fd, item->data, item->size) : 0;
}

static int dress(const struct place *to, const struct op *op,
		 const struct change *c)
{
	auto_fd int fd = sys_openat(to->dir, to->name, O_PATH | O_NOFOLLOW, 0);
	struct sys_attr a;
	int r = fd < 0 ? fd : sys_attr_at(fd, "", &a);

	if (r == 0 && (a.uid != op->uid || a.gid != op->gid))
		r = sys_chown_at(to->dir, to->name, op->uid, op->gid);
	if (r == 0 && !c->item->is_link)
		r = sys_chmod_fd(fd, op->mode);
	return r < 0 ? r : sys_set_mtime_at(fd, "", c->new.mtime);
}

int made_stage(struct way *w, const struct change *c, struct op *op,
	       struct hb_error *err)
{
	const struct delivered_item *item = c->item;
	struct place to = { .dir = -1 };
	int r;

	op->source = SOURCE_STAGED;
	r = preflight_space(w->site, item->size, err);
	if (r == 0)
		r = site_source(w->site, op, &to, err);
	if (r < 0)
		return r;
	r = item->is_dir    ? sys_mkdirat(to.dir, to.name, 0700)
	    : item->is_link ? sys_symlinkat(item->data, to.dir, to.name)
			    : make_file(&to, item);
	if (r == 0)
		r = dress(&to, op, c);
	if (r < 0)
		return hb_fail_at(err, r, c->path, "cannot write the new file");
	r = place_read(&to, &op->new, err);
	if (r == 0)
		syncer_add(w->syncer, to.dir, to.name,
			   !item->is_dir && !item->is_link);
	return r;
}
