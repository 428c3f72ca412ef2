/* SPDX-License-Identifier: Apache-2.0 */
#include "git/delivery/divert.h"

#include "base/auto.h"
#include "base/buf.h"
#include "git/delivery/decision.h"
#include "git/delivery/heads.h"
#include "git/delivery/values.h"
#include "git/objectstore.h"
#include "git/refname.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NUMBERS_MAX 1000

/* Where files cannot have the first, because a branch is called that. */
static const char *const shapes[] = { "holdback/", "holdback-" };

int divert_write(struct decision *d, const char *name, const char *value)
{
	char *text = heads_text(value);
	int r = decision_mark(decision_make(d, name, DELIVERY_STAGE_REFS, text,
					    text ? strlen(text) : 0),
			      decision_base(d, name), value);

	if (r >= 0)
		r = kept_refs_add(&d->moved, name, value);
	return r;
}

enum use {
	USE_NOT,
	USE_FREE,
	USE_THERE, /* it has the value already */
	USE_OURS,  /* it is moved on */
};

static int judge(struct decision *d, const char *name, const char *value,
		 enum use *ret)
{
	const char *base = decision_base(d, name);
	int r = 0;

	*ret = USE_NOT;
	for (size_t i = 0; i < d->moved.n; i++)
		if (strcmp(d->moved.refs[i].name, name) == 0)
			return 0;
	if (!base[0]) {
		if (!decision_session(d, name)[0] &&
		    !kept_refs_clash(&d->base, name) &&
		    !kept_refs_clash(&d->session, name))
			*ret = USE_FREE;
		return 0;
	}
	if (strcmp(base, value) == 0) {
		*ret = USE_THERE;
		return 0;
	}
	if (kept_refs_is_made(d->q->kept, name) &&
	    strcmp(base, decision_then(d, name)) == 0 &&
	    strcmp(base, decision_session(d, name)) == 0 &&
	    !heads_is_pinned(d, name)) {
		r = values_is_ancestor(d->q->objects, base, value);
		*ret = r > 0 ? USE_OURS : USE_NOT;
	}
	return r < 0 ? r : 0;
}

static int name_for(const struct decision *d, const char *above,
		    const char *shape, int number, struct buf *out)
{
	buf_cut(out, 0);
	(void)buf_add_str(out, above);
	(void)buf_add_str(out, shape);
	refname_add_component(out, d->q->session);
	if (number > 1)
		(void)buf_add_fmt(out, "-%d", number);
	return out->error;
}

static int find_name(struct decision *d, const char *above, const char *value,
		     struct buf *name, enum use *ret)
{
	bool is_taken = kept_refs_value(&d->base, "refs/heads/holdback") ||
			kept_refs_value(&d->session, "refs/heads/holdback");
	int r = 0;

	*ret = USE_NOT;
	for (int i = 1; r >= 0 && *ret == USE_NOT && i <= NUMBERS_MAX; i++) {
		r = name_for(d, above, shapes[is_taken], i, name);
		if (r >= 0)
			r = judge(d, buf_str(name), value, ret);
	}
	return r;
}

int divert(struct decision *d, const char *origin, const char *value,
	   char **ret_name)
{
	auto_buf struct buf name = BUF_INIT(GITREFS_NAME_MAX);
	struct git_object object = { 0 };
	const char *above = NULL;
	struct git_id id;
	enum use use;
	int r;

	*ret_name = NULL;
	if (!git_id_parse(value, strlen(value), &id))
		return 0;
	r = objectstore_read(d->q->objects, &id, OBJECTSTORE_COMMIT_MAX,
			     &object);
	free(object.data);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	if (object.type == GIT_COMMIT)
		above = "refs/heads/";
	else if (object.type == GIT_TAG)
		above = "refs/tags/";
	else
		return 0;
	r = find_name(d, above, value, &name, &use);
	if (r < 0 || use == USE_NOT)
		return r;
	if (use != USE_THERE) {
		r = divert_write(d, buf_str(&name), value);
		if (r >= 0)
			r = kept_refs_add_made(&d->out->next, buf_str(&name));
		if (r >= 0)
			r = kept_refs_add(&d->origins, buf_str(&name), origin);
	}
	return r < 0 ? r : buf_take(&name, ret_name, NULL);
}
