/* SPDX-License-Identifier: Apache-2.0 */
#include "git/delivery/sound.h"

#include "base/auto.h"
#include "base/quote.h"
#include "git/delivery/decision.h"
#include "git/delivery/git_part.h"
#include "git/objectstore.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OBJECTS	      "objects/"
#define PACKS	      OBJECTS "pack/"
#define SHALLOW	      "shallow"
#define SHALLOW_MAX   ((size_t)4 << 20)
#define SHALLOW_LINES 65536
#define PARENT	      "parent "
/* Bytes that objects inflate to, about 20 s and a minute; ahead a second. */
#define WORK		 ((uint64_t)1 << 31)
#define PACKS_WORK	 ((uint64_t)1 << 33)
#define PACKS_WORK_AHEAD ((uint64_t)1 << 26)

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

/* "objects/pack/x.idx" and "objects/pack/x.pack" are about the index x. */
static bool pack_of(const char *path, char ret[NAME_MAX + 1])
{
	static const char *const ends[] = { ".idx", ".pack" };
	const char *name = path + strlen(PACKS);
	size_t n = strlen(path);

	if (strncmp(path, PACKS, strlen(PACKS)) != 0 || strchr(name, '/') ||
	    strlen(name) > NAME_MAX)
		return false;
	for (size_t i = 0; i < 2; i++) {
		size_t k = strlen(ends[i]);

		if (strlen(name) <= k || strcmp(path + n - k, ends[i]) != 0)
			continue;
		(void)snprintf(ret, NAME_MAX + 1, "%.*s.idx",
			       (int)(strlen(name) - k), name);
		return true;
	}
	return false;
}

struct looking {
	uint64_t files, packs;	 /* bytes that may be inflated */
	char last[NAME_MAX + 1]; /* the pack that was looked at last */
};

static int say_unsound(struct decision *d, int r, const char *what,
		       const char *name)
{
	/* The commit looks at all of it. */
	if (r == -EFBIG && d->q->is_ahead)
		return 1;
	if (r == -EBADMSG)
		r = decision_say(d,
				 "the file of %s %.45s has another content in "
				 "the session: nothing of the repository is "
				 "delivered",
				 what, quoted(name));
	else if (r == -EFBIG)
		r = decision_say(d, "there is too much in the session's "
				    "objects to look at: nothing of the "
				    "repository is delivered");
	return r < 0 ? r : 0;
}

/* 1: it is sound, or no object; 0: not, and that was said. */
static int check_change(struct decision *d, const char *path,
			struct looking *looking)
{
	char pack[NAME_MAX + 1], name[13];
	struct git_id id;
	int r;

	if (id_of(path, &id)) {
		r = objectstore_check_files(d->q->objects, &id,
					    &looking->files);
		(void)snprintf(name, sizeof(name), "%.12s", id.hex);
		return r == 0 ? 1 : say_unsound(d, r, "object", name);
	}
	/* Both files of a pack stand together. */
	if (!pack_of(path, pack) || strcmp(pack, looking->last) == 0)
		return 1;
	memcpy(looking->last, pack, sizeof(pack));
	r = objectstore_check_pack(d->q->objects, pack, &looking->packs);
	return r == 0 ? 1 : say_unsound(d, r, "pack", pack);
}

int sound_check_objects(struct decision *d)
{
	struct looking looking = {
		.files = WORK,
		.packs = d->q->is_ahead ? PACKS_WORK_AHEAD : PACKS_WORK,
	};
	int r = 1;

	for (size_t i = 0; r == 1 && i < d->q->n_changes; i++) {
		const struct delivery_change *change = &d->q->changes[i];
		const char *rest;
		size_t desk;

		if (!change->is_gone &&
		    git_part_of(change->path, &desk, &rest) ==
			    GIT_PART_OBJECT &&
		    !decision_base_has(d, change->path))
			r = check_change(d, change->path, &looking);
	}
	return r;
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

	return r <= 0 ? r : sound_check_objects(d);
}
