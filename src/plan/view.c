/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/view.h"

#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "plan/environment/view_env.h"
#include "plan/filter/view_shells.h"
#include "plan/inner.h"
#include "plan/plan.h"
#include "plan/settings.h"
#include "plan/view_place.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The view is built up, not masked down: what is not put into it is not there.
 *
 *	(a) Of the host only the resources' upper layers and what the caller
 *	    asked to be writable can be written.
 *	(b) Operations are in the order of their destinations, so that what
 *	    lies inside of something comes after it; of two at one place the
 *	    later one is what was asked for, the earlier one is ours.
 *	(c) What is to be hidden is covered wherever something shows it.
 *	(d) With the whole host below it, everything of (a) to (c) still holds.
 *
 * tests/unit/t_view.c and t_view_host.c hold all of them.
 */

#define VAR_TMP "/var/tmp"

struct builder {
	const struct view_request *request;
	const struct view_host *host;
	struct plan *plan;
	struct hb_error *err;
};

static int add(struct builder *b, enum plan_op_kind kind, const char *source,
	       const char *dest, unsigned flags)
{
	struct plan_op *op;
	int r;

	r = plan_add(b->plan, kind, &op, b->err);
	if (r < 0)
		return r;
	op->source = source;
	op->dest = dest;
	op->flags = flags;
	return 0;
}

static struct plan_op *last_op(const struct builder *b)
{
	return &b->plan->ops[b->plan->n_ops - 1];
}

static int add_memory(struct builder *b, const char *dest, mode_t perms)
{
	int r = add(b, OP_TMPFS, NULL, dest, PLAN_HAS_PERMS);

	if (r < 0)
		return r;
	last_op(b)->perms = perms;
	last_op(b)->size = b->request->settings->size;
	return 0;
}

/* Whether something of the host has its place at or below `dir`. */
static bool is_used(const struct builder *b, const char *dir)
{
	const struct view_request *q = b->request;

	if (b->host->home && view_lies_in(b->host->home, dir))
		return true;
	for (size_t i = 0; i < q->n_resources; i++)
		if (view_lies_in(q->resources[i].inside, dir))
			return true;
	for (size_t i = 0; i < q->n_entries; i++)
		if (view_is_asked(&q->entries[i]) &&
		    view_lies_in(q->entries[i].path, dir))
			return true;
	return false;
}

/* Whether the place itself is a resource's or was asked for by name. */
static bool is_taken(const struct builder *b, const char *path)
{
	const struct view_request *q = b->request;

	for (size_t i = 0; i < q->n_resources; i++)
		if (strcmp(q->resources[i].inside, path) == 0)
			return true;
	for (size_t i = 0; i < q->n_entries; i++)
		if (view_is_asked(&q->entries[i]) &&
		    strcmp(q->entries[i].path, path) == 0)
			return true;
	return false;
}

static bool is_in_resource(const struct builder *b, const char *path)
{
	const struct view_request *q = b->request;

	for (size_t i = 0; i < q->n_resources; i++)
		if (view_lies_in(path, q->resources[i].inside))
			return true;
	return false;
}

/* Whether a directory that is shown and really there holds `path`. */
static bool is_in_shown(const struct view_request *q, const char *path)
{
	for (size_t i = 0; i < q->n_entries; i++)
		if (q->entries[i].class == VIEW_SHOW &&
		    q->entries[i].found == VIEW_DIR &&
		    view_lies_in(path, q->entries[i].path))
			return true;
	return false;
}

/* Whether the place is one of which a session has its own version. */
static bool is_held_back(const struct builder *b, const char *path)
{
	const struct view_request *q = b->request;

	for (size_t i = 0; i < q->n_resources; i++)
		if (view_lies_in(path, q->resources[i].inside))
			return !q->resources[i].is_direct;
	return false;
}

/*
 * What the host has and a session removed needs no cover, and gets no file; nor
 * does what the whole host does not have.
 */
static unsigned cover_flags(const struct builder *b, const char *path)
{
	return PLAN_COVER |
	       (b->request->host || is_held_back(b, path) ? PLAN_TRY : 0);
}

static bool has_hold(const struct builder *b, const char *path)
{
	for (size_t i = 0; i < b->plan->n_ops; i++)
		if (b->plan->ops[i].kind == OP_HOLD &&
		    strcmp(b->plan->ops[i].dest, path) == 0)
			return true;
	return false;
}

static int hold(struct builder *b, const char *path)
{
	char *dir;
	int r;

	if (is_taken(b, path) || has_hold(b, path))
		return 0;
	dir = strdup(path);
	if (!dir)
		return hb_fail(b->err, -ENOMEM, "cannot make the view");
	r = plan_keep(b->plan, dir, b->err);
	return r < 0 ? r : add(b, OP_HOLD, NULL, dir, 0);
}

/* Whether what is written at the place of `op` is written on the host. */
static bool is_real(const struct plan_op *op)
{
	return op && op->kind == OP_BIND &&
	       !(op->flags & (PLAN_RO | PLAN_OURS));
}

/*
 * Where objects are moved and not copied, a command could put a covered path
 * aside with its directory, for the next run to see.
 */
static int hold_parents(struct builder *b, const char *path)
{
	char found[PATH_MAX];
	const struct plan_op *op = view_find(b->plan, path, found);
	int r = 0;

	if (!is_real(op))
		return 0;
	for (char *at = found + strlen(op->dest) + 1;
	     r >= 0 && strlen(op->dest) < strlen(found) &&
	     (at = strchr(at, '/'));
	     at++) {
		*at = '\0';
		r = hold(b, found);
		*at = '/';
	}
	return r;
}

/* Empty, and read-only. */
static int add_cover(struct builder *b, const char *path, mode_t perms)
{
	unsigned flags = cover_flags(b, path);
	int r = hold_parents(b, path);

	if (r >= 0)
		r = add_memory(b, path, perms);
	if (r < 0)
		return r;
	last_op(b)->flags |= flags;
	return add(b, OP_REMOUNT_RO, NULL, path, flags);
}

/*
 * Where a mount lies on top of a procfs, no process further in mounts another.
 * root cannot have a box in a box, and has it always covered.
 */
static unsigned place_flags(const struct builder *b, const struct view_place *p)
{
	if (p->kind == OP_PROC && b->request->settings->allow_nested &&
	    !b->host->is_root)
		return p->flags & ~(unsigned)PLAN_OWN;
	return p->flags;
}

/* The bottom of the view, if all of the host was asked for. */
static int add_host(struct builder *b)
{
	int r;

	if (!b->request->host)
		return 0;
	r = add(b, OP_BIND, "/", "/", PLAN_RO);
	if (r >= 0)
		last_op(b)->origin = b->request->host;
	return r;
}

static int add_private(struct builder *b)
{
	const struct view_request *q = b->request;
	int r;

	for (size_t i = 0; i < VIEW_PLACES; i++) {
		const struct view_place *p = &view_places[i];

		r = p->kind == OP_TMPFS
			    ? add_memory(b, p->path, p->perms)
			    : add(b, p->kind, NULL, p->path, place_flags(b, p));
		if (r < 0)
			return r;
	}
	if (q->settings->marks_turns) {
		r = add_memory(b, TURNS_DIR, 0755);
		if (r < 0)
			return r;
	}
	/* Below a tree that was asked for it is that tree's own. */
	for (size_t i = 0; i < q->n_entries; i++)
		if (view_is_asked(&q->entries[i]) &&
		    view_lies_in(VAR_TMP, q->entries[i].path))
			return 0;
	if (is_in_resource(b, VAR_TMP))
		return 0;
	/* A link costs less, but what lies below it would get another path. */
	if (q->host || is_used(b, VAR_TMP))
		return add_memory(b, VAR_TMP, 01777);
	return add(b, OP_SYMLINK, "/tmp", VAR_TMP, 0);
}

/* Where only root makes files: no socket is there, and no lock but root's. */
static const char *const of_the_system[] = {
	"/usr",	  "/bin",    "/sbin", "/lib",	    "/lib32",
	"/lib64", "/libx32", "/etc",  "/nix/store", "/run/current-system/sw",
};

static bool is_of_system(const char *path)
{
	for (size_t i = 0; i < sizeof(of_the_system) / sizeof(of_the_system[0]);
	     i++)
		if (view_lies_in(path, of_the_system[i]))
			return true;
	return false;
}

/* A bind that is read-only, and has nothing of the host but contents. */
static int add_own(struct builder *b, const struct view_entry *e,
		   unsigned flags)
{
	int r = add(b, OP_BIND, e->source, e->path, flags | PLAN_RO | PLAN_OWN);

	if (r >= 0 && b->host->home && view_lies_in(e->source, b->host->home))
		last_op(b)->base = b->host->home;
	return r;
}

static int add_shown(struct builder *b, const struct view_entry *e)
{
	char target[PATH_MAX];

	/* A resource shows its own part of the host. */
	if (is_in_resource(b, e->path))
		return 0;
	if (e->found == VIEW_OWN_LINK)
		return add(b, OP_SYMLINK, e->target, e->path, 0);
	/* The host's own link is there, unless it is one of the home's. */
	if (b->request->host && e->found == VIEW_LINK &&
	    !(b->host->home && view_lies_in(e->path, b->host->home)))
		return 0;
	if (e->found == VIEW_LINK &&
	    view_follow(e->path, e->target, "", target) >= 0 &&
	    is_in_shown(b->request, target))
		return add(b, OP_SYMLINK, e->target, e->path, 0);
	if (!is_of_system(e->path))
		return add_own(b, e, PLAN_TRY);
	return add(b, OP_BIND, e->source, e->path, PLAN_RO | PLAN_TRY);
}

/*
 * The bind of a directory that shows `path`, from now on masked; or NULL.  The
 * root has other mounts in it, and no layer lies on top of those.
 */
static const char *find_base(const struct builder *b, const char *path)
{
	char found[PATH_MAX];
	const struct plan_op *op = view_find(b->plan, path, found);

	if (!op || op->kind != OP_BIND || !(op->flags & PLAN_RO) ||
	    strcmp(found, path) != 0 || strcmp(op->dest, path) == 0 ||
	    strcmp(op->dest, "/") == 0)
		return NULL;
	b->plan->ops[op - b->plan->ops].flags |= PLAN_MASKED;
	return op->dest;
}

/*
 * A file of ours with this text in the place of the host's.
 *
 * In a bound directory it becomes part of the bind.  A mount on a file of the
 * host goes away when the host replaces that file, as with /etc/passwd, and the
 * covered file shows.
 */
static int add_file(struct builder *b, const char *text, const char *path,
		    mode_t perms)
{
	const char *base = find_base(b, path);
	int r;

	r = add(b, base ? OP_MASK : OP_BIND_DATA, text, path,
		PLAN_TEXT | PLAN_RO | PLAN_HAS_PERMS);
	if (r < 0)
		return r;
	last_op(b)->perms = perms;
	last_op(b)->base = base;
	return 0;
}

/* The same for a directory that is empty. */
static int add_empty(struct builder *b, const char *path, mode_t perms)
{
	const char *base = find_base(b, path);
	int r;

	if (!base)
		return add_cover(b, path, perms);
	r = add(b, OP_MASK, "", path,
		PLAN_TEXT | PLAN_RO | PLAN_HAS_PERMS | PLAN_MASK_DIR);
	if (r < 0)
		return r;
	last_op(b)->base = base;
	last_op(b)->perms = perms;
	return 0;
}

static int add_hidden(struct builder *b, const struct view_entry *e)
{
	bool is_ours = !e->item || e->item->origin.source == SETTING_BUILT_IN;
	int r;

	if (!view_has(b->plan, e->path) || (is_ours && is_taken(b, e->path)))
		return 0;
	/* Empty, and mode 0 on top: also its owner reads nothing. */
	if (e->found == VIEW_FILE) {
		r = hold_parents(b, e->path);
		if (r >= 0)
			r = add_file(b, "", e->path, 0);
		if (r >= 0 && last_op(b)->kind == OP_BIND_DATA)
			last_op(b)->flags |= cover_flags(b, e->path);
		return r;
	}
	/* Something in it was asked for by name: the way there is open. */
	if (is_used(b, e->path))
		return add_memory(b, e->path, 0755);
	return add_empty(b, e->path, 0);
}

static int add_text(struct builder *b, const struct view_entry *e)
{
	if (is_in_resource(b, e->path))
		return 0;
	return add_file(b, e->source, e->path, 0444);
}

static int add_blank(struct builder *b, const struct view_entry *e)
{
	if (is_in_resource(b, e->path) || view_has(b->plan, e->path))
		return 0;
	return add_file(b, "", e->path, 0444);
}

/*
 * A mount in the place of a file could not be replaced or removed, which is how
 * databases and histories are written.
 */
static int add_gone(struct builder *b, const char *path)
{
	const struct view_request *q = b->request;
	char shown[QUOTE_SHOWN];

	for (size_t i = 0; i < q->n_resources; i++) {
		const struct view_resource *resource = &q->resources[i];
		int r;

		if (!view_lies_in(path, resource->inside))
			continue;
		if (resource->is_direct || resource->tree || resource->upper)
			return hb_fail(b->err, -EINVAL,
				       "'%s' cannot be left out of the view",
				       quote_shown(path, shown, sizeof(shown)));
		r = add(b, OP_GONE, NULL, path, 0);
		if (r >= 0)
			last_op(b)->base = resource->inside;
		return r;
	}
	return 0;
}

static int add_fresh(struct builder *b, const struct view_entry *e)
{
	return e->found == VIEW_DIR ? add_memory(b, e->path, 0700)
				    : add_gone(b, e->path);
}

static int add_passing(struct builder *b, const struct view_entry *e)
{
	struct plan_op *op;
	int r = add(b, OP_OVERLAY, NULL, e->path,
		    PLAN_OVERLAY_TMP | PLAN_HAS_PERMS);

	if (r < 0)
		return r;
	op = last_op(b);
	op->perms = 0700;
	op->size = b->request->settings->size;
	op->first_layer = b->plan->n_layers;
	op->n_layers = 1;
	return plan_add_layer(b->plan, e->source, b->err);
}

/* Only in memory: nothing is made on the host. */
static int add_copy(struct builder *b, const struct view_entry *e)
{
	char found[PATH_MAX];
	const struct plan_op *op = view_find(b->plan, e->path, found);
	int r;

	if (!op || op->kind != OP_TMPFS || strcmp(found, e->path) != 0)
		return 0;
	r = add(b, OP_FILE, e->source, e->path, PLAN_TEXT | PLAN_HAS_PERMS);
	if (r >= 0)
		last_op(b)->perms = 0600;
	return r;
}

static int add_asked(struct builder *b, const struct view_entry *e)
{
	if (e->class == VIEW_RO && !is_of_system(e->source))
		return add_own(b, e, e->is_real ? PLAN_REAL : 0);
	return add(b, OP_BIND, e->source, e->path,
		   (e->class == VIEW_RW ? 0 : PLAN_RO) |
			   (e->is_real ? PLAN_REAL : 0) |
			   (e->item && e->item->key == KEY_DATA ? PLAN_NOEXEC
								: 0));
}

/* In this order: of two at one place the later one is seen. */
static const struct {
	enum view_class class;
	int (*add)(struct builder *b, const struct view_entry *e);
} passes[] = {
	{ VIEW_SHOW, add_shown },   { VIEW_TEXT, add_text },
	{ VIEW_RO, add_asked },	    { VIEW_RW, add_asked },
	{ VIEW_SOCKET, add_asked }, { VIEW_EMPTY, add_blank },
	{ VIEW_FRESH, add_fresh },  { VIEW_PASSING, add_passing },
	{ VIEW_COPY, add_copy },
};

/* The operations of a class, each with what asked for it. */
static int add_entries(struct builder *b, enum view_class class,
		       int (*add_one)(struct builder *,
				      const struct view_entry *))
{
	const struct view_request *q = b->request;

	for (size_t i = 0; i < q->n_entries; i++) {
		size_t from = b->plan->n_ops;
		int r;

		if (q->entries[i].class != class ||
		    q->entries[i].found == VIEW_ABSENT)
			continue;
		r = add_one(b, &q->entries[i]);
		if (r < 0)
			return r;
		for (; from < b->plan->n_ops; from++)
			b->plan->ops[from].origin = q->entries[i].item;
	}
	return 0;
}

static int add_resource(struct builder *b, const struct view_resource *resource)
{
	const char *tree =
		resource->is_direct ? resource->source : resource->tree;
	struct plan_op *op;
	int r;

	if (tree) {
		r = add(b, OP_BIND, tree, resource->inside, 0);
		if (r >= 0)
			last_op(b)->origin = resource->item;
		return r;
	}
	r = add(b, OP_OVERLAY, NULL, resource->inside,
		resource->upper ? (b->request->is_volatile ? PLAN_VOLATILE : 0)
				: PLAN_OVERLAY_TMP | PLAN_HAS_PERMS);
	if (r < 0)
		return r;
	op = last_op(b);
	if (resource->role == VIEW_CACHE)
		op->flags |= PLAN_TRY;
	op->perms = resource->mode;
	op->size = b->request->settings->size;
	op->first_layer = b->plan->n_layers;
	op->n_layers = 1 + resource->n_layers;
	op->upper = resource->upper;
	op->work = resource->work;
	op->record = resource->record;
	op->origin = resource->item;
	r = plan_add_layer(b->plan, resource->source, b->err);
	for (size_t i = 0; r >= 0 && i < resource->n_layers; i++)
		r = plan_add_layer(b->plan, resource->layers[i], b->err);
	return r;
}

static int add_covers(struct builder *b)
{
	const struct view_request *q = b->request;
	int r = 0;

	/* What cannot be read is something that programs complain about. */
	for (size_t i = 0; r >= 0 && i < q->n_covered; i++)
		if (view_has(b->plan, q->covered[i]))
			r = add_empty(b, q->covered[i], 0555);
	return r;
}

/*
 * A place that is not the source's own may have to be made, and nothing is made
 * on the host.
 */
static int check_places(const struct builder *b)
{
	const struct view_request *q = b->request;

	for (size_t i = 0; i < q->n_resources; i++) {
		const char *inside = q->resources[i].inside;
		struct path_part dir = path_dirname(inside);
		char parent[PATH_MAX], found[PATH_MAX], shown[QUOTE_SHOWN];

		if (strcmp(inside, q->resources[i].source) == 0)
			continue;
		(void)snprintf(parent, sizeof(parent), "%.*s", (int)dir.n,
			       dir.s);
		if (!is_real(view_find(b->plan, parent, found)))
			continue;
		hb_fix(b->err, "choose another place for it");
		return hb_fail(b->err, -HB_E_USAGE,
			       "'%s' would lie among files that are real",
			       quote_shown(inside, shown, sizeof(shown)));
	}
	return 0;
}

/* A name under which something in the view is also known. */
static int add_name(struct builder *b, const char *name, const char *path)
{
	if (!name || !path || strcmp(name, path) == 0 ||
	    path_has_dotdot(name) || view_has(b->plan, name))
		return 0;
	return add(b, OP_SYMLINK, path, name, 0);
}

static int add_names(struct builder *b)
{
	const struct view_request *q = b->request;
	int r;

	r = add_name(b, b->host->home_name, b->host->home);
	if (r >= 0)
		r = add_name(b, q->cwd_name, q->cwd);
	for (size_t i = 0; r >= 0 && i < q->n_entries; i++)
		if (view_is_asked(&q->entries[i]))
			r = add_name(b, q->entries[i].name, q->entries[i].path);
	return r;
}

/* Whether a file there is in the private home directory, and no user's own. */
static bool is_private(const struct builder *b, const char *path)
{
	char found[PATH_MAX];
	const struct plan_op *op = view_find(b->plan, path, found);

	return op && strcmp(found, path) == 0 &&
	       strcmp(op->dest, b->host->home) == 0 &&
	       (op->kind == OP_TMPFS ||
		(op->kind == OP_BIND && op->flags & PLAN_OURS));
}

static int add_shell(struct builder *b, const struct view_shell *shell)
{
	char path[PATH_MAX];
	const char *dest;
	int r;

	if (path_join(b->host->home, shell->name, path, sizeof(path)) < 0 ||
	    !is_private(b, path))
		return 0;
	r = plan_keep_text(b->plan, path, &dest, b->err);
	if (r >= 0)
		r = add(b, OP_FILE, shell->text, dest,
			PLAN_TEXT | PLAN_HAS_PERMS | PLAN_TRY);
	if (r >= 0)
		last_op(b)->perms = 0644;
	return r;
}

static int add_shells(struct builder *b)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && b->host->home && i < VIEW_SHELLS; i++)
		r = add_shell(b, &view_shells[i]);
	return r;
}

/* What was given by name wins over what is ours, so this looks at all of it. */
static int add_work_dir(struct builder *b)
{
	const char *path = view_work_dir(b->plan);
	int r;

	if (!path) {
		hb_fix(b->err, "leave out one of /tmp, /run and /dev/shm");
		return hb_fail(b->err, -HB_E_USAGE,
			       "no place is left for AGENT_WORK_DIR");
	}
	r = add(b, OP_DIR, NULL, path, PLAN_HAS_PERMS);
	if (r >= 0)
		last_op(b)->perms = 0700;
	return r;
}

void view_terminal(const struct settings *s, struct plan *plan)
{
	plan_set_tty(plan, settings_tty(s));
	if (strcmp(s->clipboard, "write") == 0)
		plan->settings |= PLAN_CLIPBOARD;
}

void view_limits(const struct settings *s, struct plan *plan)
{
	plan->limits = (struct plan_limits){
		.memory = s->memory,
		.cpus = s->cpus,
		.pids = s->pids,
		.is_pids_usual = s->origins[KEY_PIDS].source == SETTING_DEFAULT,
		.seconds = s->timeout,
		.min_free = s->min_free,
		.inodes = s->inodes,
		.inotify = s->inotify
	};
}

/* Whether something that is written is on the host at once. */
static bool has_real_writes(const struct view_request *q)
{
	for (size_t i = 0; i < q->n_resources; i++)
		if (q->resources[i].is_direct)
			return true;
	for (size_t i = 0; i < q->n_entries; i++)
		if (q->entries[i].class == VIEW_RW &&
		    q->entries[i].found != VIEW_ABSENT)
			return true;
	return false;
}

/* Whether changes are held back by an overlay, which has rules of its own. */
static bool has_overlay(const struct plan *plan)
{
	for (size_t i = 0; i < plan->n_ops; i++)
		if (plan->ops[i].kind == OP_OVERLAY)
			return true;
	return false;
}

static void set_settings(const struct builder *b)
{
	const struct settings *s = b->request->settings;
	struct plan *plan = b->plan;

	plan->ns = PLAN_NS_USER | PLAN_NS_IPC | PLAN_NS_PID | PLAN_NS_UTS |
		   PLAN_NS_CGROUP;
	if (!settings_share_net(s))
		plan->ns |= PLAN_NS_NET;
	plan->settings = PLAN_FILTER | PLAN_JOBS | PLAN_CLOSE_FDS |
			 PLAN_WAIT_ALL | PLAN_PROVE | PLAN_LIMITS |
			 PLAN_DIE_WITH_PARENT;
	view_terminal(s, plan);
	if (s->no_ptrace)
		plan->settings |= PLAN_FILTER_NO_PTRACE;
	if (strcmp(s->rename_directories, "yes") == 0 && has_overlay(plan))
		plan->settings |= PLAN_RENAMES;
	if (settings_record_calls(s))
		plan->settings |= PLAN_CALLS;
	if (strcmp(s->audit, key_audits[AUDIT_ALL]) == 0)
		plan->settings |= PLAN_LOOKS;
	if (has_real_writes(b->request))
		plan->settings |= PLAN_FILTER_NO_SETID;
	/*
	 * Under landlock's file rules no process mounts, not even further in.
	 */
	plan->settings |= s->allow_nested ? PLAN_FILTER_NESTED
					  : PLAN_NO_USERNS | PLAN_LANDLOCK;
	if (b->host->is_root)
		plan->settings |= PLAN_MAP_ALL;
	plan->chdir = b->request->cwd;
	view_limits(s, plan);
}

int view_build(const struct view_request *request, const struct view_host *host,
	       struct plan *plan, struct hb_error *err)
{
	struct builder b = { request, host, plan, err };
	int r;

	r = add_host(&b);
	if (r >= 0)
		r = add_private(&b);
	if (r >= 0 && host->home && !is_taken(&b, host->home) &&
	    !is_in_resource(&b, host->home))
		r = host->home_dir ? add(&b, OP_BIND, host->home_dir,
					 host->home, PLAN_OURS)
				   : add_memory(&b, host->home, 0700);
	for (size_t i = 0; r >= 0 && i < request->n_resources; i++)
		r = add_resource(&b, &request->resources[i]);
	for (size_t i = 0; r >= 0 && i < sizeof(passes) / sizeof(passes[0]);
	     i++)
		r = add_entries(&b, passes[i].class, passes[i].add);
	/* These look at what is there so far. */
	if (r >= 0)
		r = check_places(&b);
	if (r >= 0)
		r = add_entries(&b, VIEW_HIDE, add_hidden);
	if (r >= 0)
		r = add_covers(&b);
	if (r >= 0)
		r = add_names(&b);
	if (r >= 0)
		r = add_shells(&b);
	if (r >= 0)
		r = add_work_dir(&b);
	if (r < 0)
		return r;
	plan_sort_by_dest(plan);
	set_settings(&b);
	return view_env(request, host, plan, err);
}
