/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/tests.h"

#include "base/error.h"
#include "base/path.h"
#include "gate/scan.h"
#include "sys/attr.h"

#include <limits.h>
#include <string.h>

#define ANY_X 0111

/* As much as git looks at. */
#define HEAD_SIZE 8000

typedef int test_fn(struct look *look, const struct gate_rule *rule,
		    struct hb_error *err);

/* 1: there is a NUL near the beginning. */
static int has_nul(struct look *look, enum look_side side, struct hb_error *err)
{
	char head[HEAD_SIZE];
	ssize_t n = look_open(look, side, err);

	if (n >= 0)
		n = sys_pread_full((int)n, head, sizeof(head), 0);
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
	const struct gate_request *q = look->request;
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
} tests[] = {
	[GATE_TEST_BINARY] = { is_binary, true },
	[GATE_TEST_EXECUTABLE] = { is_executable, true },
	[GATE_TEST_LARGER] = { is_larger, true },
	[GATE_TEST_LEAVES] = { is_leaving, false },
	[GATE_TEST_MANY] = { is_counted, true },
	[GATE_TEST_RUN] = { is_elsewhere, true },
	[GATE_TEST_SECRET] = { has_new_bytes, true },
	[GATE_TEST_SECRET_GUESS] = { has_new_bytes, true },
	[GATE_TEST_SECRET_NAME] = { is_secret_name, true },
	[GATE_TEST_SETID] = { is_setid, false },
};

int gate_test(struct look *look, const struct gate_rule *rule,
	      struct hb_error *err)
{
	if (rule->test == GATE_TEST_NONE)
		return 1;
	if (tests[rule->test].skips_unit &&
	    (look->request->is_git || (look->change.flags & CHANGE_GIT)))
		return 0;
	return tests[rule->test].fn(look, rule, err);
}
