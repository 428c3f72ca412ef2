/* SPDX-License-Identifier: Apache-2.0 */
#include "session/publish/publish.h"

#include "agent/carried.h"
#include "agent/shelf.h"
#include "base/auto.h"
#include "base/error.h"
#include "base/num.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/report.h"
#include "session/open.h"
#include "session/publish/carry_hide.h"
#include "session/publish/carry_note.h"
#include "session/publish/carry_place.h"
#include "session/publish/carry_settle.h"
#include "session/publish/login_file.h"
#include "session/session.h"
#include "store/store.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "sys/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIST	"publish"
#define HOME	PUBLISH_HOME
#define PENDING PUBLISH_PENDING

#define LOGINS_MAX     16
#define LIST_MAX_BYTES ((size_t)256 << 10)

/*
 * The home directory of the box is the command's, its mode too; closed to us or
 * open to others it would never be read again.
 */
static int open_home(const struct hb_session *s, struct hb_error *err)
{
	auto_fd int fd = -1;
	int r;

	fd = sys_openat(s->dir, HOME, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
	r = fd < 0 ? fd : sys_chmod_fd(fd, 0700);
	if (r < 0)
		return hb_fail(err, r, "cannot open '%s'", HOME);
	return store_open_own(s->dir, HOME, err);
}

/* The directory in the layer, or in the box's home, that has the file. */
static int open_ours(struct hb_session *s, const struct publish_item *item,
		     struct hb_error *err)
{
	char dir[PATH_MAX];
	const char *below;
	int r;

	if (item->resource < 0)
		return open_home(s, err);
	if ((uint64_t)item->resource >= s->record.n_resources ||
	    !path_is_beneath(item->path,
			     s->record.resources[item->resource].source))
		return -EINVAL;
	r = session_open_resources(s, err);
	if (r < 0)
		return r;
	below = item->path +
		strlen(s->record.resources[item->resource].source) + 1;
	if (below > login_file_name(item->path))
		return -EINVAL;
	(void)snprintf(dir, sizeof(dir), "./%.*s",
		       (int)(login_file_name(item->path) - below), below);
	return sys_openat2(s->resources[item->resource].upper, dir,
			   O_RDONLY | O_DIRECTORY, 0,
			   K_RESOLVE_BENEATH | K_RESOLVE_NO_SYMLINKS |
				   K_RESOLVE_NO_MAGICLINKS);
}

/* What the host has, and in the box's home the same. */
static int note_host(struct publish_item *item, int home)
{
	const char *name = login_file_name(item->path);
	auto_free char *text = NULL;
	auto_fd int dir = login_file_parent(item->path);
	size_t n = 0;
	int r = dir < 0 ? dir : login_look(item);

	if (r < 0 || item->resource >= 0)
		return r;
	if (item->ino == 0) {
		r = sys_unlinkat(home, name, 0);
		return r == -ENOENT ? 0 : r;
	}
	r = login_file_read(dir, name, &text, &n);
	return r < 0 ? r : login_file_write(home, name, text, n, 0600, false);
}

static void add_item(struct kv_writer *w, const struct publish_item *item)
{
	(void)kv_add_str(w, "file", item->path);
	(void)kv_add_str(w, "keys", item->keys);
	(void)kv_add_fmt(w, "resource", "%lld", (long long)item->resource);
	(void)kv_add_fmt(w, "ino", "%llu", (unsigned long long)item->ino);
	(void)kv_add_fmt(w, "sec", "%lld", (long long)item->sec);
	(void)kv_add_fmt(w, "nsec", "%lld", (long long)item->nsec);
}

int publish_note_pending(const struct hb_session *s, struct hb_error *err)
{
	auto_fd int dir = -1;
	auto_fd int fd = -1;
	int r;

	r = sys_mkdirat(s->store->dir, PENDING, 0700);
	if (r < 0 && r != -EEXIST)
		return hb_fail(err, r, "cannot make '%s'", PENDING);
	dir = store_open_own(s->store->dir, PENDING, err);
	if (dir < 0)
		return dir;
	fd = sys_openat(dir, s->record.name, O_WRONLY | O_CREAT | O_NOFOLLOW,
			0600);
	return fd < 0 ? hb_fail(err, fd, "cannot note the files to publish")
		      : 0;
}

int publish_make_home(const struct hb_session *s, struct hb_error *err)
{
	int r = sys_mkdirat(s->dir, HOME, 0700);

	if (r < 0 && r != -EEXIST)
		return hb_fail(err, r, "cannot make a home directory");
	return open_home(s, err);
}

void publish_begin(struct publish_list *list)
{
	*list = (struct publish_list){ .text = BUF_INIT(LIST_MAX_BYTES) };
	kv_writer_init(&list->writer, &list->text);
}

void publish_done(struct publish_list *list)
{
	buf_done(&list->text);
}

void publish_note(struct publish_list *list, struct publish_item *item,
		  int home)
{
	/* A link, or something too large: the box does without. */
	if (note_host(item, home) < 0)
		return;
	add_item(&list->writer, item);
	list->n++;
}

int publish_write(struct publish_list *list, struct hb_session *s,
		  struct hb_error *err)
{
	int r;

	if (list->n == 0)
		return 0;
	if (list->text.error)
		return hb_fail(err, list->text.error,
			       "too much is to be published");
	r = publish_note_pending(s, err);
	if (r < 0)
		return r;
	r = login_file_write(s->dir, LIST, list->text.data, list->text.len,
			     0600, false);
	return r < 0 ? hb_fail(err, r, "cannot note the files to publish") : 0;
}

static int read_entry(const struct kv_entry *e, struct publish_item *item)
{
	if (strcmp(e->key, "keys") == 0) {
		(void)snprintf(item->keys, sizeof(item->keys), "%s", e->value);
		return 0;
	}
	if (strcmp(e->key, "resource") == 0)
		return num_int(e->value, -1, RECORD_RESOURCES_MAX,
			       &item->resource);
	if (strcmp(e->key, "ino") == 0)
		return num_u64(e->value, &item->ino);
	if (strcmp(e->key, "sec") == 0)
		return num_int(e->value, INT64_MIN, INT64_MAX, &item->sec);
	return num_int(e->value, 0, 999999999, &item->nsec);
}

/* A login of the box. */
struct login {
	struct publish_item item;
	enum login_change change;
	struct buf text; /* what the host would have */
	char *ours;
	size_t n;
	bool is_kept; /* it was not published before, and waits */
};

struct logins {
	struct login list[LOGINS_MAX];
	size_t n;
	enum login_change worst;
	struct carry_note note;
};

static void logins_done(struct logins *l)
{
	for (size_t i = 0; i < l->n; i++) {
		buf_done(&l->list[i].text);
		free(l->list[i].ours);
	}
	carry_note_done(&l->note);
}

static void say(const struct hb_session *s, const struct publish_item *item,
		const char *why)
{
	char shown[QUOTE_SHOWN];

	store_say(s->store,
		  "session '%s': '%s' %s: the host's stays, and the session's "
		  "is kept for the next run",
		  s->record.name, quote_shown(item->path, shown, sizeof(shown)),
		  why);
}

/* Whether the same login is carried: its user was asked, or told. */
static bool is_carried(const struct hb_session *s, const struct logins *l,
		       const struct login *login)
{
	auto_buf struct buf text = BUF_INIT(CARRIED_FILE_MAX + 1);
	auto_fd int shelf = shelf_open(s->store->dir, &l->note.project,
				       l->note.agent, NULL, NULL);
	char name[CARRIED_NAME_SIZE];
	struct carried c;

	carried_name(login->item.path, name);
	return shelf >= 0 && carried_read(shelf, name, &c, &text, NULL) >= 0 &&
	       login_compare(buf_str(&text), text.len, login->ours, login->n,
			     login->item.keys, 0) == LOGIN_SAME;
}

/* Reads what the box has; what could not be published is none. */
static int read_login(struct hb_session *s, struct logins *l,
		      const struct publish_item *item, struct hb_error *err)
{
	struct login *login = &l->list[l->n];
	auto_fd int dir = open_ours(s, item, err);
	int r;

	*login = (struct login){ .item = *item,
				 .text = BUF_INIT(LOGIN_FILE_MAX) };
	r = dir < 0 ? dir
		    : login_file_read(dir, login_file_name(item->path),
				      &login->ours, &login->n);
	if (r == -ENOENT || r == -EINVAL || r == -ELOOP || r == -EFBIG ||
	    r == -ENXIO)
		return 0;
	if (r >= 0) {
		l->n++;
		r = login_merge(item, login->ours, login->n, sys_now().tv_sec,
				&login->text, &login->change);
	}
	if (r == -EBADMSG) {
		/* A login that was cut short is said where it is not carried.
		 */
		if (!login_file_is_cut(item->path, NULL, 0, login->ours,
				       login->n))
			say(s, item, "is not whole");
		r = 0;
	}
	if (r < 0)
		return hb_fail_at(err, r, item->path, "cannot publish");
	login->is_kept =
		login->change == LOGIN_OTHER && is_carried(s, l, login);
	if (login->change > l->worst && !login->is_kept)
		l->worst = login->change;
	return 0;
}

/* Where the state of the agent is, for people. */
static void find_words(const struct hb_session *s, const struct logins *l,
		       char *ret, size_t size)
{
	const char *root = l->list[0].item.path;
	size_t n = strlen(l->note.home);
	bool is_below;
	char shown[QUOTE_SHOWN];

	for (size_t i = 0; i < s->record.n_resources; i++)
		if (carry_is_state(s, i)) {
			root = s->record.resources[i].source;
			break;
		}
	is_below = n > 0 && path_is_beneath(root, l->note.home);
	(void)snprintf(
		ret, size, "%s%s", is_below ? "~" : "",
		quote_shown(is_below ? root + n : root, shown, sizeof(shown)));
}

/* Whether logins that no rule publishes are published; or the next step. */
static bool may_publish(const struct hb_session *s, const struct logins *l,
			unsigned flags, const char *place)
{
	char text[QUOTE_SHOWN + 64];
	const struct hb_report question = { .kind = HB_REPORT_ASKED,
					    .text = text };

	(void)snprintf(text, sizeof(text), "publish this login to %s?", place);
	if (flags & PUBLISH_ASKS && report_send(s->store->listener, &question))
		return true;
	store_say(s->store,
		  "this login is kept for this project; to publish it to %s: "
		  "holdback state %s --publish",
		  place, l->note.agent);
	return false;
}

static int publish_one(struct hb_session *s, const struct logins *l,
		       struct login *login, const char *place,
		       struct hb_error *err)
{
	char digest[CARRIED_HOST_SIZE], mine[CARRIED_HOST_SIZE];
	const struct publish_item *item = &login->item;
	auto_fd int dir = -1;
	int r;

	r = login_publish(s->store->dir, l->note.agent, item, &login->text,
			  s->record.id, err);
	if (r == -ESTALE || r == -EPERM) {
		say(s, item,
		    r == -EPERM ? "lies in a directory of another user"
				: "was changed outside meanwhile");
		return 0;
	}
	if (r < 0)
		return hb_fail_at(err, r, item->path, "cannot publish");
	if (login->change != LOGIN_SAME)
		store_say(s->store,
			  "published the %s login to %s; holdback state %s "
			  "--undo puts the old one back",
			  login->change == LOGIN_RENEWED ? "renewed" : "new",
			  place, l->note.agent);
	carry_text_digest(login->ours, login->n, item->keys, mine);
	carry_text_digest(login->text.data, login->text.len, item->keys,
			  digest);
	/* The rest of it is the host's as well: nothing is to be carried. */
	if (item->resource >= 0 && strcmp(mine, digest) == 0)
		dir = open_ours(s, item, NULL);
	if (dir >= 0)
		(void)sys_unlinkat(dir, login_file_name(item->path), 0);
	return 0;
}

static int publish_all(struct hb_session *s, struct logins *l, unsigned flags,
		       struct hb_error *err)
{
	char place[QUOTE_SHOWN + 2];
	bool takes_all;
	int r = 0;

	if (l->worst == LOGIN_SAME)
		return 0;
	find_words(s, l, place, sizeof(place));
	takes_all = l->worst == LOGIN_OTHER && may_publish(s, l, flags, place);
	for (size_t i = 0; r >= 0 && i < l->n; i++) {
		struct login *login = &l->list[i];

		/* Members that are no tokens go with a login alone. */
		if (login->text.len == 0 ||
		    (!takes_all && login->change != LOGIN_RENEWED))
			continue;
		r = publish_one(s, l, login, place, err);
	}
	return r;
}

static int read_all(struct hb_session *s, const char *list, size_t n,
		    struct logins *l, struct hb_error *err)
{
	auto_kv_reader struct kv_reader k = { 0 };
	struct publish_item item = { 0 };
	struct kv_entry e;
	int r;

	kv_reader_init(&k, LIST, list, n);
	while ((r = kv_next(&k, &e, err)) == 1) {
		if (strcmp(e.key, "file") == 0) {
			item = (struct publish_item){ 0 };
			(void)snprintf(item.path, sizeof(item.path), "%s",
				       e.value);
		} else if (read_entry(&e, &item) < 0) {
			return hb_fail(
				err, -HB_E_CORRUPT,
				"the list of files to publish is damaged");
		}
		/* The last of its lines. */
		if (strcmp(e.key, "nsec") != 0 || item.path[0] != '/')
			continue;
		if (l->n == LOGINS_MAX)
			return hb_fail(err, -HB_E_CORRUPT,
				       "there are too many files to publish");
		r = read_login(s, l, &item, err);
		if (r < 0)
			break;
	}
	return r;
}

/* Nothing is to be published or carried any more. */
static void clear_pending(const struct hb_session *s)
{
	static const char *const notes[] = { LIST, CARRY_NOTE, CARRY_SETTLING };
	auto_fd int dir = -1;

	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
		if (sys_faccessat(s->dir, notes[i], F_OK) != -ENOENT)
			return;
	dir = store_open_own(s->store->dir, PENDING, NULL);
	if (dir < 0)
		return;
	(void)sys_unlinkat(dir, s->record.name, 0);
	(void)sys_unlinkat(s->store->dir, PENDING, AT_REMOVEDIR);
}

/* 1: the disk is full, and all has to be tried again. */
static int settle_list(struct hb_session *s, unsigned flags,
		       struct hb_error *err)
{
	auto_free char *list = NULL;
	struct hb_error why = { 0 };
	struct logins *l;
	bool is_full;
	size_t n = 0;
	int r = login_file_read(s->dir, LIST, &list, &n);

	/* Nothing to publish, as after most runs. */
	if (r == -ENOENT)
		return 0;
	l = calloc(1, sizeof(*l));
	if (!l)
		return hb_fail(err, -ENOMEM, "cannot read '%s'", LIST);
	if (r >= 0)
		r = carry_note_read(s, CARRY_NOTE, &l->note, &why);
	/* After that they were carried: the user has the command to publish. */
	if (r >= 0)
		r = read_all(s, list, n, l, &why);
	if (r >= 0)
		r = publish_all(s, l, flags, &why);
	is_full = list && (r == -ENOSPC || r == -EDQUOT);
	/* What is damaged now will be so the next time. */
	if (is_full)
		store_say(s->store,
			  "session '%s': the disk is full: the login and the "
			  "agent's state stay in the session; make room, and "
			  "the next command of holdback goes on",
			  s->record.name);
	else if (list && (r >= 0 || r == -ENOENT || r == -HB_E_CORRUPT ||
			  r == -HB_E_CONFIG))
		(void)sys_unlinkat(s->dir, LIST, 0);
	else if (list)
		store_say(s->store, "session '%s': %s: %s", s->record.name,
			  why.text, hb_strerror(why.code));
	logins_done(l);
	free(l);
	/* Carried, a login that was renewed would never reach the host. */
	if (is_full)
		return 1;
	return list || r == -ENOENT || r >= 0
		       ? 0
		       : hb_fail(err, r, "cannot read '%s'", LIST);
}

int publish_settle(struct hb_session *s, unsigned flags, struct hb_error *err)
{
	int r = settle_list(s, flags, err);

	if (r > 0)
		return carry_drop_marks(s, err);
	if (r >= 0)
		r = carry_settle(s, flags & PUBLISH_LOST, err);
	if (r >= 0)
		clear_pending(s);
	return r;
}
