/* SPDX-License-Identifier: Apache-2.0 */
#include "view/direct/direct.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/glob.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/report.h"
#include "gate/above.h"
#include "gate/item_readers.h"
#include "gate/items.h"
#include "gate/rules.h"
#include "host/look.h"
#include "plan/plan.h"
#include "plan/view.h"
#include "plan/view_place.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "sys/place.h"
#include "view/direct/direct_git.h"
#include "view/direct/direct_walk.h"
#include "view/gate_files.h"
#include "view/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So many names that are new are told. */
#define TOLD_MAX  20
#define TOLD_SIZE (QUOTE_SHOWN + 512)

/* A file that says more than this is not read: it is told. */
#define TEXT_MAX ((size_t)4 << 20)

/* The kernel's times of files are at most so much behind its clock. */
#define TICK_NS	  10000000L
#define SECOND_NS 1000000000L

/* What tells one link from the next, which may get its number. */
static uint64_t mark_of(const char *path, const struct stat *st)
{
	uint64_t mark = st->st_ino;
	struct stat end;

	if (!S_ISLNK(st->st_mode))
		return mark;
	mark ^= ((uint64_t)st->st_ctim.tv_sec << 30) ^
		(uint64_t)st->st_ctim.tv_nsec;
	/* What it leads to may not have been there. */
	if (sys_fstatat(AT_FDCWD, path, &end, 0) >= 0)
		mark ^= (uint64_t)end.st_ino << 1 | 1;
	return mark;
}

static int add(struct run *run, const char *source, const char *inside,
	       enum view_class class, enum view_found found, uint64_t mark,
	       struct hb_error *err)
{
	size_t n = strlen(source) + 1, k = strlen(inside) + 1;
	char *copy;

	if (run->n_entries >= run->direct_end) {
		hb_fix(err,
		       "leave out --direct: a session holds all of it back");
		return hb_fail(
			err, -HB_E_USAGE,
			"the workspace has too many files that programs run to protect each of them");
	}
	copy = malloc(n + k);
	if (!copy)
		return hb_fail(err, -ENOMEM, "cannot make the view");
	memcpy(copy, source, n);
	memcpy(copy + n, inside, k);
	run->entries[run->n_entries++] = (struct view_entry){
		.class = class,
		.found = found,
		.is_real = true,
		.source = copy,
		.path = copy + n,
		.mark = mark,
	};
	return plan_keep(&run->plan, copy, err);
}

static const struct view_entry *find(const struct run *run,
				     enum view_class class, const char *source)
{
	for (size_t i = 0; i < run->n_entries; i++)
		if (run->entries[i].class == class && !run->entries[i].item &&
		    strcmp(run->entries[i].source, source) == 0)
			return &run->entries[i];
	return NULL;
}

/*
 * The directories that an entry lies in could be put aside with it, and others
 * take their place.  As mounts of their own they cannot be renamed or removed.
 * `path` is the end of both.
 */
static int hold_parents(struct run *run, const char *path,
			char source[PATH_MAX], char inside[PATH_MAX],
			struct hb_error *err)
{
	size_t n = strlen(path);
	char *source_end = source + strlen(source) - n;
	char *inside_end = inside + strlen(inside) - n;
	struct stat st;
	int r = 0;

	for (size_t i = 1; r >= 0 && i < n; i++) {
		if (path[i] != '/')
			continue;
		source_end[i] = inside_end[i] = '\0';
		if (sys_fstatat(AT_FDCWD, source, &st, AT_SYMLINK_NOFOLLOW) >=
			    0 &&
		    S_ISDIR(st.st_mode) && !find(run, VIEW_RW, source))
			r = add(run, source, inside, VIEW_RW, VIEW_DIR, 0, err);
		source_end[i] = inside_end[i] = '/';
	}
	return r;
}

/*
 * A link could lead anywhere on the host, and its place would be there.  Its
 * target is protected if it is in the same directory, by its own path.  The
 * link itself cannot be; that it became another one is told.
 */
static int protect_behind_link(struct run *run,
			       const struct view_resource *resource,
			       char real[PATH_MAX], struct hb_error *err)
{
	char inside[PATH_MAX], path[PATH_MAX], shown[QUOTE_SHOWN];
	int depth = 0, r;

	if (!view_lies_in(real, resource->source) ||
	    strcmp(real, resource->source) == 0 || find(run, VIEW_RO, real))
		return 0;
	(void)snprintf(path, sizeof(path), "%s",
		       real + strlen(resource->source) + 1);
	for (const char *at = path; (at = strchr(at, '/')); at++)
		depth++;
	if (depth > DIRECT_WALK_DEPTH ||
	    path_join(resource->inside, path, inside, sizeof(inside)) < 0)
		return hb_fail(err, -HB_E_USAGE,
			       "'%s' lies too deep to be protected",
			       quote_shown(path, shown, sizeof(shown)));
	r = add(run, real, inside, VIEW_RO, VIEW_DIR, 0, err);
	return r < 0 ? r : hold_parents(run, path, real, inside, err);
}

/* A resource that is looked through. */
struct seeking {
	struct run *run;
	const struct view_resource *resource;
	int root;
	size_t n_told; /* at the end */
};

/*
 * Files that people edit in the course of their work, and in which only some
 * keys run something, stay writable.
 */
static bool is_protected(const struct direct_hit *hit)
{
	if (!hit->rule || hit->is_link || hit->is_dir)
		return true;
	return hit->rule->content == GATE_CONTENT_NONE ||
	       hit->rule->content == GATE_CONTENT_GIT_CONFIG ||
	       glob_match("**/.git/**", hit->as, GLOB_FOLD);
}

/* Of type direct_named_fn. */
static int protect_named(void *ctx, char *real, struct hb_error *err)
{
	struct seeking *s = ctx;

	return protect_behind_link(s->run, s->resource, real, err);
}

static int protect_link(struct seeking *s, const struct direct_hit *hit,
			const char *source, struct hb_error *err)
{
	char real[PATH_MAX];
	struct stat st;

	if (look_real(source, real) < 0 ||
	    sys_fstatat(AT_FDCWD, real, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    (S_ISDIR(st.st_mode) && !hit->is_dir))
		return 0;
	return protect_behind_link(s->run, s->resource, real, err);
}

/* What is hidden stays so, and the store is not the command's. */
static bool is_closed(void *ctx, const char *path)
{
	const struct seeking *s = ctx;
	const struct run *run = s->run;
	char source[PATH_MAX], inside[PATH_MAX];

	if (path_join(s->resource->source, path, source, PATH_MAX) < 0 ||
	    path_join(s->resource->inside, path, inside, PATH_MAX) < 0)
		return true;
	if (run->covered && strcmp(run->covered, source) == 0)
		return true;
	for (size_t i = 0; i < run->n_entries; i++)
		if (run->entries[i].class == VIEW_HIDE &&
		    run->entries[i].found != VIEW_ABSENT &&
		    strcmp(run->entries[i].path, inside) == 0)
			return true;
	return false;
}

/* Of type direct_hit_fn. */
static int protect(void *ctx, const struct direct_hit *hit,
		   struct hb_error *err)
{
	struct seeking *s = ctx;
	const struct direct_config config = { .root = s->root,
					      .source = s->resource->source,
					      .home = s->run->host.home,
					      .rules = s->run->rules,
					      .named = protect_named,
					      .ctx = s };
	char source[PATH_MAX], inside[PATH_MAX];
	struct stat st;
	int r;

	if (!is_protected(hit) || is_closed(s, hit->path) ||
	    path_join(s->resource->source, hit->path, source, PATH_MAX) < 0 ||
	    path_join(s->resource->inside, hit->path, inside, PATH_MAX) < 0 ||
	    sys_fstatat(AT_FDCWD, source, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    find(s->run, VIEW_RO, source))
		return 0;
	r = add(s->run, source, inside, VIEW_RO,
		hit->is_link ? VIEW_ABSENT : VIEW_DIR, mark_of(source, &st),
		err);
	if (r < 0 || hit->is_link)
		return r < 0 ? r : protect_link(s, hit, source, err);
	r = hold_parents(s->run, hit->path, source, inside, err);
	if (r >= 0 && hit->rule &&
	    hit->rule->content == GATE_CONTENT_GIT_CONFIG)
		r = direct_config_names(&config, hit->path, err);
	return r;
}

static int seek(struct seeking *s, direct_hit_fn hit, struct hb_error *err)
{
	const struct view_resource *resource = s->resource;
	const char *last = strrchr(resource->source, '/');
	bool is_git = resource->role == VIEW_GIT || strcmp(last, "/.git") == 0;
	auto_fd int root = sys_openat(AT_FDCWD, resource->source,
				      O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	const struct direct_walk walk = {
		.root = root,
		.source = resource->source,
		.rules = s->run->rules,
		.prefix = is_git ? ".git" : "",
		.above = gate_above(resource->source, s->run->host.home),
		.is_closed = is_closed,
		.hit = hit,
		.ctx = s,
	};

	if (root < 0)
		return hb_fail(err, root, "cannot open '%s'",
			       quoted(resource->source));
	s->root = root;
	return direct_walk(&walk, err);
}

/* The configuration of the user's own may name places in the directory. */
static int protect_by_user(struct seeking *s, struct hb_error *err)
{
	static const char *const files[] = { ".gitconfig",
					     ".config/git/config" };
	const char *home = s->run->host.home;
	struct direct_config config = { .source = home,
					.home = home,
					.worktree = s->resource->source,
					.rules = s->run->rules,
					.named = protect_named,
					.ctx = s };
	auto_fd int root = -1;
	int r = 0;

	/* In the home directory the walk comes to them. */
	if (!home || path_is_beneath(home, s->resource->source))
		return 0;
	root = sys_openat(AT_FDCWD, home, O_RDONLY | O_DIRECTORY, 0);
	if (root < 0)
		return 0;
	config.root = root;
	for (size_t i = 0; r >= 0 && i < sizeof(files) / sizeof(files[0]); i++)
		r = direct_config_names(&config, files[i], err);
	return r;
}

/* A mount of ours in a directory that is read-only would open it there. */
static void drop_covered(struct run *run, size_t from)
{
	for (size_t i = from; i < run->n_entries; i++) {
		const struct view_entry *outer = &run->entries[i];

		if (outer->class != VIEW_RO || outer->found == VIEW_ABSENT)
			continue;
		for (size_t k = from; k < run->n_entries; k++)
			if (k != i &&
			    view_lies_in(run->entries[k].source, outer->source))
				run->entries[k].found = VIEW_ABSENT;
	}
}

static int load_rules(struct run *run, struct hb_error *err)
{
	const char *source = run->resources[0].source;
	auto_fd int base =
		sys_openat(AT_FDCWD, source, O_PATH | O_DIRECTORY, 0);

	if (base < 0)
		return hb_fail(err, base, "cannot open '%s'", quoted(source));
	return gate_files_read(run->options->envp, base, source, &run->rules,
			       err);
}

int direct_protect(struct run *run, struct hb_error *err)
{
	const size_t from = run->n_entries;
	int r;

	if (run->n_direct == 0)
		return 0;
	run->direct_end = from + DIRECT_MAX;
	run->rules_at = sys_now();
	r = load_rules(run, err);
	for (size_t i = 0; r >= 0 && i < run->n_direct; i++) {
		struct seeking s = { .run = run,
				     .resource = &run->resources[i] };

		r = seek(&s, protect, err);
		if (r >= 0)
			r = protect_by_user(&s, err);
	}
	drop_covered(run, from);
	return r;
}

static void tell(const struct run *run, const char *words)
{
	(void)report_send(run->listener,
			  &(struct hb_report){ .kind = HB_REPORT_WEAKENED,
					       .text = words });
}

static void tell_path(struct seeking *s, const char *source, const char *how,
		      const char *reason)
{
	char shown[QUOTE_SHOWN], words[TOLD_SIZE];

	if (s->n_told++ >= TOLD_MAX)
		return;
	(void)snprintf(
		words, sizeof(words),
		"'%s' was %s by the command: %s; look at it before you use the directory",
		quote_shown(source, shown, sizeof(shown)), how, reason);
	tell(s->run, words);
}

static bool is_since(const struct timespec *then, const struct stat *st)
{
	struct timespec from = *then;

	from.tv_nsec -= TICK_NS;
	if (from.tv_nsec < 0) {
		from.tv_nsec += SECOND_NS;
		from.tv_sec--;
	}
	return st->st_ctim.tv_sec > from.tv_sec ||
	       (st->st_ctim.tv_sec == from.tv_sec &&
		st->st_ctim.tv_nsec >= from.tv_nsec);
}

/* Whether the file has a key that the rule asks about; true if unknown. */
static bool has_keys(const struct seeking *s, const struct direct_hit *hit)
{
	auto_items struct items items = { .rule = hit->rule };
	auto_free char *text = malloc(TEXT_MAX);
	auto_fd int fd = sys_openat2(s->root, hit->path,
				     O_RDONLY | O_NONBLOCK | O_NOCTTY, 0,
				     K_RESOLVE_BENEATH | K_RESOLVE_NO_SYMLINKS);
	struct stat st;
	ssize_t n;

	if (!text || fd < 0 || sys_fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return true;
	n = sys_pread_full(fd, text, TEXT_MAX, 0);
	if (n < 0 || n == (ssize_t)TEXT_MAX)
		return true;
	return items_read(&items, text, (size_t)n) < 0 || items.n > 0;
}

/* Of type direct_hit_fn. */
static int tell_new(void *ctx, const struct direct_hit *hit,
		    struct hb_error *err)
{
	struct seeking *s = ctx;
	const char *reason =
		hit->rule ? hit->reason : "it lies too deep to be looked at";
	const struct view_entry *e;
	char source[PATH_MAX];
	struct stat st;

	(void)err;
	if (path_join(s->resource->source, hit->path, source, PATH_MAX) < 0 ||
	    sys_fstatat(AT_FDCWD, source, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	if (!is_protected(hit)) {
		if (is_since(&s->run->rules_at, &st) && has_keys(s, hit))
			tell_path(s, source, "changed", reason);
		return 0;
	}
	e = find(s->run, VIEW_RO, source);
	if (!e || e->mark != mark_of(source, &st))
		tell_path(s, source, "made", reason);
	return 0;
}

void direct_tell_new(struct run *run)
{
	struct seeking s = { .run = run };
	char words[TOLD_SIZE];

	for (size_t i = 0; i < run->n_direct; i++) {
		struct hb_error why = { 0 };

		s.resource = &run->resources[i];
		if (seek(&s, tell_new, &why) >= 0)
			continue;
		(void)snprintf(
			words, sizeof(words),
			"not all that the command made could be looked at: %.300s; look at the directory before you use it",
			why.text);
		tell(run, words);
	}
	if (s.n_told <= TOLD_MAX)
		return;
	(void)snprintf(
		words, sizeof(words),
		"and %zu more that the command made or changed are run or obeyed by programs",
		s.n_told - TOLD_MAX);
	tell(run, words);
}
