/* SPDX-License-Identifier: Apache-2.0 */
#include "git/delivery/decision.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/grow.h"
#include "sys/file.h"
#include "sys/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SYMBOLIC      "ref: "
#define SYMBOLIC_MAX  5 /* that lead to one another, as git follows them */
#define WORDS_MAX     1000
#define WORDS_MAX_LEN 4096

void decision_done(struct decision *d)
{
	kept_refs_done(&d->loose);
	gitrefs_done(&d->packed);
	kept_refs_done(&d->base);
	kept_refs_done(&d->session);
	kept_refs_done(&d->broken);
	kept_refs_done(&d->pinned);
	kept_refs_done(&d->moved);
	kept_refs_done(&d->pending);
	kept_refs_done(&d->origins);
	free(d->shallow);
}

static const char *value_in(const struct kept_refs *refs, const char *name)
{
	const char *value = kept_refs_value(refs, name);

	return value ? value : "";
}

const char *decision_then(const struct decision *d, const char *name)
{
	return value_in(d->q->kept, name);
}

const char *decision_base(const struct decision *d, const char *name)
{
	return value_in(&d->base, name);
}

const char *decision_session(const struct decision *d, const char *name)
{
	return value_in(&d->session, name);
}

const char *decision_resolve(const struct kept_refs *refs, const char *name)
{
	for (int i = 0; i < SYMBOLIC_MAX; i++) {
		const char *value = value_in(refs, name);

		if (strncmp(value, SYMBOLIC, strlen(SYMBOLIC)) != 0)
			return value;
		name = value + strlen(SYMBOLIC);
	}
	return "";
}

void decision_head(const struct decision *d, char *ret, size_t size)
{
	(void)snprintf(ret, size, "%s%sHEAD", d->q->desk,
		       d->q->desk[0] ? "/" : "");
}

struct delivery_item *decision_add(struct decision *d, const char *path,
				   enum delivery_how how,
				   enum delivery_stage stage)
{
	struct delivery *out = d->out;
	char *copy = strdup(path);

	if (!copy || grow(out->items, out->n) < 0) {
		free(copy);
		return NULL;
	}
	out->items[out->n] = (struct delivery_item){ .path = copy,
						     .how = how,
						     .stage = stage };
	return &out->items[out->n++];
}

struct delivery_item *decision_make(struct decision *d, const char *path,
				    enum delivery_stage stage, char *content,
				    size_t len)
{
	struct delivery_item *item =
		content ? decision_add(d, path, DELIVERY_MADE, stage) : NULL;

	if (!item) {
		free(content);
		return NULL;
	}
	item->content = content;
	item->len = len;
	return item;
}

int decision_mark(struct delivery_item *item, const char *old, const char *new)
{
	if (!item)
		return -ENOMEM;
	item->is_ref = true;
	item->old = strdup(old);
	item->new = strdup(new);
	return item->old && item->new ? 0 : -ENOMEM;
}

static int by_path(const void *key, const void *change)
{
	return strcmp(key, ((const struct delivery_change *)change)->path);
}

const struct delivery_change *decision_change(const struct decision *d,
					      const char *path)
{
	return d->q->n_changes == 0
		       ? NULL
		       : bsearch(path, d->q->changes, d->q->n_changes,
				 sizeof(*d->q->changes), by_path);
}

int decision_say(struct decision *d, const char *fmt, ...)
{
	auto_buf struct buf words = BUF_INIT(WORDS_MAX_LEN);
	struct delivery *out = d->out;
	va_list ap;
	int r;

	if (out->n_words == WORDS_MAX)
		return 0;
	va_start(ap, fmt);
	r = buf_add_vfmt(&words, fmt, ap);
	va_end(ap);
	if (r >= 0)
		r = grow(out->words, out->n_words);
	if (r >= 0)
		r = buf_take(&words, &out->words[out->n_words], NULL);
	out->n_words += r >= 0;
	return r == -E2BIG ? 0 : r;
}

bool decision_base_has(const struct decision *d, const char *path)
{
	char whole[PATH_MAX];
	auto_fd int fd = -1;
	int n = snprintf(whole, sizeof(whole), "%s%s%s", d->q->prefix,
			 d->q->prefix[0] ? "/" : "", path);

	if (n < 0 || (size_t)n >= sizeof(whole))
		return false;
	fd = sys_openat2(d->q->base, whole, O_PATH | O_NOFOLLOW, 0,
			 K_RESOLVE_BENEATH | K_RESOLVE_NO_SYMLINKS);
	return fd >= 0;
}
