/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/refs.h"

#include "base/auto.h"
#include "base/error.h"
#include "gate/changed_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PACKED	 "packed-refs"
#define DIR_SIZE ((size_t)256 << 20)

void refs_init(struct refs *refs)
{
	*refs = (struct refs){ 0 };
	buf_init(&refs->dir, DIR_SIZE);
}

void refs_done(struct refs *refs)
{
	buf_done(&refs->dir);
	free(refs->text);
	refs->text = NULL;
}

struct ref {
	const char *name;
	size_t n;
};

/* The reference of the line, whose end is told as well; false: it has none. */
static bool read_line(const char *line, const char *end, struct ref *ret,
		      const char **ret_next)
{
	const char *stop = memchr(line, '\n', (size_t)(end - line));
	const char *blank;

	stop = stop ? stop : end;
	*ret_next = stop < end ? stop + 1 : end;
	blank = memchr(line, ' ', (size_t)(stop - line));
	if (!blank || *line == '#' || *line == '^')
		return false;
	*ret = (struct ref){ blank + 1, (size_t)(stop - blank) - 1 };
	return true;
}

static int compare(const struct ref *a, const struct ref *b)
{
	size_t n = a->n < b->n ? a->n : b->n;
	int r = memcmp(a->name, b->name, n);

	return r != 0 ? r : (a->n > b->n) - (a->n < b->n);
}

/*
 * git writes the lines in the order of the names.  In a file of another order
 * some are not found, and so are asked about.
 */
static bool has_ref(const struct refs *refs, const struct ref *wanted)
{
	const char *low = refs->text;
	const char *high = low ? low + refs->n : NULL;

	while (low < high) {
		const char *line = low + (high - low) / 2, *next;
		struct ref ref;
		int r;

		while (line > low && line[-1] != '\n')
			line--;
		/* A comment or a peeled tag belongs to the line before. */
		while (!read_line(line, high, &ref, &next) && line > low)
			for (line--; line > low && line[-1] != '\n';)
				line--;
		if (!read_line(line, high, &ref, &next)) {
			low = next;
			continue;
		}
		r = compare(wanted, &ref);
		if (r == 0)
			return true;
		if (r < 0)
			high = line;
		else
			low = next;
	}
	return false;
}

static bool is_kept(const struct ref *ref)
{
	static const char heads[] = "refs/heads/", tags[] = "refs/tags/";

	return (ref->n > strlen(heads) &&
		memcmp(ref->name, heads, strlen(heads)) == 0) ||
	       (ref->n > strlen(tags) &&
		memcmp(ref->name, tags, strlen(tags)) == 0);
}

/* 1: the old file has a ref that the new lacks. */
static int compare_packed(const struct refs *refs, struct look *look,
			  char *ret_name, size_t size, struct hb_error *err)
{
	auto_free char *old = NULL;
	size_t n = 0;
	int r;

	if (!look_is_file(look, LOOK_OLD))
		return 0;
	r = look_text(look, LOOK_OLD, &old, &n, err);
	if (r < 0)
		return look_is_fatal(r) ? r : 1;
	for (const char *line = old; line < old + n;) {
		struct ref ref;

		if (!read_line(line, old + n, &ref, &line) || !is_kept(&ref) ||
		    has_ref(refs, &ref))
			continue;
		(void)snprintf(ret_name, size, "%.*s", (int)ref.n, ref.name);
		return 1;
	}
	return 0;
}

int refs_gone(struct refs *refs, struct look *look, char *ret_name, size_t size,
	      struct hb_error *err)
{
	const char *path = look->change.path;
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	struct ref ref;
	int r = 0;

	ret_name[0] = '\0';
	if (strcmp(name, PACKED) != 0) {
		const char *dir = buf_str(&refs->dir);
		const size_t n = refs->dir.len;

		if (look->change.kind != CHANGE_DELETED)
			return 0;
		if (strncmp(path, dir, n) != 0)
			return 1;
		ref = (struct ref){ path + n, strlen(path + n) };
		return !has_ref(refs, &ref);
	}
	free(refs->text);
	refs->text = NULL;
	buf_cut(&refs->dir, 0);
	if (buf_add(&refs->dir, path, (size_t)(name - path)) < 0)
		return hb_fail(err, refs->dir.error, "cannot keep a path");
	if (look_is_file(look, LOOK_NEW))
		r = look_text(look, LOOK_NEW, &refs->text, &refs->n, err);
	if (look_is_fatal(r))
		return r;
	return compare_packed(refs, look, ret_name, size, err);
}
