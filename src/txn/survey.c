/* SPDX-License-Identifier: Apache-2.0 */
#include "txn/survey.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/grow.h"
#include "changes/filter.h"
#include "tree/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DIRS_MAX  ((uint64_t)1 << 28)
#define LINKS_MAX ((size_t)1 << 20)

struct link_count {
	uint64_t group; /* 0: free */
	uint64_t n;
};

/* A directory that the stream is in. */
struct level {
	size_t len; /* of its path */
	uint64_t number;
	bool is_opaque; /* it is moved whole, or what is in it is copied */
	enum change_kind kind;
	bool is_counted; /* as taken, which is undone if it stays */
};

struct pass {
	struct survey *survey;
	struct level *levels;
	size_t depth;
	struct buf path; /* of the change before */
};

static bool is_denied(const struct txn_options *options, const struct change *c)
{
	switch (change_asks(c)) {
	case CHANGE_ASKS_SPECIAL:
		return !options->gate && !options->with_special;
	case CHANGE_ASKS_SETID:
		return !options->gate && !options->with_setid;
	case CHANGE_ASKS_NEVER:
		return true;
	case CHANGE_ASKS_NOTHING:
	default:
		return false;
	}
}

bool survey_is_whole_dir(const struct change *c)
{
	if (c->flags & CHANGE_OPAQUE)
		return true;
	return (c->old.type == ENTRY_DIR) != (c->new.type == ENTRY_DIR);
}

bool survey_is_partial(const struct survey *s, uint64_t number)
{
	return number / 8 >= s->room ||
	       (s->partial[number / 8] >> number % 8 & 1);
}

bool survey_is_disputed(const struct survey *s, uint64_t number)
{
	return number / 8 < s->room &&
	       (s->disputed[number / 8] >> number % 8 & 1);
}

static bool takes_dir_away(const struct change *c)
{
	return c->old.type == ENTRY_DIR && c->new.type != ENTRY_DIR;
}

bool survey_keeps_dir(const struct survey *s, const struct change *c,
		      uint64_t number)
{
	return takes_dir_away(c) && survey_is_partial(s, number);
}

static int grow_bits(uint8_t **bits, size_t from, size_t to)
{
	uint8_t *larger = realloc(*bits, to);

	if (!larger)
		return -ENOMEM;
	memset(larger + from, 0, to - from);
	*bits = larger;
	return 0;
}

static int add_dir(struct survey *s, struct hb_error *err)
{
	if (s->n_dirs / 8 >= s->room) {
		size_t room = s->room ? 2 * s->room : 1024;

		if (s->n_dirs >= DIRS_MAX ||
		    grow_bits(&s->partial, s->room, room) < 0 ||
		    grow_bits(&s->disputed, s->room, room) < 0)
			return hb_fail(err, -ENOMEM, "too many directories");
		s->room = room;
	}
	s->n_dirs++;
	return 0;
}

static void set_bit(uint8_t *bits, uint64_t number)
{
	bits[number / 8] |= (uint8_t)(1U << number % 8);
}

static size_t find_link(const struct survey *s, uint64_t group)
{
	size_t at = (size_t)(group * 0x9e3779b97f4a7c15ULL >> 20);

	while (s->links[at & (s->links_room - 1)].group != 0 &&
	       s->links[at & (s->links_room - 1)].group != group)
		at++;
	return at & (s->links_room - 1);
}

static int grow_links(struct survey *s)
{
	struct survey larger = { .links_room = s->links_room ? 2 * s->links_room
							     : 1024 };

	if (larger.links_room > LINKS_MAX)
		return -E2BIG;
	larger.links = calloc(larger.links_room, sizeof(*larger.links));
	if (!larger.links)
		return -ENOMEM;
	for (size_t i = 0; i < s->links_room; i++)
		if (s->links[i].group != 0)
			larger.links[find_link(&larger, s->links[i].group)] =
				s->links[i];
	free(s->links);
	s->links = larger.links;
	s->links_room = larger.links_room;
	return 0;
}

static void count_link(struct survey *s, uint64_t group)
{
	size_t at;

	if (s->links_full)
		return;
	if (2 * (s->n_links + 1) > s->links_room && grow_links(s) < 0) {
		s->links_full = true;
		return;
	}
	at = find_link(s, group);
	if (s->links[at].group == 0)
		s->n_links++;
	s->links[at].group = group;
	s->links[at].n++;
}

bool survey_has_all_links(const struct survey *s, const struct change *c)
{
	if (c->link_group == 0)
		return c->new.nlink <= 1 || c->new.type == ENTRY_DIR;
	if (s->links_full || s->links_room == 0)
		return false;
	return s->links[find_link(s, c->link_group)].n == c->new.nlink;
}

/* The innermost directory is over: what becomes of it is known. */
static void pop(struct pass *p)
{
	const struct level *level = &p->levels[--p->depth];
	struct survey *s = p->survey;

	if (!level->is_counted || !survey_is_partial(s, level->number))
		return;
	s->n_taken--;
	if (level->kind == CHANGE_DELETED)
		s->n_kept_deleted++;
	else
		s->n_kept_replaced++;
}

/* Leaves the directories that the path does not lie in. */
static void leave(struct pass *p, const char *path)
{
	while (p->depth > 0) {
		size_t len = p->levels[p->depth - 1].len;

		if (len <= p->path.len &&
		    strncmp(path, buf_str(&p->path), len) == 0 &&
		    path[len] == '/')
			return;
		pop(p);
	}
}

static int enter(struct pass *p, const struct change *c, bool is_taken,
		 struct hb_error *err)
{
	if (grow(p->levels, p->depth) < 0)
		return hb_fail(err, -ENOMEM, "the tree is too deep");
	p->levels[p->depth++] = (struct level){
		.len = strlen(c->path),
		.number = p->survey->n_dirs,
		.is_opaque = c->new.is_opaque,
		.kind = c->kind,
		.is_counted = is_taken &&takes_dir_away(c),
	};
	return add_dir(p->survey, err);
}

static int look_at(struct pass *p, const struct change *c,
		   const struct txn_options *options, struct hb_error *err)
{
	struct survey *s = p->survey;
	bool takes = changes_choice_takes(&options->choice, c);
	bool is_carried = c->flags & CHANGE_CARRIED;
	int r;

	leave(p, c->path);
	buf_cut(&p->path, 0);
	r = buf_add_str(&p->path, c->path);
	if (r < 0)
		return hb_fail(err, r, "cannot keep a path");
	if (survey_is_whole_dir(c)) {
		r = enter(p, c, takes && !is_carried, err);
		if (r < 0)
			return r;
	}
	if (!takes) {
		for (size_t i = 0; i < p->depth; i++)
			set_bit(s->partial, p->levels[i].number);
		s->has_rest = s->has_rest || !is_carried;
		return 0;
	}
	if (is_carried)
		return 0;
	for (size_t i = 0; (c->flags & CHANGE_CONFLICT) && i < p->depth; i++)
		set_bit(s->disputed, p->levels[i].number);
	s->n_taken++;
	if (changes_choice_is_open(&options->choice, c) &&
	    s->n_conflicts++ == 0) {
		s->conflict = strdup(c->path);
		if (!s->conflict)
			return hb_fail(err, -ENOMEM, "cannot keep a path");
	}
	s->n_denied += is_denied(options, c);
	if (c->new.type == ENTRY_FILE)
		s->bytes += c->new.stored;
	/*
	 * One name that is copied means that all are, for they are to be names
	 * of one inode again; so it must not count here.
	 */
	for (size_t i = 0; i < p->depth; i++)
		if (p->levels[i].is_opaque)
			return 0;
	if (c->link_group != 0)
		count_link(s, c->link_group);
	return 0;
}

int survey_run(struct survey *s, struct changes *changes,
	       const struct txn_options *options, struct hb_error *err)
{
	struct pass p = { .survey = s, .path = BUF_INIT(TREE_PATH_MAX) };
	struct change c;
	int r;

	*s = (struct survey){ 0 };
	r = changes_rewind(changes, err);
	while (r >= 0 && (r = changes_next(changes, &c, err)) == 1)
		r = look_at(&p, &c, options, err);
	while (p.depth > 0)
		pop(&p);
	free(p.levels);
	buf_done(&p.path);
	return r < 0 ? r : 0;
}

void survey_done(struct survey *s)
{
	free(s->partial);
	free(s->disputed);
	free(s->links);
	free(s->conflict);
	*s = (struct survey){ 0 };
}
