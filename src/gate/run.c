/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/glob.h"
#include "gate/gate.h"
#include "gate/index.h"
#include "gate/items.h"
#include "gate/look.h"
#include "gate/rules.h"
#include "gate/scan.h"
#include "gate/tests.h"
#include "sys/attr.h"
#include "txn/changes.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * (a) Every change that would be committed is looked at, by the same function
 *     that commit asks, and by its final path.
 * (b) What a rule cannot read or understand is a finding of that rule.
 * (c) The old side is what lies at the same path: content that was harmless
 *     elsewhere is news where it is read by itself.
 *
 * tests/gate/ holds these.
 */

/* A file that says more than this about itself is a finding. */
#define TEXT_MAX ((uint64_t)4 << 20)

#define PATH_SIZE ((size_t)256 << 20)

struct pass {
	const struct gate_request *request;
	const struct gate_rules *rules;
	gate_found_fn found;
	void *ctx;
	struct look look;
	struct buf path;     /* of the change, as the rules are to know it */
	unsigned char *hits; /* by rule: enum gate_hit */
	uint64_t *counts;    /* by rule: of GATE_TEST_MANY */
	/* Who wants to know of secrets in the change; NULL: nobody. */
	const struct gate_rule *secret, *guess;
};

static int tell(struct pass *p, const struct gate_rule *rule, uint64_t line,
		const char *detail, struct hb_error *err)
{
	const struct gate_finding finding = {
		.rule = rule->id,
		.severity = rule->severity,
		.path = p->look.change.path,
		.line = line,
		.detail = detail,
		.reason = rule->reason,
	};

	return p->found(p->ctx, &finding, err);
}

static int read_text(struct pass *p, enum look_side side, char **ret_text,
		     size_t *ret_n, struct hb_error *err)
{
	const struct change *c = &p->look.change;
	uint64_t size = side == LOOK_NEW ? c->new.size : c->old.size;
	auto_free char *text = NULL;
	int fd = look_open(&p->look, side, err);
	ssize_t n;

	if (fd < 0)
		return fd;
	if (size > TEXT_MAX)
		return -E2BIG;
	text = malloc(size + 1);
	if (!text)
		return hb_fail(err, -ENOMEM, "cannot read what changed");
	n = sys_pread_full(fd, text, size, 0);
	if (n < 0)
		return (int)n;
	text[n] = '\0';
	*ret_n = (size_t)n;
	*ret_text = take_ptr(&text);
	return 0;
}

static int (*const readers[])(struct items *items, const char *text,
			      size_t n) = {
	[GATE_CONTENT_ATTRIBUTES] = items_read_attributes,
	[GATE_CONTENT_GIT_CONFIG] = items_read_git_config,
	[GATE_CONTENT_JSON] = items_read_json,
};

static int read_items(struct pass *p, enum look_side side, struct items *items,
		      struct hb_error *err)
{
	auto_free char *text = NULL;
	size_t n = 0;
	int r;

	if (!look_is_file(&p->look, side))
		return 0;
	r = read_text(p, side, &text, &n, err);
	return r < 0 ? r : readers[items->rule->content](items, text, n);
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
		return tell(p, rule, 0,
			    r == -EINVAL || r == -E2BIG
				    ? "it cannot be understood"
				    : "it cannot be read",
			    err);
	/* What cannot be compared is news. */
	if (r >= 0) {
		r = read_items(p, LOOK_OLD, &old, err);
		if (r < 0 && !look_is_fatal(r)) {
			items_done(&old);
			r = 0;
		}
	}
	if (r == -ENOMEM)
		return hb_fail(err, r, "cannot read what changed");
	for (size_t i = 0; r >= 0 && i < new.n; i++)
		if (!items_have(&old, &new.items[i]))
			r = tell(p, rule, new.items[i].line, new.items[i].name,
				 err);
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

/* The same, for whoever wants to know whether there is one. */
static int stop_at_secret(void *ctx, const struct scan_finding *finding,
			  struct hb_error *err)
{
	(void)ctx;
	(void)finding;
	(void)err;
	return -EEXIST;
}

/* The old side is opened only if there is something to compare. */
static int look_for_secrets(struct pass *p, struct hb_error *err)
{
	const struct gate_rule *rule = p->secret ? p->secret : p->guess;
	struct scan *scan = p->look.scan;
	int old = -1, new, r;

	new = look_open(&p->look, LOOK_NEW, err);
	if (look_is_fatal(new))
		return new;
	if (new < 0)
		return tell(p, rule, 0, "it cannot be read", err);
	r = scan_fd(scan, new, stop_at_secret, NULL, err);
	if (r != -EEXIST)
		return r;
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

static int try_path(struct pass *p, size_t number, unsigned on,
		    struct hb_error *err)
{
	const struct gate_rule *rule = &p->rules->rules[number];
	const struct change *c = &p->look.change;
	unsigned why = on & rule->on;
	int r;

	if (!why || !is_of_type(rule, c) ||
	    is_excepted(rule, buf_str(&p->path)))
		return 0;
	if (rule->test == GATE_TEST_NONE && why == GATE_ON_MODE &&
	    !gate_gains_execution(c))
		return 0;
	r = gate_test(&p->look, rule, err);
	if (r <= 0)
		return r;
	if (rule->test == GATE_TEST_MANY)
		p->counts[number]++;
	else if (rule->test == GATE_TEST_SECRET)
		p->secret = rule;
	else if (rule->test == GATE_TEST_SECRET_GUESS)
		p->guess = rule;
	if (rule->test == GATE_TEST_MANY || rule->test == GATE_TEST_SECRET ||
	    rule->test == GATE_TEST_SECRET_GUESS)
		return 0;
	return rule->content != GATE_CONTENT_NONE && c->kind != CHANGE_DELETED
		       ? look_into(p, rule, err)
		       : tell(p, rule, 0, NULL, err);
}

static int try_rule(struct pass *p, size_t number, unsigned on,
		    struct hb_error *err)
{
	const struct gate_rule *rule = &p->rules->rules[number];
	const struct change *c = &p->look.change;
	unsigned hits = p->hits[number];

	if (rule->severity == GATE_OFF)
		return 0;
	if (rule->paths.n == 0 || (hits & GATE_HIT_PATH))
		return try_path(p, number, on, err);
	if ((hits & GATE_HIT_ABOVE) && c->new.type == ENTRY_LINK &&
	    (on & (GATE_ON_ADDED | GATE_ON_MODIFIED)))
		return tell(p, rule, 0, "a link in the place of a directory",
			    err);
	return 0;
}

static int set_path(struct pass *p, const char *path, struct hb_error *err)
{
	const char *prefix = p->request->prefix;

	buf_cut(&p->path, 0);
	if (prefix[0])
		(void)buf_add_fmt(&p->path, "%s/", prefix);
	if (buf_add_str(&p->path, path) < 0)
		return hb_fail(err, p->path.error, "cannot keep a path");
	return 0;
}

static int look_at(struct pass *p, const struct change *c, struct hb_error *err)
{
	unsigned on = happens(c);
	int r;

	if ((c->flags & CHANGE_CARRIED) || change_is_top(c) || !on ||
	    !changes_choice_takes(p->request->choice, c))
		return 0;
	look_begin(&p->look, c);
	for (size_t i = 0; i < p->rules->n; i++)
		p->hits[i] = 0;
	r = set_path(p, c->path, err);
	(void)gate_index_find(p->rules->index, buf_str(&p->path), p->hits);
	p->secret = p->guess = NULL;
	for (size_t i = 0; r >= 0 && i < p->rules->n; i++)
		r = try_rule(p, i, on, err);
	if (r >= 0 && (p->secret || p->guess))
		r = look_for_secrets(p, err);
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

		if (p->counts[i] == 0 || p->counts[i] <= rule->limit)
			continue;
		(void)snprintf(words, sizeof(words), "%llu of them",
			       (unsigned long long)p->counts[i]);
		r = tell(p, rule, 0, words, err);
	}
	return r;
}

int gate_run(const struct gate_request *request, gate_found_fn found, void *ctx,
	     struct hb_error *err)
{
	const size_t n = request->rules->n;
	auto_free unsigned char *hits = calloc(n + 1, sizeof(*hits));
	auto_free uint64_t *counts = calloc(n + 1, sizeof(*counts));
	struct pass p = { .request = request,
			  .rules = request->rules,
			  .found = found,
			  .ctx = ctx,
			  .path = BUF_INIT(PATH_SIZE),
			  .hits = hits,
			  .counts = counts };
	struct change c;
	int r;

	assert(p.rules->index);
	if (!hits || !counts)
		return hb_fail(err, -ENOMEM, "cannot look at the changes");
	look_init(&p.look, request);
	r = scan_new(&p.look.scan, err);
	if (r >= 0)
		r = changes_rewind(request->changes, err);
	while (r >= 0 && (r = changes_next(request->changes, &c, err)) == 1)
		r = look_at(&p, &c, err);
	if (r >= 0)
		r = look_end(&p.look, err);
	if (r >= 0)
		r = tell_counts(&p, err);
	look_done(&p.look);
	scan_free(p.look.scan);
	buf_done(&p.path);
	return r < 0 ? r : 0;
}
