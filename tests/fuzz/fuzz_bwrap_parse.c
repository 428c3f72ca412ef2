/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words from the input, each ended by a NUL, through the bubblewrap grammar.
 * The first byte chooses the world.  --args reads the input once more, so that
 * the words from a file are hostile as well.
 *
 * Beside what the sanitizers see: a run has a command, operations are within
 * the limits, and nothing is set that the grammar cannot ask for.
 */
#include "base/buf.h"
#include "base/error.h"
#include "fuzz.h"
#include "plan/bwrap/bwrap.h"
#include "plan/environment/env.h"
#include "plan/plan.h"
#include "plan/plan_print.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct input {
	const uint8_t *data;
	size_t size;
};

static int read_fd(void *ctx, int fd, char **ret_data, size_t *ret_len,
		   struct hb_error *err)
{
	const struct input *in = ctx;
	char *copy;

	(void)err;
	if (fd > 9)
		return -EBADF;
	copy = malloc(in->size + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, in->data, in->size);
	copy[in->size] = '\0';
	*ret_data = copy;
	*ret_len = in->size;
	return 0;
}

static bool yes(void *ctx)
{
	(void)ctx;
	return true;
}

static bool no(void *ctx)
{
	(void)ctx;
	return false;
}

static void check_plan(const struct plan *plan)
{
	static const unsigned never = PLAN_FILTER | PLAN_LANDLOCK | PLAN_JOBS |
				      PLAN_CLOSE_FDS | PLAN_WAIT_ALL |
				      PLAN_PROVE;
	static char *const nothing[] = { NULL };
	struct buf text;
	char **env;

	assert(plan->argv && plan->argv[0]);
	assert(plan->settings & PLAN_KEEP_ROOT_RW);
	assert(!(plan->settings & never));
	for (size_t i = 0; i < plan->n_ops; i++) {
		const struct plan_op *op = &plan->ops[i];

		assert(op->kind > 0 && op->kind < OP_END);
		assert(op->dest || op->kind == OP_HOSTNAME);
		assert(op->first_layer + op->n_layers <= plan->n_layers);
		assert((op->perms & ~07777U) == 0);
	}
	if (plan_environment(plan, nothing, &env, NULL) == 0)
		free(env);
	buf_init(&text, 1 << 20);
	(void)plan_print(plan, &text, NULL);
	buf_done(&text);
	buf_init(&text, 1 << 20);
	(void)plan_print_json(plan, &text, NULL);
	buf_done(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct bwrap_world world = { .ctx = &in, .read_fd = read_fd };
	struct hb_error err = { 0 };
	struct bwrap_call call;
	struct plan plan;
	char *words, **argv;
	int argc = 1, r;

	if (size == 0)
		return 0;
	world.is_root = data[0] & 1;
	world.can_unshare_user = data[0] & 2 ? yes : no;
	world.can_unshare_cgroup = data[0] & 4 ? yes : no;

	words = malloc(size);
	argv = calloc(size + 2, sizeof(*argv));
	if (!words || !argv)
		abort();
	memcpy(words, data + 1, size - 1);
	words[size - 1] = '\0';
	argv[0] = words;
	for (size_t at = 0; at < size; at += strlen(words + at) + 1)
		argv[argc++] = words + at;

	plan_init(&plan);
	r = bwrap_parse(argc, argv, &world, &plan, &call, &err);
	if (r < 0)
		assert(err.code == -r && err.text[0] != '\0');
	else if (call.request == BWRAP_RUN)
		check_plan(&plan);
	plan_done(&plan);
	free(argv);
	free(words);
	return 0;
}
