/* SPDX-License-Identifier: Apache-2.0 */
#include "view/direct/direct_walk.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/glob.h"
#include "base/grow.h"
#include "base/path.h"
#include "gate/fold.h"
#include "gate/index.h"
#include "gate/rules.h"
#include "host/look.h"
#include "sys/dir.h"
#include "sys/file.h"
#include "sys/kernel.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

/* A name that no pattern has: what is said of it is said of any name. */
#define ANY_NAME "\001"

/*
 * A directory whose path is longer than half of PATH_MAX is not entered, and a
 * link is followed once.  So this has room for a path as rules see it, with the
 * names above it.
 */
#define MATCH_MAX ((size_t)3 * PATH_MAX)

/* A directory that is still to be looked at. */
struct ahead {
	const char *path; /* "": the root */
	const char *as;	  /* what rules take for its path */
	char *copy;	  /* of both, allocated */
	unsigned depth;
	bool is_meant;	 /* all of it is; only links are of interest */
	bool is_package; /* it lies in others' work */
	bool is_linked;	 /* a link led there */
};

struct pass {
	const struct direct_walk *walk;
	struct ahead *ahead;
	size_t n_ahead;
	size_t n_names;
	size_t above; /* where the names above end in what rules take */
	struct gate_seen *seen;
	bool has_seen; /* any rule */
	struct buf folded;
	char path[MATCH_MAX], as[MATCH_MAX]; /* of the name at hand */
	char any[MATCH_MAX];		     /* a name in it */
	char bare[MATCH_MAX];
};

static int no_memory(struct hb_error *err)
{
	return hb_fail(err, -ENOMEM, "cannot look at the workspace");
}

/* "DIR/NAME", or NAME in the root. */
static void join(const char *dir, const char *name, char ret[MATCH_MAX])
{
	size_t n = strlen(dir), k = strlen(name);
	char *end;

	assert(n + 1 + k < MATCH_MAX);
	end = mempcpy(ret, dir, n);
	if (n > 0)
		*end++ = '/';
	memcpy(end, name, k + 1);
}

static int add_ahead(struct pass *p, const struct ahead *like,
		     struct hb_error *err)
{
	struct ahead *to;
	char *copy;
	size_t n;

	if (grow(p->ahead, p->n_ahead) < 0)
		return no_memory(err);
	n = strlen(like->path) + 1;
	copy = malloc(n + strlen(like->as) + 1);
	if (!copy)
		return no_memory(err);
	memcpy(copy, like->path, n);
	memcpy(copy + n, like->as, strlen(like->as) + 1);
	to = &p->ahead[p->n_ahead];
	*to = *like;
	to->path = copy;
	to->as = copy + n;
	to->copy = copy;
	p->n_ahead++;
	return 0;
}

/* What the rules say of a path, into p->seen. */
static int find_rules(struct pass *p, const char *as, struct hb_error *err)
{
	const struct gate_rules *rules = p->walk->rules;

	memset(p->seen, 0, rules->n * sizeof(*p->seen));
	for (const char *s = as + p->above; *s; s++) {
		if ((unsigned char)*s < 0x80)
			continue;
		buf_cut(&p->folded, 0);
		(void)buf_add(&p->folded, as, p->above);
		if (gate_fold(&p->folded, as + p->above) < 0)
			return no_memory(err);
		as = buf_str(&p->folded);
		break;
	}
	p->has_seen = gate_index_find(rules->index, as, p->above, p->seen);
	return 0;
}

static bool is_excepted(const struct gate_rule *rule, const char *as)
{
	for (size_t i = 0; i < rule->except.n; i++)
		if (glob_match(rule->except.words[i], as, GLOB_FOLD))
			return true;
	return false;
}

/* What a name alone cannot tell, or what only a change is, is none. */
static bool is_asked(const struct gate_rule *rule, bool is_package)
{
	return rule->severity >= GATE_ASK && rule->test == GATE_TEST_NONE &&
	       rule->types == 0 &&
	       (!is_package || rule->class == GATE_CLASS_GIT);
}

/* The first rule with one of `hits` that asks; NULL: none. */
static const struct gate_rule *asked(const struct pass *p, const char *as,
				     unsigned hits, bool is_package)
{
	const struct gate_rules *rules = p->walk->rules;
	const struct gate_rule *read = NULL;

	for (size_t i = 0; p->has_seen && i < rules->n; i++) {
		const struct gate_rule *rule = &rules->rules[i];

		if (!(p->seen[i].hits & hits) || !is_asked(rule, is_package) ||
		    is_excepted(rule, as + p->above))
			continue;
		if (rule->content == GATE_CONTENT_NONE)
			return rule;
		read = read ? read : rule;
	}
	return read;
}

static bool is_of_packages(const struct pass *p)
{
	const struct gate_rules *rules = p->walk->rules;

	for (size_t i = 0; i < rules->n; i++)
		if (rules->rules[i].test == GATE_TEST_GROUP &&
		    (p->seen[i].hits & GATE_HIT_PATH))
			return true;
	return false;
}

static int tell(struct pass *p, const struct ahead *at,
		const struct gate_rule *rule, bool is_link, bool is_dir,
		struct hb_error *err)
{
	struct direct_hit hit = { .path = at->path,
				  .as = at->as,
				  .rule = rule,
				  .is_link = is_link,
				  .is_dir = is_dir };

	if (rule) {
		const struct gate_seen *seen =
			&p->seen[rule - p->walk->rules->rules];
		size_t n = seen->hits & GATE_HIT_PATH
				   ? rule->paths[seen->path].reason
				   : 0;

		hit.reason = n > 0 ? rule->reasons.words[n - 1] : rule->reason;
	}
	return p->walk->hit(p->walk->ctx, &hit, err);
}

static bool has_name(int dir, const char *name)
{
	struct stat st;

	return sys_fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) >= 0;
}

static bool is_in_git(const char *as)
{
	struct path_part part;

	while (path_next(&as, &part))
		if (path_part_is(part, ".git"))
			return true;
	return false;
}

/* Whether git takes the directory itself for a repository. */
static bool is_bare(int dir)
{
	return has_name(dir, "HEAD") && has_name(dir, "objects") &&
	       has_name(dir, "refs");
}

static int see_dir(struct pass *p, const struct ahead *in, struct ahead *dir,
		   struct hb_error *err)
{
	const struct gate_rule *rule;
	int r;

	if (p->walk->is_closed(p->walk->ctx, dir->path))
		return 0;
	if (in->is_meant)
		return add_ahead(p, dir, err);
	join(dir->as, ANY_NAME, p->any);
	r = find_rules(p, p->any, err);
	if (r < 0)
		return r;
	rule = asked(p, p->any, GATE_HIT_PATH, dir->is_package);
	if (rule) {
		dir->is_meant = true;
		r = tell(p, dir, rule, false, true, err);
	} else if (dir->depth > DIRECT_WALK_DEPTH ||
		   strlen(dir->path) > PATH_MAX / 2) {
		return tell(p, dir, NULL, false, true, err);
	}
	dir->is_package = dir->is_package || is_of_packages(p);
	return r < 0 ? r : add_ahead(p, dir, err);
}

/* Not a link that leads out, nor up to a directory that it lies in. */
static int follow(struct pass *p, const struct ahead *link,
		  struct hb_error *err)
{
	const char *source = p->walk->source;
	const size_t n = strlen(source);
	char path[PATH_MAX], real[PATH_MAX];
	struct ahead to = *link;
	struct stat st;

	if (link->is_linked ||
	    path_join(source, link->path, path, sizeof(path)) < 0 ||
	    look_real(path, real) < 0 || strcmp(real, source) == 0 ||
	    !path_is_beneath(real, source) || path_is_beneath(path, real) ||
	    sys_fstatat(AT_FDCWD, real, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISDIR(st.st_mode))
		return 0;
	to.path = real + n + (source[n - 1] != '/');
	to.is_linked = true;
	return add_ahead(p, &to, err);
}

/*
 * A link can stand for the file that is meant, or for a directory of which all
 * is meant.  It can also stand for a directory on the way to such things.
 * Those are looked at in the place that it leads to, by the names that they
 * have here.
 */
static int see_link(struct pass *p, const struct ahead *in,
		    const struct ahead *link, struct hb_error *err)
{
	const struct gate_rule *rule = NULL;
	bool is_dir;
	int r;

	join(link->as, ANY_NAME, p->any);
	r = find_rules(p, p->any, err);
	if (r < 0)
		return r;
	rule = asked(p, p->any, GATE_HIT_PATH, link->is_package);
	is_dir = in->is_meant || rule;
	if (!rule) {
		r = find_rules(p, link->as, err);
		if (r >= 0)
			rule = asked(p, link->as,
				     GATE_HIT_PATH | GATE_HIT_ABOVE,
				     link->is_package);
	}
	if (r < 0 || !rule)
		return r;
	r = tell(p, link, rule, true, is_dir, err);
	return r < 0 || is_dir ? r : follow(p, link, err);
}

static int see_file(struct pass *p, const struct ahead *in,
		    const struct ahead *file, struct hb_error *err)
{
	const struct gate_rule *rule;
	int r;

	if (in->is_meant)
		return 0;
	r = find_rules(p, file->as, err);
	if (r < 0)
		return r;
	rule = asked(p, file->as, GATE_HIT_PATH, file->is_package);
	return rule ? tell(p, file, rule, false, false, err) : 0;
}

static unsigned char type_of(int dir, const struct k_dirent *entry)
{
	struct stat st;

	if (entry->type != DT_UNKNOWN)
		return entry->type;
	if (sys_fstatat(dir, entry->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return DT_UNKNOWN;
	return IFTODT(st.st_mode);
}

static int see(struct pass *p, const struct ahead *in, int dir,
	       const struct k_dirent *entry, struct hb_error *err)
{
	struct ahead at = { .path = p->path,
			    .as = p->as,
			    .depth = in->depth + 1,
			    .is_meant = in->is_meant,
			    .is_linked = in->is_linked,
			    .is_package = in->is_package };

	join(in->path, entry->name, p->path);
	join(in->as, entry->name, p->as);
	if (p->n_names++ >= DIRECT_WALK_NAMES) {
		hb_fix(err,
		       "leave out --direct: a session holds all of it back");
		return hb_fail(
			err, -HB_E_USAGE,
			"the workspace has more than %d names: the ones that programs run cannot be protected",
			DIRECT_WALK_NAMES);
	}
	switch (type_of(dir, entry)) {
	case DT_DIR:
		return see_dir(p, in, &at, err);
	case DT_LNK:
		return see_link(p, in, &at, err);
	default:
		return see_file(p, in, &at, err);
	}
}

static int see_all(struct pass *p, const struct ahead *in, int dir,
		   struct hb_error *err)
{
	alignas(struct k_dirent) char block[16384];
	ssize_t n;

	while ((n = sys_getdents(dir, block, sizeof(block))) > 0)
		for (ssize_t at = 0; at < n;) {
			const struct k_dirent *entry =
				(const struct k_dirent *)(block + at);
			int r = 0;

			at += entry->reclen;
			if (!path_is_dots(entry->name))
				r = see(p, in, dir, entry, err);
			if (r < 0)
				return r;
		}
	return 0;
}

static int look_in(struct pass *p, struct ahead *in, struct hb_error *err)
{
	auto_fd int dir =
		sys_openat2(p->walk->root, in->path[0] ? in->path : ".",
			    O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0,
			    K_RESOLVE_BENEATH | K_RESOLVE_NO_SYMLINKS);

	if (dir == -EMFILE || dir == -ENFILE || dir == -ENOMEM)
		return hb_fail(err, dir, "cannot look at the workspace");
	if (dir < 0)
		return 0;
	if (!in->is_meant && !is_in_git(in->as) && is_bare(dir)) {
		join(in->as, ".git", p->bare);
		in->as = p->bare;
	}
	return see_all(p, in, dir, err);
}

int direct_walk(const struct direct_walk *walk, struct hb_error *err)
{
	const bool has_above = !walk->prefix[0] && walk->above[0];
	const struct ahead root = { .path = "",
				    .as = has_above ? walk->above
						    : walk->prefix };
	auto_free struct pass *p = calloc(1, sizeof(*p));
	auto_free struct gate_seen *seen =
		calloc(walk->rules->n + 1, sizeof(*seen));
	int r;

	if (!p || !seen)
		return no_memory(err);
	p->walk = walk;
	p->seen = seen;
	p->above = has_above ? strlen(walk->above) + 1 : 0;
	buf_init(&p->folded, MATCH_MAX);
	r = add_ahead(p, &root, err);
	while (r >= 0 && p->n_ahead > 0) {
		struct ahead in = p->ahead[--p->n_ahead];

		r = look_in(p, &in, err);
		free(in.copy);
	}
	while (p->n_ahead > 0)
		free(p->ahead[--p->n_ahead].copy);
	free(p->ahead);
	buf_done(&p->folded);
	return r < 0 ? r : 0;
}
