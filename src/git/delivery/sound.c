/* SPDX-License-Identifier: Apache-2.0 */
#include "git/delivery/sound.h"

#include "base/auto.h"
#include "git/delivery/decision.h"
#include "git/delivery/git_part.h"
#include "git/objectstore.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define OBJECTS	      "objects/"
#define SHALLOW	      "shallow"
#define SHALLOW_MAX   ((size_t)4 << 20)
#define SHALLOW_LINES 65536
#define PARENT	      "parent "
#define WORK	      ((uint64_t)1 << 31) /* bytes that objects inflate to */

/* "objects/ab/cd..." is the object abcd...; false: it is none. */
static bool id_of(const char *path, struct git_id *ret)
{
	char text[GIT_HEX_SIZE];
	const char *name = path + strlen(OBJECTS);
	size_t n = strlen(name);

	if (n < 4 || n > sizeof(text) || name[2] != '/')
		return false;
	memcpy(text, name, 2);
	memcpy(text + 2, name + 3, n - 3);
	return git_id_parse(text, n - 1, ret);
}

static int check_objects(struct decision *d)
{
	uint64_t work = WORK;

	for (size_t i = 0; i < d->q->n_changes; i++) {
		const struct delivery_change *change = &d->q->changes[i];
		struct git_id id;
		const char *rest;
		size_t desk;
		int r;

		if (change->is_gone ||
		    git_part_of(change->path, &desk, &rest) !=
			    GIT_PART_OBJECT ||
		    !id_of(change->path, &id) ||
		    decision_base_has(d, change->path))
			continue;
		r = objectstore_check_files(d->q->objects, &id, &work);
		if (r == -EBADMSG)
			r = decision_say(d,
					 "the file of object %.12s has another "
					 "content in the session: nothing of "
					 "the repository is delivered",
					 id.hex);
		else if (r == -EFBIG)
			r = decision_say(d, "there is too much in the "
					    "session's objects to look at: "
					    "nothing of the repository is "
					    "delivered");
		else if (r == 0)
			continue;
		return r < 0 ? r : 0;
	}
	return 1;
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
			return decision_say(d, "the file shallow is too long: "
					       "nothing of the repository is "
					       "delivered");
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

static int check_shallow(struct decision *d)
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
	if (r < 0 && r != -EFBIG)
		return r;
	if (r == -EFBIG)
		return decision_say(d, "the file shallow is too long: nothing "
				       "of the repository is delivered");
	r = compare_lines(d, session, base, true);
	return r <= 0 ? r : compare_lines(d, base, session, false);
}

int sound_check(struct decision *d)
{
	int r = check_shallow(d);

	return r <= 0 ? r : check_objects(d);
}
