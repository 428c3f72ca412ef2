/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/view.h"

#include "base/error.h"
#include "base/path.h"
#include "plan/plan.h"

#include "tap.h"

#include <string.h>

#define CHECK_STR(got, want)                                                 \
	do {                                                                 \
		const char *g_ = (got), *w_ = (want);                        \
		if (!g_ || strcmp(g_, w_) != 0) {                            \
			printf("# %s:%d: %s is %s, expected %s\n", __FILE__, \
			       __LINE__, #got, g_ ? g_ : "NULL", w_);        \
			printf("Bail out!\n");                               \
			exit(1);                                             \
		}                                                            \
	} while (0)

static char path_var[] = "PATH=/usr/bin:bin::/home/u/.cargo/bin:/home/u/bin:"
			 "/bin";
static char term_var[] = "TERM=xterm";
static char lc_var[] = "LC_TIME=C";
static char lang_var[] = "LANGUAGE=x";
static char key_var[] = "ANTHROPIC_API_KEY=k";
static char ssh_var[] = "SSH_AUTH_SOCK=/run/x";
static char tmp_var[] = "TMPDIR=/run/user/7";
static char *environment[] = { path_var, term_var, lc_var,  lang_var,
			       key_var,	 ssh_var,  tmp_var, NULL };

/* A merged system, an ordinary user, a project in the home directory. */
struct world {
	struct view_request request;
	struct view_host host;
	struct plan plan;
};

static size_t row(const char *path)
{
	for (size_t i = 0; i < VIEW_PATHS; i++)
		if (strcmp(view_paths[i].path, path) == 0)
			return i;
	printf("# no row '%s'\nBail out!\n", path);
	exit(1);
}

static void there_is(struct world *w, const char *path, const char *target)
{
	size_t i = row(path);

	w->host.found[i] = target ? VIEW_LINK : VIEW_PRESENT;
	w->host.target[i] = target;
}

static void begin(struct world *w)
{
	*w = (struct world){
		.request = { .workspace = "/home/u/project",
			     .cwd = "/home/u/project/src",
			     .size = 4096,
			     .mode = 0750,
			     .program = "make" },
		.host = { .home = "/home/u",
			  .home_name = "/home/u",
			  .envp = environment },
	};
	plan_init(&w->plan);
	there_is(w, "/usr", NULL);
	there_is(w, "/etc", NULL);
	there_is(w, "/bin", "usr/bin");
	there_is(w, "/etc/shadow", NULL);
	there_is(w, "/etc/ssh", NULL);
	there_is(w, ".cargo/bin", NULL);
}

static void build(struct world *w)
{
	struct hb_error err = { 0 };

	CHECK_INT(view_build(&w->request, &w->host, &w->plan, &err), 0);
	CHECK_INT(err.code, 0);
}

/* The last operation at a place, which is the one that is seen there. */
static const struct plan_op *at(const struct world *w, const char *dest)
{
	const struct plan_op *found = NULL;

	for (size_t i = 0; i < w->plan.n_ops; i++)
		if (strcmp(w->plan.ops[i].dest, dest) == 0)
			found = &w->plan.ops[i];
	return found;
}

static const char *env(const struct world *w, const char *name)
{
	const char *value = NULL;

	CHECK_INT(w->plan.env[0].kind, ENV_CLEAR);
	for (size_t i = 1; i < w->plan.n_env; i++)
		if (strcmp(w->plan.env[i].name, name) == 0)
			value = w->plan.env[i].value;
	return value;
}

/* What lies inside of something comes after it. */
static void check_order(const struct world *w)
{
	for (size_t i = 0; i < w->plan.n_ops; i++)
		for (size_t k = i + 1; k < w->plan.n_ops; k++) {
			const char *a = w->plan.ops[i].dest;
			const char *b = w->plan.ops[k].dest;

			CHECK(strcmp(a, b) == 0 || !path_is_beneath(a, b));
		}
}

/* Nothing of the host can be written but what was asked for. */
static void check_read_only(const struct world *w)
{
	for (size_t i = 0; i < w->plan.n_ops; i++) {
		const struct plan_op *op = &w->plan.ops[i];

		if (op->kind == OP_BIND)
			CHECK(op->flags & PLAN_RO);
		if (op->kind == OP_OVERLAY)
			CHECK(op->flags & PLAN_OVERLAY_TMP);
		CHECK(op->kind != OP_BIND_FD);
	}
}

static void every_row_has_a_path(void)
{
	for (size_t i = 0; i < VIEW_PATHS; i++) {
		CHECK(view_paths[i].path != NULL);
		CHECK_INT(path_is_absolute(view_paths[i].path),
			  view_paths[i].class != VIEW_TOOL);
	}
}

static void the_host_is_read_only_and_in_order(void)
{
	struct world w;

	begin(&w);
	for (size_t i = 0; i < VIEW_PATHS; i++)
		w.host.found[i] = VIEW_PRESENT;
	build(&w);
	check_order(&w);
	check_read_only(&w);
	for (size_t i = 0; i < VIEW_PATHS; i++)
		if (view_paths[i].class != VIEW_TOOL)
			CHECK(at(&w, view_paths[i].path) != NULL);
	CHECK_INT(at(&w, "/home/u/.cargo/bin")->kind, OP_BIND);
	CHECK_INT(at(&w, "/home/u/.local/share/uv")->kind, OP_BIND);
	plan_done(&w.plan);
}

static void what_is_absent_stays_absent(void)
{
	struct world w;

	begin(&w);
	build(&w);
	CHECK(!at(&w, "/opt"));
	CHECK(!at(&w, "/etc/sudoers"));
	CHECK(!at(&w, "/home/u/.rustup"));
	plan_done(&w.plan);
}

static void secrets_are_covered(void)
{
	static const struct view_tree config = { "/etc/ssh/ssh_config", NULL,
						 false };
	struct world w;

	begin(&w);
	build(&w);
	CHECK_INT(at(&w, "/etc")->kind, OP_BIND);
	CHECK_INT(at(&w, "/etc/shadow")->kind, OP_BIND_DATA);
	CHECK(at(&w, "/etc/shadow")->flags & PLAN_HAS_PERMS);
	CHECK_INT(at(&w, "/etc/shadow")->perms, 0);
	CHECK_STR(at(&w, "/etc/shadow")->source, "");
	CHECK_INT(at(&w, "/etc/ssh")->kind, OP_REMOUNT_RO);
	CHECK(at(&w, "/etc/ssh") > at(&w, "/etc"));
	plan_done(&w.plan);

	/* What is asked for by name is reached through the cover. */
	begin(&w);
	w.request.trees = &config;
	w.request.n_trees = 1;
	build(&w);
	CHECK_INT(at(&w, "/etc/ssh")->kind, OP_TMPFS);
	CHECK_INT(at(&w, "/etc/ssh")->perms, 0755);
	CHECK_INT(at(&w, "/etc/ssh/ssh_config")->kind, OP_BIND);
	plan_done(&w.plan);

	/* Also where the workspace shows /etc. */
	begin(&w);
	w.request.workspace = "/etc";
	build(&w);
	CHECK_INT(at(&w, "/etc")->kind, OP_OVERLAY);
	CHECK_INT(at(&w, "/etc/shadow")->kind, OP_BIND_DATA);
	check_order(&w);
	plan_done(&w.plan);
}

static void links_stay_links_if_they_lead_into_the_view(void)
{
	struct world w;

	begin(&w);
	there_is(&w, "/opt", "/data/opt");
	there_is(&w, "/lib64", "../usr/lib64");
	there_is(&w, "/run/current-system/sw", "/nix/store/x");
	build(&w);
	CHECK_INT(at(&w, "/bin")->kind, OP_SYMLINK);
	CHECK_STR(at(&w, "/bin")->source, "usr/bin");
	CHECK_INT(at(&w, "/lib64")->kind, OP_SYMLINK);
	CHECK_INT(at(&w, "/opt")->kind, OP_BIND);
	CHECK_INT(at(&w, "/run/current-system/sw")->kind, OP_BIND);
	CHECK(at(&w, "/run/current-system/sw") > at(&w, "/run"));
	plan_done(&w.plan);

	/* A system that is not merged. */
	begin(&w);
	there_is(&w, "/bin", NULL);
	build(&w);
	CHECK_INT(at(&w, "/bin")->kind, OP_BIND);
	plan_done(&w.plan);
}

static void the_workspace_is_at_its_own_path(void)
{
	struct world w;
	const struct plan_op *op;

	begin(&w);
	build(&w);
	op = at(&w, "/home/u/project");
	CHECK_INT(op->kind, OP_OVERLAY);
	CHECK_INT(op->n_layers, 1);
	CHECK_STR(w.plan.layers[op->first_layer], "/home/u/project");
	CHECK_INT(op->size, 4096);
	CHECK_INT(op->perms, 0750);
	CHECK(op->flags & PLAN_HAS_PERMS);
	CHECK_INT(at(&w, "/home/u")->kind, OP_TMPFS);
	CHECK(op > at(&w, "/home/u"));
	CHECK_STR(w.plan.chdir, "/home/u/project/src");
	plan_done(&w.plan);

	/* What it holds itself is not put over it. */
	begin(&w);
	w.request.workspace = "/home/u/.cargo";
	build(&w);
	CHECK(!at(&w, "/home/u/.cargo/bin"));
	plan_done(&w.plan);

	begin(&w);
	w.request.workspace = "/usr/src/linux";
	build(&w);
	CHECK(at(&w, "/usr/src/linux") > at(&w, "/usr"));
	CHECK(at(&w, "/usr")->flags & PLAN_RO);
	plan_done(&w.plan);
}

static void temporary_files_are_private(void)
{
	struct world w;

	begin(&w);
	build(&w);
	CHECK_INT(at(&w, "/tmp")->kind, OP_TMPFS);
	CHECK_INT(at(&w, "/tmp")->perms, 01777);
	CHECK_INT(at(&w, "/tmp")->size, 4096);
	CHECK_INT(at(&w, "/run")->kind, OP_TMPFS);
	CHECK_INT(at(&w, "/dev")->kind, OP_DEV);
	CHECK(at(&w, "/dev")->flags & PLAN_RO);
	CHECK_INT(at(&w, "/dev/shm")->kind, OP_TMPFS);
	CHECK_INT(at(&w, "/proc")->kind, OP_PROC);
	CHECK_INT(at(&w, "/var/tmp")->kind, OP_SYMLINK);
	plan_done(&w.plan);

	/* A link would move what lies below it. */
	begin(&w);
	w.request.workspace = "/var/tmp/x";
	build(&w);
	CHECK_INT(at(&w, "/var/tmp")->kind, OP_TMPFS);
	plan_done(&w.plan);
}

static void trees_are_as_asked(void)
{
	static const struct view_tree trees[] = {
		{ "/srv/data", "/data", false },
		{ "/home/u/project/out", NULL, true },
		{ "/home/u", "/home/u", false },
	};
	struct world w;

	begin(&w);
	w.request.trees = trees;
	w.request.n_trees = 3;
	build(&w);
	check_order(&w);
	CHECK_INT(at(&w, "/srv/data")->kind, OP_BIND);
	CHECK(at(&w, "/srv/data")->flags & PLAN_RO);
	CHECK_INT(at(&w, "/data")->kind, OP_SYMLINK);
	CHECK_STR(at(&w, "/data")->source, "/srv/data");
	CHECK(!(at(&w, "/home/u/project/out")->flags & PLAN_RO));
	CHECK(at(&w, "/home/u/project/out") > at(&w, "/home/u/project"));
	/* Asked for, it wins over the empty home. */
	CHECK_INT(at(&w, "/home/u")->kind, OP_BIND);
	plan_done(&w.plan);
}

static void other_names_lead_to_the_same(void)
{
	struct world w;

	begin(&w);
	w.host.home = "/var/home/u";
	w.host.home_name = "/home/u";
	w.request.workspace = "/var/home/u/project";
	w.request.cwd = "/var/home/u/project/src";
	w.request.cwd_name = "/work/src";
	build(&w);
	CHECK_INT(at(&w, "/var/home/u")->kind, OP_TMPFS);
	CHECK_STR(at(&w, "/home/u")->source, "/var/home/u");
	CHECK_STR(at(&w, "/work/src")->source, "/var/home/u/project/src");
	CHECK_STR(env(&w, "HOME"), "/home/u");
	plan_done(&w.plan);

	/* A name that is in the view already needs no link. */
	begin(&w);
	w.request.cwd_name = "/usr/link";
	build(&w);
	CHECK(!at(&w, "/usr/link"));
	plan_done(&w.plan);
}

static void without_a_home_there_is_none(void)
{
	struct world w;

	begin(&w);
	w.host.home = NULL;
	w.host.home_name = NULL;
	w.request.workspace = "/srv/x";
	build(&w);
	CHECK(!at(&w, "/home/u"));
	CHECK_STR(env(&w, "HOME"), "/tmp");
	plan_done(&w.plan);
}

static void the_environment_is_an_allow_list(void)
{
	static const char *const asked[] = { "SSH_AUTH_SOCK", "TERM=dumb",
					     "NOT_THERE", "A=b=c" };
	struct world w;

	begin(&w);
	build(&w);
	CHECK_STR(env(&w, "TERM"), "xterm");
	CHECK_STR(env(&w, "LC_TIME"), "C");
	CHECK(!env(&w, "LANGUAGE"));
	CHECK(!env(&w, "SSH_AUTH_SOCK"));
	CHECK(!env(&w, "ANTHROPIC_API_KEY"));
	CHECK_STR(env(&w, "TMPDIR"), "/tmp");
	CHECK_STR(env(&w, "HOLDBACK"), "1");
	CHECK_STR(env(&w, "PATH"), "/usr/bin:/home/u/.cargo/bin:/bin");
	CHECK_STR(env(&w, "GIT_CONFIG_KEY_0"), "credential.helper");
	CHECK_STR(env(&w, "GIT_CONFIG_VALUE_0"), "");
	plan_done(&w.plan);

	begin(&w);
	w.request.program = "claude";
	w.request.env = asked;
	w.request.n_env = 4;
	build(&w);
	CHECK_STR(env(&w, "ANTHROPIC_API_KEY"), "k");
	CHECK_STR(env(&w, "SSH_AUTH_SOCK"), "/run/x");
	CHECK_STR(env(&w, "TERM"), "dumb");
	CHECK_STR(env(&w, "A"), "b=c");
	CHECK(!env(&w, "NOT_THERE"));
	plan_done(&w.plan);
}

static void the_strictest_settings_are_the_default(void)
{
	struct world w;

	begin(&w);
	build(&w);
	CHECK_INT(w.plan.ns, PLAN_NS_USER | PLAN_NS_IPC | PLAN_NS_PID |
				     PLAN_NS_NET | PLAN_NS_UTS |
				     PLAN_NS_CGROUP);
	CHECK_INT(w.plan.ns_try, 0);
	CHECK_INT(w.plan.settings,
		  PLAN_FILTER | PLAN_LANDLOCK | PLAN_JOBS | PLAN_CLOSE_FDS |
			  PLAN_WAIT_ALL | PLAN_PROVE | PLAN_LIMITS |
			  PLAN_NO_USERNS | PLAN_DIE_WITH_PARENT);
	CHECK_INT(w.plan.caps_keep, 0);
	CHECK_INT(w.plan.caps_add, 0);
	plan_done(&w.plan);

	begin(&w);
	w.request.has_net = true;
	w.request.no_ptrace = true;
	w.request.allow_nested = true;
	w.host.is_root = true;
	w.host.resolver = "/run/resolve/resolv.conf";
	build(&w);
	CHECK(!(w.plan.ns & PLAN_NS_NET));
	CHECK(w.plan.settings & PLAN_FILTER_NO_PTRACE);
	CHECK(w.plan.settings & PLAN_FILTER_NESTED);
	CHECK(w.plan.settings & PLAN_MAP_ALL);
	CHECK(!(w.plan.settings & (PLAN_NO_USERNS | PLAN_LANDLOCK)));
	CHECK(at(&w, "/run/resolve/resolv.conf")->flags & PLAN_RO);
	plan_done(&w.plan);
}

static void the_view_knows_what_it_has(void)
{
	struct world w;

	begin(&w);
	build(&w);
	CHECK(view_has(&w.plan, "/usr/bin/make"));
	CHECK(view_has(&w.plan, "/bin/sh"));
	CHECK(view_has(&w.plan, "//bin/./sh"));
	CHECK(view_has(&w.plan, "/home/u/project/run.sh"));
	CHECK(view_has(&w.plan, "/home/u/.cargo/bin/cargo"));
	CHECK(!view_has(&w.plan, "/home/u/bin/tool"));
	CHECK(!view_has(&w.plan, "/home/u/project2/run.sh"));
	CHECK(!view_has(&w.plan, "/tmp/x"));
	CHECK(!view_has(&w.plan, "/var/tmp/x"));
	CHECK(!view_has(&w.plan, "/etc/shadow"));
	CHECK(!view_has(&w.plan, "/etc/ssh/ssh_config"));
	CHECK(!view_has(&w.plan, "/usr/../home/u/bin"));
	CHECK(!view_has(&w.plan, "/srv"));
	plan_done(&w.plan);
}

static void a_loop_of_links_has_nothing(void)
{
	struct plan_op *op;
	struct plan plan;

	plan_init(&plan);
	CHECK_INT(plan_add(&plan, OP_SYMLINK, &op, NULL), 0);
	op->source = "b";
	op->dest = "/a";
	CHECK_INT(plan_add(&plan, OP_SYMLINK, &op, NULL), 0);
	op->source = "/a";
	op->dest = "/b";
	CHECK(!view_has(&plan, "/a/x"));
	plan_done(&plan);
}

static void some_places_are_no_workspace(void)
{
	CHECK(view_refuses_workspace("/", "/home/u"));
	CHECK(view_refuses_workspace("/home/u", "/home/u"));
	CHECK(view_refuses_workspace("/home", "/home/u"));
	CHECK(view_refuses_workspace("/tmp", "/home/u"));
	CHECK(view_refuses_workspace("/dev", "/home/u"));
	CHECK(view_refuses_workspace("/proc/1", "/home/u"));
	CHECK(view_refuses_workspace("/sys/kernel", "/home/u"));
	CHECK(view_refuses_workspace("/", NULL));
	CHECK(!view_refuses_workspace("/home/u/p", "/home/u"));
	CHECK(!view_refuses_workspace("/home/u2", "/home/u"));
	CHECK(!view_refuses_workspace("/tmp/x", "/home/u"));
	CHECK(!view_refuses_workspace("/srv", NULL));
}

TESTS(T(every_row_has_a_path), T(the_host_is_read_only_and_in_order),
      T(what_is_absent_stays_absent), T(secrets_are_covered),
      T(links_stay_links_if_they_lead_into_the_view),
      T(the_workspace_is_at_its_own_path), T(temporary_files_are_private),
      T(trees_are_as_asked), T(other_names_lead_to_the_same),
      T(without_a_home_there_is_none), T(the_environment_is_an_allow_list),
      T(the_strictest_settings_are_the_default), T(the_view_knows_what_it_has),
      T(a_loop_of_links_has_nothing), T(some_places_are_no_workspace))
