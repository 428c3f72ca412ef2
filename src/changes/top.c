/* SPDX-License-Identifier: Apache-2.0 */
#include "changes/top.h"

#include "base/mode.h"
#include "sys/attr.h"

#include <string.h>

/*
 * The next command could not open a directory that its owner may not open,
 * neither for undo nor to look.  So these bits of the base's mode stay.
 */

enum {
	LAYER,
	PICTURE,
	BASE,
	SIDES
};

struct tops {
	struct entry entry[SIDES];
	struct xattrs xattrs[SIDES];
};

static int look(const struct resource *resource, struct tops *t,
		struct hb_error *err)
{
	const int fds[SIDES] = { resource->layers[0], resource->top,
				 resource->base };
	int r = 0;

	for (int i = 0; r >= 0 && i < SIDES; i++) {
		const struct side side = { .dir = fds[i],
					   .name = ".",
					   .entry = &t->entry[i],
					   .in_layer = i == LAYER };

		r = entry_read_fd(fds[i], i == LAYER, &t->entry[i], err);
		if (r >= 0)
			r = side_xattrs(&side, &t->xattrs[i], err);
	}
	return r;
}

/* What differs between two of them. */
static unsigned differ(const struct tops *t, int a, int b)
{
	const struct entry *x = &t->entry[a], *y = &t->entry[b];
	unsigned what = 0;

	if (x->mode != y->mode)
		what |= CHANGED_MODE;
	/* Other users cannot change the owner, and know one group inside. */
	if (sys_effective_uid() == 0 && (x->uid != y->uid || x->gid != y->gid))
		what |= CHANGED_OWNER;
	if (memcmp(t->xattrs[a].digest, t->xattrs[b].digest,
		   sizeof(t->xattrs[a].digest)) != 0)
		what |= CHANGED_XATTRS;
	return what;
}

int top_compare(const struct resource *resource, struct top_change *ret,
		struct hb_error *err)
{
	struct tops t;
	unsigned what;
	int r;

	r = look(resource, &t, err);
	if (r < 0)
		return r;
	t.entry[LAYER].mode |= t.entry[BASE].mode & USER_LIST;
	what = differ(&t, LAYER, PICTURE) & differ(&t, LAYER, BASE);
	if (what == 0)
		return 0;
	*ret = (struct top_change){
		.what = what,
		.is_conflict = (what & differ(&t, BASE, PICTURE)) != 0,
		.old = t.entry[BASE],
		.new = t.entry[BASE],
		.xattrs = t.xattrs[what & CHANGED_XATTRS ? LAYER : BASE],
	};
	ret->new.mtime = t.entry[LAYER].mtime;
	if (what & CHANGED_MODE)
		ret->new.mode = t.entry[LAYER].mode;
	if (what & CHANGED_OWNER) {
		ret->new.uid = t.entry[LAYER].uid;
		ret->new.gid = t.entry[LAYER].gid;
	}
	return 1;
}
