/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/carried.h"
#include "agent/shelf.h"
#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/path.h"
#include "base/quote.h"
#include "holdback/session.h"
#include "holdback/state.h"
#include "host/look.h"
#include "session/create.h"
#include "session/publish/carry_fill.h"
#include "session/publish/carry_note.h"
#include "session/publish/login_publish.h"
#include "session/session.h"
#include "store/resource.h"
#include "store/store.h"
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The carried state of agents, for the user: looked at, forgotten, taken. */

#define STEM	   "state"
#define NUMBER_MAX 1000

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY)

struct walk;
typedef int (*walk_fn)(struct walk *walk, int dir, const struct carried *c,
		       struct hb_error *err);

struct walk {
	const struct hb_state_options *options;
	const struct hb_store *store;
	const struct shelf *shelf; /* that is visited */
	walk_fn fn;
	hb_state_fn tell;
	void *ctx;
	char **paths; /* of the shelf, if they are told */
	size_t n_paths;
	uint64_t n;
	bool has_login;
	char home[PATH_MAX]; /* "": only state directories are committed */
	struct session_record *record;
	struct hb_session *session;
};

static int find_project(const struct hb_store *store,
			const struct hb_state_options *options,
			struct shelf_project *ret, char *ret_path,
			struct hb_error *err)
{
	char cwd[PATH_MAX], home[PATH_MAX] = "";
	auto_fd int fd = -1;
	int r = options->project ? 0 : look_cwd(cwd, err);

	if (r < 0)
		return r;
	(void)look_home(store->envp, home);
	if (options->project)
		(void)snprintf(ret_path, PATH_MAX, "%s", options->project);
	else
		look_workspace(cwd, home[0] ? home : NULL, ret_path);
	r = fd = sys_openat(AT_FDCWD, ret_path, DIR_FLAGS, 0);
	if (r < 0)
		return hb_fail(err, r, "cannot open the project");
	return shelf_find_project(fd, ret, err);
}

static int visit_file(void *ctx, int dir, const struct carried *c,
		      struct hb_error *err)
{
	struct walk *walk = ctx;

	if (walk->options->path && strcmp(walk->options->path, c->path) != 0)
		return 0;
	return walk->fn(walk, dir, c, err);
}

static int keep_path(void *ctx, int dir, const struct carried *c,
		     struct hb_error *err)
{
	struct walk *walk = ctx;

	(void)dir;
	if (grow(walk->paths, walk->n_paths) < 0)
		return hb_fail(err, -ENOMEM, "cannot list the carried state");
	walk->paths[walk->n_paths] = strdup(c->path);
	if (!walk->paths[walk->n_paths])
		return hb_fail(err, -ENOMEM, "cannot list the carried state");
	walk->n_paths++;
	return 0;
}

static int by_path(const void *a, const void *b)
{
	return path_compare(*(char *const *)a, *(char *const *)b);
}

/* For people: a shelf has its files in the order of digests. */
static int visit_sorted(struct walk *walk, int dir, struct hb_error *err)
{
	int r = carried_each(dir, keep_path, walk, err);

	if (walk->n_paths > 1)
		qsort(walk->paths, walk->n_paths, sizeof(*walk->paths),
		      by_path);
	for (size_t i = 0; i < walk->n_paths; i++) {
		char name[CARRIED_NAME_SIZE];
		struct carried c;

		carried_name(walk->paths[i], name);
		free(walk->paths[i]);
		/* Another command may have removed it since. */
		if (r >= 0 && carried_read(dir, name, &c, NULL, NULL) >= 0)
			r = visit_file(walk, dir, &c, err);
	}
	free(walk->paths);
	walk->paths = NULL;
	walk->n_paths = 0;
	return r;
}

static int visit_shelf(void *ctx, const struct shelf *shelf,
		       struct hb_error *err)
{
	struct walk *walk = ctx;

	if (walk->options->agent &&
	    strcmp(walk->options->agent, shelf->agent) != 0)
		return 0;
	walk->shelf = shelf;
	return walk->tell ? visit_sorted(walk, shelf->dir, err)
			  : carried_each(shelf->dir, visit_file, walk, err);
}

static int each_shelf(struct walk *walk, shelf_fn fn, struct hb_error *err)
{
	struct shelf_project project;
	char path[PATH_MAX];
	int r = 0;

	if (!walk->options->is_all)
		r = find_project(walk->store, walk->options, &project, path,
				 err);
	if (r >= 0)
		r = shelf_each(walk->store->dir,
			       walk->options->is_all ? NULL : &project, fn,
			       walk, err);
	return r;
}

static int each(struct walk *walk, struct hb_error *err)
{
	return each_shelf(walk, visit_shelf, err);
}

/* The directory of the host that has the file; -ENOENT: none does. */
static int open_host(const struct carried *c)
{
	struct path_part parent = path_dirname(c->path);
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%.*s", (int)parent.n, parent.s);
	return sys_openat(AT_FDCWD, path, DIR_FLAGS, 0);
}

static int read_text(int dir, const struct carried *c, struct buf *text,
		     struct hb_error *err)
{
	char name[CARRIED_NAME_SIZE];
	struct carried whole;

	carried_name(c->path, name);
	return carried_read(dir, name, &whole, text, err);
}

static int tell(struct walk *walk, int dir, const struct carried *c,
		struct hb_error *err)
{
	auto_buf struct buf text = BUF_INIT(CARRIED_FILE_MAX + 1);
	struct hb_state_file file = {
		.project = walk->shelf->where,
		.agent = walk->shelf->agent,
		.path = c->path,
		.class = state_class_name(c->class),
		.type = carried_type_name(c->type),
		.size = c->size,
		.time = c->time,
		.policy = c->policy,
		.is_outdated = strcmp(c->host, CARRIED_HOST_OTHER) == 0 ||
			       strcmp(c->host, CARRIED_HOST_SAID) == 0,
	};
	int r = walk->options->path ? read_text(dir, c, &text, err) : 0;

	if (r < 0)
		return r;
	if (walk->options->path)
		file.text = buf_str(&text);
	return walk->tell(walk->ctx, &file, err);
}

int hb_state_list(struct hb_store *store,
		  const struct hb_state_options *options, hb_state_fn fn,
		  void *ctx, struct hb_error *err)
{
	struct walk walk = { .options = options,
			     .store = store,
			     .fn = tell,
			     .tell = fn,
			     .ctx = ctx };

	return each(&walk, err);
}

int hb_session_state(struct hb_session *session, hb_state_fn fn, void *ctx,
		     struct hb_error *err)
{
	const struct hb_state_options options = {
		.project = session->record.resources[0].source,
	};
	struct walk walk = { .options = &options,
			     .store = session->store,
			     .fn = tell,
			     .tell = fn,
			     .ctx = ctx };
	int r = each(&walk, err);

	/* A directory that is gone is told elsewhere, and has no state. */
	if (r >= 0 || r == -ENOENT || r == -EACCES || r == -ENOTDIR) {
		if (err)
			*err = (struct hb_error){ 0 };
		return 0;
	}
	return r;
}

static int forget(struct walk *walk, int dir, const struct carried *c,
		  struct hb_error *err)
{
	int r = carried_remove(dir, c->path);

	walk->n++;
	return r < 0 ? hb_fail(err, r, "cannot forget '%s'", c->path) : 0;
}

static int change(struct hb_store *store,
		  const struct hb_state_options *options, walk_fn fn,
		  uint64_t *ret_n, struct hb_error *err)
{
	struct walk walk = { .options = options, .store = store, .fn = fn };
	int r = each(&walk, err);

	*ret_n = walk.n;
	return r;
}

/* Of type shelf_fn: also what no file can be told from any more. */
static int forget_shelf(void *ctx, const struct shelf *shelf,
			struct hb_error *err)
{
	struct walk *walk = ctx;
	const struct hb_state_options *options = walk->options;
	auto_fd int lock = -1;
	int r;

	if (options->agent && strcmp(options->agent, shelf->agent) != 0)
		return 0;
	r = lock = shelf_lock(shelf->dir, err);
	if (r >= 0)
		r = visit_shelf(walk, shelf, err);
	if (r >= 0 && !options->path) {
		r = carried_sweep(shelf->dir, err);
		walk->n += r > 0 ? (uint64_t)r : 0;
	}
	fd_closep(&lock);
	shelf_tidy(walk->store->dir, &shelf->project, shelf->agent);
	return r < 0 ? r : 0;
}

int hb_state_forget(struct hb_store *store,
		    const struct hb_state_options *options, uint64_t *ret_n,
		    struct hb_error *err)
{
	struct walk walk = { .options = options, .store = store, .fn = forget };
	int r = each_shelf(&walk, forget_shelf, err);

	*ret_n = walk.n;
	return r;
}

/* Any policy fits, and the host has what it is supposed to have. */
static int take(struct walk *walk, int dir, const struct carried *c,
		struct hb_error *err)
{
	auto_buf struct buf text = BUF_INIT(CARRIED_FILE_MAX + 1);
	auto_fd int host = open_host(c);
	struct carried fresh = *c;
	int r = 0;

	fresh.host[0] = '\0';
	(void)snprintf(fresh.policy, sizeof(fresh.policy), "%s",
		       CARRIED_POLICY_ANY);
	if (host >= 0)
		r = carry_host_digest(host, strrchr(c->path, '/') + 1, c->keys,
				      fresh.host);
	if (r >= 0)
		r = read_text(dir, c, &text, err);
	if (r >= 0)
		r = carried_write(dir, &fresh, text.data, CARRIED_NEW "taken",
				  err);
	walk->n++;
	return r < 0 ? hb_fail(err, r, "cannot take '%s'", c->path) : 0;
}

int hb_state_take(struct hb_store *store,
		  const struct hb_state_options *options, uint64_t *ret_n,
		  struct hb_error *err)
{
	return change(store, options, take, ret_n, err);
}

static int publish(struct walk *walk, int dir, const struct carried *c,
		   struct hb_error *err)
{
	int r = login_publish_carried(walk->store->dir, walk->shelf->agent, dir,
				      c, err);

	walk->has_login |= r >= 0;
	walk->n += r > 0;
	return r == -ENOENT ? 0 : r;
}

int hb_state_publish(struct hb_store *store,
		     const struct hb_state_options *options, uint64_t *ret_n,
		     struct hb_error *err)
{
	struct walk walk = { .options = options,
			     .store = store,
			     .fn = publish };
	int r = each(&walk, err);

	if (r < 0)
		return r;
	if (!walk.has_login) {
		hb_fix(err, "holdback state lists the files that are carried");
		return hb_fail(err, -HB_E_STATE,
			       "no login of '%.64s' is carried for this "
			       "project",
			       options->agent);
	}
	*ret_n = walk.n;
	return 0;
}

/*
 * `name`: the agent's, which a link has that leads to `path`; or "".  The home
 * directory holds the project and what links lead to; carry_find_resource()
 * puts a file into the innermost of the state directories.
 */
static int add_resource(struct walk *walk, const char *path, const char *name,
			const char *role, struct hb_error *err)
{
	struct record_resource *resource = NULL;
	int r = resource_add_apart(walk->store, path, name[0] ? name : path,
				   walk->record, &resource, err);

	if (r >= 0)
		(void)snprintf(resource->role, sizeof(resource->role), "%s",
			       role);
	return r;
}

/* A file at the top of the home directory: that is the one resource then. */
static int find_top(struct walk *walk, int dir, const struct carried *c,
		    struct hb_error *err)
{
	(void)dir;
	(void)err;
	if (c->class == STATE_RUNS && !c->root[0])
		(void)look_home(walk->store->envp, walk->home);
	return 0;
}

/* The state directories of what is to be committed, as resources. */
static int add_root(struct walk *walk, int dir, const struct carried *c,
		    struct hb_error *err)
{
	const char *root = c->root;

	(void)dir;
	if (c->class != STATE_RUNS)
		return 0;
	walk->n++;
	if (walk->home[0] && !c->name[0])
		root = walk->home;
	for (size_t i = 0; i < walk->record->n_resources; i++)
		if (strcmp(walk->record->resources[i].source, root) == 0)
			return 0;
	return add_resource(walk, root, root == c->root ? c->name : "", "state",
			    err);
}

static int make_session(struct hb_store *store, struct session_record *record,
			struct hb_error *err)
{
	const struct hb_create_options asked = { .is_quiet = true };
	struct hb_error why = { 0 };
	int r = -HB_E_STATE;

	for (unsigned i = 1; i <= NUMBER_MAX; i++) {
		(void)snprintf(record->name, sizeof(record->name), STEM "-%u",
			       i);
		why = (struct hb_error){ 0 };
		r = session_check_new(store, record->name, &why);
		if (r >= 0)
			r = session_make(store, record, NULL, &asked, NULL,
					 &why);
		if (r != -HB_E_STATE)
			break;
	}
	return hb_pass(err, &why, r);
}

/* Of type shelf_fn: every agent's files into the one session. */
static int fill_shelf(void *ctx, const struct shelf *shelf,
		      struct hb_error *err)
{
	struct walk *walk = ctx;
	auto_carry_note struct carry_note note = { .project = shelf->project };

	if (walk->options->agent &&
	    strcmp(walk->options->agent, shelf->agent) != 0)
		return 0;
	(void)snprintf(note.agent, sizeof(note.agent), "%s", shelf->agent);
	return carry_take(walk->session, &note, err);
}

int hb_state_begin(struct hb_store *store,
		   const struct hb_state_options *options,
		   struct hb_session **ret_session, struct hb_error *err)
{
	auto_record struct session_record record = { 0 };
	struct walk walk = { .options = options,
			     .store = store,
			     .fn = find_top,
			     .record = &record };
	char path[PATH_MAX], real[PATH_MAX], ref[RECORD_NAME_MAX + 2];
	struct shelf_project project;
	int r;

	r = find_project(store, options, &project, path, err);
	if (r >= 0)
		r = look_real(path, real);
	/* With nothing in it, so that the session is found from there. */
	if (r >= 0)
		r = add_resource(&walk, real, "", "workspace", err);
	if (r >= 0)
		r = each(&walk, err);
	walk.fn = add_root;
	if (r >= 0)
		r = each(&walk, err);
	if (r < 0)
		return r;
	if (walk.n == 0) {
		hb_fix(err, "holdback state lists the files that are carried");
		return hb_fail(err, -HB_E_STATE,
			       "no state of an agent waits to be committed for "
			       "this project");
	}
	r = make_session(store, &record, err);
	(void)snprintf(ref, sizeof(ref), "@%s", record.name);
	if (r >= 0)
		r = hb_session_open(store, ref, HB_OPEN_CHANGE, &walk.session,
				    err);
	if (r >= 0)
		r = shelf_each(store->dir, &project, fill_shelf, &walk, err);
	if (r < 0 && walk.session) {
		(void)hb_session_cleanup(walk.session, NULL);
		hb_session_free(walk.session);
		return r;
	}
	*ret_session = walk.session;
	return r;
}

static int drop_equal(struct walk *walk, int dir, const struct carried *c,
		      struct hb_error *err)
{
	auto_fd int host = open_host(c);

	(void)walk;
	(void)err;
	if (carry_is_equal(dir, c, host, strrchr(c->path, '/') + 1))
		(void)carried_remove(dir, c->path);
	return 0;
}

int hb_state_end(struct hb_store *store, const struct hb_state_options *options,
		 struct hb_error *err)
{
	struct walk walk = { .options = options,
			     .store = store,
			     .fn = drop_equal };

	return each(&walk, err);
}
