/* SPDX-License-Identifier: Apache-2.0 */
#include "git/delivery/tree_index.h"

#include "base/buf.h"
#include "git/delivery/commit_tree.h"
#include "git/gitindex.h"
#include "git/objectstore.h"
#include "git/treediff.h"

#include <errno.h>
#include <string.h>

#define MODE_AT	    24
#define HEADER	    "DIRC\0\0\0\2\0\0\0\0"
#define HEADER_SIZE 12
#define PATHS_MAX   ((uint64_t)1 << 20)
#define NAME_MASK   0xfffU

struct making {
	struct buf *out;
	uint32_t n;
};

static unsigned digit(char c)
{
	return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static void put32(unsigned char *to, uint32_t n)
{
	for (int i = 0; i < 4; i++)
		to[i] = (unsigned char)(n >> (24 - 8 * i));
}

/* Of type treediff_fn: against the empty tree, so each file is new. */
static int add_file(void *ctx, const struct treediff_change *change)
{
	struct making *m = ctx;
	unsigned char stat[GITINDEX_STAT_SIZE] = { 0 }, flags[2];
	size_t start = m->out->len, n = strlen(change->path);
	uint32_t name = n < NAME_MASK ? (uint32_t)n : NAME_MASK;

	put32(stat + MODE_AT, (uint32_t)change->new.mode);
	(void)buf_add(m->out, stat, sizeof(stat));
	for (const char *at = change->new.id.hex; *at; at += 2)
		(void)buf_add_char(m->out,
				   (char)(digit(at[0]) << 4 | digit(at[1])));
	flags[0] = (unsigned char)(name >> 8);
	flags[1] = (unsigned char)name;
	(void)buf_add(m->out, flags, sizeof(flags));
	(void)buf_add(m->out, change->path, n);
	m->n++;
	return buf_add_fill(m->out, '\0', 8 - (m->out->len - start) % 8);
}

int tree_index_make(struct objectstore *objects, const char *commit,
		    struct buf *out)
{
	struct making m = { out, 0 };
	struct treediff diff = { .read = treediff_read,
				 .ctx = objects,
				 .n_paths = PATHS_MAX,
				 .n_trees = TREEDIFF_TREES };
	unsigned char number[4];
	struct git_id tree;
	size_t start = out->len;
	int r = commit_tree(objects, commit, &tree);

	if (r >= 0)
		r = buf_add(out, HEADER, HEADER_SIZE);
	if (r >= 0)
		r = treediff_run(&diff, NULL, &tree, add_file, &m);
	if (r < 0)
		return r;
	put32(number, m.n);
	memcpy(out->data + start + 8, number, sizeof(number));
	/* git leaves the sum out as well, if it is told to. */
	return buf_add_fill(out, '\0', strlen(tree.hex) / 2);
}
