/* SPDX-License-Identifier: Apache-2.0 */
#include "git/kept/kept_refs.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/grow.h"
#include "base/sha256.h"
#include "git/gitrefs.h"
#include "git/reflog.h"
#include "git/refname.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TITLE	      "holdback-refs 1\n"
#define STASH	      "stash "
#define MADE	      "made "
#define PACKED_NAME   "packed "
#define BOUNDARY      "shallow "
#define SUM	      "sum "
#define SYMBOLIC      "ref: "
#define HEAD	      "HEAD"
#define WORKTREES     "worktrees"
#define WORKTREES_MAX 1024

static void free_texts(char **list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(list[i]);
	free(list);
}

void kept_refs_done(struct kept_refs *refs)
{
	for (size_t i = 0; i < refs->n; i++) {
		free(refs->refs[i].name);
		free(refs->refs[i].value);
	}
	free(refs->refs);
	free_texts(refs->stash, refs->n_stash);
	free_texts(refs->made, refs->n_made);
	free_texts(refs->packed, refs->n_packed);
	free_texts(refs->shallow, refs->n_shallow);
	*refs = (struct kept_refs){ 0 };
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct kept_ref *)a)->name,
		      ((const struct kept_ref *)b)->name);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int is_name(const void *key, const void *ref)
{
	return strcmp(key, ((const struct kept_ref *)ref)->name);
}

static void sort_texts(char **list, size_t n)
{
	if (n > 0)
		qsort(list, n, sizeof(*list), by_text);
}

static bool has_text(char *const *list, size_t n, const char *text)
{
	return n > 0 && bsearch(&text, list, n, sizeof(*list), by_text);
}

void kept_refs_sort(struct kept_refs *refs)
{
	if (refs->n > 0)
		qsort(refs->refs, refs->n, sizeof(*refs->refs), by_name);
	sort_texts(refs->made, refs->n_made);
	sort_texts(refs->packed, refs->n_packed);
	sort_texts(refs->shallow, refs->n_shallow);
}

const char *kept_refs_value(const struct kept_refs *refs, const char *name)
{
	const struct kept_ref *found =
		refs->n == 0 ? NULL
			     : bsearch(name, refs->refs, refs->n,
				       sizeof(*refs->refs), is_name);

	return found ? found->value : NULL;
}

bool kept_refs_is_made(const struct kept_refs *refs, const char *name)
{
	return has_text(refs->made, refs->n_made, name);
}

bool kept_refs_is_packed(const struct kept_refs *refs, const char *name)
{
	return has_text(refs->packed, refs->n_packed, name);
}

bool kept_refs_is_shallow(const struct kept_refs *refs, const char *id)
{
	return has_text(refs->shallow, refs->n_shallow, id);
}

/* The first that begins with the name and a slash. */
static bool has_below(const struct kept_refs *refs, const char *name)
{
	size_t low = 0, high = refs->n, n = strlen(name);

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const char *other = refs->refs[middle].name;
		int order = strncmp(other, name, n);

		/* Below are "NAME/", and a character before '/' is less. */
		if (order < 0 || (order == 0 && other[n] < '/'))
			low = middle + 1;
		else
			high = middle;
	}
	return low < refs->n && strncmp(refs->refs[low].name, name, n) == 0 &&
	       refs->refs[low].name[n] == '/';
}

bool kept_refs_clash(const struct kept_refs *refs, const char *name)
{
	char above[GITREFS_NAME_MAX + 1];

	if (has_below(refs, name))
		return true;
	for (size_t n = strcspn(name, "/"); n < sizeof(above) && name[n];
	     n += 1 + strcspn(name + n + 1, "/")) {
		memcpy(above, name, n);
		above[n] = '\0';
		if (kept_refs_value(refs, above))
			return true;
	}
	return false;
}

int kept_refs_add(struct kept_refs *refs, const char *name, const char *value)
{
	struct kept_ref ref;

	if (refs->n == GITREFS_MAX || strlen(name) > GITREFS_NAME_MAX)
		return -EFBIG;
	ref.name = strdup(name);
	ref.value = strdup(value);
	if (!ref.name || !ref.value || grow(refs->refs, refs->n) < 0) {
		free(ref.name);
		free(ref.value);
		return -ENOMEM;
	}
	refs->refs[refs->n++] = ref;
	return 0;
}

static int add_text(char ***list, size_t *n, const char *text, size_t len)
{
	char *copy;

	if (*n == GITREFS_MAX || len > GITREFS_NAME_MAX)
		return -EFBIG;
	copy = strndup(text, len);
	if (!copy || grow(*list, *n) < 0) {
		free(copy);
		return -ENOMEM;
	}
	(*list)[(*n)++] = copy;
	return 0;
}

int kept_refs_add_made(struct kept_refs *refs, const char *name)
{
	return add_text(&refs->made, &refs->n_made, name, strlen(name));
}

int kept_refs_add_packed_name(struct kept_refs *refs, const char *name)
{
	return add_text(&refs->packed, &refs->n_packed, name, strlen(name));
}

int kept_refs_add_shallow(struct kept_refs *refs, const char *text)
{
	int r = 0;

	while (r >= 0 && *text) {
		size_t n = strcspn(text, "\n");
		struct git_id id;

		if (git_id_parse(text, n, &id))
			r = add_text(&refs->shallow, &refs->n_shallow, text, n);
		text += n + (text[n] == '\n');
	}
	return r;
}

int kept_refs_add_stash(struct kept_refs *refs, const char *id)
{
	return add_text(&refs->stash, &refs->n_stash, id, strlen(id));
}

/* "ref: NAME" as one spelling of it; "": neither a value nor a name. */
static void normalise(char *text, char ret[GITREFS_FILE_MAX])
{
	struct git_id id;
	const char *name;

	ret[0] = '\0';
	switch (gitref_parse(text, &id, &name)) {
	case 1:
		(void)snprintf(ret, GITREFS_FILE_MAX, "%s", id.hex);
		break;
	case 2:
		if (refname_is_valid(name) &&
		    strlen(SYMBOLIC) + strlen(name) < GITREFS_FILE_MAX)
			(void)snprintf(ret, GITREFS_FILE_MAX, SYMBOLIC "%s",
				       name);
		break;
	default:
		break;
	}
}

int kept_refs_read_value(char *text, char **ret_value)
{
	char value[GITREFS_FILE_MAX];

	normalise(text, value);
	*ret_value = strdup(value);
	return *ret_value ? 0 : -ENOMEM;
}

/* The value in a file; "" also where there is none. */
static int read_value(int root, const char *prefix, const char *name,
		      char ret[GITREFS_FILE_MAX])
{
	auto_free char *text = NULL;
	int r = gitref_read_file(root, prefix, name, GITREFS_FILE_MAX - 1,
				 &text);

	ret[0] = '\0';
	if (r == -ENOMEM)
		return r;
	if (r >= 0)
		normalise(text, ret);
	return 0;
}

struct look {
	struct kept_refs *refs;
	const char *above; /* of the names that are visited */
	size_t n;
};

/* Of type tree_fn, below refs/. */
static int add_loose(void *ctx, const struct tree_visit *visit,
		     struct hb_error *err)
{
	struct look *look = ctx;
	char name[GITREFS_NAME_MAX + 1];
	char value[GITREFS_FILE_MAX];
	int n, r;

	(void)err;
	if (visit->when != TREE_ENTER || !S_ISREG(visit->attr.mode))
		return 0;
	n = snprintf(name, sizeof(name), "%s%s", look->above, visit->path);
	if (n < 0 || (size_t)n >= sizeof(name) || !refname_is_valid(name))
		return 0;
	r = read_value(visit->dir, "", visit->name, value);
	return r < 0	  ? r
	       : value[0] ? kept_refs_add(look->refs, name, value)
			  : 0;
}

/* Of type tree_fn: each linked worktree has a HEAD. */
static int add_worktree(void *ctx, const struct tree_visit *visit,
			struct hb_error *err)
{
	struct look *look = ctx;
	char name[sizeof(WORKTREES) + NAME_MAX + sizeof(HEAD) + 1];
	char value[GITREFS_FILE_MAX];
	int r;

	(void)err;
	if (!S_ISDIR(visit->attr.mode) || strpbrk(visit->name, " \n"))
		return 0;
	if (look->n++ == WORKTREES_MAX)
		return -EFBIG;
	(void)snprintf(name, sizeof(name), WORKTREES "/%s/" HEAD, visit->name);
	r = read_value(visit->dir, visit->name, HEAD, value);
	if (r >= 0 && value[0])
		r = kept_refs_add(look->refs, name, value);
	return r < 0 ? r : TREE_SKIP;
}

int kept_refs_add_packed(struct kept_refs *refs, const struct gitrefs *packed)
{
	size_t n_loose = refs->n;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < packed->n; i++) {
		const struct kept_refs loose = { .refs = refs->refs,
						 .n = n_loose };
		const struct gitref *ref = &packed->refs[i];

		if (refname_is_valid(ref->name) &&
		    !kept_refs_value(&loose, ref->name))
			r = kept_refs_add(refs, ref->name, ref->id.hex);
	}
	kept_refs_sort(refs);
	return r;
}

static int add_stash(struct kept_refs *refs, int base, const char *prefix)
{
	auto_free char *text = NULL;
	struct reflog_line line;
	const char *at;
	int r = gitref_read_file(base, prefix, "logs/refs/stash", REFLOG_MAX,
				 &text);

	if (r < 0)
		return r == -ENOMEM || r == -EFBIG ? r : 0;
	for (at = text; r >= 0 && reflog_next(&at, &line);)
		r = kept_refs_add_stash(refs, line.new.hex);
	return r;
}

static int look_at(struct kept_refs *refs, int base, const char *prefix)
{
	struct look look = { refs, "refs/", 0 };
	char value[GITREFS_FILE_MAX];
	auto_fd int loose = gitrefs_open_below(base, prefix, "refs");
	auto_fd int worktrees = gitrefs_open_below(base, prefix, WORKTREES);
	auto_fd int reftable = gitrefs_open_below(base, prefix, "reftable");
	int r = read_value(base, prefix, HEAD, value);

	if (r < 0)
		return r;
	/* A HEAD that is a link, or names nothing that git would take. */
	if (loose < 0 || reftable >= 0 || !value[0])
		return -ENOTSUP;
	r = kept_refs_add(refs, HEAD, value);
	if (r >= 0)
		r = tree_walk(loose, ".", TREE_LENIENT, add_loose, &look, NULL);
	if (r >= 0 && worktrees >= 0)
		r = tree_walk(worktrees, ".", TREE_FLAT | TREE_LENIENT,
			      add_worktree, &look, NULL);
	kept_refs_sort(refs);
	return r < 0 ? r : add_stash(refs, base, prefix);
}

int kept_refs_look_loose(int base, const char *prefix, struct kept_refs *ret)
{
	auto_kept_refs struct kept_refs refs = { 0 };
	int r = look_at(&refs, base, prefix);

	if (r < 0)
		return r;
	*ret = refs;
	refs = (struct kept_refs){ 0 };
	return 0;
}

static int add_shallow(struct kept_refs *refs, int base, const char *prefix)
{
	auto_free char *text = NULL;
	int r = gitref_read_file(base, prefix, KEPT_SHALLOW, KEPT_SHALLOW_MAX,
				 &text);

	if (r < 0)
		return r == -ENOMEM || r == -EFBIG ? r : 0;
	return kept_refs_add_shallow(refs, text);
}

int kept_refs_look(int base, const char *prefix, struct kept_refs *ret)
{
	auto_kept_refs struct kept_refs refs = { 0 };
	auto_gitrefs struct gitrefs packed = { 0 };
	int r = look_at(&refs, base, prefix);

	/* Files first: git writes packed-refs before it removes a file. */
	if (r >= 0)
		r = gitrefs_add_packed_file(&packed, base, prefix);
	if (r >= 0)
		r = kept_refs_add_packed(&refs, &packed);
	for (size_t i = 0; r >= 0 && i < packed.n; i++)
		r = kept_refs_add_packed_name(&refs, packed.refs[i].name);
	if (r >= 0)
		r = add_shallow(&refs, base, prefix);
	if (r < 0)
		return r;
	kept_refs_sort(&refs);
	*ret = refs;
	refs = (struct kept_refs){ 0 };
	return 0;
}

int kept_refs_now(int base, const char *prefix, const char *name,
		  char **ret_value)
{
	auto_gitrefs struct gitrefs packed = { 0 };
	char value[GITREFS_FILE_MAX];
	const struct gitref *ref;
	int r = read_value(base, prefix, name, value);

	if (r >= 0 && !value[0]) {
		r = gitrefs_add_packed_file(&packed, base, prefix);
		gitrefs_sort(&packed);
		ref = gitrefs_find(&packed, name);
		if (ref)
			(void)snprintf(value, sizeof(value), "%s", ref->id.hex);
	}
	if (r < 0)
		return r;
	*ret_value = strdup(value);
	return *ret_value ? 0 : -ENOMEM;
}

int kept_refs_write(const struct kept_refs *refs, struct buf *out)
{
	uint8_t digest[SHA256_SIZE];
	char hex[SHA256_HEX_SIZE];
	size_t start = out->len;

	(void)buf_add_str(out, TITLE);
	for (size_t i = 0; i < refs->n; i++)
		(void)buf_add_fmt(out, "%s %s\n", refs->refs[i].value,
				  refs->refs[i].name);
	for (size_t i = 0; i < refs->n_stash; i++)
		(void)buf_add_fmt(out, STASH "%s\n", refs->stash[i]);
	for (size_t i = 0; i < refs->n_made; i++)
		(void)buf_add_fmt(out, MADE "%s\n", refs->made[i]);
	for (size_t i = 0; i < refs->n_packed; i++)
		(void)buf_add_fmt(out, PACKED_NAME "%s\n", refs->packed[i]);
	for (size_t i = 0; i < refs->n_shallow; i++)
		(void)buf_add_fmt(out, BOUNDARY "%s\n", refs->shallow[i]);
	if (out->error < 0)
		return out->error;
	sha256_of(out->data + start, out->len - start, digest);
	sha256_hex(digest, hex);
	return buf_add_fmt(out, SUM "%s\n", hex);
}

static bool begins_with(const char *text, size_t n, const char *word)
{
	return n > strlen(word) && memcmp(text, word, strlen(word)) == 0;
}

/* One line without its end.  The text is ours: its sum was right. */
static int parse_line(struct kept_refs *refs, char *line, size_t n)
{
	char *space = memrchr(line, ' ', n);

	if (!space)
		return -EBADMSG;
	if (begins_with(line, n, STASH))
		return add_text(&refs->stash, &refs->n_stash, space + 1,
				n - (size_t)(space + 1 - line));
	if (begins_with(line, n, MADE))
		return add_text(&refs->made, &refs->n_made, space + 1,
				n - (size_t)(space + 1 - line));
	if (begins_with(line, n, PACKED_NAME))
		return add_text(&refs->packed, &refs->n_packed, space + 1,
				n - (size_t)(space + 1 - line));
	if (begins_with(line, n, BOUNDARY))
		return add_text(&refs->shallow, &refs->n_shallow, space + 1,
				n - (size_t)(space + 1 - line));
	*space = '\0';
	line[n] = '\0';
	return kept_refs_add(refs, space + 1, line);
}

/* How many bytes are before the line of the sum, which is the last one. */
static size_t length_of_lines(const char *text, size_t len)
{
	size_t n = strlen(SUM) + SHA256_HEX_SIZE;
	uint8_t digest[SHA256_SIZE];
	char hex[SHA256_HEX_SIZE];

	if (len < n + strlen(TITLE) || text[len - 1] != '\n' ||
	    memcmp(text, TITLE, strlen(TITLE)) != 0 ||
	    memcmp(text + len - n, SUM, strlen(SUM)) != 0)
		return 0;
	sha256_of(text, len - n, digest);
	sha256_hex(digest, hex);
	return memcmp(text + len - n + strlen(SUM), hex, strlen(hex)) == 0
		       ? len - n
		       : 0;
}

int kept_refs_parse(const char *text, size_t len, struct kept_refs *ret)
{
	auto_kept_refs struct kept_refs refs = { 0 };
	size_t end = length_of_lines(text, len), at = strlen(TITLE);
	auto_free char *copy = NULL;

	if (end == 0)
		return -EBADMSG;
	copy = strndup(text, end);
	if (!copy)
		return -ENOMEM;
	while (at < end) {
		size_t n = strcspn(copy + at, "\n");
		int r = at + n < end ? parse_line(&refs, copy + at, n)
				     : -EBADMSG;

		if (r < 0)
			return r;
		at += n + 1;
	}
	kept_refs_sort(&refs);
	*ret = refs;
	refs = (struct kept_refs){ 0 };
	return 0;
}
