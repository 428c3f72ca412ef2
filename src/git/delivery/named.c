/* SPDX-License-Identifier: Apache-2.0 */
#include "git/delivery/named.h"

#include "base/quote.h"
#include "git/delivery/decision.h"
#include "git/delivery/divert.h"
#include "git/delivery/heads.h"
#include "git/delivery/references.h"

#include <string.h>

static const char *value_of(const struct decision *d)
{
	return d->q->as_commit ? d->q->as_commit : d->session_commit;
}

int named_decide(struct decision *d)
{
	const char *name = d->q->as_ref, *value, *own;
	size_t n;
	int r = heads_decide(d);

	if (r < 0)
		return r;
	value = value_of(d);
	own = decision_session(d, name);
	if (kept_refs_clash(&d->session, name) ||
	    (own[0] && strcmp(own, value) != 0)) {
		d->is_refused = true;
		return decision_say(d,
				    "the session has other commits at %s: "
				    "nothing of the repository is delivered",
				    quoted(name));
	}
	/* Nothing of the work tree is written either. */
	d->out->is_all_touched = true;
	r = references_count(d, value, &n);
	if (r < 0 || n == 0)
		return r;
	d->why = heads_asked;
	r = references_set_branch(d, name, value);
	return r < 0 ? r : divert_write(d, name, value);
}

int named_go_on(struct decision *d)
{
	return d->out->branch
		       ? kept_refs_add(&d->moved, d->q->as_ref, value_of(d))
		       : 0;
}
