/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/project_name.h"

#include "base/auto.h"
#include "base/path.h"
#include "base/utf8.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "sys/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW)

/* claude puts a hash behind the name of a longer path. */
#define SLUG_MAX 200

/* So many projects of one name: more are not looked for. */
#define NAMES_MAX 1000

static bool is_plain(uint32_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9');
}

/* One for each unit of UTF-16, which is what the agents count. */
int project_slug(const char *path, char *ret, size_t size)
{
	size_t n = strlen(path), at = 0;

	for (size_t i = 0; i < n;) {
		uint32_t c;
		size_t len = utf8_next(path + i, n - i, &c);

		if (len == 0)
			return -ENOENT;
		if (at + 3 > size || at >= SLUG_MAX)
			return -ENAMETOOLONG;
		if (len == 4)
			ret[at++] = '-';
		ret[at] = '-';
		if (is_plain(c))
			ret[at] = (char)c;
		at++;
		i += len;
	}
	if (at > SLUG_MAX)
		return -ENAMETOOLONG;
	ret[at] = '\0';
	return 0;
}

/* As gemini makes it of the last component: small, no dash doubled or outside.
 */
static void make_name(const char *path, char *ret, size_t size)
{
	struct path_part base = path_basename(path);
	size_t at = 0;

	for (size_t i = 0; i < base.n && at + 1 < size; i++) {
		char c = base.s[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if (is_plain((unsigned char)c))
			ret[at++] = c;
		else if (at > 0 && ret[at - 1] != '-')
			ret[at++] = '-';
	}
	while (at > 0 && ret[at - 1] == '-')
		at--;
	ret[at] = '\0';
	if (at == 0)
		(void)snprintf(ret, size, "project");
}

/* Whether the directory `name` says that it is the project's. */
static bool is_owned(int parent, const char *name, const char *project)
{
	auto_fd int dir = sys_openat(parent, name, DIR_FLAGS, 0);
	char text[PATH_MAX] = { 0 };
	ssize_t n = -1;

	if (dir >= 0)
		n = sys_read_file_at(dir, PROJECT_OWNER, text, sizeof(text));
	while (n > 0 && strchr(" \t\r\n", text[n - 1]))
		text[--n] = '\0';
	return n > 0 && strcmp(text, project) == 0;
}

static bool find_owned(int parent, const char *project, char *ret, size_t size)
{
	char block[8192] __attribute__((aligned(8)));
	ssize_t n;

	while ((n = sys_getdents(parent, block, sizeof(block))) > 0)
		for (ssize_t at = 0; at < n;) {
			const struct k_dirent *e = (const void *)(block + at);

			at += e->reclen;
			if (e->name[0] == '.' || strlen(e->name) >= size ||
			    !is_owned(parent, e->name, project))
				continue;
			(void)snprintf(ret, size, "%s", e->name);
			return true;
		}
	return false;
}

/* Of the directory above the word: this, and the one beside it. */
static int find_name(const char *above, const char *project, char *ret,
		     size_t size)
{
	auto_fd int parent = sys_openat(AT_FDCWD, above, DIR_FLAGS, 0);
	auto_fd int history =
		parent < 0 ? -1
			   : sys_openat(parent, "../history", DIR_FLAGS, 0);
	char stem[NAME_MAX - 8];

	if (parent >= 0 && find_owned(parent, project, ret, size))
		return 0;
	make_name(project, stem, sizeof(stem));
	for (int i = 0; i < NAMES_MAX; i++) {
		if (i == 0)
			(void)snprintf(ret, size, "%s", stem);
		else
			(void)snprintf(ret, size, "%s-%d", stem, i);
		if ((parent < 0 ||
		     sys_faccessat(parent, ret, F_OK) == -ENOENT) &&
		    (history < 0 ||
		     sys_faccessat(history, ret, F_OK) == -ENOENT ||
		     is_owned(history, ret, project)))
			return 0;
	}
	return -ENOENT;
}

static const char slug_word[] = "{slug}", root_word[] = "{root}",
		  name_word[] = "{name}";
static const char *const words[] = { slug_word, root_word, name_word };

static const char *find_word(const char *path, const char **ret_word)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *at = strstr(path, words[i]);

		*ret_word = words[i];
		if (at)
			return at;
	}
	return NULL;
}

bool project_is_named(const char *path)
{
	const char *word;

	return find_word(path, &word) != NULL;
}

const char *project_marker(const char *path)
{
	return strstr(path, name_word) ? PROJECT_OWNER : NULL;
}

int project_expand(const char *path, const char *cwd, const char *workspace,
		   char *ret)
{
	char above[PATH_MAX], name[NAME_MAX + 1];
	const char *word, *at = find_word(path, &word);
	int n, r;

	if (!at)
		return -ENOENT;
	(void)snprintf(above, sizeof(above), "%.*s", (int)(at - path), path);
	if (word == name_word)
		r = find_name(above, cwd, name, sizeof(name));
	else
		r = project_slug(word == root_word ? workspace : cwd, name,
				 sizeof(name));
	if (r < 0)
		return -ENOENT;
	n = snprintf(ret, PATH_MAX, "%s%s%s", above, name, at + strlen(word));
	return n < PATH_MAX ? 0 : -ENOENT;
}
