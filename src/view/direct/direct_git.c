/* SPDX-License-Identifier: Apache-2.0 */
#include "view/direct/direct_git.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/gitconfig.h"
#include "base/glob.h"
#include "base/path.h"
#include "base/quote.h"
#include "gate/git/runs.h"
#include "gate/items.h"
#include "host/look.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "sys/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* git's own are a few kilobytes. */
#define TEXT_MAX ((size_t)1 << 20)

/* So many files may include each other. */
#define FILES_MAX 32

/* What separates words for a shell, and what begins an alias of a program. */
#define SEPARATORS " \t\n'\"`;|&()!$=<>"

enum named {
	NAMED_NOT,
	NAMED_HOOKS,   /* a directory */
	NAMED_INCLUDE, /* a file of the same kind */
	NAMED_PROGRAM, /* words, of which some may be files */
};

static const struct {
	const char *key;
	enum named named;
} keys[] = {
	{ "core.hookspath", NAMED_HOOKS },
	{ "include.path", NAMED_INCLUDE },
	{ "includeif.*.path", NAMED_INCLUDE },
};

struct reading {
	const struct direct_config *config;
	char files[FILES_MAX][PATH_MAX]; /* absolute, to be read */
	size_t n_files, at;
	char worktree[PATH_MAX]; /* core.worktree, or "" */
	struct hb_error *err;
};

static enum named named_by(const struct gate_rules *rules, const char *key)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (glob_match(keys[i].key, key, GLOB_FOLD))
			return keys[i].named;
	return runs_by_key(rules, key) ? NAMED_PROGRAM : NAMED_NOT;
}

static int tell(struct reading *g, const char *path, enum named named)
{
	const struct direct_config *config = g->config;
	char real[PATH_MAX];
	struct stat st;

	if (look_real(path, real) < 0 || strcmp(real, config->source) == 0 ||
	    sys_fstatat(AT_FDCWD, real, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !(S_ISREG(st.st_mode) ||
	      (named == NAMED_HOOKS && S_ISDIR(st.st_mode))))
		return 0;
	if (named == NAMED_INCLUDE && path_is_beneath(real, config->source)) {
		for (size_t i = 0; i < g->n_files; i++)
			if (strcmp(g->files[i], real) == 0)
				return 0;
		if (g->n_files == FILES_MAX)
			return hb_fail(
				g->err, -HB_E_USAGE,
				"git's configuration includes more than %d files",
				FILES_MAX);
		memcpy(g->files[g->n_files++], real, sizeof(real));
	}
	return config->named(config->ctx, real, g->err);
}

/* From the directory of the file, those above it, and the work tree. */
static int try_word(struct reading *g, const char *word, enum named named)
{
	const struct direct_config *config = g->config;
	char path[PATH_MAX], dir[PATH_MAX];
	int r = 0;

	if (word[0] == '/')
		return tell(g, word, named);
	if (word[0] == '~' && word[1] == '/')
		return config->home && path_join(config->home, word + 2, path,
						 sizeof(path)) >= 0
			       ? tell(g, path, named)
			       : 0;
	if (g->worktree[0] &&
	    path_join(g->worktree, word, path, sizeof(path)) >= 0)
		r = tell(g, path, named);
	memcpy(dir, g->files[g->at], sizeof(dir));
	while (r >= 0 && strlen(dir) > strlen(config->source)) {
		char *slash = strrchr(dir, '/');

		slash[slash == dir] = '\0';
		if (path_join(dir, word, path, sizeof(path)) >= 0)
			r = tell(g, path, named);
		if (slash == dir)
			break;
	}
	return r;
}

static void note_worktree(struct reading *g, const char *value)
{
	char dir[PATH_MAX], path[PATH_MAX];

	memcpy(dir, g->files[g->at], sizeof(dir));
	*strrchr(dir, '/') = '\0';
	if (value[0] == '/')
		(void)snprintf(path, sizeof(path), "%s", value);
	else if (path_join(dir, value, path, sizeof(path)) < 0)
		return;
	if (look_real(path, g->worktree) < 0)
		g->worktree[0] = '\0';
}

/* Of type gitconfig_fn. */
static int look_at(void *ctx, const struct gitconfig_key *key)
{
	struct reading *g = ctx;
	auto_free char *name = strndup(key->name, key->n_name);
	auto_free char *value = NULL;
	enum named named;
	char *rest = NULL;
	int r = 0;

	if (!key->value || key->n_value == 0 || key->n_value >= PATH_MAX)
		return 0;
	value = strndup(key->value, key->n_value);
	if (!value || !name)
		return hb_fail(g->err, -ENOMEM,
			       "cannot read git's configuration");
	/* Patterns know slashes, and keys have no components. */
	for (char *s = name; (s = strchr(s, '/'));)
		*s = '\001';
	if (strcmp(name, "core.worktree") == 0)
		note_worktree(g, value);
	named = named_by(g->config->rules, name);
	if (named == NAMED_NOT)
		return 0;
	if (named != NAMED_PROGRAM)
		return try_word(g, value, named);
	for (char *word = strtok_r(value, SEPARATORS, &rest); r >= 0 && word;
	     word = strtok_r(NULL, SEPARATORS, &rest))
		if (strchr(word, '/'))
			r = try_word(g, word, named);
	return r;
}

/* git does not obey a file that it cannot read, or does not understand. */
static int read_one(struct reading *g)
{
	const struct direct_config *config = g->config;
	const char *path = g->files[g->at] + strlen(config->source);
	auto_free char *text = NULL;
	auto_fd int fd = -1;
	struct stat st;
	size_t mark;
	ssize_t n;
	int r;

	fd = sys_openat2(config->root, path + (*path == '/'),
			 O_RDONLY | O_NONBLOCK | O_NOCTTY, 0,
			 K_RESOLVE_BENEATH | K_RESOLVE_NO_SYMLINKS);
	if (fd < 0 || sys_fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	text = malloc(TEXT_MAX);
	if (!text)
		return hb_fail(g->err, -ENOMEM,
			       "cannot read git's configuration");
	n = sys_pread_full(fd, text, TEXT_MAX, 0);
	if (n == (ssize_t)TEXT_MAX) {
		hb_fix(g->err,
		       "leave out --direct: a session holds all of it back");
		return hb_fail(g->err, -HB_E_USAGE, "'%s' is too large",
			       quoted(g->files[g->at]));
	}
	if (n < 0)
		return 0;
	mark = items_skip_mark(text, (size_t)n);
	r = gitconfig_read(text + mark, (size_t)n - mark, look_at, g);
	return r == -EINVAL ? 0 : r;
}

int direct_config_names(const struct direct_config *config, const char *path,
			struct hb_error *err)
{
	auto_free struct reading *g = calloc(1, sizeof(*g));
	int r = 0;

	if (!g)
		return hb_fail(err, -ENOMEM, "cannot read git's configuration");
	g->config = config;
	g->err = err;
	if (config->worktree)
		(void)snprintf(g->worktree, sizeof(g->worktree), "%s",
			       config->worktree);
	if (path_join(config->source, path, g->files[0], PATH_MAX) >= 0)
		g->n_files = 1;
	for (; r >= 0 && g->at < g->n_files; g->at++)
		r = read_one(g);
	return r < 0 ? r : 0;
}
