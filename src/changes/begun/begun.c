/* SPDX-License-Identifier: Apache-2.0 */
#include "changes/begun/begun.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/grow.h"
#include "changes/changes.h"
#include "git/gitunit.h"
#include "tree/compare.h"
#include "tree/content.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD	   "holdback-begun 1\n"
#define SUM	   "sum "
#define SUM_LEN	   (sizeof(SUM) - 1 + SHA256_HEX_SIZE - 1 + 1)
#define BRANCH	   "branch "
#define COMMIT	   "commit "
#define ENTRY	   "entry "
#define EXECUTES   0111
#define FIELDS	   "%u %u %16" SCNx64 " %64s %n"
#define HOLDS_TEXT 72 /* a digest as hexadecimal digits */

void begun_done(struct begun *begun)
{
	for (size_t i = 0; i < begun->n; i++)
		free(begun->entries[i].path);
	free(begun->entries);
	free(begun->branch);
	free(begun->commit);
	*begun = (struct begun){ 0 };
}

static bool executes(const struct entry *e)
{
	return e->type == ENTRY_FILE && (e->mode & EXECUTES);
}

/* Content of an object in a layer; of an index also its entries. */
static int read_side(const struct side *side, bool is_index,
		     struct begun_entry *ret, struct hb_error *err)
{
	int r = side_content(side, ret->content, err);

	if (r >= 0 && is_index && side->entry->type == ENTRY_FILE)
		ret->index = git_index_name(side->dir, side->name);
	return r < 0 ? r : 0;
}

int begun_add(struct begun *begun, const struct change *change,
	      const int *layers, struct hb_error *err)
{
	const struct content_place place = {
		.root = layers[change->layer],
		.in_layer = true,
		.path = change->path,
		.entry = &change->new,
	};
	struct content_dir dir = { .fd = -1 };
	struct begun_entry entry = { .type = change->new.type,
				     .executes = executes(&change->new) };
	const char *name = NULL;
	int left, r = 0;

	if (entry.type != ENTRY_NONE) {
		r = content_enter(&place, &dir, &name, err);
		if (r >= 0)
			r = read_side(&(struct side){ dir.fd, name,
						      &change->new, true },
				      strcmp(name, "index") == 0, &entry, err);
		left = content_leave(&dir, r < 0 ? NULL : err);
		r = r < 0 ? r : left;
	}
	if (r < 0)
		return r;
	entry.path = strdup(change->path);
	if (!entry.path || grow(begun->entries, begun->n) < 0) {
		free(entry.path);
		return hb_fail(err, -ENOMEM, "cannot keep the beginning");
	}
	begun->entries[begun->n++] = entry;
	return 0;
}

static int by_path(const void *a, const void *b)
{
	const struct begun_entry *x = a, *y = b;

	return strcmp(x->path, y->path);
}

void begun_sort(struct begun *begun)
{
	if (begun->n > 0)
		qsort(begun->entries, begun->n, sizeof(*begun->entries),
		      by_path);
}

static const struct begun_entry *find(const struct begun *begun,
				      const char *path)
{
	const struct begun_entry key = { .path = (char *)(uintptr_t)path };

	return begun->n == 0 ? NULL
			     : bsearch(&key, begun->entries, begun->n,
				       sizeof(key), by_path);
}

bool begun_names(const struct begun *begun, const char *path)
{
	return find(begun, path) != NULL;
}

bool begun_agrees(const struct begun *begun, const struct begun_entry *entry)
{
	const struct begun_entry *e = find(begun, entry->path);

	return e && e->type == entry->type && e->executes == entry->executes &&
	       memcmp(e->content, entry->content, sizeof(e->content)) == 0;
}

/*
 * Whether it is not in the view only because a directory around it is not, and
 * was not at the beginning.
 */
static bool is_in_gone(const struct begun *begun, const struct sighting *s)
{
	auto_free char *above = NULL;
	char *slash;

	if (!s->in_gone || s->new.type != ENTRY_NONE)
		return false;
	above = strdup(s->path);
	while (above && (slash = strrchr(above, '/'))) {
		const struct begun_entry *e;

		*slash = '\0';
		e = find(begun, above);
		if (e)
			return e->type != ENTRY_DIR;
	}
	return false;
}

static int is_same(const struct begun *begun, const struct sighting *s,
		   struct hb_error *err)
{
	const struct begun_entry *then = find(begun, s->path);
	struct side side = { s->layer_dir, s->name, &s->new, true };
	struct begun_entry now = { 0 };
	int r;

	if (!then)
		return is_in_gone(begun, s);
	if (then->type != s->new.type || then->executes != executes(&s->new))
		return 0;
	if (then->type == ENTRY_NONE || then->type == ENTRY_DIR)
		return 1;
	r = read_side(&side, then->index != 0, &now, err);
	if (r < 0)
		return r;
	return memcmp(now.content, then->content, sizeof(now.content)) == 0 ||
	       (then->index != 0 && now.index == then->index);
}

int begun_mark(const struct begun *begun, const struct sighting *s,
	       struct change *change, struct hb_error *err)
{
	int r = begun && !(change->flags & CHANGE_CARRIED)
			? is_same(begun, s, err)
			: 0;

	if (r > 0)
		change->flags |= CHANGE_BEGUN;
	return r;
}

/* A path may have any byte but NUL, so each entry ends with one. */
int begun_write(const struct begun *begun, struct buf *out)
{
	uint8_t digest[SHA256_SIZE];
	char hex[SHA256_HEX_SIZE];

	(void)buf_add_str(out, HEAD);
	if (begun->branch)
		(void)buf_add_fmt(out, BRANCH "%s\n", begun->branch);
	if (begun->commit)
		(void)buf_add_fmt(out, COMMIT "%s\n", begun->commit);
	for (size_t i = 0; i < begun->n; i++) {
		const struct begun_entry *e = &begun->entries[i];

		sha256_hex(e->content, hex);
		(void)buf_add_fmt(out, ENTRY "%u %u %016" PRIx64 " %s %s",
				  (unsigned)e->type, (unsigned)e->executes,
				  e->index, hex, e->path);
		(void)buf_add(out, "\0\n", 2);
	}
	if (out->error)
		return out->error;
	sha256_of(out->data, out->len, digest);
	sha256_hex(digest, hex);
	return buf_add_fmt(out, SUM "%s\n", hex);
}

static bool is_whole(const char *text, size_t len)
{
	uint8_t digest[SHA256_SIZE], told[SHA256_SIZE];
	char hex[SHA256_HEX_SIZE];
	const char *sum;

	if (len < sizeof(HEAD) - 1 + SUM_LEN ||
	    strncmp(text, HEAD, sizeof(HEAD) - 1) != 0)
		return false;
	sum = text + len - SUM_LEN;
	(void)snprintf(hex, sizeof(hex), "%.*s", (int)sizeof(hex) - 1,
		       sum + sizeof(SUM) - 1);
	if (strncmp(sum, SUM, sizeof(SUM) - 1) != 0 ||
	    sha256_from_hex(hex, told) < 0)
		return false;
	sha256_of(text, len - SUM_LEN, digest);
	return memcmp(digest, told, sizeof(digest)) == 0;
}

/* From behind the word to the end of the line. */
static int take_word(const char *text, char **ret)
{
	free(*ret);
	*ret = strndup(text, strcspn(text, "\n"));
	return *ret ? 0 : -ENOMEM;
}

static int take_entry(const char *text, struct begun *ret)
{
	struct begun_entry e = { 0 };
	unsigned type, is_executed;
	char hex[HOLDS_TEXT];
	int n = 0;

	/* NOLINTNEXTLINE(cert-err34-c) the sum was right: we wrote it */
	if (sscanf(text, FIELDS, &type, &is_executed, &e.index, hex, &n) != 4 ||
	    n == 0 || type >= ENTRY_TYPES ||
	    sha256_from_hex(hex, e.content) < 0)
		return -EBADMSG;
	e.type = (enum entry_type)type;
	e.executes = is_executed != 0;
	e.path = strdup(text + n);
	if (!e.path || grow(ret->entries, ret->n) < 0) {
		free(e.path);
		return -ENOMEM;
	}
	ret->entries[ret->n++] = e;
	return 0;
}

int begun_parse(const char *text, size_t len, struct begun *ret)
{
	const char *at = text + sizeof(HEAD) - 1;
	int r = is_whole(text, len) ? 0 : -EBADMSG;

	while (r >= 0 && at < text + len - SUM_LEN) {
		if (strncmp(at, BRANCH, sizeof(BRANCH) - 1) == 0)
			r = take_word(at + sizeof(BRANCH) - 1, &ret->branch);
		else if (strncmp(at, COMMIT, sizeof(COMMIT) - 1) == 0)
			r = take_word(at + sizeof(COMMIT) - 1, &ret->commit);
		else if (strncmp(at, ENTRY, sizeof(ENTRY) - 1) == 0)
			r = take_entry(at + sizeof(ENTRY) - 1, ret);
		else
			r = -EBADMSG;
		if (strncmp(at, ENTRY, sizeof(ENTRY) - 1) == 0)
			at += strlen(at) + 2;
		else
			at += strcspn(at, "\n") + 1;
	}
	begun_sort(ret);
	return r;
}
