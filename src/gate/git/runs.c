/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/git/runs.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/gitconfig.h"
#include "base/glob.h"
#include "base/grow.h"
#include "base/path.h"
#include "changes/resource.h"
#include "gate/git/base_path.h"
#include "gate/index.h"
#include "gate/items.h"
#include "gate/rules.h"
#include "git/gitrefs.h"
#include "git/ignore/ignored.h"
#include "sys/file.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TEXT_MAX   ((size_t)1 << 20) /* git's own are a few kilobytes */
#define DEPTH_MAX  10		     /* as git bounds includes */
#define LOOKS_MAX  8192		     /* entries that are looked at */
#define LINK_DEPTH 3		     /* ".github/workflows/x" */
#define GIT_DIR	   ".git"

/* What separates words for a shell, and what begins an alias of a program. */
#define SEPARATORS " \t\n'\"`;|&()!$=<>"

struct reading {
	struct runs *runs;
	const struct resource *resource;
	const struct gate_rules *rules;
	struct hb_error *err;
	size_t n_looks;
	struct gate_seen *seen;

	/* The configuration at hand. */
	const char *dir;   /* its own, from the resource on; NULL: outside */
	const char *files; /* the work tree, from the resource on */
	int depth;
};

void runs_done(struct runs *runs)
{
	for (size_t i = 0; i < runs->n; i++) {
		free(runs->list[i].target);
		free(runs->list[i].as);
		free(runs->list[i].why);
	}
	free(runs->list);
	*runs = (struct runs){ 0 };
}

bool runs_by_key(const struct gate_rules *rules, const char *key)
{
	for (size_t i = 0; i < rules->n; i++) {
		const struct gate_rule *rule = &rules->rules[i];

		if (rule->content != GATE_CONTENT_GIT_CONFIG ||
		    rule->severity < GATE_ASK ||
		    !(rule->key_on & GATE_ON_ADDED))
			continue;
		for (size_t k = 0; k < rule->keys.n; k++)
			if (glob_match(rule->keys.words[k], key, GLOB_FOLD))
				return true;
	}
	return false;
}

static int no_memory(const struct reading *g)
{
	return hb_fail(g->err, -ENOMEM, "cannot read git's configuration");
}

static int add(struct reading *g, const char *target, const char *as,
	       const char *why)
{
	struct runs *runs = g->runs;
	struct run_place *place;

	if (runs->n == RUNS_MAX || strcmp(target, as) == 0 || !target[0])
		return 0;
	if (grow(runs->list, runs->n) < 0)
		return no_memory(g);
	place = &runs->list[runs->n++];
	*place = (struct run_place){ strdup(target), strdup(as), strdup(why) };
	return place->target && place->as && place->why ? 0 : no_memory(g);
}

/* A path in a value, from `dir` on.  false: it is not in the resource. */
static bool find(const struct reading *g, const char *dir, const char *value,
		 char ret[PATH_MAX])
{
	char path[PATH_MAX];

	if (value[0] == '/')
		return base_path_inside(g->resource, value, ret);
	if (!dir || value[0] == '~' ||
	    path_join(dir, value, path, sizeof(path)) < 0)
		return false;
	return base_path_resolve(g->resource, path, ret);
}

static bool is_file(const struct reading *g, const char *path)
{
	struct stat st;

	return sys_fstatat(g->resource->base, path, &st, AT_SYMLINK_NOFOLLOW) >=
		       0 &&
	       S_ISREG(st.st_mode);
}

static int read_text(struct reading *g, int root, const char *prefix,
		     const char *name);

static int take_include(struct reading *g, const char *key, const char *value)
{
	const char *dir = g->dir;
	char path[PATH_MAX], words[PATH_MAX];
	char *slash;
	int r;

	(void)snprintf(words, sizeof(words), "git reads it: %s", key);
	if (!find(g, dir, value, path))
		return 0;
	r = add(g, path, GIT_DIR "/config", words);
	if (r < 0 || g->depth == DEPTH_MAX)
		return r;
	g->depth++;
	memcpy(words, path, strlen(path) + 1);
	slash = strrchr(words, '/');
	words[slash ? slash - words : 0] = '\0';
	g->dir = words;
	r = read_text(g, g->resource->base, "", path);
	g->dir = dir;
	g->depth--;
	return r;
}

/* Any of the words may be a file of the project. */
static int take_program(struct reading *g, const char *key, char *value)
{
	char path[PATH_MAX], as[PATH_MAX], words[PATH_MAX], *rest = NULL;
	int r = 0;

	(void)snprintf(as, sizeof(as), GIT_DIR "/hooks/%.64s", key);
	(void)snprintf(words, sizeof(words), "git runs it: %s", key);
	for (char *word = strtok_r(value, SEPARATORS, &rest); r >= 0 && word;
	     word = strtok_r(NULL, SEPARATORS, &rest))
		if (find(g, g->files, word, path) && is_file(g, path))
			r = add(g, path, as, words);
	return r;
}

/* Keys whose value is a path, and what lies there. */
static const struct {
	const char *key, *as;
} paths[] = {
	{ "core.hookspath", GIT_DIR "/hooks" },
	{ "core.attributesfile", GIT_DIR "/info/attributes" },
};

/* Of type gitconfig_fn. */
static int take_key(void *ctx, const struct gitconfig_key *key)
{
	struct reading *g = ctx;
	auto_free char *name = strndup(key->name, key->n_name);
	auto_free char *value = NULL;
	char path[PATH_MAX], words[PATH_MAX];

	if (!key->value || key->n_value == 0 || key->n_value >= PATH_MAX)
		return 0;
	value = strndup(key->value, key->n_value);
	if (!value || !name)
		return no_memory(g);
	/* Patterns know slashes, and keys have no components. */
	for (char *s = name; (s = strchr(s, '/'));)
		*s = '\001';
	if (glob_match("include.path", name, GLOB_FOLD) ||
	    glob_match("includeif.*.path", name, GLOB_FOLD))
		return take_include(g, name, value);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		if (strcmp(name, paths[i].key) != 0)
			continue;
		(void)snprintf(words, sizeof(words), "git obeys it: %s", name);
		return find(g, g->files, value, path)
			       ? add(g, path, paths[i].as, words)
			       : 0;
	}
	return runs_by_key(g->rules, name) ? take_program(g, name, value) : 0;
}

static int read_text(struct reading *g, int root, const char *prefix,
		     const char *name)
{
	auto_free char *text = NULL;
	size_t n, mark;
	int r;

	if (gitref_read_file(root, prefix, name, TEXT_MAX, &text) < 0)
		return 0;
	n = strlen(text);
	mark = items_skip_mark(text, n);
	r = gitconfig_read(text + mark, n - mark, take_key, g);
	return r == -ENOMEM ? no_memory(g) : 0;
}

/* The target of the link at `path`, if that is in the resource. */
static int take_link(struct reading *g, const char *path, const char *as)
{
	char target[PATH_MAX], words[PATH_MAX];

	if (!base_path_resolve(g->resource, path, target) ||
	    strcmp(path, target) == 0)
		return 0;
	(void)snprintf(words, sizeof(words), "it is reached by %.512s", path);
	return add(g, target, as, words);
}

/* Whether a program of the user's runs or obeys what is there, or below. */
static bool is_wanted(struct reading *g, const char *path)
{
	bool is = false;

	memset(g->seen, 0, g->rules->n * sizeof(*g->seen));
	(void)gate_index_find(g->rules->index, path, 0, g->seen);
	for (size_t i = 0; i < g->rules->n && !is; i++)
		is = g->seen[i].hits && g->rules->rules[i].class &&
		     g->rules->rules[i].severity >= GATE_ASK;
	return is;
}

/* Of type tree_fn: links in places that a rule is about, near the top. */
static int look_for_links(void *ctx, const struct tree_visit *visit,
			  struct hb_error *err)
{
	struct reading *g = ctx;
	char path[PATH_MAX], as[PATH_MAX];
	size_t depth = 0;

	(void)err;
	if (g->n_looks++ == LOOKS_MAX)
		return -EFBIG;
	if (visit->when != TREE_ENTER ||
	    !(S_ISLNK(visit->attr.mode) || S_ISDIR(visit->attr.mode)))
		return 0;
	if (path_join(g->dir, visit->path, path, sizeof(path)) < 0 ||
	    path_join(g->files, visit->path, as, sizeof(as)) < 0)
		return TREE_SKIP;
	for (const char *s = visit->path; (s = strchr(s, '/')); s++)
		depth++;
	if (!is_wanted(g, as) || (depth >= LINK_DEPTH && !g->dir[0]))
		return S_ISDIR(visit->attr.mode) ? TREE_SKIP : 0;
	return S_ISLNK(visit->attr.mode) ? take_link(g, path, as) : 0;
}

/* Below `dir`, which the rules take for `as`. */
static int look_below(struct reading *g, const char *dir, const char *as)
{
	int r;

	g->dir = dir;
	g->files = as;
	r = tree_walk(g->resource->base, dir[0] ? dir : ".", TREE_LENIENT,
		      look_for_links, g, NULL);
	return r == -ENOMEM ? r : 0;
}

/* Of the repository in the directory itself, and of its worktrees. */
static int read_repository(struct reading *g, const char *git,
			   const char *files)
{
	static const char *const names[] = { "config", "config.worktree" };
	int r = 0;

	for (size_t i = 0; r >= 0 && i < 2; i++) {
		g->dir = git;
		g->files = files;
		r = read_text(g, g->resource->base, git, names[i]);
	}
	return r;
}

static int read_outside(struct reading *g)
{
	const struct ignored_outside *outside = g->resource->git;
	int r;

	g->dir = NULL;
	g->files = "";
	r = read_text(g, outside->common, "", "config");
	return r < 0 ? r : read_text(g, outside->git, "", "config.worktree");
}

int runs_read(struct runs *runs, const struct resource *resource,
	      const struct gate_rules *rules, struct hb_error *err)
{
	auto_free struct gate_seen *seen = calloc(rules->n + 1, sizeof(*seen));
	struct reading g = { .runs = runs,
			     .resource = resource,
			     .rules = rules,
			     .err = err,
			     .seen = seen };
	int r;

	*runs = (struct runs){ 0 };
	if (!seen)
		return no_memory(&g);
	if (resource->base < 0 || resource->is_gone)
		return 0;
	if (resource->is_git) {
		r = look_below(&g, "hooks", GIT_DIR "/hooks");
		return r < 0 ? r : read_repository(&g, "", NULL);
	}
	r = read_repository(&g, GIT_DIR, "");
	if (r >= 0 && resource->git)
		r = read_outside(&g);
	return r < 0 ? r : look_below(&g, "", "");
}

const char *runs_find(const struct runs *runs, const struct gate_rules *rules,
		      const char *path, struct buf *scratch,
		      struct gate_seen *seen)
{
	const char *why = NULL;

	for (size_t i = 0; i < runs->n; i++) {
		const struct run_place *place = &runs->list[i];
		size_t n = strlen(place->target);

		if (strncmp(path, place->target, n) != 0 ||
		    (path[n] && path[n] != '/'))
			continue;
		buf_cut(scratch, 0);
		(void)buf_add_str(scratch, place->as);
		(void)buf_add_str(scratch, path + n);
		if (gate_index_find(rules->index, buf_str(scratch), 0, seen))
			why = place->why;
	}
	return why;
}
