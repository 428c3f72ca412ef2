/* SPDX-License-Identifier: Apache-2.0 */
#include "git/delivery/packed.h"

#include "base/auto.h"
#include "base/buf.h"
#include "git/delivery/decision.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PACKED "packed-refs"

/* Whether the line "ID NAME" is of a reference that goes. */
static bool is_deleted(const struct decision *d, const char *line, size_t n)
{
	char name[GITREFS_NAME_MAX + 1];
	const char *space = memchr(line, ' ', n), *value;
	size_t length;

	if (!space || line[0] == '#' || line[0] == '^')
		return false;
	length = n - (size_t)(space + 1 - line);
	if (length >= sizeof(name))
		return false;
	memcpy(name, space + 1, length);
	name[length] = '\0';
	value = kept_refs_value(&d->moved, name);
	return value && !value[0];
}

/* A line "^ID" belongs to the one before it. */
static int without_deleted(const struct decision *d, const char *text,
			   struct buf *out)
{
	bool is_gone = false;

	while (*text) {
		size_t n = strcspn(text, "\n");

		if (text[0] != '^')
			is_gone = is_deleted(d, text, n);
		n += text[n] == '\n';
		if (!is_gone)
			(void)buf_add(out, text, n);
		text += n;
	}
	return out->error;
}

static bool has_deleted(const struct decision *d)
{
	for (size_t i = 0; i < d->moved.n; i++)
		if (!d->moved.refs[i].value[0] &&
		    gitrefs_find(&d->packed, d->moved.refs[i].name))
			return true;
	return false;
}

/* Whether a pending reference has its value from the session's lines. */
static bool is_needed(const struct decision *d)
{
	for (size_t i = 0; i < d->pending.n; i++) {
		const char *name = d->pending.refs[i].name;
		const struct delivery_change *change = decision_change(d, name);

		if (!change || change->is_gone)
			return true;
	}
	return false;
}

/* Whether packed-refs of the session is going to be in its layer. */
static bool stays_in_layer(const struct decision *d, bool is_waiting)
{
	return decision_change(d, PACKED) && (is_waiting || is_needed(d));
}

int packed_keep_names(struct decision *d, bool is_waiting)
{
	const struct kept_refs *kept = d->q->kept;
	int r = 0;

	kept_refs_sort(&d->moved);
	kept_refs_sort(&d->pending);
	if (stays_in_layer(d, is_waiting)) {
		for (size_t i = 0; r >= 0 && i < kept->n_packed; i++)
			r = kept_refs_add_packed_name(&d->out->next,
						      kept->packed[i]);
		return r;
	}
	for (size_t i = 0; r >= 0 && i < d->packed.n; i++) {
		const char *name = d->packed.refs[i].name;
		const char *moved = kept_refs_value(&d->moved, name);

		if (!moved || moved[0])
			r = kept_refs_add_packed_name(&d->out->next, name);
	}
	return r;
}

int packed_decide(struct decision *d)
{
	auto_buf struct buf text = BUF_INIT(GITREFS_PACKED_MAX);
	auto_free char *now = NULL;
	struct delivery_item *item;
	char *content;
	size_t len;
	int r;

	kept_refs_sort(&d->moved);
	kept_refs_sort(&d->pending);
	if (!has_deleted(d)) {
		if (!decision_change(d, PACKED))
			return 0;
		return decision_add(d, PACKED,
				    is_needed(d) ? DELIVERY_STAYS
						 : DELIVERY_SETTLED,
				    DELIVERY_STAGE_REFS)
			       ? 0
			       : -ENOMEM;
	}
	r = gitref_read_file(d->q->base, d->q->prefix, PACKED,
			     GITREFS_PACKED_MAX, &now);
	if (r >= 0)
		r = without_deleted(d, now, &text);
	if (r < 0)
		return r;
	len = text.len;
	content = strdup(buf_str(&text));
	item = decision_make(d, PACKED, DELIVERY_STAGE_REFS, content, len);
	if (!item)
		return -ENOMEM;
	item->keeps_layer = decision_change(d, PACKED) && is_needed(d);
	return 0;
}
