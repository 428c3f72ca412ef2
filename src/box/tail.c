/* SPDX-License-Identifier: Apache-2.0 */
#include "box/tail.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "box/state.h"
#include "plan/plan.h"
#include "sys/attr.h"
#include "sys/place.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * One head with the plan's plain values, then words, then text.  A word is a
 * number or where a string begins in the text; 0 is NULL there.  All sizes are
 * in the head and are checked before anything is used.
 */

#define TAIL_LIMIT  ((size_t)4 << 20)
#define MAGIC	    "holdback " HB_VERSION
#define OP_WORDS    3 /* kind, flags, dest */
#define ENV_WORDS   3 /* kind, name, value */
#define PLACE_WORDS 2 /* source, inside */

struct head {
	char magic[32];
	/* Another layout of the plan shows in its size. */
	uint32_t head_size, n_ops, n_env, n_places, text_size;
	struct plan plan; /* pointers are zero */
};

struct writer {
	struct buf words, text;
};

static void add_number(struct writer *w, uint32_t number)
{
	(void)buf_add(&w->words, &number, sizeof(number));
}

static void add_string(struct writer *w, const char *s)
{
	if (!s) {
		add_number(w, 0);
		return;
	}
	add_number(w, (uint32_t)w->text.len);
	(void)buf_add(&w->text, s, strlen(s) + 1);
}

/* The plain values alone, and in known bytes. */
static void fill_head(const struct plan *plan, struct head *head)
{
	memset(head, 0, sizeof(*head));
	memcpy(head->magic, MAGIC, sizeof(MAGIC));
	head->head_size = sizeof(*head);
	memcpy(&head->plan, plan, sizeof(*plan));
	head->plan.ops = NULL;
	head->plan.layers = NULL;
	head->plan.env = NULL;
	head->plan.lock_files = NULL;
	head->plan.filter_fds = NULL;
	head->plan.kept = NULL;
	head->plan.places = NULL;
	head->plan.net = NULL;
	head->plan.meanwhile = head->plan.emptied = head->plan.handed = NULL;
	head->plan.turn = NULL;
	head->plan.meanwhile_context = head->plan.emptied_context = NULL;
	head->plan.handed_context = head->plan.turn_context = NULL;
	head->plan.chdir = NULL;
	head->plan.argv0 = NULL;
	head->plan.argv = NULL;
	head->plan.n_ops = head->plan.room_ops = 0;
	head->plan.n_layers = head->plan.room_layers = 0;
	head->plan.n_env = head->plan.room_env = 0;
	head->plan.n_lock_files = head->plan.room_lock_files = 0;
	head->plan.n_filter_fds = head->plan.room_filter_fds = 0;
	head->plan.n_kept = head->plan.room_kept = 0;
	head->plan.n_places = 0;
	for (int i = 0; i < PLAN_FD_COUNT; i++)
		head->plan.fds[i] = -1;
}

static void write_lists(struct writer *w, const struct plan *plan,
			struct head *head)
{
	(void)buf_add_char(&w->text, '\0');
	for (size_t i = 0; i < plan->n_ops; i++) {
		const struct plan_op *op = &plan->ops[i];

		if (!landlock_has_rule(op))
			continue;
		add_number(w, op->kind);
		add_number(w, op->flags);
		add_string(w, op->dest);
		head->n_ops++;
	}
	for (size_t i = 0; i < plan->n_env; i++) {
		add_number(w, plan->env[i].kind);
		add_string(w, plan->env[i].name);
		add_string(w, plan->env[i].value);
		head->n_env++;
	}
	for (size_t i = 0; i < plan->n_places; i++) {
		add_string(w, plan->places[i].source);
		add_string(w, plan->places[i].inside);
		head->n_places++;
	}
	head->text_size = (uint32_t)w->text.len;
}

int tail_make(const struct plan *plan, size_t *ret_size, struct hb_error *err)
{
	struct writer w = { BUF_INIT(TAIL_LIMIT), BUF_INIT(TAIL_LIMIT) };
	auto_buf struct buf all = BUF_INIT(TAIL_LIMIT);
	struct head head;
	int r;

	fill_head(plan, &head);
	write_lists(&w, plan, &head);
	(void)buf_add(&all, &head, sizeof(head));
	(void)buf_add(&all, w.words.data, w.words.len);
	(void)buf_add(&all, w.text.data, w.text.len);
	r = w.words.error ? w.words.error : w.text.error;
	buf_done(&w.words);
	buf_done(&w.text);
	if (r >= 0)
		r = all.error;
	if (r >= 0)
		r = sys_sealed_file(all.data, all.len);
	if (r < 0)
		return hb_fail(err, r, "cannot write the greeting of the box");
	*ret_size = all.len;
	return r;
}

struct reader {
	const uint32_t *words;
	const char *text;
	uint32_t text_size;
	bool is_bad;
};

static uint32_t next_number(struct reader *r)
{
	return *r->words++;
}

static const char *next_string(struct reader *r)
{
	uint32_t at = next_number(r);

	if (at >= r->text_size)
		r->is_bad = true;
	return at == 0 || r->is_bad ? NULL : r->text + at;
}

static int read_lists(struct reader *r, const struct head *head,
		      struct plan *plan, struct hb_error *err)
{
	struct plan_place *places;
	int n = 0;

	for (uint32_t i = 0; n >= 0 && i < head->n_ops; i++) {
		struct plan_op *op = NULL;
		uint32_t kind = next_number(r);

		if (kind == 0 || kind >= OP_END)
			r->is_bad = true;
		n = plan_add(plan, (enum plan_op_kind)kind, &op, err);
		if (n < 0)
			break;
		op->flags = next_number(r);
		op->dest = next_string(r);
		r->is_bad |= !op->dest;
	}
	for (uint32_t i = 0; n >= 0 && i < head->n_env; i++) {
		uint32_t kind = next_number(r);
		const char *name = next_string(r);
		const char *value = next_string(r);

		if (kind == 0 || kind > ENV_PASS ||
		    (!name && kind != ENV_CLEAR) || (!value && kind == ENV_SET))
			r->is_bad = true;
		n = plan_add_env(plan, (enum plan_env_kind)kind, name, value,
				 err);
	}
	if (n < 0)
		return n;
	places = calloc(head->n_places + 1, sizeof(*places));
	if (!places)
		return hb_fail(err, -ENOMEM, "cannot keep the places");
	plan->places = places;
	plan->n_places = head->n_places;
	for (uint32_t i = 0; i < head->n_places; i++) {
		places[i].source = next_string(r);
		places[i].inside = next_string(r);
		r->is_bad |= !places[i].source || !places[i].inside;
	}
	return plan_keep(plan, places, err);
}

static int corrupt(struct hb_error *err)
{
	hb_fix(err, "holdback stop, and start it again");
	return hb_fail(err, -HB_E_CORRUPT,
		       "the box says something that makes no sense");
}

static int check_head(const struct head *head, size_t size,
		      struct hb_error *err)
{
	uint64_t n;

	if (size < sizeof(*head) ||
	    memcmp(head->magic, MAGIC, sizeof(MAGIC)) != 0 ||
	    head->head_size != sizeof(*head)) {
		hb_fix(err, "end its first command, or: holdback stop");
		return hb_fail(
			err, -HB_E_STATE,
			"the box was made by another version of holdback");
	}
	n = (uint64_t)OP_WORDS * head->n_ops +
	    (uint64_t)ENV_WORDS * head->n_env +
	    (uint64_t)PLACE_WORDS * head->n_places;
	if (head->text_size == 0 || head->n_places == 0 ||
	    sizeof(*head) + n * sizeof(uint32_t) + head->text_size != size)
		return corrupt(err);
	return 0;
}

int tail_read(int fd, size_t size, struct plan *plan, struct hb_error *err)
{
	struct reader reader = { 0 };
	struct head *head;
	ssize_t n;
	int r;

	if (size > TAIL_LIMIT)
		return corrupt(err);
	head = calloc(1, size + sizeof(*head));
	if (!head)
		return hb_fail(err, -ENOMEM,
			       "cannot read the greeting of the box");
	n = sys_pread_full(fd, head, size, 0);
	r = n < 0 ? hb_fail(err, (int)n, "cannot hear from the box")
	    : (size_t)n != size ? corrupt(err)
				: check_head(head, size, err);
	if (r < 0) {
		free(head);
		return r;
	}
	*plan = head->plan;
	r = plan_keep(plan, head, err);
	if (r < 0)
		return r;
	reader.words = (const uint32_t *)(const void *)(head + 1);
	reader.text_size = head->text_size;
	reader.text = (const char *)head + size - head->text_size;
	if (reader.text[head->text_size - 1] != '\0')
		return corrupt(err);
	r = read_lists(&reader, head, plan, err);
	return r >= 0 && reader.is_bad ? corrupt(err) : r;
}
