/* SPDX-License-Identifier: Apache-2.0 */
#include "changes/differs.h"

#include "base/time.h"
#include "changes/changes.h"
#include "sys/attr.h"

#include <string.h>

static bool is_index(const struct pair *p)
{
	return p->new.entry->type ==
	       ENTRY_FILE &&git_is_index(p->git, p->new.name);
}

/* What an object holds; 0, or CHANGED_CONTENT or CHANGED_TARGET. */
static int compare_content(const struct pair *p, struct hb_error *err)
{
	int r;

	r = side_same_bytes(&p->new, &p->old, err);
	if (r == 0 && is_index(p))
		r = git_same_index(&p->new, &p->old, err);
	if (r != 0)
		return r < 0 ? r : 0;
	return p->new.entry->type == ENTRY_LINK ? CHANGED_TARGET
						: CHANGED_CONTENT;
}

/* 0, or CHANGED_XATTRS. */
static int compare_xattrs(const struct pair *p, const struct xattrs *new,
			  struct hb_error *err)
{
	struct xattrs old;
	int r = side_xattrs(&p->old, &old, err);

	if (r < 0)
		return r;
	return memcmp(old.digest, new->digest, sizeof(old.digest)) != 0
		       ? CHANGED_XATTRS
		       : 0;
}

int pair_differs(const struct pair *pair, const struct xattrs *new_xattrs,
		 bool names_only, struct hb_error *err)
{
	const struct entry *new = pair->new.entry, *old = pair->old.entry;
	int what, r;

	what = compare_content(pair, err);
	if (what < 0)
		return what;
	r = what != 0 && names_only ? CHANGED_MAYBE_XATTRS
				    : compare_xattrs(pair, new_xattrs, err);
	if (r < 0)
		return r;
	what |= r;
	if (new->type != ENTRY_LINK &&new->mode != old->mode)
		what |= CHANGED_MODE;
	/* A user has one group in the view, so that one there says nothing. */
	if (new->uid != old->uid ||
	    (new->gid != old->gid &&
	     (sys_effective_uid() == 0 || new->gid != sys_effective_gid())))
		what |= CHANGED_OWNER;
	/* Refreshing an index is what no change is, so its time is none. */
	if (!time_is_same(new->mtime, old->mtime) &&
	    !git_is_index(pair->git, pair->new.name))
		what |= CHANGED_MTIME;
	if (new->type != ENTRY_DIR &&new->nlink > 1)
		what |= CHANGED_LINKS;
	return what;
}
