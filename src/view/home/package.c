/* SPDX-License-Identifier: Apache-2.0 */
#include "view/home/package.h"

#include "base/auto.h"
#include "base/env.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "host/look.h"
#include "plan/plan.h"
#include "plan/view.h"
#include "plan/view_place.h"
#include "sys/file.h"
#include "view/home/bounds.h"
#include "view/prepare.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A package was installed as a whole, and shows nothing else:
 *
 *	.../node_modules/[@SCOPE/]NAME	of node
 *	DIR with a package.json		the same, elsewhere
 *	PREFIX with bin/ and lib/	of nearly everything else
 */

/*
 * The content of a workspace counts as another author's.  Where a script or a
 * link in it leads, only plainly installed packages are shown.
 */

#define NODE	  "/node_modules/"
#define LINE_SIZE 512
#define ABOVE_MAX 3

/* No scripts there have interpreters in a home directory. */
static bool is_in_system(const struct run *run, const char *path)
{
	for (size_t i = 0; i < run->n_entries; i++) {
		const struct view_entry *e = &run->entries[i];

		if (e->class == VIEW_SHOW && e->found == VIEW_DIR &&
		    !(run->host.home &&
		      view_lies_in(e->path, run->host.home)) &&
		    view_lies_in(path, e->path))
			return true;
	}
	return false;
}

/* The package itself, or with links between packages all of them. */
static bool node_package(const char *file, char *ret)
{
	const char *at = strstr(file, NODE), *name, *end;

	if (!at)
		return false;
	name = at + strlen(NODE);
	end = name + strcspn(name, "/");
	if (name[0] == '.')
		end = name - 1;
	else if (name[0] == '@' && *end)
		end += 1 + strcspn(end + 1, "/");
	(void)snprintf(ret, PATH_MAX, "%.*s", (int)(end - file), file);
	return true;
}

static bool has(const char *dir, const char *name)
{
	char path[PATH_MAX];

	return path_join(dir, name, path, sizeof(path)) >= 0 &&
	       sys_faccessat(AT_FDCWD, path, F_OK) >= 0;
}

static bool json_package(const char *file, char *ret)
{
	(void)snprintf(ret, PATH_MAX, "%s", file);
	for (int i = 0; i < ABOVE_MAX; i++) {
		char *slash = strrchr(ret, '/');

		if (!slash || slash == ret)
			return false;
		*slash = '\0';
		if (has(ret, "package.json"))
			return true;
	}
	return false;
}

static bool prefix_package(const char *file, char *ret)
{
	static const char *const signs[] = { "lib", "libexec", "share",
					     "pyvenv.cfg" };
	char *slash;

	(void)snprintf(ret, PATH_MAX, "%s", file);
	slash = strrchr(ret, '/');
	if (!slash)
		return false;
	*slash = '\0';
	slash = strrchr(ret, '/');
	if (!slash || slash == ret ||
	    (strcmp(slash, "/bin") != 0 && strcmp(slash, "/sbin") != 0))
		return false;
	*slash = '\0';
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		if (has(ret, signs[i]))
			return true;
	return false;
}

/* Not a place that holds more than one package. */
static bool may_show(struct run *run, const char *dir)
{
	if (!bounds_allow(run, dir))
		return false;
	for (size_t i = 0; i < run->n_entries; i++)
		if (!run->entries[i].is_single &&
		    view_lies_in(run->entries[i].path, dir))
			return false;
	return true;
}

/* One thing that is to be executed. */
struct executed {
	char file[PATH_MAX]; /* without links */
	bool is_command;     /* else the interpreter of one */
	bool is_foreign;     /* something in the workspace led there */
};

static bool find_package(struct run *run, const struct executed *p, char *ret)
{
	static const struct {
		bool (*find)(const char *, char *);
		bool is_installed; /* nothing else looks like that */
	} rules[] = {
		{ node_package, true },
		{ json_package, false },
		{ prefix_package, true },
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if ((rules[i].is_installed || !p->is_foreign) &&
		    rules[i].find(p->file, ret) && may_show(run, ret))
			return true;
	return false;
}

static int add_package(struct run *run, const char *dir, struct hb_error *err)
{
	const char *copy;
	int r = plan_keep_text(&run->plan, dir, &copy, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < run->n_entries; i++)
		if (run->entries[i].is_single &&
		    view_lies_in(run->entries[i].path, dir))
			run->entries[i].found = VIEW_ABSENT;
	run->entries[run->n_entries++] = (struct view_entry){
		.class = VIEW_RO,
		.found = VIEW_DIR,
		.path = copy,
		.source = copy,
	};
	return 0;
}

/*
 * The next word of the first line, after "env" and its options, or before.
 * False at the end.
 */
static bool next_word(const char **at, char *ret, size_t size)
{
	size_t n;

	*at += strspn(*at, " \t");
	n = strcspn(*at, " \t\n");
	if (n == 0 || n >= size)
		return false;
	memcpy(ret, *at, n);
	ret[n] = '\0';
	*at += n;
	return true;
}

/* Whether `name`, or a link that it leads to, is in a resource. */
static bool leads_through(const struct run *run, const char *name)
{
	return look_leads_through(name, bounds_is_held, run);
}

/* What executes the script `p`, which it becomes; or false. */
static bool find_interpreter(const struct run *run, struct executed *p)
{
	char line[LINE_SIZE], word[LINE_SIZE], found[PATH_MAX];
	const char *at = line + 2;
	auto_fd int fd = -1;
	ssize_t n;

	fd = sys_openat(AT_FDCWD, p->file, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	if (fd < 0)
		return false;
	n = sys_read(fd, line, sizeof(line) - 1);
	if (n < 3)
		return false;
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	if (strncmp(line, "#!", 2) != 0 || !next_word(&at, word, sizeof(word)))
		return false;
	p->is_command = false;
	p->is_foreign = bounds_is_held(run, p->file);
	if (!path_part_is(path_basename(word), "env"))
		return look_real(word, p->file) >= 0;
	do {
		if (!next_word(&at, word, sizeof(word)))
			return false;
	} while (word[0] == '-' || strchr(word, '='));
	if (look_command(word, env_get(run->host.envp, "PATH"), run->cwd, found,
			 p->file, NULL) < 0)
		return false;
	/* What PATH leads to is the user's choice, unless by the workspace. */
	p->is_foreign &= strchr(word, '/') || leads_through(run, found);
	return true;
}

static int fail_hidden(const struct run *run, const struct executed *p,
		       struct hb_error *err)
{
	char shown[QUOTE_SHOWN], where[QUOTE_SHOWN];
	struct path_part parent = path_dirname(p->file);

	hb_fix(err, "--ro %.*s", (int)parent.n, parent.s);
	return hb_fail(err, -HB_E_NOT_FOUND,
		       p->is_command
			       ? "'%s' is not in the view: it lies at '%s'"
			       : "the interpreter of '%s' is not in the "
				 "view: it lies at '%s'",
		       quote_shown(run->options->argv[0], shown, sizeof(shown)),
		       quote_shown(p->file, where, sizeof(where)));
}

/* Whether it is shown as a program of PATH, without its package. */
static bool is_single(const struct run *run, const char *path)
{
	for (size_t i = 0; i < run->n_entries; i++)
		if (run->entries[i].is_single &&
		    run->entries[i].found != VIEW_ABSENT &&
		    strcmp(run->entries[i].path, path) == 0)
			return true;
	return false;
}

static int show_one(struct run *run, const struct executed *p,
		    struct hb_error *err)
{
	char dir[PATH_MAX];

	bool is_shown = bounds_is_shown(run, p->file);

	if (is_shown && !is_single(run, p->file))
		return 0;
	if (find_package(run, p, dir))
		return add_package(run, dir, err);
	return is_shown ? 0 : fail_hidden(run, p, err);
}

int package_show(struct run *run, struct hb_error *err)
{
	struct executed p = { .is_command = true,
			      .is_foreign = leads_through(run, run->command) };
	int r;

	(void)snprintf(p.file, sizeof(p.file), "%s", run->command_real);
	for (int i = 0; i < PACKAGES_MAX; i++) {
		r = show_one(run, &p, err);
		if (r < 0)
			return r;
		if (is_in_system(run, p.file) || !find_interpreter(run, &p))
			return 0;
	}
	return 0;
}

int package_check(struct run *run, struct hb_error *err)
{
	struct executed p = { .is_command = true };

	(void)snprintf(p.file, sizeof(p.file), "%s", run->command_real);
	return bounds_is_shown(run, p.file) ? 0 : fail_hidden(run, &p, err);
}
