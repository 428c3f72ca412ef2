/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/tests.h"

#include "base/auto.h"
#include "base/path.h"
#include "gate/scan/scan.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#define ANY_X 0111

/* As much as git looks at. */
#define HEAD_SIZE 8000

typedef int test_fn(struct look *look, const struct gate_rule *rule,
		    struct hb_error *err);

/* 1: there is a NUL near the beginning. */
static int has_nul(struct look *look, enum look_side side, struct hb_error *err)
{
	char head[HEAD_SIZE];
	ssize_t n = look_head(look, side, head, sizeof(head), err);

	if (n < 0)
		return (int)n;
	return memchr(head, '\0', (size_t)n) != NULL;
}

static int is_binary(struct look *look, const struct gate_rule *rule,
		     struct hb_error *err)
{
	int r;

	(void)rule;
	if (!look_is_file(look, LOOK_NEW) || look->change.new.size == 0)
		return 0;
	r = has_nul(look, LOOK_NEW, err);
	if (r < 0)
		return look_is_fatal(r) ? r : 1;
	if (r == 0 || !look_is_file(look, LOOK_OLD))
		return r;
	r = has_nul(look, LOOK_OLD, err);
	if (r < 0)
		return look_is_fatal(r) ? r : 1;
	return !r;
}

bool gate_gains_execution(const struct change *change)
{
	const struct entry *old = &change->old, *new = &change->new;
	mode_t had = old->type == ENTRY_FILE ? old->mode : 0;

	return new->type == ENTRY_FILE && (new->mode &ANY_X & ~had);
}

static int is_executable(struct look *look, const struct gate_rule *rule,
			 struct hb_error *err)
{
	(void)rule;
	(void)err;
	return gate_gains_execution(&look->change);
}

/* 1: a line of that side is neither blank nor a comment. */
static int has_line(struct look *look, enum look_side side,
		    struct hb_error *err)
{
	auto_free char *text = NULL;
	bool is_start = true;
	size_t n = 0;
	int r;

	if (!look_is_file(look, side))
		return 0;
	r = look_text(look, side, &text, &n, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		if (text[i] == '\n') {
			is_start = true;
			continue;
		}
		if (is_start && text[i] != '#' && text[i] != ' ' &&
		    text[i] != '\t' && text[i] != '\r')
			return 1;
		is_start = is_start && text[i] != '#';
	}
	return 0;
}

/* What goes with its directory has nothing left to ignore. */
static int is_emptied(struct look *look, const struct gate_rule *rule,
		      struct hb_error *err)
{
	int r;

	(void)rule;
	if (look->change.flags & CHANGE_IN_GONE)
		return 0;
	r = has_line(look, LOOK_OLD, err);
	if (r > 0) {
		r = has_line(look, LOOK_NEW, err);
		r = r < 0 ? r : !r;
	}
	return r < 0 && !look_is_fatal(r) ? 1 : r;
}

static int is_in_home(struct look *look, const struct gate_rule *rule,
		      struct hb_error *err)
{
	(void)rule;
	(void)err;
	return look->request->is_home;
}

static int is_writable(struct look *look, const struct gate_rule *rule,
		       struct hb_error *err)
{
	const struct entry *old = &look->change.old, *new = &look->change.new;
	mode_t had = old->type == new->type ? old->mode : 0;

	(void)rule;
	(void)err;
	return (new->mode &S_IWOTH & ~had) != 0;
}

/* Told by run.c, which knows what came before. */
static int is_any(struct look *look, const struct gate_rule *rule,
		  struct hb_error *err)
{
	(void)look;
	(void)rule;
	(void)err;
	return 1;
}

static int is_larger(struct look *look, const struct gate_rule *rule,
		     struct hb_error *err)
{
	(void)err;
	return look->change.new.size > rule->limit;
}

/*
 * By text alone.  A ".." behind a name may come out anywhere, for the name may
 * be a link itself, so it counts as leaving.
 */
static bool leaves(const char *path, const char *target)
{
	const char *at = path;
	struct path_part part;
	size_t depth = 0;
	bool is_down = false;

	while (path_next(&at, &part))
		depth++;
	for (depth--, at = target; path_next(&at, &part);) {
		if (!path_part_is(part, "..")) {
			is_down = true;
			continue;
		}
		if (is_down || depth == 0)
			return true;
		depth--;
	}
	return false;
}

static int is_leaving(struct look *look, const struct gate_rule *rule,
		      struct hb_error *err)
{
	const struct record_resource *q = look->request->resource->record;
	char target[PATH_MAX + 1];
	ssize_t n;

	(void)rule;
	if (look->change.new.type != ENTRY_LINK)
		return 0;
	n = look_target(look, target, sizeof(target), err);
	if (n < 0)
		return look_is_fatal((int)n) ? (int)n : 1;
	if (!path_is_absolute(target))
		return leaves(look->change.path, target);
	return !path_is_beneath(target, q->source) &&
	       !path_is_beneath(target, q->inside);
}

static int is_counted(struct look *look, const struct gate_rule *rule,
		      struct hb_error *err)
{
	(void)rule;
	(void)err;
	return !(look->change.flags & CHANGE_MOVED_AWAY);
}

/* No single change is what it is about. */
static int is_elsewhere(struct look *look, const struct gate_rule *rule,
			struct hb_error *err)
{
	(void)look;
	(void)rule;
	(void)err;
	return 0;
}

/* The bytes themselves are looked at once for both rules: run.c. */
static int has_new_bytes(struct look *look, const struct gate_rule *rule,
			 struct hb_error *err)
{
	const struct change *c = &look->change;

	(void)rule;
	(void)err;
	if (!look_is_file(look, LOOK_NEW) || c->new.size == 0)
		return 0;
	/*
	 * What was moved was somewhere before, which says nothing of who could
	 * see it there, nor that anybody has looked.
	 */
	return c->old.type != ENTRY_FILE || (c->what & CHANGED_CONTENT);
}

static int is_secret_name(struct look *look, const struct gate_rule *rule,
			  struct hb_error *err)
{
	(void)rule;
	(void)err;
	return scan_name(look->scan, look->change.path) != NULL;
}

static int is_setid(struct look *look, const struct gate_rule *rule,
		    struct hb_error *err)
{
	(void)rule;
	(void)err;
	return change_asks(&look->change) == CHANGE_ASKS_SETID;
}

static const struct {
	test_fn *fn;
	bool skips_unit; /* says nothing about the insides of repositories */
	/* Says nothing about objects of git: it is about files, or all of
	 * them. */
	bool skips_objects;
} tests[] = {
	[GATE_TEST_BINARY] = { is_binary, true },
	[GATE_TEST_EMPTIED] = { is_emptied, false },
	[GATE_TEST_EXECUTABLE] = { is_executable, true },
	[GATE_TEST_GROUP] = { is_elsewhere, true },
	[GATE_TEST_HISTORY] = { is_elsewhere, true },
	[GATE_TEST_HOME] = { is_in_home, false, true },
	[GATE_TEST_LARGER] = { is_larger, true },
	[GATE_TEST_LEAVES] = { is_leaving, false },
	[GATE_TEST_MANY] = { is_counted, true, true },
	[GATE_TEST_OBJECTS] = { is_any, false, true },
	[GATE_TEST_REF_GONE] = { is_any, false, true },
	[GATE_TEST_RUN] = { is_elsewhere, true },
	[GATE_TEST_SECRET] = { has_new_bytes, true },
	[GATE_TEST_SECRET_GUESS] = { has_new_bytes, true },
	[GATE_TEST_SECRET_NAME] = { is_secret_name, true },
	[GATE_TEST_SETID] = { is_setid, false, true },
	[GATE_TEST_WRITABLE] = { is_writable, false, true },
};

int gate_test(struct look *look, const struct gate_rule *rule,
	      struct hb_error *err)
{
	if (rule->test == GATE_TEST_NONE)
		return 1;
	if (look->load ? tests[rule->test].skips_objects
		       : tests[rule->test].skips_unit &&
				 (look->request->is_git ||
				  (look->change.flags & CHANGE_GIT)))
		return 0;
	return tests[rule->test].fn(look, rule, err);
}
