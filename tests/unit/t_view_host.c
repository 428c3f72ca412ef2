/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/view.h"

#include "base/path.h"
#include "plan/plan.h"
#include "plan/settings.h"
#include "plan/view_place.h"

#include "tap.h"

#include <errno.h>
#include <string.h>

/*
 * The view with the whole host below it, resources at private places, and the
 * state of agents in a run without a session.
 */

static char *const no_env[] = { NULL };

#define ENTRIES_MAX 10

/* A merged system, an ordinary user, a project in the home directory. */
struct world {
	struct settings settings;
	struct view_request request;
	struct view_host host;
	struct view_entry entries[ENTRIES_MAX];
	struct view_resource resources[1];
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

static void workspace(struct world *w, const char *path)
{
	w->resources[0].source = path;
	w->resources[0].inside = path;
}

static void begin(struct world *w)
{
	*w = (struct world){
		.request = { .cwd = "/home/u/project", .n_resources = 1 },
		.host = { .home = "/home/u",
			  .home_name = "/home/u",
			  .envp = no_env },
	};
	w->request.settings = &w->settings;
	w->request.resources = w->resources;
	w->request.entries = w->entries;
	settings_init(&w->settings);
	workspace(w, "/home/u/project");
	plan_init(&w->plan);
	(void)add(w, VIEW_SHOW, VIEW_DIR, "/usr");
	(void)add(w, VIEW_SHOW, VIEW_DIR, "/etc");
	add(w, VIEW_SHOW, VIEW_LINK, "/bin")->target = "usr/bin";
	(void)add(w, VIEW_SHOW, VIEW_DIR, "/home/u/.cargo/bin");
	(void)add(w, VIEW_HIDE, VIEW_FILE, "/etc/shadow");
	(void)add(w, VIEW_HIDE, VIEW_DIR, "/etc/ssh");
}

static void build(struct world *w)
{
	CHECK_INT(view_build(&w->request, &w->host, &w->plan, NULL), 0);
}

static void end(struct world *w)
{
	plan_done(&w->plan);
	settings_done(&w->settings);
}

static const struct plan_op *at(const struct world *w, const char *dest)
{
	const struct plan_op *found = NULL;

	for (size_t i = 0; i < w->plan.n_ops; i++)
		if (strcmp(w->plan.ops[i].dest, dest) == 0)
			found = &w->plan.ops[i];
	return found;
}

static void check_order(const struct world *w)
{
	for (size_t i = 0; i < w->plan.n_ops; i++)
		for (size_t k = i + 1; k < w->plan.n_ops; k++) {
			const char *a = w->plan.ops[i].dest;
			const char *b = w->plan.ops[k].dest;

			CHECK(strcmp(a, b) == 0 || !path_is_beneath(a, b));
		}
}

/* As `--view host` asks for it. */
static const struct setting_item whole = { .key = KEY_VIEW, .value = "host" };

static void the_whole_host_is_below_the_view(void)
{
	struct world w;

	begin(&w);
	w.request.host = &whole;
	w.resources[0].upper = "/s/upper";
	w.resources[0].work = "/s/work";
	w.request.is_volatile = true;
	build(&w);
	check_order(&w);
	CHECK_INT(w.plan.ops[0].kind, OP_BIND);
	CHECK(strcmp(w.plan.ops[0].source, "/") == 0);
	CHECK(strcmp(w.plan.ops[0].dest, "/") == 0);
	CHECK(w.plan.ops[0].origin == &whole);
	for (size_t i = 0; i < w.plan.n_ops; i++) {
		const struct plan_op *op = &w.plan.ops[i];

		if (op->kind == OP_BIND)
			CHECK(op->flags & PLAN_RO);
		if (op->kind == OP_OVERLAY)
			CHECK(op->flags & PLAN_VOLATILE && op->upper);
		/* The host has its own links, and a tree for each place. */
		CHECK(op->kind != OP_SYMLINK);
	}
	CHECK(view_has(&w.plan, "/srv/anything"));
	CHECK(!view_has(&w.plan, "/home/u/other"));
	CHECK_INT(at(&w, "/home/u")->kind, OP_TMPFS);
	CHECK_INT(at(&w, "/run")->kind, OP_TMPFS);
	CHECK_INT(at(&w, "/tmp")->kind, OP_TMPFS);
	CHECK_INT(at(&w, "/var/tmp")->kind, OP_TMPFS);
	CHECK_INT(at(&w, "/dev/shm")->kind, OP_TMPFS);
	CHECK(w.plan.ns & PLAN_NS_NET);
	/* What is secret is hidden here as well. */
	CHECK(!view_has(&w.plan, "/etc/shadow"));
	CHECK_INT(at(&w, "/etc/shadow")->kind, OP_MASK);
	CHECK(!view_has(&w.plan, "/etc/ssh/key"));
	end(&w);
}

static void the_whole_host_has_no_store(void)
{
	static const char *const store[] = { "/srv/state/hb",
					     "/home/u/.local/state/hb" };
	struct world w;

	begin(&w);
	w.request.host = &whole;
	w.request.covered = store;
	w.request.n_covered = 2;
	build(&w);
	CHECK_INT(at(&w, store[0])->kind, OP_REMOUNT_RO);
	/* What the host does not have is not made. */
	CHECK(at(&w, store[0])->flags & PLAN_TRY);
	CHECK(!view_has(&w.plan, "/srv/state/hb/x"));
	/* Below the private home: nothing shows it. */
	CHECK(!at(&w, store[1]));
	end(&w);

	/* What is hidden elsewhere is not a layer on the root. */
	begin(&w);
	w.request.host = &whole;
	(void)add(&w, VIEW_HIDE, VIEW_FILE, "/srv/key");
	build(&w);
	CHECK_INT(at(&w, "/srv/key")->kind, OP_BIND_DATA);
	CHECK(!(w.plan.ops[0].flags & PLAN_MASKED));
	end(&w);
}

static void a_private_place_may_be_a_resource(void)
{
	static const char *const home[] = { "/home/u/.local/state/hb" };
	struct world w;

	for (int i = 0; i < 2; i++) {
		const struct setting_item *host = i ? &whole : NULL;

		begin(&w);
		w.request.host = host;
		workspace(&w, "/tmp");
		build(&w);
		CHECK_INT(at(&w, "/tmp")->kind, OP_OVERLAY);
		end(&w);

		begin(&w);
		w.request.host = host;
		workspace(&w, "/var");
		build(&w);
		CHECK(!at(&w, "/var/tmp"));
		end(&w);

		/* The home directory, and one that holds it. */
		begin(&w);
		w.request.host = host;
		w.request.covered = home;
		w.request.n_covered = 1;
		workspace(&w, i ? "/home" : "/home/u");
		build(&w);
		check_order(&w);
		CHECK(view_has(&w.plan, "/home/u/x"));
		CHECK_INT(at(&w, home[0])->kind, OP_REMOUNT_RO);
		end(&w);
	}
}

static void state_without_a_session_is_in_memory(void)
{
	struct world w;

	begin(&w);
	workspace(&w, "/home/u/.agent");
	(void)add(&w, VIEW_FRESH, VIEW_FILE, "/home/u/.agent/history");
	(void)add(&w, VIEW_FRESH, VIEW_DIR, "/home/u/.agent/talks");
	(void)add(&w, VIEW_PASSING, VIEW_DIR, "/home/u/.agent/talks/memory");
	(void)add(&w, VIEW_COPY, VIEW_FILE, "/home/u/.agent.json");
	build(&w);
	check_order(&w);
	CHECK_INT(at(&w, "/home/u/.agent/history")->kind, OP_GONE);
	CHECK(strcmp(at(&w, "/home/u/.agent/history")->base,
		     "/home/u/.agent") == 0);
	CHECK(!view_has(&w.plan, "/home/u/.agent/history"));
	CHECK_INT(at(&w, "/home/u/.agent/talks")->kind, OP_TMPFS);
	CHECK(!view_has(&w.plan, "/home/u/.agent/talks/x"));
	CHECK(at(&w, "/home/u/.agent/talks/memory")->flags & PLAN_OVERLAY_TMP);
	CHECK(view_has(&w.plan, "/home/u/.agent/talks/memory/x"));
	CHECK_INT(at(&w, "/home/u/.agent.json")->kind, OP_FILE);
	end(&w);
}

static void nothing_is_left_out_or_copied_on_the_host(void)
{
	struct world w;

	/* A mark in a layer on disk would be a deletion. */
	begin(&w);
	workspace(&w, "/home/u/.agent");
	w.resources[0].upper = "/s/upper";
	w.resources[0].work = "/s/work";
	(void)add(&w, VIEW_FRESH, VIEW_FILE, "/home/u/.agent/history");
	CHECK_INT(view_build(&w.request, &w.host, &w.plan, NULL), -EINVAL);
	end(&w);

	begin(&w);
	(void)add(&w, VIEW_RW, VIEW_DIR, "/home/u");
	(void)add(&w, VIEW_COPY, VIEW_FILE, "/home/u/.agent.json");
	build(&w);
	CHECK(!at(&w, "/home/u/.agent.json"));
	end(&w);
}

TESTS(T(the_whole_host_is_below_the_view), T(the_whole_host_has_no_store),
      T(a_private_place_may_be_a_resource),
      T(state_without_a_session_is_in_memory),
      T(nothing_is_left_out_or_copied_on_the_host))
