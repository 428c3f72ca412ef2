/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/glob.h"
#include "changes/changes.h"
#include "gate/changed_file.h"
#include "gate/fold.h"
#include "gate/gate.h"
#include "gate/git/git_news.h"
#include "gate/git/once.h"
#include "gate/git/repos.h"
#include "gate/git/runs.h"
#include "gate/group.h"
#include "gate/index.h"
#include "gate/item_readers.h"
#include "gate/items.h"
#include "gate/refs.h"
#include "gate/rules.h"
#include "gate/scan/scan.h"
#include "gate/scan/scan_change.h"
#include "gate/tests.h"
#include "git/objectstore.h"
#include "tree/tree.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * (a) Every change that would be committed is looked at, by the same function
 *     that commit asks, and by its final path.
 * (b) What a rule cannot read or understand is a finding of that rule.
 * (c) The old side is what lies at the same path: content that was harmless
 *     elsewhere is news where it is read by itself.
 * (d) What git keeps and no file has is looked at by the same rules, after the
 *     files.  What was told of a file is not told again of a commit that has
 *     the same content at its path.
 *
 * tests/gate/ holds these.
 */

/* So much of the name of a reference is told. */
#define REF_SHOWN 256

/* Of what cannot be looked into, and of what git status does not see. */
#define UNREAD_RULE "git-unread"
#define HIDDEN_RULE "git-hidden"

/* Of one file in a commit. */
#define BLOB_MAX ((size_t)64 << 20)

struct pass {
	const struct gate_request *request;
	const struct gate_rules *rules;
	gate_found_fn found;
	void *ctx;
	struct look look;
	/* Of the change, with the names above it from `request->above` on. */
	struct buf path;
	size_t above;		/* where the request's prefix begins in it */
	struct buf folded;	/* the same, as file systems may fold it */
	struct gate_seen *seen; /* by rule */
	uint64_t *counts;	/* by rule: of those that count */
	bool has_new_pack;	/* of GATE_TEST_OBJECTS */
	struct buf home;	/* the name that GATE_TEST_HOME told last */
	struct group group;
	struct refs refs;
	enum gate_severity unread; /* of the rule that told it; GATE_OFF */
	/* Who wants to know of secrets in the change; NULL: no listener. */
	const struct gate_rule *secret, *guess;
	struct runs runs;
	struct buf alias;  /* the name that a path is reached by */
	const char *named; /* why that is one; NULL: it is not */
	struct repos repos;
	struct once told;	     /* by rule, path and content */
	const char *repository;	     /* NULL: the change is one of files */
	const char *commit, *ref;    /* and where git has it */
	struct objectstore *objects; /* of the repository */
	const struct history_entry *entry;
	bool is_blob_told; /* that some content cannot be read */
};

/* That of the path by which the rule was found, or its own. */
static const char *reason_of(const struct pass *p, const struct gate_rule *rule)
{
	const struct gate_seen *seen = &p->seen[rule - p->rules->rules];
	size_t n = 0;

	if (seen->hits & GATE_HIT_PATH)
		n = rule->paths[seen->path].reason;
	return n > 0 ? rule->reasons.words[n - 1] : rule->reason;
}

/*
 * Of what is told about a file: by the content, so that other content is told
 * again.  A warning is said once for each path.
 */
static int key_of(struct pass *p, const struct gate_rule *rule,
		  const char *path, struct buf *out, struct hb_error *err)
{
	uint8_t name[SHA256_SIZE] = { 0 };

	if (rule->severity > GATE_WARN)
		look_name(&p->look, name);
	(void)buf_add(out, rule->id, strlen(rule->id) + 1);
	(void)buf_add(out, name, sizeof(name));
	if (buf_add_str(out, path) < 0)
		return hb_fail(err, out->error, "cannot keep a path");
	return 0;
}

/* 1: it is to be told; 0: it was told, of the file or of another commit. */
static int is_news(struct pass *p, const struct gate_rule *rule,
		   const char *path, const char *detail, struct hb_error *err)
{
	auto_buf struct buf key = BUF_INIT(TREE_PATH_MAX);
	int r;

	if (!p->repository && (p->look.change.flags & CHANGE_GIT))
		return 1;
	r = key_of(p, rule, path, &key, err);
	if (r < 0)
		return r;
	if (p->repository) {
		if (once_has(&p->told, key.data, key.len))
			return 0;
		buf_cut(&key, 0);
		(void)buf_add_fmt(&key, "%s: %s: %s: ", p->repository, rule->id,
				  detail ? detail : "");
		if (buf_add_str(&key, path) < 0)
			return hb_fail(err, key.error, "cannot keep a path");
		r = once_add(&p->told, key.data, key.len);
	} else {
		r = once_add(&p->told, key.data, key.len);
		r = r < 0 ? r : 1;
	}
	return r < 0 ? hb_fail(err, r, "cannot keep a finding") : r;
}

static int tell_at(struct pass *p, const struct gate_rule *rule,
		   const char *path, uint64_t line, const char *detail,
		   struct hb_error *err)
{
	const struct gate_finding finding = {
		.rule = rule->id,
		.severity = rule->severity,
		.class = rule->class,
		.path = path,
		.line = line,
		.detail = detail ? detail : p->named,
		.reason = reason_of(p, rule),
		.repository = p->repository,
		.commit = p->commit,
		.ref = p->ref,
	};
	int r = is_news(p, rule, path, detail, err);

	if (r <= 0)
		return r;
	if (rule->severity <= GATE_ASK && group_holds(&p->group, path))
		return group_add(&p->group, &finding, err);
	return p->found(p->ctx, &finding, err);
}

static int tell(struct pass *p, const struct gate_rule *rule, uint64_t line,
		const char *detail, struct hb_error *err)
{
	return tell_at(p, rule, p->look.change.path, line, detail, err);
}

static int read_items(struct pass *p, enum look_side side, struct items *items,
		      struct hb_error *err)
{
	auto_free char *text = NULL;
	size_t n = 0;
	int r;

	if (!look_is_file(&p->look, side))
		return 0;
	r = look_text(&p->look, side, &text, &n, err);
	return r < 0 ? r : items_read(items, text, n);
}

/* One rule says it for all others that are no more severe. */
static int tell_unread(struct pass *p, const struct gate_rule *rule, int r,
		       struct hb_error *err)
{
	if (rule->severity <= p->unread)
		return 0;
	p->unread = rule->severity;
	return tell(p, rule, 0,
		    r == -EINVAL || r == -E2BIG ? "it cannot be understood"
						: "it cannot be read",
		    err);
}

static int look_into(struct pass *p, const struct gate_rule *rule,
		     struct hb_error *err)
{
	auto_items struct items old = { .rule = rule };
	auto_items struct items new = { .rule = rule };
	int r;

	if (p->look.change.new.type == ENTRY_LINK)
		return tell(p, rule, 0, "it is a link", err);
	r = read_items(p, LOOK_NEW, &new, err);
	if (r < 0 && !look_is_fatal(r))
		return tell_unread(p, rule, r, err);
	/* What cannot be compared is news. */
	if (r >= 0) {
		r = read_items(p, LOOK_OLD, &old, err);
		if (r < 0 && !look_is_fatal(r)) {
			items_done(&old);
			r = 0;
		}
	}
	if (r == -ENOMEM)
		return hb_fail(err, r, "cannot read the changes");
	for (size_t i = 0; r >= 0 && i < new.n; i++)
		if (items_news(&old, &new.items[i]) & rule->key_on)
			r = tell(p, rule, new.items[i].line, new.items[i].name,
				 err);
	for (size_t i = 0; r >= 0 && i < old.n; i++)
		if ((rule->key_on & GATE_ON_DELETED) &&
		    !items_know(&new, old.items[i].name))
			r = tell(p, rule, 0, old.items[i].name, err);
	return r;
}

/* Of type scan_found_fn. */
static int tell_secret(void *ctx, const struct scan_finding *finding,
		       struct hb_error *err)
{
	struct pass *p = ctx;
	const struct gate_rule *rule =
		finding->kind->is_guess ? p->guess : p->secret;

	return rule ? tell(p, rule, finding->line, finding->kind->words, err)
		    : 0;
}

/* The same, for a caller that asks whether there is one. */
static int stop_at_secret(void *ctx, const struct scan_finding *finding,
			  struct hb_error *err)
{
	(void)ctx;
	(void)finding;
	(void)err;
	return -EEXIST;
}

/* Of type of history_request's `unread`. */
static int tell_unread_git(void *ctx, const char *words, const char *ref,
			   const char *commit, struct hb_error *err)
{
	struct pass *p = ctx;
	const struct gate_rule *rule = gate_rules_find(p->rules, UNREAD_RULE);

	p->ref = ref;
	p->commit = commit;
	p->named = NULL;
	return rule && rule->severity != GATE_OFF
		       ? tell_at(p, rule, p->repository, 0, words, err)
		       : 0;
}

/* Once: of a partial clone many are missing. */
static int tell_unread_blob(struct pass *p, struct hb_error *err)
{
	if (p->is_blob_told)
		return 0;
	p->is_blob_told = true;
	return tell_unread_git(p,
			       "files of it are missing, or too large to look "
			       "for secrets",
			       p->ref, p->commit, err);
}

/* The old side is opened only if there is something to compare. */
static int look_for_secrets(struct pass *p, struct hb_error *err)
{
	const struct gate_rule *rule = p->secret ? p->secret : p->guess;
	struct scan *scan = p->look.scan;
	int old = -1, new, r;

	r = look_scan(&p->look, LOOK_NEW, stop_at_secret, NULL, err);
	if (p->look.errors[LOOK_NEW] < 0 && !look_is_fatal(r))
		return p->repository
			       ? tell_unread_blob(p, err)
			       : tell(p, rule, 0, "it cannot be read", err);
	if (r != -EEXIST)
		return r;
	new = look_open(&p->look, LOOK_NEW, err);
	if (new < 0)
		return new;
	if (look_is_file(&p->look, LOOK_OLD)) {
		old = look_open(&p->look, LOOK_OLD, err);
		if (look_is_fatal(old))
			return old;
	}
	return scan_change(scan, new, old < 0 ? -1 : old, tell_secret, p, err);
}

/* What happens to the path, as enum gate_on. */
static unsigned happens(const struct change *c)
{
	static const unsigned attributes = CHANGED_MODE | CHANGED_XATTRS;
	unsigned on = c->what & attributes ? GATE_ON_MODE : 0;

	switch (c->kind) {
	case CHANGE_ADDED:
		return on | GATE_ON_ADDED;
	case CHANGE_MODIFIED:
	case CHANGE_TYPE:
		return on | GATE_ON_MODIFIED;
	case CHANGE_DELETED:
		return GATE_ON_DELETED;
	case CHANGE_ATTRIBUTES:
		return on;
	case CHANGE_TIMES:
	default:
		return 0;
	}
}

static bool is_of_type(const struct gate_rule *rule, const struct change *c)
{
	enum entry_type type =
		c->kind == CHANGE_DELETED ? c->old.type : c->new.type;
	unsigned types = rule->types ? rule->types : ~(1U << ENTRY_DIR);

	return types & 1U << type;
}

static bool is_excepted(const struct gate_rule *rule, const char *path)
{
	for (size_t i = 0; i < rule->except.n; i++)
		if (glob_match(rule->except.words[i], path, GLOB_FOLD))
			return true;
	return false;
}

/* Once for each name at the top, with everything below it. */
static int tell_home(struct pass *p, const struct gate_rule *rule,
		     struct hb_error *err)
{
	const char *path = p->look.change.path;
	const size_t n = strcspn(path, "/");

	if (p->home.len == n && memcmp(buf_str(&p->home), path, n) == 0)
		return 0;
	buf_cut(&p->home, 0);
	if (buf_add(&p->home, path, n) < 0)
		return hb_fail(err, p->home.error, "cannot keep a path");
	return tell_at(p, rule, buf_str(&p->home), 0, NULL, err);
}

static int tell_ref(struct pass *p, const struct gate_rule *rule,
		    struct hb_error *err)
{
	char name[REF_SHOWN];
	int r = refs_gone(&p->refs, &p->look, name, sizeof(name), err);

	return r > 0 ? tell(p, rule, 0, name[0] ? name : NULL, err) : r;
}

static int count(struct pass *p, const struct gate_rule *rule,
		 struct hb_error *err)
{
	(void)err;
	p->counts[rule - p->rules->rules]++;
	return 0;
}

static int count_object(struct pass *p, const struct gate_rule *rule,
			struct hb_error *err)
{
	const struct change *c = &p->look.change;
	const char *ending = strrchr(c->path, '.');

	if (c->kind == CHANGE_DELETED)
		return count(p, rule, err);
	if (ending && strcmp(ending, ".pack") == 0)
		p->has_new_pack = true;
	return 0;
}

static int want_secrets(struct pass *p, const struct gate_rule *rule,
			struct hb_error *err)
{
	(void)err;
	p->secret = rule;
	return 0;
}

static int want_guesses(struct pass *p, const struct gate_rule *rule,
			struct hb_error *err)
{
	(void)err;
	p->guess = rule;
	return 0;
}

static int tell_path(struct pass *p, const struct gate_rule *rule,
		     struct hb_error *err)
{
	if (rule->content != GATE_CONTENT_NONE &&
	    (p->look.change.kind != CHANGE_DELETED ||
	     (rule->key_on & GATE_ON_DELETED)))
		return look_into(p, rule, err);
	return tell(p, rule, 0, NULL, err);
}

/* What to do where the test holds, if not to tell. */
static int (*const takers[])(struct pass *p, const struct gate_rule *rule,
			     struct hb_error *err) = {
	[GATE_TEST_HOME] = tell_home,
	[GATE_TEST_MANY] = count,
	[GATE_TEST_OBJECTS] = count_object,
	[GATE_TEST_REF_GONE] = tell_ref,
	[GATE_TEST_SECRET] = want_secrets,
	[GATE_TEST_SECRET_GUESS] = want_guesses,
	[GATE_TESTS - 1] = NULL,
};

static int try_path(struct pass *p, const struct gate_rule *rule, unsigned on,
		    struct hb_error *err)
{
	const struct change *c = &p->look.change;
	unsigned why = on & rule->on;
	int r;

	if (!why || !is_of_type(rule, c) ||
	    is_excepted(rule, buf_str(&p->path) + p->above))
		return 0;
	if (rule->test == GATE_TEST_NONE && why == GATE_ON_MODE &&
	    !gate_gains_execution(c))
		return 0;
	r = gate_test(&p->look, rule, err);
	if (r <= 0)
		return r;
	return takers[rule->test] ? takers[rule->test](p, rule, err)
				  : tell_path(p, rule, err);
}

static int try_rule(struct pass *p, size_t number, unsigned on,
		    struct hb_error *err)
{
	const struct gate_rule *rule = &p->rules->rules[number];
	const struct change *c = &p->look.change;
	unsigned hits = p->seen[number].hits;

	if (rule->severity == GATE_OFF)
		return 0;
	if (rule->n_paths == 0 || (hits & GATE_HIT_PATH))
		return try_path(p, rule, on, err);
	if ((hits & GATE_HIT_ABOVE) && c->new.type == ENTRY_LINK &&
	    (on & (GATE_ON_ADDED | GATE_ON_MODIFIED)))
		return tell(p, rule, 0, "a link in the place of a directory",
			    err);
	return 0;
}

static int set_path(struct pass *p, const char *path, struct hb_error *err)
{
	const char *above = p->request->above;
	/* git's own paths begin at the work tree. */
	const char *prefix = p->repository ? "" : p->request->prefix;

	buf_cut(&p->path, 0);
	if (above[0])
		(void)buf_add_fmt(&p->path, "%s/", above);
	p->above = p->path.len;
	if (prefix[0])
		(void)buf_add_fmt(&p->path, "%s/", prefix);
	if (buf_add_str(&p->path, path) < 0)
		return hb_fail(err, p->path.error, "cannot keep a path");
	return 0;
}

/*
 * What the rules look up: mostly the path itself.  The names above are those of
 * a directory that is there, and are what they are.
 */
static int find_rules(struct pass *p, struct hb_error *err)
{
	const char *whole = buf_str(&p->path);

	for (size_t i = 0; i < p->rules->n; i++)
		p->seen[i].hits = 0;
	for (const char *s = whole + p->above; *s; s++) {
		if ((unsigned char)*s < 0x80)
			continue;
		buf_cut(&p->folded, 0);
		(void)buf_add(&p->folded, whole, p->above);
		if (gate_fold(&p->folded, whole + p->above) < 0)
			return hb_fail(err, p->folded.error,
				       "cannot keep a path");
		whole = buf_str(&p->folded);
		break;
	}
	(void)gate_index_find(p->rules->index, whole, p->above, p->seen);
	p->named = runs_find(&p->runs, p->rules, p->look.change.path, &p->alias,
			     p->seen);
	return p->alias.error
		       ? hb_fail(err, p->alias.error, "cannot keep a path")
		       : 0;
}

/* Leaves the directory that is told as one, or enters another. */
static int change_group(struct pass *p, struct hb_error *err)
{
	const char *path = p->look.change.path;
	int r;

	if (group_holds(&p->group, path))
		return 0;
	r = group_end(&p->group, p->found, p->ctx, err);
	for (size_t i = 0; r >= 0 && i < p->rules->n; i++) {
		const struct gate_rule *rule = &p->rules->rules[i];

		if (rule->test == GATE_TEST_GROUP &&
		    rule->severity != GATE_OFF && !p->group.rule &&
		    ((p->seen[i].hits & GATE_HIT_PATH) || rule->marks.n > 0))
			r = group_begin(&p->group, rule, p->request->resource,
					path, err);
	}
	return r;
}

/* The change that the look has. */
static int judge(struct pass *p, unsigned on, struct hb_error *err)
{
	int r;

	r = set_path(p, p->look.change.path, err);
	if (r >= 0)
		r = find_rules(p, err);
	if (r >= 0)
		r = change_group(p, err);
	p->secret = p->guess = NULL;
	p->unread = GATE_OFF;
	for (size_t i = 0; r >= 0 && i < p->rules->n; i++)
		r = try_rule(p, i, on, err);
	if (r >= 0 && (p->secret || p->guess))
		r = look_for_secrets(p, err);
	return r;
}

static int look_at(struct pass *p, const struct change *c, struct hb_error *err)
{
	unsigned on = happens(c);
	int r;

	if ((c->flags & CHANGE_CARRIED) || change_is_top(c) || !on ||
	    !changes_choice_takes(p->request->choice, c))
		return 0;
	look_begin(&p->look, c);
	r = judge(p, on, err);
	if (r >= 0 && (c->flags & CHANGE_GIT))
		r = repos_note(&p->repos, &p->look, p->request->is_git, err);
	return r;
}

static struct entry entry_of(const struct treediff_side *side)
{
	struct entry entry = { .mode = 0644 };

	switch (side->mode) {
	case GITTREE_PROGRAM:
		entry.mode = 0755;
		entry.type = ENTRY_FILE;
		break;
	case GITTREE_FILE:
		entry.type = ENTRY_FILE;
		break;
	case GITTREE_LINK:
		entry.type = ENTRY_LINK;
		break;
	case GITTREE_DIR:
	case GITTREE_MODULE:
		entry.type = ENTRY_DIR;
		break;
	default:
		break;
	}
	return entry;
}

static struct change change_of(const struct history_entry *e, const char *path)
{
	struct change c = { .path = path,
			    .kind = CHANGE_ATTRIBUTES,
			    .old = entry_of(&e->old),
			    .new = entry_of(&e->new) };

	if (!git_id_is_same(&e->old.id, &e->new.id)) {
		c.kind = CHANGE_MODIFIED;
		c.what |= CHANGED_CONTENT;
	}
	if (c.old.mode != c.new.mode)
		c.what |= CHANGED_MODE;
	if (c.new.type == ENTRY_NONE)
		c.kind = CHANGE_DELETED;
	else if (c.old.type == ENTRY_NONE)
		c.kind = CHANGE_ADDED;
	else if (c.old.type != c.new.type)
		c.kind = CHANGE_TYPE;
	return c;
}

/* Of type look_load_fn. */
static int load_blob(void *ctx, enum look_side side, struct git_object *ret)
{
	const struct pass *p = ctx;

	return objectstore_read(p->objects,
				side == LOOK_NEW ? &p->entry->new.id
						 : &p->entry->old.id,
				BLOB_MAX, ret);
}

/* A file that a rule is about, and that the user does not see any more. */
static int tell_hidden(struct pass *p, struct hb_error *err)
{
	const struct gate_rule *rule = gate_rules_find(p->rules, HIDDEN_RULE);
	bool is_gated = false;

	for (size_t i = 0; i < p->rules->n && !is_gated; i++)
		is_gated = (p->seen[i].hits & GATE_HIT_PATH) &&
			   p->rules->rules[i].severity >= GATE_ASK;
	return is_gated && rule && rule->severity != GATE_OFF
		       ? tell(p, rule, 0, NULL, err)
		       : 0;
}

/* Of type of history_request's `look`. */
static int look_at_object(void *ctx, const struct history_entry *entry,
			  struct objectstore *objects, struct hb_error *err)
{
	struct pass *p = ctx;
	auto_buf struct buf path = BUF_INIT(TREE_PATH_MAX);
	size_t n = strlen(p->repository);
	struct change c;
	int r;

	/* The work tree of "sub/.git" is "sub". */
	if (n > 5 && strcmp(p->repository + n - 5, "/.git") == 0)
		(void)buf_add(&path, p->repository, n - 4);
	if (buf_add_str(&path, entry->path) < 0)
		return hb_fail(err, path.error, "cannot keep a path");
	p->entry = entry;
	p->objects = objects;
	p->ref = entry->ref;
	p->commit = entry->commit;
	c = change_of(entry, path.data);
	look_begin_objects(&p->look, &c, load_blob, p);
	r = judge(p, happens(&c), err);
	return r >= 0 && entry->is_hidden ? tell_hidden(p, err) : r;
}

/* Likewise `end`: a directory that is told as one is one of a commit. */
static int end_group(void *ctx, struct hb_error *err)
{
	struct pass *p = ctx;

	return group_end(&p->group, p->found, p->ctx, err);
}

static int look_into_repositories(struct pass *p, struct hb_error *err)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < p->repos.n; i++) {
		struct repo *repo = &p->repos.list[i];
		const struct history_request request = {
			.resource = p->request->resource,
			.repo = repo,
			.objects = p->request->objects,
			.look = look_at_object,
			.unread = tell_unread_git,
			.end = end_group,
			.ctx = p,
		};
		const struct change all = { .path = repo->prefix };

		look_begin(&p->look, &all);
		p->repository = repo->prefix[0] ? repo->prefix : ".";
		p->is_blob_told = false;
		r = history_look(&request, err);
	}
	if (r >= 0 && p->repos.has_more) {
		p->repository = ".";
		r = tell_unread_git(p, "there are too many repositories", NULL,
				    NULL, err);
	}
	p->repository = p->commit = p->ref = p->named = NULL;
	return r;
}

/* What is about all of the stream. */
static int tell_counts(struct pass *p, struct hb_error *err)
{
	const struct change all = { .path = "." };
	char words[64];
	int r = 0;

	look_begin(&p->look, &all);
	for (size_t i = 0; r >= 0 && i < p->rules->n; i++) {
		const struct gate_rule *rule = &p->rules->rules[i];

		p->seen[i].hits = 0;
		if (p->counts[i] == 0 || p->counts[i] <= rule->limit ||
		    (rule->test == GATE_TEST_OBJECTS && p->has_new_pack))
			continue;
		(void)snprintf(words, sizeof(words), "%llu of them",
			       (unsigned long long)p->counts[i]);
		r = tell(p, rule, 0, words, err);
	}
	return r;
}

static int read_all(struct pass *p, struct hb_error *err)
{
	struct changes *changes = p->request->changes;
	struct change c;
	int r;

	r = changes_rewind(changes, err);
	while (r >= 0 && (r = changes_next(changes, &c, err)) == 1) {
		/* A branch may get commits of files that a delivery holds. */
		c.item = NULL;
		r = look_at(p, &c, err);
	}
	if (r >= 0)
		r = group_end(&p->group, p->found, p->ctx, err);
	if (r >= 0)
		r = look_end(&p->look, err);
	if (r >= 0)
		r = look_into_repositories(p, err);
	return r < 0 ? r : tell_counts(p, err);
}

int gate_run(const struct gate_request *request, gate_found_fn found, void *ctx,
	     struct hb_error *err)
{
	const size_t n = request->rules->n;
	auto_free struct gate_seen *seen = calloc(n + 1, sizeof(*seen));
	auto_free uint64_t *counts = calloc(n + 1, sizeof(*counts));
	struct pass p = { .request = request,
			  .rules = request->rules,
			  .found = found,
			  .ctx = ctx,
			  .path = BUF_INIT(TREE_PATH_MAX),
			  .folded = BUF_INIT(TREE_PATH_MAX),
			  .home = BUF_INIT(TREE_PATH_MAX),
			  .alias = BUF_INIT(TREE_PATH_MAX),
			  .seen = seen,
			  .counts = counts };
	int r;

	assert(p.rules->index);
	if (!seen || !counts)
		return hb_fail(err, -ENOMEM, "cannot look at the changes");
	look_init(&p.look, request);
	group_init(&p.group);
	refs_init(&p.refs);
	r = once_init(&p.told);
	if (r < 0)
		(void)hb_fail(err, r, "cannot look at the changes");
	if (r >= 0)
		r = scan_new(&p.look.scan, err);
	if (r >= 0)
		r = runs_read(&p.runs, request->resource, p.rules, err);
	if (r >= 0)
		r = read_all(&p, err);
	look_done(&p.look);
	scan_free(p.look.scan);
	group_done(&p.group);
	refs_done(&p.refs);
	runs_done(&p.runs);
	repos_done(&p.repos);
	once_done(&p.told);
	buf_done(&p.alias);
	buf_done(&p.path);
	buf_done(&p.folded);
	buf_done(&p.home);
	return r < 0 ? r : 0;
}
