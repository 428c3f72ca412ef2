/* SPDX-License-Identifier: Apache-2.0 */
#include "git/delivery/sound.h"

#include "base/auto.h"
#include "base/quote.h"
#include "git/delivery/decision.h"
#include "git/delivery/git_part.h"
#include "git/delivery/shallow.h"
#include "git/objectstore.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OBJECTS "objects/"
#define PACKS	OBJECTS "pack/"
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

int sound_check(struct decision *d)
{
	int r = shallow_decide(d);

	return r <= 0 ? r : sound_check_objects(d);
}
