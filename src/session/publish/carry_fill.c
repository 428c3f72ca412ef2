/* SPDX-License-Identifier: Apache-2.0 */
#include "session/publish/carry_fill.h"

#include "agent/carried.h"
#include "agent/shelf.h"
#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/json_keys.h"
#include "base/path.h"
#include "base/quote.h"
#include "session/open.h"
#include "session/publish/carry_hide.h"
#include "session/publish/carry_note.h"
#include "session/publish/carry_place.h"
#include "session/publish/carry_policy.h"
#include "session/publish/login_file.h"
#include "session/session.h"
#include "store/store.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "sys/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW)

struct fill {
	struct hb_session *s;
	struct carry_note *note;
	int home; /* -1: what lies in state directories */
	size_t n_wider, n_failed;
	bool runs_only;
};

static int put_file(int dir, const char *name, const struct carried *c,
		    const struct buf *text)
{
	auto_fd int fd = sys_openat(
		dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	int r = fd < 0 ? fd : 0;

	if (r >= 0 && text->len > 0)
		r = sys_write_all(fd, text->data, text->len);
	return r < 0 ? r : sys_fchmod(fd, (mode_t)(c->mode & 0777));
}

static int put(int dir, const char *name, const struct carried *c,
	       const struct buf *text)
{
	switch (c->type) {
	case CARRIED_LINK:
		return sys_symlinkat(buf_str(text), dir, name);
	case CARRIED_GONE:
		return sys_make_whiteout(dir, name);
	case CARRIED_FILE:
	case CARRIED_TYPES:
		break;
	}
	return put_file(dir, name, c, text);
}

/* Once: the user has been told then. */
static void say_changed(const struct fill *f, const struct carried *c,
			int shelf)
{
	auto_buf struct buf text = BUF_INIT(CARRIED_FILE_MAX + 1);
	char shown[QUOTE_SHOWN], file[CARRIED_NAME_SIZE], temporary[64];
	struct carried whole;

	if (strcmp(c->host, CARRIED_HOST_SAID) == 0)
		return;
	(void)snprintf(temporary, sizeof(temporary), CARRIED_NEW "%s",
		       f->s->record.id);
	carried_name(c->path, file);
	if (carried_read(shelf, file, &whole, &text, NULL) >= 0) {
		(void)snprintf(whole.host, sizeof(whole.host), "%s",
			       CARRIED_HOST_SAID);
		(void)carried_write(shelf, &whole, text.data, temporary, NULL);
	}
	store_say(f->s->store,
		  "'%s' was changed outside since the last run: this run has "
		  "the host's version; to have the carried one: holdback state "
		  "%s --take",
		  quote_shown(c->path, shown, sizeof(shown)), f->note->agent);
}

bool carry_is_equal(int shelf, const struct carried *c, int host,
		    const char *name)
{
	auto_buf struct buf text = BUF_INIT(CARRIED_FILE_MAX + 1);
	char file[CARRIED_NAME_SIZE], digest[CARRIED_HOST_SIZE] = "";
	char mine[CARRIED_HOST_SIZE];
	struct carried whole;

	if (host >= 0 && carry_host_digest(host, name, c->keys, digest) < 0)
		return false;
	if (c->type == CARRIED_GONE || !digest[0])
		return c->type == CARRIED_GONE && !digest[0];
	carried_name(c->path, file);
	if (carried_read(shelf, file, &whole, &text, NULL) < 0)
		return false;
	carry_text_digest(buf_str(&text), text.len, c->keys, mine);
	return strcmp(mine, digest) == 0;
}

/* 1: the box is given it; 0: it has the host's version. */
static int may_give(struct fill *f, const struct carried *c, int shelf,
		    int host, const char *name)
{
	char digest[CARRIED_HOST_SIZE] = "";
	int r = 0;

	if (f->runs_only && f->home >= 0)
		return 0;
	if (c->class == STATE_RUNS &&
	    !carry_policy_fits(f->note->policy, c->policy)) {
		f->n_wider++;
		return 0;
	}
	/* The host's data is about other projects, and not seen. */
	if (c->class == STATE_DATA)
		return 1;
	if (host >= 0)
		r = carry_host_digest(host, name, c->keys, digest);
	if (r < 0)
		return r;
	if (strcmp(digest, c->host) == 0)
		return 1;
	if (carry_is_equal(shelf, c, host, name))
		return carried_remove(shelf, c->path);
	say_changed(f, c, shelf);
	return 0;
}

/* Of a login that was changed outside since, the host's members are given. */
static int take_login(const struct carried *c, int host, const char *name,
		      bool takes_hosts, struct buf *text)
{
	auto_buf struct buf merged = BUF_INIT(4 * CARRIED_FILE_MAX);
	char digest[CARRIED_HOST_SIZE];
	auto_free char *theirs = NULL;
	size_t n = 0;

	carry_login_digest(host, name, c->keys, digest);
	if (!c->keys[0] || (!takes_hosts && strcmp(digest, c->login) == 0) ||
	    login_file_read(host, name, &theirs, &n) < 0 ||
	    json_take_keys(buf_str(text), text->len, theirs, n, c->keys,
			   &merged) < 0)
		return 0;
	buf_done(text);
	*text = (struct buf)BUF_INIT(CARRIED_FILE_MAX + 1);
	return buf_add(text, merged.data, merged.len);
}

static int give(struct fill *f, const struct carried *c, int shelf, int dir,
		int host, const char *name)
{
	auto_buf struct buf text = BUF_INIT(CARRIED_FILE_MAX + 1);
	char file[CARRIED_NAME_SIZE];
	struct carried whole;
	struct sys_attr attr;
	int r = may_give(f, c, shelf, host, name);

	if (r <= 0)
		return r;
	carried_name(c->path, file);
	r = carried_read(shelf, file, &whole, &text, NULL);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	/* A login has its own way to the host. */
	r = f->runs_only ? carry_without_login(&text, whole.keys) : 0;
	if (r >= 0)
		r = take_login(&whole, host, name, f->runs_only, &text);
	if (r < 0)
		return r;
	/* The home has the host's version by now. */
	if (f->home >= 0)
		(void)sys_unlinkat(dir, name, 0);
	r = put(dir, name, &whole, &text);
	/* The session has a version of its own that could not be carried. */
	if (r == -EEXIST)
		return 0;
	if (r >= 0)
		r = sys_attr_at(dir, name, &attr);
	if (r >= 0)
		r = carry_note_given(f->note, c->path, &attr, whole.ino);
	return r;
}

static int fill_state(struct fill *f, const struct carried *c, int shelf)
{
	const struct hb_session *s = f->s;
	size_t i = carry_find_resource(s, c->path);
	auto_fd int dir = -1;
	auto_fd int host = -1;
	const char *below;

	if (i == s->record.n_resources)
		return 0;
	below = c->path + strlen(s->record.resources[i].source);
	below += strspn(below, "/");
	dir = carry_open_parents(s, i, below, &host);
	if (dir == -ESTALE)
		say_changed(f, c, shelf);
	if (dir < 0)
		return dir == -ESTALE ? 0 : dir;
	return give(f, c, shelf, dir, host, strrchr(c->path, '/') + 1);
}

static int fill_home(struct fill *f, const struct carried *c, int shelf)
{
	struct path_part parent = path_dirname(c->path);
	auto_fd int host = -1;

	if (parent.n != strlen(f->note->home) ||
	    memcmp(parent.s, f->note->home, parent.n) != 0)
		return 0;
	host = sys_openat(AT_FDCWD, f->note->home, DIR_FLAGS, 0);
	return host < 0 ? host
			: give(f, c, shelf, f->home, host,
			       strrchr(c->path, '/') + 1);
}

/* The first is named; the rest of a full disk would be many lines. */
static void say_failed(struct fill *f, const struct carried *c, int r)
{
	char shown[QUOTE_SHOWN];

	if (f->n_failed++ == 0)
		store_say(
			f->s->store,
			"'%s' of the agent's state is left out (%s), and stays "
			"carried; to see it: holdback state %s",
			quote_shown(c->path, shown, sizeof(shown)),
			r == -EINVAL ? "it is not whole" : hb_strerror(-r),
			f->note->agent);
}

/* Of type carried_fn: a file that cannot be put there is no reason to stop. */
static int fill_one(void *ctx, int shelf, const struct carried *c,
		    struct hb_error *err)
{
	char plain[PATH_MAX];
	struct fill *f = ctx;
	int r;

	(void)err;
	if (path_normalise(c->path, PATH_DOTS_REFUSE, plain, sizeof(plain)) <
		    0 ||
	    strcmp(plain, c->path) != 0)
		return 0;
	/* Not even the directories of other files. */
	if (f->runs_only && c->class != STATE_RUNS)
		return 0;
	/* One line for all: the home is filled later. */
	if (f->home < 0 && !c->root[0] && c->class == STATE_RUNS &&
	    !carry_policy_fits(f->note->policy, c->policy))
		f->n_wider++;
	r = f->home < 0 ? fill_state(f, c, shelf) : fill_home(f, c, shelf);
	if (r < 0)
		say_failed(f, c, r);
	return 0;
}

static int fill_all(struct fill *f, struct hb_error *err)
{
	const struct hb_session *s = f->s;
	auto_fd int shelf = -1;
	auto_fd int lock = -1;
	size_t n_damaged;
	int r;

	shelf = shelf_open(s->store->dir, &f->note->project, f->note->agent,
			   NULL, err);
	if (shelf < 0)
		return shelf == -ENOENT ? 0 : shelf;
	lock = shelf_lock(shelf, err);
	r = lock;
	if (r >= 0)
		r = carried_each(shelf, fill_one, f, err);
	n_damaged = f->home < 0 && r >= 0 ? carried_damaged(shelf) : 0;
	if (n_damaged > 0)
		store_say(s->store,
			  "%zu file%s of the carried state of %s %s damaged: "
			  "this run is without %s; to remove damaged files: "
			  "holdback state %s --forget",
			  n_damaged, n_damaged == 1 ? "" : "s", f->note->agent,
			  n_damaged == 1 ? "is" : "are",
			  n_damaged == 1 ? "it" : "them", f->note->agent);
	if (f->n_wider > 0 && f->home < 0)
		store_say(
			s->store,
			"%zu file%s of agent state %s written by a run that "
			"was allowed less: this run has the host's version%s; "
			"to have the carried one%s: holdback state %s --take",
			f->n_wider, f->n_wider == 1 ? "" : "s",
			f->n_wider == 1 ? "was" : "were",
			f->n_wider == 1 ? "" : "s", f->n_wider == 1 ? "" : "s",
			f->note->agent);
	if (f->n_failed > 1)
		store_say(s->store, "so %s %zu more of its files",
			  f->n_failed == 2 ? "is" : "are", f->n_failed - 1);
	return r < 0 ? r : 0;
}

/*
 * What is changed on the host from now on has a later ctime, but for the rest
 * of one tick of the clock.
 */
static int note_time(const struct hb_session *s, struct carry_note *note,
		     struct hb_error *err)
{
	struct sys_attr attr;
	auto_fd int fd = sys_openat(s->dir, CARRY_NEW,
				    O_WRONLY | O_CREAT | O_NOFOLLOW, 0600);
	int r = fd < 0 ? fd : sys_touch(fd);

	if (r >= 0)
		r = sys_attr_at(fd, "", &attr);
	if (r < 0)
		return hb_fail(err, r, "cannot note the agent's state");
	note->begun = attr.ctime.tv_sec;
	note->begun_nsec = attr.ctime.tv_nsec;
	return 0;
}

int carry_fill(struct hb_session *s, struct carry_note *note,
	       struct hb_error *err)
{
	struct fill f = { .s = s, .note = note, .home = -1 };
	int r = session_open_resources(s, err);

	if (r >= 0)
		r = note_time(s, note, err);
	if (r >= 0)
		r = fill_all(&f, err);
	if (r >= 0)
		r = carry_hide(s, note, err);
	if (r >= 0)
		r = carry_note_write(s, note, err);
	/* Without a note nothing else would remove them. */
	if (r < 0)
		(void)carry_drop_marks(s, NULL);
	return r;
}

int carry_take(struct hb_session *s, struct carry_note *note,
	       struct hb_error *err)
{
	struct fill f = { .s = s, .note = note, .home = -1, .runs_only = true };
	int r = session_open_resources(s, err);

	return r < 0 ? r : fill_all(&f, err);
}

int carry_fill_home(struct hb_session *s, int home, struct hb_error *err)
{
	auto_carry_note struct carry_note note = { 0 };
	struct fill f = { .s = s, .note = &note, .home = home };
	size_t n_given;
	int r = carry_note_read(s, CARRY_NOTE, &note, err);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	n_given = note.n_given;
	r = fill_all(&f, err);
	if (r < 0 || note.n_given == n_given)
		return r;
	return carry_note_write(s, &note, err);
}
