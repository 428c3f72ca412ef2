/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TEST_SCAN_TREE_H
#define HB_TEST_SCAN_TREE_H

#include "gate/scan/scan.h"

#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Looks for secrets in the files below some directories. */
struct scan_tree {
	size_t most; /* files to look at */
	size_t files, findings, bytes;
	const char *path; /* of the file that is looked at */
};

static int print_finding(void *ctx, const struct scan_finding *f,
			 struct hb_error *err)
{
	struct scan_tree *tree = ctx;

	(void)err;
	tree->findings++;
	printf("# %s:%llu: %s\n", tree->path, (unsigned long long)f->line,
	       f->kind->id);
	return 0;
}

/* What cannot be opened is somebody else's; 0, or why a file is not read. */
static int scan_tree_file(struct scan_tree *tree, struct scan *scan,
			  const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int r = 0;

	if (fd < 0)
		return 0;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		tree->path = path;
		tree->files++;
		tree->bytes += (size_t)st.st_size;
		r = scan_fd(scan, fd, print_finding, tree, NULL);
	}
	(void)close(fd);
	return r;
}

/* 0, or why a directory or a file cannot be read. */
static int scan_tree(struct scan_tree *tree, struct scan *scan, char **tops)
{
	FTS *fts =
		fts_open(tops, FTS_PHYSICAL | FTS_NOCHDIR | FTS_NOSTAT, NULL);
	FTSENT *e;
	int r = fts ? 0 : -1;

	while (r == 0 && tree->files < tree->most && (e = fts_read(fts)))
		if (e->fts_info == FTS_NSOK || e->fts_info == FTS_F)
			r = scan_tree_file(tree, scan, e->fts_path);
	if (fts)
		(void)fts_close(fts);
	return r;
}

#endif
