/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/plan.h"

#include "base/buf.h"
#include "base/error.h"

#include "tap.h"

#include <errno.h>
#include <string.h>

#define CHECK_STR(got, want)                                             \
	do {                                                             \
		const char *g_ = (got), *w_ = (want);                    \
		if (strcmp(g_, w_) != 0) {                               \
			printf("# %s:%d: %s is:\n%s\n# expected:\n%s\n", \
			       __FILE__, __LINE__, #got, g_, w_);        \
			printf("Bail out!\n");                           \
			exit(1);                                         \
		}                                                        \
	} while (0)

static void an_empty_plan_asks_for_nothing(void)
{
	struct plan plan;

	plan_init(&plan);
	for (int i = 0; i < PLAN_FD_COUNT; i++)
		CHECK_INT(plan.fds[i], -1);
	CHECK_INT(plan.uid, -1);
	CHECK_INT(plan.gid, -1);
	CHECK_INT(plan.caps_keep, 0);
	CHECK_INT(plan.caps_add, 0);
	CHECK_INT(plan.settings, 0);
	plan_done(&plan);
	plan_done(&plan);
}

static void operations_keep_their_order(void)
{
	struct plan plan;
	struct plan_op *op;

	plan_init(&plan);
	for (int i = 0; i < 100; i++) {
		CHECK_INT(plan_add(&plan, OP_DIR, &op, NULL), 0);
		CHECK_INT(op->fd, -1);
		op->perms = (mode_t)i;
	}
	CHECK_INT(plan.n_ops, 100);
	for (int i = 0; i < 100; i++) {
		CHECK_INT(plan.ops[i].kind, OP_DIR);
		CHECK_INT(plan.ops[i].perms, i);
	}
	plan_done(&plan);
}

static void the_lists_beside_it_grow_too(void)
{
	struct plan plan;

	plan_init(&plan);
	for (int i = 0; i < 40; i++) {
		CHECK_INT(plan_add_layer(&plan, "layer", NULL), 0);
		CHECK_INT(plan_add_env(&plan, ENV_SET, "A", "b", NULL), 0);
		CHECK_INT(plan_add_lock_file(&plan, "lock", NULL), 0);
		CHECK_INT(plan_add_filter_fd(&plan, i, NULL), 0);
		CHECK_INT(plan_keep(&plan, malloc(1), NULL), 0);
	}
	CHECK_INT(plan.n_layers, 40);
	CHECK_INT(plan.n_env, 40);
	CHECK_INT(plan.n_lock_files, 40);
	CHECK_INT(plan.n_kept, 40);
	CHECK_INT(plan.filter_fds[39], 39);
	CHECK_STR(plan.layers[39], "layer");
	CHECK_STR(plan.lock_files[39], "lock");
	CHECK_STR(plan.env[39].value, "b");
	plan_done(&plan);
}

static void the_limits_hold(void)
{
	struct hb_error err = { 0 };
	struct plan plan;
	struct plan_op *op;
	int r = 0;

	plan_init(&plan);
	for (int i = 0; i < PLAN_MAX_OPS; i++)
		CHECK_INT(plan_add(&plan, OP_DIR, &op, &err), 0);
	CHECK_INT(plan_add(&plan, OP_DIR, &op, &err), -E2BIG);
	CHECK_INT(plan.n_ops, PLAN_MAX_OPS);
	for (int i = 0; i <= PLAN_MAX_LAYERS; i++)
		r = plan_add_layer(&plan, "x", NULL);
	CHECK_INT(r, -E2BIG);
	CHECK_INT(plan.n_layers, PLAN_MAX_LAYERS);
	plan_done(&plan);
}

static void the_environment_changes_in_order(void)
{
	char a[] = "A=1", ab[] = "AB=2", again[] = "A=3", c[] = "C=4";
	char *const base[] = { a, ab, again, c, NULL };
	struct plan plan;
	char **env;

	plan_init(&plan);
	CHECK_INT(plan_environment(&plan, base, &env, NULL), 0);
	CHECK_STR(env[3], "C=4");
	CHECK(env[4] == NULL);
	free(env);

	(void)plan_add_env(&plan, ENV_SET, "A", "new", NULL);
	(void)plan_add_env(&plan, ENV_UNSET, "C", NULL, NULL);
	(void)plan_add_env(&plan, ENV_SET, "D", "", NULL);
	CHECK_INT(plan_environment(&plan, base, &env, NULL), 0);
	CHECK_STR(env[0], "AB=2");
	CHECK_STR(env[1], "A=new");
	CHECK_STR(env[2], "D=");
	CHECK(env[3] == NULL);
	free(env);

	(void)plan_add_env(&plan, ENV_CLEAR, NULL, NULL, NULL);
	(void)plan_add_env(&plan, ENV_SET, "E", "x=y", NULL);
	CHECK_INT(plan_environment(&plan, base, &env, NULL), 0);
	CHECK_STR(env[0], "E=x=y");
	CHECK(env[1] == NULL);
	free(env);
	plan_done(&plan);
}

TESTS(T(an_empty_plan_asks_for_nothing), T(operations_keep_their_order),
      T(the_lists_beside_it_grow_too), T(the_limits_hold),
      T(the_environment_changes_in_order))
