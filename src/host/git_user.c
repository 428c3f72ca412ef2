/* SPDX-License-Identifier: Apache-2.0 */
#include "host/git_user.h"

#include "base/auto.h"
#include "base/env.h"
#include "base/error.h"
#include "base/glob.h"
#include "base/path.h"
#include "holdback/holdback.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define GLOB_WORK ((uint64_t)1 << 20)

/* One reading, and the file that is read. */
struct reading {
	const struct git_user *user;
	const char *file;
	unsigned depth;
	size_t n_files;
	struct hb_error *err;
};

static int read_file(struct reading *r, const char *path);

bool git_user_expand(char *const *envp, const char *path, char *out,
		     size_t size)
{
	const char *home = env_get(envp, "HOME");
	bool is_home = strncmp(path, "~/", 2) == 0;
	int n;

	if (is_home && !home)
		return false;
	n = is_home ? snprintf(out, size, "%s/%s", home, path + 2)
		    : snprintf(out, size, "%s", path);
	return n >= 0 && (size_t)n < size;
}

/* As git finds it: what is relative is so to the file that says it. */
static bool beside_file(const struct reading *r, const char *path, char *out,
			size_t size)
{
	struct path_part dir = path_dirname(r->file);
	char joined[PATH_MAX];
	int n;

	if (path[0] == '/' || strncmp(path, "~/", 2) == 0) {
		if (!git_user_expand(r->user->envp, path, joined,
				     sizeof(joined)))
			return false;
	} else {
		n = snprintf(joined, sizeof(joined), "%.*s/%s", (int)dir.n,
			     dir.s, path);
		if (n < 0 || (size_t)n >= sizeof(joined))
			return false;
	}
	return path_normalise(joined, PATH_DOTS_FOLD, out, size) >= 0;
}

/* The pattern of "gitdir:", as git completes it. */
static bool is_git_dir(const struct reading *r, const char *pattern, size_t n)
{
	char word[PATH_MAX], whole[PATH_MAX + 8];
	const char *dir = r->user->git_dir;
	uint64_t work = GLOB_WORK;
	bool is_below, is_fixed;
	int length;

	if (!dir || n == 0 || n >= sizeof(word))
		return false;
	memcpy(word, pattern, n);
	word[n] = '\0';
	is_below = word[n - 1] == '/';
	is_fixed = word[0] == '/' || strncmp(word, "~/", 2) == 0 ||
		   strncmp(word, "./", 2) == 0;
	if (is_fixed) {
		if (!beside_file(r, word, whole, PATH_MAX))
			return false;
		memcpy(word, whole, strlen(whole) + 1);
	}
	length = snprintf(whole, sizeof(whole), "%s%s%s", is_fixed ? "" : "**/",
			  word + (word[0] == '/'),
			  !is_below			  ? ""
			  : word[strlen(word) - 1] == '/' ? "**"
							  : "/**");
	if (length < 0 || (size_t)length >= sizeof(whole))
		return false;
	dir += strspn(dir, "/");
	return glob_match_all(whole, (size_t)length, dir, strlen(dir), &work);
}

/* Whether the key names a file that counts here. */
static bool includes(const struct reading *r, const struct gitconfig_key *key)
{
	static const char start[] = "includeif.gitdir:", end[] = ".path";
	size_t n = strlen(key->name);

	if (strcmp(key->name, "include.path") == 0)
		return true;
	return n > sizeof(start) + sizeof(end) - 2 &&
	       strncmp(key->name, start, sizeof(start) - 1) == 0 &&
	       strcmp(key->name + n - (sizeof(end) - 1), end) == 0 &&
	       is_git_dir(r, key->name + sizeof(start) - 1,
			  n - (sizeof(start) - 1) - (sizeof(end) - 1));
}

static int add_key(void *ctx, const struct gitconfig_key *key)
{
	struct reading *r = ctx;
	char path[PATH_MAX];
	struct reading inner = *r;
	int result;

	if (!key->value || !includes(r, key))
		return r->user->add(r->user->ctx, key);
	if (!beside_file(r, key->value, path, sizeof(path)))
		return 0;
	if (r->depth == GIT_USER_DEPTH)
		return -ELOOP;
	inner.depth++;
	result = read_file(&inner, path);
	r->n_files = inner.n_files;
	return result;
}

static int read_file(struct reading *r, const char *path)
{
	auto_free char *text = NULL;
	size_t n = 0, mark;
	int result;

	if (r->user->is_foreign && r->user->is_foreign(r->user->ctx, path))
		return 0;
	if (r->n_files++ == GIT_USER_FILES)
		return hb_fail(r->err, -EFBIG,
			       "git's configuration has too many files");
	result = hb_read_own_file(path, GIT_USER_FILE_MAX, &text, &n, NULL);
	if (result == -ENOENT || result == -EACCES || result == -ENOTDIR)
		return 0;
	r->file = path;
	mark = n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	if (result >= 0)
		result = gitconfig_read(text + mark, n - mark, add_key, r);
	return result < 0 ? hb_fail_at(r->err, result, path, "cannot read") : 0;
}

static int read_below(struct reading *r, const char *dir, const char *name)
{
	char path[PATH_MAX];

	if (!dir || dir[0] != '/' ||
	    path_join(dir, name, path, sizeof(path)) < 0)
		return 0;
	return read_file(r, path);
}

/* As git reads a boolean, if it is one. */
static bool is_on(const char *value)
{
	static const char *const words[] = { "false", "no", "off", "0", "" };

	for (size_t i = 0; value && i < sizeof(words) / sizeof(words[0]); i++)
		if (strcasecmp(value, words[i]) == 0)
			return false;
	return value != NULL;
}

int git_user_read(const struct git_user *user, struct hb_error *err)
{
	struct reading r = { .user = user, .err = err };
	const char *system = env_get(user->envp, "GIT_CONFIG_SYSTEM");
	const char *global = env_get(user->envp, "GIT_CONFIG_GLOBAL");
	const char *home = env_get(user->envp, "HOME");
	const char *xdg = env_get(user->envp, "XDG_CONFIG_HOME");
	int result = 0;

	if (!is_on(env_get(user->envp, "GIT_CONFIG_NOSYSTEM")))
		result = read_file(&r, system ? system : "/etc/gitconfig");
	if (result >= 0 && global)
		return read_file(&r, global);
	if (result >= 0)
		result = xdg && xdg[0]
				 ? read_below(&r, xdg, "git/config")
				 : read_below(&r, home, ".config/git/config");
	return result < 0 ? result : read_below(&r, home, ".gitconfig");
}
