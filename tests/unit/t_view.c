/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/environment/env.h"
#include "plan/view.h"
#include "plan/view_place.h"

#include "base/error.h"
#include "base/path.h"
#include "plan/plan.h"
#include "plan/settings.h"

#include "tap.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
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

#define ENTRIES_MAX 400

/* A merged system, an ordinary user, a project in the home directory. */
struct world {
	struct settings settings;
	struct view_request request;
	struct view_host host;
	struct view_entry entries[ENTRIES_MAX];
	struct view_resource resources[2];
	struct plan plan;
};

static struct view_entry *add(struct world *w, enum view_class class,
			      enum view_found found, const char *path)
{
	struct view_entry *e = &w->entries[w->request.n_entries++];

	CHECK(w->request.n_entries <= ENTRIES_MAX);
	*e = (struct view_entry){
		.class = class, .found = found, .path = path, .source = path
	};
	return e;
}

static void there_is(struct world *w, const char *path, const char *target)
{
	for (size_t i = 0; i < w->request.n_entries; i++)
		if (strcmp(w->entries[i].path, path) == 0) {
			w->entries[i].found = target ? VIEW_LINK : VIEW_DIR;
			w->entries[i].target = target;
			return;
		}
	add(w, VIEW_SHOW, target ? VIEW_LINK : VIEW_DIR, path)->target = target;
}

static void workspace(struct world *w, const char *path)
{
	w->resources[0].source = path;
	w->resources[0].inside = path;
}

static void begin(struct world *w)
{
	*w = (struct world){
		.request = { .cwd = "/home/u/project/src", .n_resources = 1 },
		.resources = { { .mode = 0750 } },
		.host = { .home = "/home/u",
			  .home_name = "/home/u",
			  .envp = environment },
	};
	w->request.settings = &w->settings;
	w->request.resources = w->resources;
	w->request.entries = w->entries;
	settings_init(&w->settings);
	CHECK_INT(settings_profile(&w->settings, "base", NULL), 1);
	w->settings.size = 4096;
	workspace(w, "/home/u/project");
	plan_init(&w->plan);
	there_is(w, "/usr", NULL);
	there_is(w, "/etc", NULL);
	there_is(w, "/bin", "usr/bin");
	there_is(w, "/home/u/.cargo/bin", NULL);
	(void)add(w, VIEW_HIDE, VIEW_FILE, "/etc/shadow");
	(void)add(w, VIEW_HIDE, VIEW_DIR, "/etc/ssh");
}

static void end(struct world *w)
{
	plan_done(&w->plan);
	settings_done(&w->settings);
}

static void asked(struct world *w, const char *key, const char *value)
{
	const struct setting_origin origin = { .source = SETTING_OPTION };

	CHECK_INT(settings_set(&w->settings, key, value, &origin, NULL), 0);
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
	static char found[256];
	const char *value = NULL;
	char **all = NULL;
	size_t n = strlen(name);

	CHECK_INT(w->plan.env[0].kind, ENV_CLEAR);
	CHECK_INT(plan_environment(&w->plan, w->host.envp, &all, NULL), 0);
	for (size_t i = 0; all[i]; i++) {
		if (strncmp(all[i], name, n) != 0 || all[i][n] != '=')
			continue;
		(void)snprintf(found, sizeof(found), "%s", all[i] + n + 1);
		value = found;
	}
	free(all);
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

/* Every path that a compiled-in profile names, as if the host had it. */
static void the_host_is_read_only_and_in_order(void)
{
	static char paths[ENTRIES_MAX][64];
	struct world w;

	begin(&w);
	w.request.n_entries = 0;
	for (size_t i = 0; i < w.settings.n_items; i++) {
		const struct setting_item *item = &w.settings.items[i];
		bool is_home = item->value[0] == '~';

		if (item->key != KEY_SHOW && item->key != KEY_HIDE)
			continue;
		(void)snprintf(paths[i], sizeof(paths[i]), "%s%s",
			       is_home ? "/home/u" : "",
			       item->value + (is_home ? 1 : 0));
		(void)add(&w, item->key == KEY_SHOW ? VIEW_SHOW : VIEW_HIDE,
			  VIEW_DIR, paths[i]);
	}
	CHECK(w.request.n_entries > 80);
	build(&w);
	check_order(&w);
	check_read_only(&w);
	for (size_t i = 0; i < w.request.n_entries; i++) {
		const struct view_entry *e = &w.entries[i];

		if (e->class == VIEW_SHOW)
			CHECK_INT(at(&w, e->path)->kind, OP_BIND);
		else
			CHECK(!view_has(&w.plan, e->path));
	}
	CHECK(at(&w, "/etc/credstore") != NULL);
	/* What nothing shows need not be covered. */
	CHECK(!at(&w, "/home/u/.ssh"));
	end(&w);
}

static void what_is_absent_stays_absent(void)
{
	struct world w;

	begin(&w);
	build(&w);
	CHECK(!at(&w, "/opt"));
	CHECK(!at(&w, "/etc/sudoers"));
	CHECK(!at(&w, "/home/u/.rustup"));
	end(&w);
}

static void secrets_are_covered(void)
{
	struct world w;

	begin(&w);
	build(&w);
	CHECK_INT(at(&w, "/etc")->kind, OP_BIND);
	CHECK(at(&w, "/etc")->flags & PLAN_MASKED);
	CHECK_INT(at(&w, "/etc/shadow")->kind, OP_MASK);
	CHECK_STR(at(&w, "/etc/shadow")->base, "/etc");
	CHECK(at(&w, "/etc/shadow")->flags & PLAN_HAS_PERMS);
	CHECK_INT(at(&w, "/etc/shadow")->perms, 0);
	CHECK_STR(at(&w, "/etc/shadow")->source, "");
	CHECK_INT(at(&w, "/etc/ssh")->kind, OP_MASK);
	CHECK(at(&w, "/etc/ssh")->flags & PLAN_MASK_DIR);
	CHECK(at(&w, "/etc/ssh") > at(&w, "/etc"));
	CHECK(!(at(&w, "/usr")->flags & PLAN_MASKED));
	end(&w);

	/* What is asked for by name is reached through the cover. */
	begin(&w);
	(void)add(&w, VIEW_RO, VIEW_FILE, "/etc/ssh/ssh_config");
	build(&w);
	CHECK_INT(at(&w, "/etc/ssh")->kind, OP_TMPFS);
	CHECK_INT(at(&w, "/etc/ssh")->perms, 0755);
	CHECK_INT(at(&w, "/etc/ssh/ssh_config")->kind, OP_BIND);
	end(&w);

	/* Also where the workspace shows /etc. */
	begin(&w);
	workspace(&w, "/etc");
	build(&w);
	CHECK_INT(at(&w, "/etc")->kind, OP_OVERLAY);
	CHECK_INT(at(&w, "/etc/shadow")->kind, OP_BIND_DATA);
	check_order(&w);
	end(&w);
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
	end(&w);

	/* A system that is not merged. */
	begin(&w);
	there_is(&w, "/bin", NULL);
	build(&w);
	CHECK_INT(at(&w, "/bin")->kind, OP_BIND);
	end(&w);
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
	end(&w);

	/* What it holds itself is not put over it. */
	begin(&w);
	workspace(&w, "/home/u/.cargo");
	build(&w);
	CHECK(!at(&w, "/home/u/.cargo/bin"));
	end(&w);

	begin(&w);
	workspace(&w, "/usr/src/linux");
	build(&w);
	CHECK(at(&w, "/usr/src/linux") > at(&w, "/usr"));
	CHECK(at(&w, "/usr")->flags & PLAN_RO);
	end(&w);
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
	end(&w);

	/* A link would move what lies below it. */
	begin(&w);
	workspace(&w, "/var/tmp/x");
	build(&w);
	CHECK_INT(at(&w, "/var/tmp")->kind, OP_TMPFS);
	end(&w);
}

static void trees_are_as_asked(void)
{
	struct world w;

	begin(&w);
	add(&w, VIEW_RO, VIEW_DIR, "/srv/data")->name = "/data";
	(void)add(&w, VIEW_RW, VIEW_DIR, "/home/u/project/out");
	(void)add(&w, VIEW_RO, VIEW_DIR, "/home/u");
	(void)add(&w, VIEW_HIDE, VIEW_DIR, "/home/u/.ssh");
	build(&w);
	check_order(&w);
	CHECK_INT(at(&w, "/srv/data")->kind, OP_BIND);
	CHECK(at(&w, "/srv/data")->flags & PLAN_RO);
	CHECK_INT(at(&w, "/data")->kind, OP_SYMLINK);
	CHECK_STR(at(&w, "/data")->source, "/srv/data");
	CHECK(!(at(&w, "/home/u/project/out")->flags & PLAN_RO));
	CHECK(at(&w, "/home/u/project/out") > at(&w, "/home/u/project"));
	/* Asked for, it wins over the empty home, but not for keys. */
	CHECK_INT(at(&w, "/home/u")->kind, OP_BIND);
	CHECK(!view_has(&w.plan, "/home/u/.ssh/id"));
	CHECK_INT(at(&w, "/home/u/.ssh")->kind, OP_MASK);
	CHECK_STR(at(&w, "/home/u/.ssh")->base, "/home/u");
	end(&w);
}

static void other_names_lead_to_the_same(void)
{
	struct world w;

	begin(&w);
	w.host.home = "/var/home/u";
	w.host.home_name = "/home/u";
	workspace(&w, "/var/home/u/project");
	w.request.cwd = "/var/home/u/project/src";
	w.request.cwd_name = "/work/src";
	build(&w);
	CHECK_INT(at(&w, "/var/home/u")->kind, OP_TMPFS);
	CHECK_STR(at(&w, "/home/u")->source, "/var/home/u");
	CHECK_STR(at(&w, "/work/src")->source, "/var/home/u/project/src");
	CHECK_STR(env(&w, "HOME"), "/home/u");
	end(&w);

	/* A name that is in the view already needs no link. */
	begin(&w);
	w.request.cwd_name = "/usr/link";
	build(&w);
	CHECK(!at(&w, "/usr/link"));
	end(&w);
}

/* They are written, so only into memory. */
static void files_of_shells_are_in_the_private_home(void)
{
	const char *const names[] = { "/home/u/.bashrc", "/home/u/.zshrc",
				      "/home/u/.config/fish/config.fish" };
	const char *const others[] = { "/home/u", "/home/u/.config",
				       "/home/u/.config/fish/config.fish" };
	const enum view_class classes[] = { VIEW_SHOW, VIEW_RO, VIEW_RW };
	struct world w;

	begin(&w);
	build(&w);
	check_order(&w);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		CHECK_INT(at(&w, names[i])->kind, OP_FILE);
	end(&w);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		for (size_t k = 0; k < sizeof(classes) / sizeof(classes[0]);
		     k++) {
			begin(&w);
			(void)add(&w, classes[k], VIEW_DIR, others[i]);
			build(&w);
			CHECK(!at(&w, names[2]) ||
			      at(&w, names[2])->kind != OP_FILE);
			end(&w);
		}
	begin(&w);
	workspace(&w, "/home/u");
	build(&w);
	CHECK(!at(&w, names[0]));
	end(&w);
	begin(&w);
	there_is(&w, "/home/u/.config", "/home/u/project");
	build(&w);
	CHECK(!at(&w, names[2]));
	end(&w);
}

static void without_a_home_there_is_none(void)
{
	struct world w;

	begin(&w);
	w.host.home = NULL;
	w.host.home_name = NULL;
	workspace(&w, "/srv/x");
	build(&w);
	CHECK(!at(&w, "/home/u"));
	CHECK_STR(env(&w, "HOME"), "/tmp");
	end(&w);
}

static void the_environment_is_an_allow_list(void)
{
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
	CHECK_STR(env(&w, "GIT_CONFIG_KEY_1"), "commit.gpgSign");
	CHECK_STR(env(&w, "GIT_CONFIG_VALUE_1"), "false");
	CHECK_STR(env(&w, "GIT_CONFIG_KEY_2"), "tag.gpgSign");
	CHECK_STR(env(&w, "GIT_CONFIG_VALUE_2"), "false");
	CHECK_STR(env(&w, "GIT_CONFIG_COUNT"), "5");
	CHECK_STR(env(&w, "GIT_CONFIG_VALUE_4"), "/home/u/project");
	CHECK_STR(env(&w, "AGENT_WORK_DIR"), "/tmp/agent-work");
	CHECK_INT(at(&w, "/tmp/agent-work")->kind, OP_DIR);
	end(&w);

	begin(&w);
	CHECK_INT(settings_profile(&w.settings, "claude", NULL), 1);
	asked(&w, "env", "SSH_AUTH_SOCK");
	asked(&w, "env", "TERM=dumb");
	asked(&w, "env", "NOT_THERE");
	asked(&w, "env", "A=b=c");
	build(&w);
	CHECK_STR(env(&w, "ANTHROPIC_API_KEY"), "k");
	CHECK_STR(env(&w, "SSH_AUTH_SOCK"), "/run/x");
	CHECK_STR(env(&w, "TERM"), "dumb");
	CHECK_STR(env(&w, "A"), "b=c");
	CHECK(!env(&w, "NOT_THERE"));
	end(&w);

	/* A pattern opens no door. */
	begin(&w);
	asked(&w, "env", "S*");
	asked(&w, "env", "T*");
	build(&w);
	CHECK(!env(&w, "SSH_AUTH_SOCK"));
	CHECK_STR(env(&w, "TMPDIR"), "/tmp");
	end(&w);
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
	end(&w);

	begin(&w);
	asked(&w, "net", "host");
	asked(&w, "no-ptrace", "yes");
	asked(&w, "allow-nested", "yes");
	w.host.is_root = true;
	build(&w);
	CHECK(!(w.plan.ns & PLAN_NS_NET));
	CHECK(w.plan.settings & PLAN_FILTER_NO_PTRACE);
	CHECK(w.plan.settings & PLAN_FILTER_NESTED);
	CHECK(w.plan.settings & PLAN_MAP_ALL);
	CHECK(!(w.plan.settings & (PLAN_NO_USERNS | PLAN_LANDLOCK)));
	end(&w);
}

static void texts_stand_in_for_files(void)
{
	struct world w;

	begin(&w);
	add(&w, VIEW_TEXT, VIEW_FILE, "/etc/passwd")->source = "u:x:1:1";
	add(&w, VIEW_TEXT, VIEW_FILE, "/run/resolv.conf")->source = "";
	build(&w);
	check_order(&w);
	CHECK_INT(at(&w, "/etc/passwd")->kind, OP_MASK);
	CHECK_INT(at(&w, "/run/resolv.conf")->kind, OP_BIND_DATA);
	CHECK_INT(at(&w, "/etc/passwd")->perms, 0444);
	CHECK(at(&w, "/etc/passwd")->flags & PLAN_RO);
	CHECK_STR(at(&w, "/etc/passwd")->source, "u:x:1:1");
	CHECK(at(&w, "/run/resolv.conf") > at(&w, "/run"));
	end(&w);

	/* Asked for by name it is the host's. */
	begin(&w);
	add(&w, VIEW_TEXT, VIEW_FILE, "/etc/passwd")->source = "u:x:1:1";
	(void)add(&w, VIEW_RO, VIEW_FILE, "/etc/passwd");
	build(&w);
	CHECK_INT(at(&w, "/etc/passwd")->kind, OP_BIND);
	end(&w);
}

static void what_is_hidden_on_request_is_hidden(void)
{
	static const struct setting_item user = {
		KEY_HIDE, "x", { SETTING_USER, "config", 1 }
	};
	struct world w;

	begin(&w);
	add(&w, VIEW_HIDE, VIEW_DIR, "/home/u/project/secret")->item = &user;
	add(&w, VIEW_HIDE, VIEW_DIR, "/srv/nowhere")->item = &user;
	(void)add(&w, VIEW_RO, VIEW_DIR, "/srv/both");
	add(&w, VIEW_HIDE, VIEW_DIR, "/srv/both")->item = &user;
	build(&w);
	CHECK(!view_has(&w.plan, "/home/u/project/secret/x"));
	CHECK(!at(&w, "/srv/nowhere"));
	/* Of two that were asked for the tighter one wins. */
	CHECK(!view_has(&w.plan, "/srv/both/x"));
	CHECK(at(&w, "/srv/both")->origin == &user);
	end(&w);
}

/* How many operations of a kind there are below the workspace. */
static int count(const struct world *w, enum plan_op_kind kind)
{
	int n = 0;

	for (size_t i = 0; i < w->plan.n_ops; i++)
		n += w->plan.ops[i].kind == kind &&
		     view_lies_in(w->plan.ops[i].dest, "/home/u/project");
	return n;
}

static void what_is_hidden_cannot_be_put_aside(void)
{
	static const char *const trees[] = { NULL, "/s/tree", "/direct" };
	struct world w;

	for (size_t i = 0; i < 3; i++) {
		begin(&w);
		w.resources[0].tree = i == 1 ? trees[i] : NULL;
		w.resources[0].is_direct = i == 2;
		(void)add(&w, VIEW_HIDE, VIEW_FILE, "/home/u/project/a/b/key");
		(void)add(&w, VIEW_HIDE, VIEW_DIR, "/home/u/project/a/dir");
		build(&w);
		CHECK_INT(count(&w, OP_HOLD), trees[i] ? 2 : 0);
		if (trees[i]) {
			CHECK_INT(at(&w, "/home/u/project/a")->kind, OP_HOLD);
			CHECK_INT(at(&w, "/home/u/project/a/b")->kind, OP_HOLD);
		}
		/* What a session has removed is not made again. */
		CHECK_INT(at(&w, "/home/u/project/a/b/key")->flags &
				  (PLAN_COVER | PLAN_TRY),
			  PLAN_COVER | (i < 2 ? PLAN_TRY : 0));
		CHECK(view_has(&w.plan, "/home/u/project/a/b/other"));
		CHECK(!view_has(&w.plan, "/home/u/project/a/b/key"));
		CHECK(!view_has(&w.plan, "/home/u/project/a/dir/x"));
		end(&w);
	}
}

static void nothing_is_made_among_real_files(void)
{
	struct hb_error err = { 0 };
	struct world w;

	begin(&w);
	w.resources[0].inside = "/srv/real/new";
	(void)add(&w, VIEW_RW, VIEW_DIR, "/srv/real");
	CHECK_INT(view_build(&w.request, &w.host, &w.plan, &err), -HB_E_USAGE);
	end(&w);
}

static void the_store_is_covered_wherever_it_is_shown(void)
{
	static const char *const store[] = { "/home/u/.local/state/holdback" };
	struct world w;

	begin(&w);
	w.request.covered = store;
	w.request.n_covered = 1;
	build(&w);
	CHECK(!at(&w, store[0]));
	end(&w);

	begin(&w);
	w.request.covered = store;
	w.request.n_covered = 1;
	(void)add(&w, VIEW_RW, VIEW_DIR, "/home/u/.local");
	build(&w);
	CHECK(!view_has(&w.plan, "/home/u/.local/state/holdback/x"));
	CHECK_INT(at(&w, store[0])->kind, OP_REMOUNT_RO);
	end(&w);
}

static void a_resource_may_be_elsewhere_and_on_disk(void)
{
	const struct plan_op *op;
	char path[PATH_MAX];
	struct world w;

	begin(&w);
	w.resources[0].inside = "/workspace";
	w.resources[1] = (struct view_resource){
		.source = "/srv/vault",
		.inside = "/srv/vault",
		.upper = "/s/upper",
		.work = "/s/work",
	};
	w.request.n_resources = 2;
	w.request.is_volatile = true;
	build(&w);
	op = at(&w, "/workspace");
	CHECK_INT(op->kind, OP_OVERLAY);
	CHECK_STR(w.plan.layers[op->first_layer], "/home/u/project");
	CHECK(!at(&w, "/home/u/project"));
	op = at(&w, "/srv/vault");
	CHECK_INT(op->flags, PLAN_VOLATILE);
	CHECK_STR(op->upper, "/s/upper");
	CHECK_STR(op->work, "/s/work");
	CHECK(view_inside(&w.request, "/home/u/project/src/x", path) >= 0);
	CHECK_STR(path, "/workspace/src/x");
	CHECK(view_inside(&w.request, "/home/u/project2", path) >= 0);
	CHECK_STR(path, "/home/u/project2");
	end(&w);
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
	end(&w);
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

static void layers_are_in_order(void)
{
	static const char *const layers[] = { "/l/1", "/l/2" };
	const struct plan_op *op;
	struct world w;

	begin(&w);
	w.resources[0].layers = layers;
	w.resources[0].n_layers = 2;
	w.resources[0].upper = "/s/upper";
	w.resources[1] = (struct view_resource){ .source = "/srv/q",
						 .inside = "/srv/q",
						 .upper = "/u" };
	w.request.n_resources = 2;
	build(&w);
	op = at(&w, "/home/u/project");
	CHECK_INT(op->n_layers, 3);
	CHECK_STR(w.plan.layers[op->first_layer], "/home/u/project");
	CHECK_STR(w.plan.layers[op->first_layer + 2], "/l/2");
	/* A durable session syncs. */
	CHECK(!(op->flags & PLAN_VOLATILE));
	op = at(&w, "/srv/q");
	CHECK_INT(op->n_layers, 1);
	CHECK_STR(w.plan.layers[op->first_layer], "/srv/q");
	CHECK_STR(op->upper, "/u");
	end(&w);
}

TESTS(T(layers_are_in_order), T(the_host_is_read_only_and_in_order),
      T(what_is_absent_stays_absent), T(secrets_are_covered),
      T(links_stay_links_if_they_lead_into_the_view),
      T(the_workspace_is_at_its_own_path), T(temporary_files_are_private),
      T(trees_are_as_asked), T(files_of_shells_are_in_the_private_home),
      T(other_names_lead_to_the_same), T(without_a_home_there_is_none),
      T(the_environment_is_an_allow_list),
      T(the_strictest_settings_are_the_default), T(the_view_knows_what_it_has),
      T(texts_stand_in_for_files), T(what_is_hidden_on_request_is_hidden),
      T(what_is_hidden_cannot_be_put_aside),
      T(nothing_is_made_among_real_files),
      T(the_store_is_covered_wherever_it_is_shown),
      T(a_resource_may_be_elsewhere_and_on_disk),
      T(a_loop_of_links_has_nothing), T(some_places_are_no_workspace))
