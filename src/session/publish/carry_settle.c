/* SPDX-License-Identifier: Apache-2.0 */
#include "session/publish/carry_settle.h"

#include "agent/carried.h"
#include "agent/shelf.h"
#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/path.h"
#include "base/quote.h"
#include "session/open.h"
#include "session/publish/carry_fill.h"
#include "session/publish/carry_hide.h"
#include "session/publish/carry_note.h"
#include "session/publish/carry_place.h"
#include "session/publish/login_file.h"
#include "session/publish/publish.h"
#include "session/session.h"
#include "store/layout.h"
#include "store/resource.h"
#include "store/store.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define UPPER	  "upper"
#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW)

struct settle {
	struct hb_session *s;
	const struct carry_note *note;
	int shelf;
	size_t resource;
	size_t n_carried;
	const char *place; /* the first directory of carried files; or NULL */
	struct shelf_load *load; /* no files: it is not known yet */
	bool is_spread;		 /* others lie elsewhere */
	bool has_data;		 /* something of it the agent only reads */
	int failed;		 /* the first failure: the note stays */
	/* Side files that the run has left, which are gone from the layer. */
	char **sides;
	size_t n_sides;
};

/* The files of a database that belong to the one of this name. */
static const char *const side_files[] = { "-wal", "-journal" };

static bool ends_with(const char *path, const char *end)
{
	size_t n = strlen(path), n_end = strlen(end);

	return n > n_end && strcmp(path + n - n_end, end) == 0;
}

static bool is_side_file(const char *path)
{
	return ends_with(path, "-shm");
}

static bool has_side(const struct settle *w, const char *path)
{
	for (size_t i = 0; i < w->n_sides; i++)
		if (strcmp(w->sides[i], path) == 0)
			return true;
	return false;
}

/* A walk has no order: the database may come after its side files. */
static int note_side(struct settle *w, const char *path)
{
	bool is_side = false;

	for (size_t i = 0; i < sizeof(side_files) / sizeof(side_files[0]); i++)
		is_side |= ends_with(path, side_files[i]);
	if (!is_side)
		return 0;
	if (grow(w->sides, w->n_sides) < 0)
		return -ENOMEM;
	w->sides[w->n_sides] = strdup(path);
	return w->sides[w->n_sides] ? (int)++w->n_sides : -ENOMEM;
}

static void free_sides(struct settle *w)
{
	while (w->n_sides > 0)
		free(w->sides[--w->n_sides]);
	free(w->sides);
}

static bool is_later(const struct timespec *t, const struct carry_note *note)
{
	return t->tv_sec > note->begun ||
	       (t->tv_sec == note->begun && t->tv_nsec > note->begun_nsec);
}

/* What tells the host's version of a file. */
struct versions {
	char host[CARRIED_HOST_SIZE], login[CARRIED_HOST_SIZE];
};

/* What the host has, and "?" if it was changed while the box ran. */
static int look_at_host(const struct settle *w, int base, const char *path,
			const char *keys, bool is_published, struct versions *v)
{
	char *ret = v->host;
	const char *slash = strrchr(path, '/');
	char parent[PATH_MAX];
	struct sys_attr attr;
	auto_fd int dir = -1;
	int r;

	*v = (struct versions){ 0 };
	(void)snprintf(parent, sizeof(parent), "./%.*s",
		       slash ? (int)(slash - path) : 0, path);
	dir = sys_openat2(base, parent, O_RDONLY | O_DIRECTORY, 0,
			  K_RESOLVE_BENEATH | K_RESOLVE_NO_SYMLINKS |
				  K_RESOLVE_NO_MAGICLINKS);
	if (dir < 0)
		return dir == -ENOENT ? 0 : dir;
	path = slash ? slash + 1 : path;
	r = carry_host_digest(dir, path, keys, ret);
	carry_login_digest(dir, path, keys, v->login);
	if (r >= 0 && !is_published && sys_attr_at(dir, path, &attr) >= 0 &&
	    is_later(&attr.ctime, w->note))
		(void)snprintf(ret, CARRIED_HOST_SIZE, "%s",
			       CARRIED_HOST_OTHER);
	return r;
}

static int read_file(int dir, const char *name, const struct sys_attr *attr,
		     struct buf *text)
{
	auto_free char *bytes = NULL;
	auto_fd int fd = -1;
	ssize_t n;

	if (attr->size > CARRIED_FILE_MAX)
		return -EFBIG;
	fd = sys_openat(dir, name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
	bytes = malloc(attr->size + 1);
	if (fd < 0 || !bytes)
		return fd < 0 ? fd : -ENOMEM;
	n = sys_pread_full(fd, bytes, attr->size, 0);
	return n < 0 ? (int)n : buf_add(text, bytes, (size_t)n);
}

/* The object as it is carried; -EINVAL: it is of no type that is. */
static int read_object(int dir, const char *name, const struct sys_attr *attr,
		       struct carried *c, struct buf *text)
{
	char target[PATH_MAX];
	ssize_t n;

	c->mode = attr->mode & 0777;
	if (S_ISREG(attr->mode)) {
		c->type = CARRIED_FILE;
		return read_file(dir, name, attr, text);
	}
	if (S_ISLNK(attr->mode)) {
		c->type = CARRIED_LINK;
		n = sys_readlinkat(dir, name, target, sizeof(target));
		return n < 0 ? (int)n : buf_add(text, target, (size_t)n);
	}
	if (S_ISCHR(attr->mode) && attr->rdev_major == 0 &&
	    attr->rdev_minor == 0) {
		c->type = CARRIED_GONE;
		return 0;
	}
	return -EINVAL;
}

/* A database of ours does not go with the side files of another run. */
static void drop_side_files(const struct settle *w, int dir, const char *name,
			    const char *path)
{
	for (size_t i = 0; i < sizeof(side_files) / sizeof(side_files[0]);
	     i++) {
		char side[PATH_MAX], file[NAME_MAX + 1];
		struct sys_attr attr;

		if (snprintf(side, sizeof(side), "%s%s", path, side_files[i]) >=
			    (int)sizeof(side) ||
		    snprintf(file, sizeof(file), "%s%s", name, side_files[i]) >=
			    (int)sizeof(file))
			continue;
		if (sys_attr_at(dir, file, &attr) == -ENOENT &&
		    !has_side(w, side))
			(void)carried_remove(w->shelf, side);
	}
}

/* Whether the host has the same, but for what is published. */
static bool is_hosts(const struct carried *c, const struct buf *text)
{
	char digest[CARRIED_HOST_SIZE];

	if (c->type == CARRIED_GONE)
		return !c->host[0];
	carry_text_digest(buf_str(text), text->len, c->keys, digest);
	return strcmp(digest, c->host) == 0;
}

/* Whether the members of a login are the host's. */
static bool has_hosts_login(const struct carried *c, const struct buf *text)
{
	char digest[CARRIED_HOST_SIZE];

	carry_members_digest(buf_str(text), text->len, c->keys, digest);
	return strcmp(digest, c->login) == 0;
}

/* Whether it is a login that its agent did not write to the end. */
static bool is_cut_login(const struct settle *w, const struct carried *c,
			 const struct buf *text)
{
	auto_buf struct buf old = BUF_INIT(CARRIED_FILE_MAX + 1);
	char file[CARRIED_NAME_SIZE];
	struct carried before;

	if (c->type != CARRIED_FILE || (c->class != STATE_LOGIN && !c->keys[0]))
		return false;
	carried_name(c->path, file);
	if (carried_read(w->shelf, file, &before, &old, NULL) < 0)
		buf_cut(&old, 0);
	return login_file_is_cut(c->path, buf_str(&old), old.len, buf_str(text),
				 text->len);
}

static void say_cut(const struct settle *w, const char *path)
{
	char shown[QUOTE_SHOWN];

	store_say(w->s->store,
		  "session '%s': '%s' is not whole: the host's stays, and the "
		  "next run has the last whole one",
		  w->s->record.name, quote_shown(path, shown, sizeof(shown)));
}

/* A link of the user may lead to the directory: rules know it by the link. */
static void name_root(const struct settle *w, struct carried *c)
{
	const struct record_resource *resource =
		&w->s->record.resources[w->resource];

	if (strcmp(resource->inside, c->root) != 0)
		(void)snprintf(c->name, sizeof(c->name), "%s",
			       resource->inside);
}

/*
 * The shelf is weighed once: each file of many would read all the others.  What
 * is removed counts on until the next run.  -EFBIG.
 */
static int take_room(const struct settle *w, const struct carried *c)
{
	char name[CARRIED_NAME_SIZE];
	struct shelf_load load;
	struct carried before;
	int r = 0;

	if (!w->load->files)
		r = shelf_weigh(w->shelf, w->load, NULL);
	if (r < 0)
		return r;
	load = *w->load;
	carried_name(c->path, name);
	if (carried_read(w->shelf, name, &before, NULL, NULL) >= 0) {
		load.bytes -=
			before.size < load.bytes ? before.size : load.bytes;
		load.files -= load.files > 0;
	}
	load.bytes += c->size;
	load.files++;
	if (shelf_is_full(&load))
		return -EFBIG;
	*w->load = load;
	return 0;
}

/*
 * Carries what lies at `name`.  1: it is carried; 2: and is mere data; 0:
 * there is no need; -EFBIG,
 * -EINVAL: it cannot be.
 */
static int carry(const struct settle *w, int dir, const char *name,
		 const struct sys_attr *attr, const char *path,
		 const char *root, const struct versions *v)
{
	auto_buf struct buf text = BUF_INIT(CARRIED_FILE_MAX + 1);
	struct carried c = { .class = carry_note_class(w->note, path),
			     .time = w->s->record.used.tv_sec };
	char temporary[64];
	int r;

	(void)snprintf(c.path, sizeof(c.path), "%s", path);
	(void)snprintf(c.root, sizeof(c.root), "%s", root);
	if (root[0])
		name_root(w, &c);
	(void)snprintf(c.session, sizeof(c.session), "%s", w->s->record.id);
	(void)snprintf(c.host, sizeof(c.host), "%s", v->host);
	(void)snprintf(c.login, sizeof(c.login), "%s", v->login);
	(void)snprintf(c.policy, sizeof(c.policy), "%s", w->note->policy);
	(void)snprintf(c.keys, sizeof(c.keys), "%s",
		       carry_note_keys(w->note, path));
	r = read_object(dir, name, attr, &c, &text);
	if (r < 0)
		return r;
	/* A link in the place of a login would lead elsewhere. */
	if (c.class == STATE_LOGIN && c.type == CARRIED_LINK)
		return 0;
	if (is_cut_login(w, &c, &text)) {
		say_cut(w, path);
		return 0;
	}
	if (c.class == STATE_DATA)
		c.host[0] = '\0';
	/* Of data the host has none that counts. */
	if ((c.class == STATE_DATA && c.type == CARRIED_GONE) ||
	    (c.class != STATE_DATA && is_hosts(&c, &text) &&
	     has_hosts_login(&c, &text)))
		return carried_remove(w->shelf, path);
	c.size = text.len;
	r = take_room(w, &c);
	(void)snprintf(temporary, sizeof(temporary), CARRIED_NEW "%s",
		       w->s->record.id);
	if (r >= 0)
		r = carried_write(w->shelf, &c, text.data, temporary, NULL);
	if (r < 0)
		return r;
	drop_side_files(w, dir, name, path);
	return 1 + (c.class == STATE_DATA);
}

static bool stays(int r)
{
	return r == -EFBIG || r == -EINVAL || r == -EACCES || r == -ELOOP;
}

static void say_left(const struct settle *w, const char *path, int r)
{
	char shown[QUOTE_SHOWN];

	store_say(w->s->store,
		  "session '%s': '%s' is not carried to the next run (%s): it "
		  "stays in the session",
		  w->s->record.name, quote_shown(path, shown, sizeof(shown)),
		  r == -EFBIG ? "the state is too large" : hb_strerror(-r));
}

/* Of type tree_fn, on the upper of a state directory. */
static int settle_one(void *ctx, const struct tree_visit *visit,
		      struct hb_error *err)
{
	struct settle *w = ctx;
	const struct hb_session *s = w->s;
	const char *source = s->record.resources[w->resource].source;
	char path[PATH_MAX];
	struct versions v;
	int r = 0;

	(void)err;
	if (visit->when == TREE_LEAVE || S_ISDIR(visit->attr.mode)) {
		if (visit->when == TREE_LEAVE && visit->path[0])
			(void)sys_unlinkat(visit->dir, visit->name,
					   AT_REMOVEDIR);
		return 0;
	}
	if (path_join(source, visit->path, path, sizeof(path)) < 0)
		return 0;
	if (!is_side_file(path) &&
	    !carry_note_is_same(carry_note_find(w->note, path), &visit->attr)) {
		r = look_at_host(w, s->resources[w->resource].base, visit->path,
				 carry_note_keys(w->note, path), false, &v);
		if (r >= 0)
			r = carry(w, visit->dir, visit->name, &visit->attr,
				  path, source, &v);
		w->n_carried += r > 0;
		w->is_spread |=
			r > 0 && w->place && strcmp(w->place, source) != 0;
		if (r > 0 && !w->place)
			w->place = source;
		w->has_data |= r > 1;
	}
	if (r >= 0)
		r = note_side(w, path);
	if (r >= 0)
		r = sys_unlinkat(visit->dir, visit->name, 0);
	else if (stays(r))
		say_left(w, path, r);
	if (r < 0 && !stays(r) && w->failed == 0)
		w->failed = r;
	return 0;
}

/* With nothing in it, the top is as it was before the box. */
static void restore_top(const struct hb_session *s, size_t i)
{
	const struct resource *resource = &s->resources[i];
	auto_fd int top = sys_openat(resource->dir, RESOURCE_TOP, DIR_FLAGS, 0);
	struct sys_attr attr;

	if (top < 0 || sys_attr_at(top, "", &attr) < 0 ||
	    tree_is_empty(resource->dir, UPPER, TREE_OURS, NULL) != 1)
		return;
	(void)sys_fchmod(resource->upper, attr.mode & 07777);
	(void)sys_set_mtime_at(resource->dir, UPPER, attr.mtime);
}

static int settle_layers(struct settle *w, struct hb_error *err)
{
	struct hb_session *s = w->s;
	int r = session_open_resources(s, err);

	for (size_t i = 0; r >= 0 && i < s->record.n_resources; i++) {
		if (!carry_is_state(s, i) || s->resources[i].is_gone)
			continue;
		w->resource = i;
		r = tree_walk(s->resources[i].dir, UPPER, TREE_OURS, settle_one,
			      w, err);
		restore_top(s, i);
	}
	return r;
}

/* The files at the top of the home that a rule names. */
static int settle_home(struct settle *w, struct hb_error *err)
{
	const struct carry_note *note = w->note;
	auto_fd int home = -1;
	auto_fd int host = -1;

	(void)err;
	home = sys_openat(w->s->dir, PUBLISH_HOME, DIR_FLAGS, 0);
	host = sys_openat(AT_FDCWD, note->home, DIR_FLAGS, 0);
	for (size_t i = 0; home >= 0 && host >= 0 && i < note->n_rules; i++) {
		const char *path = note->rules[i].path;
		struct path_part parent = path_dirname(path);
		const char *name = strrchr(path, '/') + 1;
		struct versions v;
		struct sys_attr attr;
		int r;

		if (note->rules[i].class != STATE_LOGIN ||
		    parent.n != strlen(note->home) ||
		    memcmp(parent.s, note->home, parent.n) != 0 ||
		    sys_attr_at(home, name, &attr) < 0 ||
		    carry_note_is_same(carry_note_find(note, path), &attr))
			continue;
		r = look_at_host(w, host, name, note->rules[i].keys, true, &v);
		if (r >= 0)
			r = carry(w, home, name, &attr, path, "", &v);
		w->n_carried += r > 0;
		if (r < 0 && !stays(r) && w->failed == 0)
			w->failed = r;
	}
	return 0;
}

/* Whether the box still has a file that it was given. */
static bool has_given(const struct hb_session *s, const struct carry_note *note,
		      const char *path)
{
	struct sys_attr attr;

	for (size_t i = 0; i < s->record.n_resources; i++) {
		const char *source = s->record.resources[i].source;
		auto_fd int fd = -1;

		if (!carry_is_state(s, i) || !path_is_beneath(path, source))
			continue;
		/* What cannot be looked at is not known to be gone. */
		if (s->resources[i].is_gone)
			return true;
		fd = sys_openat2(s->resources[i].upper,
				 path + strlen(source) + 1, O_PATH | O_NOFOLLOW,
				 0,
				 K_RESOLVE_BENEATH | K_RESOLVE_NO_MAGICLINKS);
		return fd != -ENOENT && fd != -ENOTDIR;
	}
	if (path_is_beneath(path, note->home)) {
		auto_fd int home =
			sys_openat(s->dir, PUBLISH_HOME, DIR_FLAGS, 0);

		return home < 0 || sys_attr_at(home, strrchr(path, '/') + 1,
					       &attr) != -ENOENT;
	}
	return true;
}

/*
 * What the box removed is carried no more.  Where it had a copy of the host's
 * file, and no mark of an overlay says so, that it was removed is carried.
 */
static int carry_deletion(const struct settle *w, const char *path)
{
	const struct hb_session *s = w->s;
	size_t i = carry_find_resource(s, path);
	const char *source =
		i < s->record.n_resources ? s->record.resources[i].source : "";
	const struct sys_attr mark = { .mode = S_IFCHR };
	struct versions v;
	int r;

	/* Of data the host has none that counts. */
	if (!source[0] || carry_note_class(w->note, path) != STATE_RUNS)
		return carried_remove(w->shelf, path);
	r = look_at_host(w, s->resources[i].base, path + strlen(source) + 1, "",
			 false, &v);
	if (r >= 0)
		r = carry(w, -1, "", &mark, path, source, &v);
	return stays(r) || r > 0 ? 0 : r;
}

/* What the box was given and removed is carried no more. */
static int settle_deleted(struct settle *w, struct hb_error *err)
{
	int r = session_open_resources(w->s, err);

	for (size_t i = 0; r >= 0 && i < w->note->n_given; i++) {
		const struct carry_given *given = &w->note->given[i];
		char name[CARRIED_NAME_SIZE];
		struct sys_attr attr;

		if (has_given(w->s, w->note, given->path))
			continue;
		carried_name(given->path, name);
		/* Another run has written it since. */
		if (given->carried != 0 &&
		    (sys_attr_at(w->shelf, name, &attr) < 0 ||
		     attr.ino != given->carried))
			continue;
		r = carry_deletion(w, given->path);
	}
	return r < 0 ? hb_fail(err, r, "cannot settle the agent's state") : 0;
}

/* Where the state of the agent is, for people: its directory, or its name. */
static void say_carried(const struct settle *w)
{
	const struct session_record *record = &w->s->record;
	const char *home = w->note->home, *root = w->note->agent;
	char shown[QUOTE_SHOWN];
	bool is_below;

	if (w->n_carried == 0 || w->note->is_quiet)
		return;
	for (size_t i = 0; !w->place && i < record->n_resources; i++)
		if (carry_is_state(w->s, i)) {
			root = record->resources[i].source;
			break;
		}
	if (w->place)
		root = w->is_spread ? w->note->agent : w->place;
	is_below = home[0] && path_is_beneath(root, home);
	store_say(w->s->store,
		  "%s%s: %zu file%s of agent state %s kept for the next run; "
		  "holdback commit --state",
		  is_below ? "~" : "",
		  quote_shown(is_below ? root + strlen(home) : root, shown,
			      sizeof(shown)),
		  w->n_carried, w->n_carried == 1 ? "" : "s",
		  w->n_carried == 1 ? "is" : "are");
	if (w->has_data && w->note->resume[0])
		store_say(w->s->store,
			  "the conversation is kept for this project, and the "
			  "host has none of it; to go on: %s",
			  w->note->resume);
}

static int settle_with(struct hb_session *s, const struct carry_note *note,
		       bool has_deleted, struct hb_error *err)
{
	struct shelf_load load = { 0 };
	struct settle w = { .s = s, .note = note, .shelf = -1, .load = &load };
	auto_fd int shelf = -1;
	auto_fd int lock = -1;
	int r;

	r = shelf = shelf_open(s->store->dir, &note->project, note->agent,
			       note->where, err);
	if (r >= 0)
		r = lock = shelf_lock(shelf, err);
	w.shelf = shelf;
	if (r >= 0 && !has_deleted) {
		r = settle_deleted(&w, err);
		if (r >= 0)
			r = sys_renameat(s->dir, CARRY_NOTE, s->dir,
					 CARRY_SETTLING);
	}
	if (r >= 0)
		r = settle_home(&w, err);
	if (r >= 0)
		r = settle_layers(&w, err);
	free_sides(&w);
	if (r >= 0 && w.failed < 0)
		r = hb_fail(err, w.failed, "cannot carry the agent's state");
	if (r >= 0)
		r = sys_unlinkat(s->dir, CARRY_SETTLING, 0);
	if (r >= 0)
		say_carried(&w);
	fd_closep(&lock);
	shelf_tidy(s->store->dir, &note->project, note->agent);
	return r;
}

static void drop_notes(const struct hb_session *s)
{
	(void)sys_unlinkat(s->dir, CARRY_NOTE, 0);
	(void)sys_unlinkat(s->dir, CARRY_SETTLING, 0);
}

int carry_settle(struct hb_session *s, bool is_lost, struct hb_error *err)
{
	auto_carry_note struct carry_note note = { 0 };
	struct hb_error why = { 0 };
	bool has_deleted = false;
	int r = carry_note_read(s, CARRY_NOTE, &note, &why);

	if (r == -ENOENT) {
		has_deleted = true;
		r = carry_note_read(s, CARRY_SETTLING, &note, &why);
	}
	if (r == -ENOENT)
		return 0;
	/* Files may have been cut: they are for the user to look at. */
	if (r >= 0 && is_lost)
		r = hb_fail(&why, -HB_E_CORRUPT, "the machine went down");
	if (r >= 0)
		r = settle_with(s, &note, has_deleted, &why);
	/* Nothing is lost: all of it is in the session, as changes are. */
	if (r < 0 && carry_drop_marks(s, err) < 0)
		return -HB_E_STATE;
	if (r < 0)
		store_say(s->store,
			  "session '%s': the agent's state is not carried to "
			  "the next run, and stays in the session: %s: %s",
			  s->record.name, why.text, hb_strerror(why.code));
	if (r == -HB_E_CORRUPT)
		drop_notes(s);
	return 0;
}

struct forget {
	const struct hb_session *s;
	int failed;
};

static int forget_one(void *ctx, int dir, const struct carried *c,
		      struct hb_error *err)
{
	struct forget *forget = ctx;

	(void)err;
	if (strcmp(c->session, forget->s->record.id) == 0 &&
	    carried_remove(dir, c->path) < 0)
		forget->failed = -EIO;
	return 0;
}

static int forget_shelf(void *ctx, const struct shelf *shelf,
			struct hb_error *err)
{
	return carried_each(shelf->dir, forget_one, ctx, err);
}

int carry_forget(struct hb_session *s, struct hb_error *err)
{
	struct forget forget = { .s = s };
	int r = shelf_each(s->store->dir, NULL, forget_shelf, &forget, err);

	if (r >= 0 && forget.failed < 0)
		r = hb_fail(err, forget.failed,
			    "cannot forget the agent's state");
	return r;
}
