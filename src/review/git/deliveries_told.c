/* SPDX-License-Identifier: Apache-2.0 */
#include "review/git/deliveries_told.h"

#include "base/buf.h"
#include "base/grow.h"
#include "review/git/deliveries.h"
#include "session/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const verdicts[] = {
	[DELIVERY_NOTHING] = "nothing",	 [DELIVERY_FORWARD] = "forward",
	[DELIVERY_TO_BRANCH] = "branch", [DELIVERY_WAITS] = "waits",
	[DELIVERY_REFUSED] = "refused",	 [DELIVERY_AS_FILES] = "files",
};

static int copy(const char *text, const char **ret)
{
	*ret = text && text[0] ? strdup(text) : NULL;
	return *ret || !text || !text[0] ? 0 : -ENOMEM;
}

static int tell_standing(const struct standing *from, struct hb_delivery *ret)
{
	int r = copy(from->head.hex, &ret->head);

	if (r >= 0)
		r = copy(from->branch, &ret->head_branch);
	if (r >= 0)
		r = copy(from->then.hex, &ret->base);
	ret->n_ahead = from->ahead;
	ret->n_behind = from->behind;
	ret->is_merged = from->is_merged;
	return r;
}

static int tell_one(const struct deliver_repo *repo, struct hb_delivery *ret)
{
	const struct delivery *d = &repo->delivery;
	const char *instead = repo->why_refused ? repo->why_refused
			      : repo->merged	? repo->merged
						: repo->why_files;
	bool is_merge = repo->merged && !repo->why_refused;
	const char *branch = is_merge ? NULL : d->branch;
	const char *fix = is_merge ? NULL : d->fix;
	auto_buf struct buf text = BUF_INIT((size_t)1 << 16);
	char *whole = NULL;

	if (instead)
		(void)buf_add_str(&text, instead);
	for (size_t i = 0; !instead && i < d->n_words; i++)
		(void)buf_add_fmt(&text, "%s%s", i > 0 ? "; " : "",
				  d->words[i]);
	if (text.error || (text.len > 0 && buf_take(&text, &whole, NULL) < 0))
		return -ENOMEM;
	*ret = (struct hb_delivery){
		.resource = repo->resource,
		.path = strdup(repo->prefix),
		.verdict = is_merge ? "merge" : verdicts[d->verdict],
		.branch = branch ? strdup(branch) : NULL,
		.n_commits = d->n_commits,
		.text = whole,
		.fix = fix ? strdup(fix) : NULL,
	};
	return ret->path && (!branch || ret->branch) && (!fix || ret->fix)
		       ? tell_standing(&repo->standing, ret)
		       : -ENOMEM;
}

int deliver_tell(const struct deliver *deliver)
{
	struct hb_session *s = deliver->session;
	int r = 0;

	session_drop_deliveries(s);
	for (size_t i = 0; r == 0 && i < deliver->n; i++) {
		if (grow(s->deliveries, s->n_deliveries) < 0)
			return -ENOMEM;
		r = tell_one(&deliver->repos[i],
			     &s->deliveries[s->n_deliveries++]);
	}
	return r;
}
