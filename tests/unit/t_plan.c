/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/environment/env.h"
#include "plan/plan.h"
#include "plan/plan_print.h"

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
	for (int i = 0; i <= PLAN_MAX_ALL; i++)
		r = plan_add_layer(&plan, "x", NULL);
	CHECK_INT(r, -E2BIG);
	CHECK_INT(plan.n_layers, PLAN_MAX_ALL);
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

/* What is passed is the caller's, whoever that is when it is asked for. */
static void the_callers_variables_pass_by_name_or_pattern(void)
{
	char a[] = "LC_A=1", b[] = "LC_B=2", ld[] = "LD_PRELOAD=x", c[] = "C=3";
	char again[] = "C=4", no_value[] = "LC_X";
	char *const base[] = { a, ld, b, c, again, no_value, NULL };
	char *const other[] = { b, NULL };
	struct plan plan;
	char **env;

	plan_init(&plan);
	(void)plan_add_env(&plan, ENV_CLEAR, NULL, NULL, NULL);
	(void)plan_add_env(&plan, ENV_SET, "C", "ours", NULL);
	(void)plan_add_env(&plan, ENV_PASS, "L*", NULL, NULL);
	(void)plan_add_env(&plan, ENV_PASS, "C", NULL, NULL);
	(void)plan_add_env(&plan, ENV_PASS, "NOT_THERE", NULL, NULL);
	CHECK_INT(plan_environment(&plan, base, &env, NULL), 0);
	CHECK_STR(env[0], "LC_A=1");
	CHECK_STR(env[1], "LC_B=2");
	CHECK_STR(env[2], "C=4");
	CHECK(env[3] == NULL);
	free(env);
	CHECK_INT(plan_environment(&plan, other, &env, NULL), 0);
	CHECK_STR(env[0], "C=ours");
	CHECK_STR(env[1], "LC_B=2");
	CHECK(env[2] == NULL);
	free(env);
	/* Only its own name passes what runs code. */
	(void)plan_add_env(&plan, ENV_PASS, "LD_PRELOAD", NULL, NULL);
	CHECK_INT(plan_environment(&plan, base, &env, NULL), 0);
	CHECK_STR(env[3], "LD_PRELOAD=x");
	CHECK(env[4] == NULL);
	free(env);
	plan_done(&plan);
}

/* A plan with one of each kind of thing. */
static void fill(struct plan *plan)
{
	static char prog[] = "prog", arg[] = "a\nb";
	static char *const argv[] = { prog, arg, NULL };
	struct plan_op *op;

	plan_init(plan);
	CHECK_INT(plan_add(plan, OP_BIND, &op, NULL), 0);
	op->source = "/usr";
	op->dest = "/a b";
	op->flags = PLAN_RO | PLAN_TRY;
	CHECK_INT(plan_add(plan, OP_TMPFS, &op, NULL), 0);
	op->dest = "/tmp";
	op->perms = 01777;
	op->size = 4096;
	op->flags = PLAN_HAS_PERMS;
	(void)plan_add_layer(plan, "/l1", NULL);
	(void)plan_add_layer(plan, "/l2", NULL);
	CHECK_INT(plan_add(plan, OP_OVERLAY, &op, NULL), 0);
	op->n_layers = 2;
	op->upper = "/u";
	op->work = "/w";
	op->dest = "/o";
	CHECK_INT(plan_add(plan, OP_FILE, &op, NULL), 0);
	op->fd = 3;
	op->dest = "/f";
	op->perms = 0666;
	CHECK_INT(plan_add(plan, OP_FILE, &op, NULL), 0);
	op->source = "text";
	op->dest = "/g";
	op->flags = PLAN_TEXT;
	CHECK_INT(plan_add(plan, OP_HOSTNAME, &op, NULL), 0);
	op->source = "host";
	(void)plan_add_env(plan, ENV_CLEAR, NULL, NULL, NULL);
	(void)plan_add_env(plan, ENV_SET, "A", "b", NULL);
	(void)plan_add_env(plan, ENV_UNSET, "C", NULL, NULL);
	(void)plan_add_lock_file(plan, "/lock", NULL);
	(void)plan_add_filter_fd(plan, 7, NULL);
	(void)plan_add_filter_fd(plan, 8, NULL);
	plan->ns = PLAN_NS_USER | PLAN_NS_NET;
	plan->ns_try = PLAN_NS_NET;
	plan->settings = PLAN_FILTER | 1U << 30;
	plan->fds[PLAN_FD_INFO] = 9;
	plan->uid = 1;
	plan->gid = 2;
	plan->caps_keep = UINT64_MAX;
	plan->caps_add = 1 | UINT64_C(1) << 63;
	plan->chdir = "/c";
	plan->argv0 = "name";
	plan->argv = argv;
}

static void printed_plans_show_everything(void)
{
	struct plan plan;
	struct buf out;

	fill(&plan);
	buf_init(&out, 1 << 16);
	CHECK_INT(plan_print(&plan, &out, NULL), 0);
	CHECK_STR(
		buf_str(&out),
		"bind source=\"/usr\" dest=\"/a b\" flags=ro,try\n"
		"tmpfs dest=\"/tmp\" perms=1777 size=4096\n"
		"overlay layers=\"/l1\",\"/l2\" upper=\"/u\" work=\"/w\" dest=\"/o\"\n"
		"file fd=3 dest=\"/f\" perms=0666\n"
		"file source=\"text\" dest=\"/g\" perms=0000 flags=text\n"
		"hostname source=\"host\"\n"
		"clearenv\n"
		"setenv name=\"A\" value=\"b\"\n"
		"unsetenv name=\"C\"\n"
		"namespaces user,net\n"
		"namespaces-try net\n"
		"settings filter,0x40000000\n"
		"info-fd 9\n"
		"uid 1\n"
		"gid 2\n"
		"caps-keep all\n"
		"caps-add cap_chown,63\n"
		"lock-files \"/lock\"\n"
		"chdir \"/c\"\n"
		"argv0 \"name\"\n"
		"filter-fds 7,8\n"
		"command \"prog\",\"a\\012b\"\n");
	buf_done(&out);
	plan_done(&plan);
}

static void json_shows_the_same(void)
{
	struct plan plan;
	struct buf out;

	fill(&plan);
	buf_init(&out, 1 << 16);
	CHECK_INT(plan_print_json(&plan, &out, NULL), 0);
	CHECK_STR(
		buf_str(&out),
		"{\"operations\":[{\"kind\":\"bind\",\"source\":\"/usr\",\"dest\":\"/a b\",\"flags\":[\"ro\",\"try\"]},"
		"{\"kind\":\"tmpfs\",\"dest\":\"/tmp\",\"perms\":\"1777\",\"size\":4096},"
		"{\"kind\":\"overlay\",\"layers\":[\"/l1\",\"/l2\"],\"upper\":\"/u\",\"work\":\"/w\",\"dest\":\"/o\"},"
		"{\"kind\":\"file\",\"fd\":3,\"dest\":\"/f\",\"perms\":\"0666\"},"
		"{\"kind\":\"file\",\"source\":\"text\",\"dest\":\"/g\",\"perms\":\"0000\",\"flags\":[\"text\"]},"
		"{\"kind\":\"hostname\",\"source\":\"host\"}],"
		"\"environment\":[{\"kind\":\"clearenv\"},{\"kind\":\"setenv\",\"name\":\"A\",\"value\":\"b\"},{\"kind\":\"unsetenv\",\"name\":\"C\"}],"
		"\"namespaces\":[\"user\",\"net\"],\"namespaces-try\":[\"net\"],\"settings\":[\"filter\",\"0x40000000\"],"
		"\"info-fd\":9,\"uid\":1,\"gid\":2,\"caps-keep\":[\"all\"],\"caps-add\":[\"cap_chown\",\"63\"],"
		"\"lock-files\":[\"/lock\"],\"chdir\":\"/c\",\"argv0\":\"name\",\"filter-fds\":[7,8],"
		"\"command\":[\"prog\",\"a\\u000ab\"]}");
	buf_done(&out);
	plan_done(&plan);
}

static void every_bit_is_printed_by_its_name(void)
{
	struct plan_op *op;
	struct plan plan;
	struct buf out;

	plan_init(&plan);
	plan.settings = PLAN_SETTINGS_END - 1;
	CHECK_INT(plan_add(&plan, OP_BIND, &op, NULL), 0);
	op->source = "/s";
	op->dest = "/d";
	op->flags = PLAN_FLAGS_END - 1;
	CHECK_INT(plan_add(&plan, OP_MASK, &op, NULL), 0);
	op->dest = "/m";
	op->base = "/b";
	buf_init(&out, 1 << 16);
	CHECK_INT(plan_print(&plan, &out, NULL), 0);
	CHECK(strstr(buf_str(&out), "settings ") != NULL);
	CHECK(strstr(buf_str(&out), "0x") == NULL);
	CHECK(strstr(buf_str(&out), " base=\"/b\"") != NULL);
	buf_done(&out);
	plan_done(&plan);
}

static void a_full_buffer_is_an_error(void)
{
	struct hb_error err = { 0 };
	struct plan plan;
	struct buf out;

	fill(&plan);
	buf_init(&out, 100);
	CHECK_INT(plan_print(&plan, &out, &err), -E2BIG);
	CHECK_INT(err.code, E2BIG);
	buf_done(&out);
	buf_init(&out, 100);
	CHECK_INT(plan_print_json(&plan, &out, NULL), -E2BIG);
	buf_done(&out);
	plan_done(&plan);
}

static void every_kind_has_a_name(void)
{
	for (int i = 1; i < OP_END; i++)
		CHECK(plan_op_name((enum plan_op_kind)i) != NULL);
	CHECK(plan_op_name((enum plan_op_kind)0) == NULL);
	CHECK(plan_op_name(OP_END) == NULL);
}

TESTS(T(an_empty_plan_asks_for_nothing), T(operations_keep_their_order),
      T(the_lists_beside_it_grow_too), T(the_limits_hold),
      T(the_environment_changes_in_order),
      T(the_callers_variables_pass_by_name_or_pattern),
      T(printed_plans_show_everything), T(json_shows_the_same),
      T(every_bit_is_printed_by_its_name), T(a_full_buffer_is_an_error),
      T(every_kind_has_a_name))
