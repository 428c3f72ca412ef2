/* SPDX-License-Identifier: Apache-2.0 */
#include "box/notify/call_path.h"

#include "base/auto.h"
#include "base/path.h"
#include "box/notify/caller.h"
#include "sys/file.h"
#include "sys/place.h"
#include "sys/signal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* No process has the number of another before that: the numbers go round. */
#define KEPT_MS 1000

/*
 * Appends at `at`; the new length, or PATH_MAX: too long.  By hand, because a
 * caller waits: snprintf() takes as long as a system call.
 */
static size_t append(char path[PATH_MAX], size_t at, const char *text)
{
	size_t n = strlen(text);

	if (at + n >= PATH_MAX)
		return PATH_MAX;
	memcpy(path + at, text, n + 1);
	return at + n;
}

/* Into the place of a path that is kept; false: it is too long for that. */
static bool keep(char place[CALL_KEPT_MAX], const char *path)
{
	size_t n = strlen(path);

	if (n >= CALL_KEPT_MAX)
		return false;
	memcpy(place, path, n + 1);
	return true;
}

static struct call_process *find_process(struct call_paths *paths, pid_t pid)
{
	struct call_process *p =
		&paths->processes[(unsigned)pid % CALL_PROCESSES];
	int64_t now = sys_now_ms();

	if (p->pid != pid || now - p->used > KEPT_MS) {
		p->pid = pid;
		p->cwd[0] = p->program[0] = '\0';
	}
	p->used = now;
	return p;
}

/* The target of a link in /proc: a path, or -ENOENT for what has none. */
static ssize_t read_link(int proc, const char *name, char ret[PATH_MAX])
{
	ssize_t n = sys_readlinkat(proc, name, ret, PATH_MAX);

	if (n < 0)
		return n;
	return ret[0] == '/' ? n : -ENOENT;
}

/* Where a relative path begins. */
static int find_base(struct call_paths *paths, const struct call_where *where,
		     char ret[PATH_MAX])
{
	struct call_process *p = NULL;
	char name[48];
	ssize_t n;

	if (where->dir == AT_FDCWD) {
		p = find_process(paths, where->pid);
		if (p->cwd[0]) {
			(void)append(ret, 0, p->cwd);
			return 0;
		}
		(void)snprintf(name, sizeof(name), "%d/cwd", (int)where->pid);
	} else {
		(void)snprintf(name, sizeof(name), "%d/fd/%d", (int)where->pid,
			       where->dir);
	}
	n = read_link(paths->proc, name, ret);
	if (n < 0)
		return (int)n;
	if (p)
		(void)keep(p->cwd, ret);
	return 0;
}

static unsigned hash(const char *text)
{
	unsigned h = 2166136261U;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 16777619U;
	return h;
}

/* The real path of what lies at `path`, which is changed. */
static int resolve(const struct call_paths *paths, char path[PATH_MAX])
{
	auto_fd int fd = sys_openat(AT_FDCWD, path, O_PATH, 0);
	ssize_t n;

	if (fd < 0)
		return fd;
	n = caller_path_of(paths->proc, fd, path, PATH_MAX);
	return n < 0 ? (int)n : 0;
}

static void resolve_dir(struct call_paths *paths, char path[PATH_MAX])
{
	struct call_directory *d =
		&paths->directories[hash(path) % CALL_DIRECTORIES];
	int64_t now = sys_now_ms();
	char name[CALL_KEPT_MAX];
	bool is_short;

	if (path[0] == '\0')
		return;
	if (strcmp(d->name, path) == 0 && now - d->found <= KEPT_MS) {
		(void)append(path, 0, d->real);
		return;
	}
	is_short = keep(name, path);
	/* Where there is none, the call fails, or its words are all we have. */
	if (resolve(paths, path) < 0)
		return;
	/* "/" is in front of each name already. */
	if (path[1] == '\0')
		path[0] = '\0';
	if (!is_short || !keep(d->real, path))
		return;
	(void)keep(d->name, name);
	d->found = now;
	paths->has_links |= strcmp(name, path) != 0;
}

/* Its directory is resolved, and its last name stays. */
static int resolve_parent(struct call_paths *paths, char path[PATH_MAX])
{
	char name[NAME_MAX + 1];
	size_t n = strlen(path);
	char *slash;

	while (n > 1 && path[n - 1] == '/')
		path[--n] = '\0';
	slash = strrchr(path, '/');
	if (!slash || strlen(slash + 1) > NAME_MAX)
		return -ENAMETOOLONG;
	if (slash[1] == '\0' || path_is_dots(slash + 1))
		return resolve(paths, path);
	memcpy(name, slash + 1, strlen(slash + 1) + 1);
	*slash = '\0';
	resolve_dir(paths, path);
	n = append(path, strlen(path), "/");
	return append(path, n, name) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

int call_path(struct call_paths *paths, const struct call_where *where,
	      bool is_looked, char ret[PATH_MAX], unsigned *ret_mode)
{
	char word[PATH_MAX];
	struct stat st;
	size_t n = 0;
	int r = caller_word(where->pid, where->word, word);

	*ret_mode = 0;
	if (r < 0)
		return r;
	ret[0] = '\0';
	if (word[0] != '/') {
		r = find_base(paths, where, ret);
		if (r < 0)
			return r;
		/* The descriptor itself is meant. */
		if (word[0] == '\0')
			return 0;
		n = append(ret, strlen(ret), "/");
	}
	n = append(ret, n, word);
	r = n < PATH_MAX ? resolve_parent(paths, ret) : -ENAMETOOLONG;
	if (r < 0 || !(is_looked || where->is_followed))
		return r;
	if (sys_fstatat(AT_FDCWD, ret, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	*ret_mode = st.st_mode;
	if (where->is_followed && S_ISLNK(st.st_mode)) {
		*ret_mode = 0;
		if (resolve(paths, ret) >= 0 &&
		    sys_fstatat(AT_FDCWD, ret, &st, AT_SYMLINK_NOFOLLOW) >= 0)
			*ret_mode = st.st_mode;
	}
	return 0;
}

const char *call_program(struct call_paths *paths, pid_t pid)
{
	struct call_process *p = find_process(paths, pid);
	char name[32], text[64];
	size_t n;

	if (p->program[0])
		return p->program;
	(void)snprintf(name, sizeof(name), "%d/comm", (int)pid);
	if (sys_read_file_at(paths->proc, name, text, sizeof(text)) <= 0)
		return "?";
	n = strcspn(text, "\n");
	(void)snprintf(p->program, sizeof(p->program), "%.*s", (int)n, text);
	return p->program[0] ? p->program : "?";
}

void call_paths_drop(struct call_paths *paths, pid_t pid)
{
	paths->processes[(unsigned)pid % CALL_PROCESSES].pid = 0;
}

void call_paths_moved(struct call_paths *paths)
{
	for (size_t i = 0; i < CALL_PROCESSES; i++)
		paths->processes[i].cwd[0] = '\0';
	for (size_t i = 0; i < CALL_DIRECTORIES; i++)
		paths->directories[i].name[0] = '\0';
	paths->has_links = false;
}

/* What was kept without a link stays true. */
void call_paths_made(struct call_paths *paths)
{
	if (paths->has_links)
		call_paths_moved(paths);
}
