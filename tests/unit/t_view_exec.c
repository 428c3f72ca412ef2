/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/view_exec.h"

#include "base/path.h"
#include "plan/plan.h"
#include "plan/view.h"

#include "tap.h"

#include <string.h>

static char *const no_env[] = { NULL };

static struct view_exec_request request;
static struct view_host host;
static struct view_overlay overlays[2];
static struct plan plan;

static void begin(const char *source, const char *inside)
{
	overlays[0] = (struct view_overlay){ .source = source,
					     .inside = inside,
					     .upper = "/store/s/r0/upper",
					     .work = "/store/s/r0/work" };
	request =
		(struct view_exec_request){ .overlays = overlays,
					    .n_overlays = 1,
					    .is_volatile = true,
					    .store = "/home/u/.local/state/hb",
					    .cwd = inside,
					    .program = "sh" };
	host = (struct view_host){ .home = "/home/u",
				   .home_name = "/home/u",
				   .envp = no_env };
	plan_init(&plan);
}

static void build(void)
{
	CHECK_INT(view_exec_build(&request, &host, &plan, NULL), 0);
}

/* The index of the last operation at `dest`, -1 if there is none. */
static int at(const char *dest)
{
	int found = -1;

	for (size_t i = 0; i < plan.n_ops; i++)
		if (strcmp(plan.ops[i].dest, dest) == 0)
			found = (int)i;
	return found;
}

static bool is_covered(const char *dest)
{
	int i = at(dest);

	return i > 0 && plan.ops[i].kind == OP_REMOUNT_RO &&
	       plan.ops[i - 1].kind == OP_TMPFS && plan.ops[i - 1].perms == 0 &&
	       strcmp(plan.ops[i - 1].dest, dest) == 0;
}

static void check_order(void)
{
	for (size_t i = 0; i < plan.n_ops; i++)
		for (size_t k = i + 1; k < plan.n_ops; k++)
			CHECK(strcmp(plan.ops[i].dest, plan.ops[k].dest) == 0 ||
			      !path_is_beneath(plan.ops[i].dest,
					       plan.ops[k].dest));
}

static void only_layers_can_be_written(void)
{
	begin("/home/u/p", "/home/u/p");
	build();
	check_order();
	for (size_t i = 0; i < plan.n_ops; i++) {
		const struct plan_op *op = &plan.ops[i];

		if (op->kind == OP_BIND)
			CHECK(op->flags & PLAN_RO);
		if (op->kind == OP_OVERLAY)
			CHECK(op->flags & PLAN_VOLATILE && op->upper);
	}
	CHECK(plan.ops[0].kind == OP_BIND);
	CHECK(strcmp(plan.ops[0].source, "/") == 0);
	CHECK(at("/home/u/p") > at("/home/u"));
	CHECK(plan.ops[at("/home/u")].kind == OP_TMPFS);
	CHECK(plan.ops[at("/run")].kind == OP_TMPFS);
	CHECK(plan.ops[at("/tmp")].kind == OP_TMPFS);
	CHECK(plan.ops[at("/var/tmp")].kind == OP_TMPFS);
	CHECK(plan.ops[at("/dev/shm")].kind == OP_TMPFS);
	CHECK(plan.ns & PLAN_NS_NET);
	/* Below the private home: nothing shows the store. */
	CHECK_INT(at(request.store), -1);
	plan_done(&plan);
}

static void a_durable_session_syncs(void)
{
	begin("/srv/p", "/srv/p");
	request.is_volatile = false;
	build();
	CHECK(!(plan.ops[at("/srv/p")].flags & PLAN_VOLATILE));
	plan_done(&plan);
}

static void the_store_is_covered_at_its_path(void)
{
	begin("/srv/p", "/srv/p");
	request.store = "/srv/state/hb";
	build();
	CHECK(is_covered("/srv/state/hb"));
	plan_done(&plan);
}

static void the_store_is_covered_inside_a_resource(void)
{
	begin("/home/u", "/home/u");
	build();
	check_order();
	CHECK(is_covered("/home/u/.local/state/hb"));
	/* The resource is the home directory: nothing private covers it. */
	CHECK(plan.ops[at("/home/u")].kind == OP_OVERLAY);
	plan_done(&plan);

	begin("/home/u", "/mnt/h");
	build();
	CHECK(is_covered("/mnt/h/.local/state/hb"));
	plan_done(&plan);
}

static void a_read_only_path_does_not_uncover_the_store(void)
{
	static const char *const paths[] = { "/home/u" };

	begin("/srv/p", "/srv/p");
	request.read_only = paths;
	request.n_read_only = 1;
	build();
	check_order();
	CHECK(plan.ops[at("/home/u")].kind == OP_BIND);
	CHECK(is_covered("/home/u/.local/state/hb"));
	plan_done(&plan);
}

static void stores_in_resources_are_hidden(void)
{
	static const char *const hidden[] = { "/srv/p/.holdback-1" };

	begin("/srv/p", "/mnt/p");
	request.hidden = hidden;
	request.n_hidden = 1;
	build();
	CHECK(is_covered("/srv/p/.holdback-1"));
	plan_done(&plan);

	/* At its own path the upper says that there is nothing. */
	begin("/srv/p", "/srv/p");
	request.hidden = hidden;
	request.n_hidden = 1;
	build();
	CHECK_INT(at("/srv/p/.holdback-1"), -1);
	plan_done(&plan);
}

static void a_private_place_may_be_a_resource(void)
{
	begin("/tmp", "/tmp");
	build();
	CHECK(plan.ops[at("/tmp")].kind == OP_OVERLAY);
	plan_done(&plan);

	begin("/var", "/var");
	build();
	CHECK_INT(at("/var/tmp"), -1);
	plan_done(&plan);
}

static void layers_are_in_order(void)
{
	static const char *const layers[] = { "/l/1", "/l/2" };
	const struct plan_op *op;

	begin("/srv/p", "/srv/p");
	overlays[0].layers = layers;
	overlays[0].n_layers = 2;
	overlays[1] = (struct view_overlay){ .source = "/srv/q",
					     .inside = "/srv/q",
					     .upper = "/u",
					     .work = "/w" };
	request.n_overlays = 2;
	build();
	op = &plan.ops[at("/srv/p")];
	CHECK_INT(op->n_layers, 3);
	CHECK(strcmp(plan.layers[op->first_layer], "/srv/p") == 0);
	CHECK(strcmp(plan.layers[op->first_layer + 2], "/l/2") == 0);
	op = &plan.ops[at("/srv/q")];
	CHECK_INT(op->n_layers, 1);
	CHECK(strcmp(plan.layers[op->first_layer], "/srv/q") == 0);
	CHECK(strcmp(op->upper, "/u") == 0 && strcmp(op->work, "/w") == 0);
	plan_done(&plan);
}

TESTS(T(only_layers_can_be_written), T(a_durable_session_syncs),
      T(the_store_is_covered_at_its_path),
      T(the_store_is_covered_inside_a_resource),
      T(a_read_only_path_does_not_uncover_the_store),
      T(stores_in_resources_are_hidden), T(a_private_place_may_be_a_resource),
      T(layers_are_in_order))
