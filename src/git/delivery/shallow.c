/* SPDX-License-Identifier: Apache-2.0 */
#include "git/delivery/shallow.h"

#include "base/auto.h"
#include "base/buf.h"
#include "git/delivery/decision.h"
#include "git/objectstore.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SHALLOW	      "shallow"
#define SHALLOW_MAX   ((size_t)4 << 20)
#define SHALLOW_LINES 65536
#define PARENT	      "parent "

static int say_too_long(struct decision *d)
{
	return decision_say(d, "the file shallow is too long: nothing of the "
			       "repository is delivered");
}

static bool has_line(const char *text, const struct git_id *id)
{
	return text && strstr(text, id->hex) != NULL;
}

/* Whether it has parents, and whether all of them are there. */
static int look_at_parents(struct decision *d, const struct git_id *id,
			   bool *ret_has, bool *ret_are_there)
{
	struct git_object object = { 0 };
	const char *line;
	int r = objectstore_read(d->q->objects, id, OBJECTSTORE_COMMIT_MAX,
				 &object);

	*ret_has = false;
	*ret_are_there = true;
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	for (line = object.data; *line && *line != '\n';) {
		size_t n = strcspn(line, "\n"), k = strlen(PARENT);
		struct git_id parent;

		if (n > k && strncmp(line, PARENT, k) == 0 &&
		    git_id_parse(line + k, n - k, &parent)) {
			*ret_has = true;
			*ret_are_there &=
				objectstore_has(d->q->objects, &parent);
		}
		line += n + (line[n] == '\n');
	}
	free(object.data);
	return 0;
}

/*
 * Boundaries that one of the texts has and the other has not.  `is_cut`: the
 * session made them, else it took them away.
 */
static int compare_lines(struct decision *d, const char *of, const char *other,
			 bool is_cut)
{
	size_t n_lines = 0;

	for (const char *at = of ? of : ""; *at;) {
		size_t n = strcspn(at, "\n");
		bool has_parents = false, are_there = true;
		struct git_id id;
		int r = 0;

		if (++n_lines > SHALLOW_LINES)
			return say_too_long(d);
		if (git_id_parse(at, n, &id) && !has_line(other, &id))
			r = look_at_parents(d, &id, &has_parents, &are_there);
		if (r < 0)
			return r;
		if (has_parents && are_there == is_cut)
			return decision_say(
				d,
				"the file shallow of the session %s commit "
				"%.12s: nothing of the repository is delivered",
				is_cut ? "cuts off the history of"
				       : "hides that history is missing below",
				id.hex);
		at += n + (at[n] == '\n');
	}
	return 1;
}

/* Adds the lines of `of` that the text lacks and that nothing lies below. */
static int add_lines(struct decision *d, const char *of, struct buf *text)
{
	size_t n_lines = 0;
	int r = 0;

	for (const char *at = of ? of : ""; r >= 0 && *at;) {
		size_t n = strcspn(at, "\n");
		bool has_parents = false, are_there = true;
		struct git_id id;

		if (++n_lines > SHALLOW_LINES)
			return -E2BIG;
		if (git_id_parse(at, n, &id) && !has_line(buf_str(text), &id))
			r = look_at_parents(d, &id, &has_parents, &are_there);
		if (r >= 0 && has_parents && !are_there)
			r = buf_add_fmt(text, "%s\n", id.hex);
		at += n + (at[n] == '\n');
	}
	return r;
}

/*
 * Both sides changed it, and no copy of T0 tells in which way.  All boundaries
 * of the base stay: at worst one of them hides history that is there.  Those of
 * the session are added where history is missing.
 */
static int merge(struct decision *d, const char *base, const char *session)
{
	auto_buf struct buf text = BUF_INIT(SHALLOW_MAX);
	auto_free char *content = NULL;
	size_t n = strlen(base);
	int r = buf_add_str(&text, base);

	if (r >= 0 && n > 0 && base[n - 1] != '\n')
		r = buf_add_char(&text, '\n');
	if (r >= 0)
		r = add_lines(d, session, &text);
	if (r == -E2BIG)
		return say_too_long(d);
	d->shallow = r < 0 ? NULL : strdup(buf_str(&text));
	content = d->shallow ? strdup(d->shallow) : NULL;
	if (!content)
		return r < 0 ? r : -ENOMEM;
	if (strcmp(content, base) == 0)
		return decision_add(d, SHALLOW, DELIVERY_SETTLED,
				    DELIVERY_STAGE_OBJECTS)
			       ? 1
			       : -ENOMEM;
	return decision_make(d, SHALLOW, DELIVERY_STAGE_OBJECTS,
			     take_ptr(&content), text.len)
		       ? 1
		       : -ENOMEM;
}

int shallow_check(struct decision *d)
{
	const struct delivery_request *q = d->q;
	const struct delivery_change *change = decision_change(d, SHALLOW);
	auto_free char *base = NULL;
	auto_free char *session = NULL;
	size_t len;
	int r;

	if (!change)
		return 1;
	r = gitref_read_file(q->base, q->prefix, SHALLOW, SHALLOW_MAX, &base);
	if (r < 0 && r != -ENOENT)
		return r;
	r = change->is_gone
		    ? 0
		    : q->read(q->ctx, SHALLOW, SHALLOW_MAX, &session, &len);
	if (r == -EFBIG)
		return say_too_long(d);
	if (r < 0)
		return r;
	if (change->is_newer && base)
		return merge(d, base, session);
	r = compare_lines(d, session, base, true);
	return r <= 0 ? r : compare_lines(d, base, session, false);
}
