/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/group.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/glob.h"
#include "changes/resource.h"
#include "gate/rules.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define TEXT_SIZE ((size_t)256 << 20)

void group_init(struct group *group)
{
	*group = (struct group){ 0 };
	buf_init(&group->dir, TEXT_SIZE);
	buf_init(&group->plain, TEXT_SIZE);
	for (int i = 0; i < 2; i++)
		buf_init(&group->texts[i], TEXT_SIZE);
}

void group_done(struct group *group)
{
	buf_done(&group->dir);
	buf_done(&group->plain);
	for (int i = 0; i < 2; i++)
		buf_done(&group->texts[i]);
}

bool group_holds(const struct group *group, const char *path)
{
	const size_t n = group->dir.len;

	return group->rule && strncmp(path, buf_str(&group->dir), n) == 0 &&
	       path[n] == '/';
}

/* Whether a pattern that ends in two stars is about all in the directory. */
static bool is_about(const struct gate_rule *rule, const char *dir)
{
	static const char below[] = "/**";
	char pattern[GLOB_PATTERN_MAX + 1];

	for (size_t i = 0; i < rule->n_paths; i++) {
		const char *of = rule->paths[i].pattern;
		size_t n = strlen(of), cut = strlen(below);

		if (n <= cut || n >= sizeof(pattern) ||
		    strcmp(of + n - cut, below) != 0)
			continue;
		memcpy(pattern, of, n - cut);
		pattern[n - cut] = '\0';
		if (glob_match(pattern, dir, GLOB_FOLD | GLOB_DIR))
			return true;
	}
	return false;
}

static int open_dir(int root, const char *dir)
{
	return sys_openat2(root, dir, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0,
			   K_RESOLVE_BENEATH | K_RESOLVE_NO_SYMLINKS |
				   K_RESOLVE_NO_MAGICLINKS);
}

static bool has_mark(const struct gate_rule *rule, int dir)
{
	struct stat st;

	for (size_t i = 0; dir >= 0 && i < rule->marks.n; i++)
		if (sys_fstatat(dir, rule->marks.words[i], &st,
				AT_SYMLINK_NOFOLLOW) >= 0 &&
		    S_ISREG(st.st_mode))
			return true;
	return false;
}

/* Nothing of the user's lies there, so a mark hides nothing. */
static bool is_bare_dir(int dir)
{
	return tree_is_empty(dir, ".", 0, NULL) == 1;
}

/*
 * The stream has files in any order, so the mark is looked for at once.  In a
 * directory of the base only a mark of the base counts.
 */
static bool is_marked(const struct gate_rule *rule,
		      const struct resource *resource, const char *dir,
		      bool *ret_is_new)
{
	auto_fd int base = open_dir(resource->base, dir);

	*ret_is_new = base == -ENOENT || base == -ENOTDIR ||
		      (base >= 0 && is_bare_dir(base));
	if (!*ret_is_new)
		return has_mark(rule, base);
	for (size_t i = 0; i < resource->n_layers; i++) {
		auto_fd int layer = open_dir(resource->layers[i], dir);

		if (has_mark(rule, layer))
			return true;
	}
	return false;
}

/* Whether it was looked at when another path came. */
static bool is_plain(const struct group *group, const char *dir, size_t n)
{
	const char *plain = buf_str(&group->plain);

	return strncmp(plain, dir, n) == 0 &&
	       (plain[n] == '/' || plain[n] == '\0');
}

/* Whether the rule is about the directory at hand. */
static bool is_group(struct group *group, const struct gate_rule *rule,
		     const struct resource *resource, const char *path)
{
	const char *dir = buf_str(&group->dir);
	const bool has_name = is_about(rule, dir);
	bool is_new = false, has_a_mark = false;

	if (rule->marks.n > 0 &&
	    (has_name || !is_plain(group, path, group->dir.len)))
		has_a_mark = is_marked(rule, resource, dir, &is_new);
	group->is_new = has_a_mark && is_new;
	return has_name || has_a_mark;
}

int group_begin(struct group *group, const struct gate_rule *rule,
		const struct resource *resource, const char *path,
		struct hb_error *err)
{
	const char *slash = path;

	while ((slash = strchr(slash, '/'))) {
		const size_t n = (size_t)(slash - path);

		buf_cut(&group->dir, 0);
		if (buf_add(&group->dir, path, n) < 0)
			return hb_fail(err, group->dir.error,
				       "cannot keep a path");
		if (is_group(group, rule, resource, path)) {
			group->rule = rule;
			return 0;
		}
		slash++;
	}
	buf_cut(&group->plain, 0);
	if (buf_add(&group->plain, group->dir.data, group->dir.len) < 0)
		return hb_fail(err, group->plain.error, "cannot keep a path");
	return 0;
}

/* Whether a directory of this kind has it by nature. */
static bool is_part(const struct group *group,
		    const struct gate_finding *finding)
{
	const char *below = finding->path + group->dir.len + 1;
	const size_t n = strlen(finding->rule);

	for (size_t i = 0; group->is_new && i < group->rule->parts.n; i++) {
		const char *part = group->rule->parts.words[i];

		if (strncmp(part, finding->rule, n) == 0 && part[n] == ':' &&
		    glob_match(part + n + 1, below, 0))
			return true;
	}
	return false;
}

int group_add(struct group *group, const struct gate_finding *finding,
	      struct hb_error *err)
{
	const bool is_first = group->n_asked + group->n_warnings == 0;
	const bool is_asked =
		finding->severity == GATE_ASK && !is_part(group, finding);

	group->n_asked += is_asked;
	group->n_warnings += !is_asked;
	/* A question says more than a warning. */
	if (!is_first && !(is_asked && group->n_asked == 1))
		return 0;
	group->first = *finding;
	group->first.severity = is_asked ? GATE_ASK : GATE_WARN;
	for (int i = 0; i < 2; i++) {
		const char *text = i == 0 ? finding->path : finding->detail;

		buf_cut(&group->texts[i], 0);
		if (text && buf_add_str(&group->texts[i], text) < 0)
			return hb_fail(err, group->texts[i].error,
				       "cannot keep a finding");
	}
	group->first.path = buf_str(&group->texts[0]);
	if (finding->detail)
		group->first.detail = buf_str(&group->texts[1]);
	return 0;
}

int group_end(struct group *group, gate_found_fn found, void *ctx,
	      struct hb_error *err)
{
	const struct gate_rule *rule = group->rule;
	const uint64_t n = group->n_asked + group->n_warnings;
	char words[PATH_MAX + 256];
	struct gate_finding all = group->first;

	group->rule = NULL;
	group->n_asked = group->n_warnings = 0;
	if (!rule || n == 0)
		return 0;
	if (n == 1)
		return found(ctx, &all, err);
	(void)snprintf(words, sizeof(words),
		       "%llu findings, the first: %s: %s [%s]",
		       (unsigned long long)n,
		       all.path + strlen(buf_str(&group->dir)) + 1, all.reason,
		       all.rule);
	all.rule = rule->id;
	all.class = rule->class;
	all.reason = rule->reason;
	if (rule->severity == GATE_DENY || all.severity > rule->severity)
		all.severity = rule->severity;
	all.path = buf_str(&group->dir);
	all.line = 0;
	all.detail = words;
	return found(ctx, &all, err);
}
