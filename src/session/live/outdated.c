/* SPDX-License-Identifier: Apache-2.0 */
#include "session/live/outdated.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/grow.h"
#include "store/seen.h"
#include "sys/place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int fail(int r, struct hb_error *err)
{
	return hb_fail(err, r, "cannot keep the record of commits");
}

int outdated_tell(struct outdated *o, struct seen_file *old,
		  const struct seen *seen, struct hb_error *err)
{
	struct seen before;
	bool is_known;
	int r = 0;

	/* Without older records there is none to be outdated. */
	if (old->end == 0)
		return 0;
	if (o->n == 0)
		r = sys_random(&o->key, sizeof(o->key));
	if (r < 0 || grow(o->paths, o->n) < 0)
		return fail(r < 0 ? r : -ENOMEM, err);
	is_known = seen_find(old, seen->path, &before);
	o->paths[o->n] = (struct outdated_path){
		.hash = siphash(&o->key, seen->path, strlen(seen->path)),
		.is_other = seen->conflict == 0 && !seen->is_dressed &&
			    (seen->is_made || seen->base_ino == 0 ||
			     (is_known && before.base_ino != seen->base_ino)),
	};
	o->n_other += o->paths[o->n++].is_other;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct outdated_path *x = a, *y = b;

	return x->hash == y->hash ? 0 : x->hash < y->hash ? -1 : 1;
}

static const struct outdated_path *find(const struct outdated *o,
					const char *path, size_t len)
{
	const struct outdated_path key = { .hash = siphash(&o->key, path,
							   len) };

	return bsearch(&key, o->paths, o->n, sizeof(*o->paths), compare);
}

struct ending {
	const struct outdated *outdated;
	struct seen_log *log;
};

/* Of type seen_each_fn. */
static int end_one(void *ctx, const struct seen *seen, struct hb_error *err)
{
	const struct ending *e = ctx;
	const struct seen none = { .path = seen->path };

	if (seen->path[0] == '/' ||
	    (seen->base_ino == 0 && seen->layer_ino == 0) ||
	    find(e->outdated, seen->path, strlen(seen->path)))
		return 0;
	for (const char *slash = strchr(seen->path, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		const struct outdated_path *above = find(
			e->outdated, seen->path, (size_t)(slash - seen->path));

		if (above && above->is_other)
			return seen_log_add(e->log, &none, err);
	}
	return 0;
}

int outdated_end(struct outdated *o, struct seen_file *old,
		 struct seen_log *log, struct hb_error *err)
{
	struct ending e = { o, log };
	int r = 0;

	if (o->n_other > 0) {
		qsort(o->paths, o->n, sizeof(*o->paths), compare);
		r = seen_each(old, end_one, &e, err);
	}
	outdated_done(o);
	return r;
}

void outdated_done(struct outdated *o)
{
	free(o->paths);
	*o = (struct outdated){ 0 };
}
