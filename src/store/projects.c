/* SPDX-License-Identifier: Apache-2.0 */
#include "store/projects.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/sha256.h"
#include "store/boot.h"
#include "store/record.h"
#include "store/store.h"
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 *	PATH/projects/HASH/TIME-ID	a link to NAME
 *	PATH/projects/boot		a link to the id of a boot
 *
 * HASH is the SHA-256 of a directory that the session holds.  TIME is when the
 * session was made, in hexadecimal digits, so that names sort by it.
 *
 *	(a) A note is there before the session has its name, and goes after the
 *	    name went.  A process that is killed leaves a note too many, and
 *	    never one too few.
 *	(b) Nothing is synced, because a run waits for no disk.  After a power
 *	    cut notes may be missing, and sessions of an earlier version have
 *	    none.  So the notes count in the boot that `boot` names, in which
 *	    all records were read.
 *	(c) A note names the id: a new session of the same name has its own.
 */

#define PROJECTS "projects"
#define BOOT	 PROJECTS "/boot"
#define BOOT_NEW PROJECTS "/boot.new"
#define UNKNOWN	 "unknown" /* what boot_id() says where it cannot tell */

#define DIR_SIZE  (sizeof(PROJECTS) + SHA256_HEX_SIZE)
#define NOTE_SIZE (16 + 1 + RECORD_ID_SIZE)
#define PATH_SIZE (DIR_SIZE + NOTE_SIZE)

/* How often a directory may be collected while a note is made in it. */
#define TRIES 4

static void dir_of(const char *path, size_t n, char ret[DIR_SIZE])
{
	uint8_t digest[SHA256_SIZE];
	char hex[SHA256_HEX_SIZE];

	sha256_of(path, n, digest);
	sha256_hex(digest, hex);
	(void)snprintf(ret, DIR_SIZE, PROJECTS "/%s", hex);
}

static void note_of(const struct session_record *record, const char *source,
		    char ret[PATH_SIZE])
{
	char dir[DIR_SIZE];

	dir_of(source, strlen(source), dir);
	(void)snprintf(ret, PATH_SIZE, "%s/%016llx-%s", dir,
		       (unsigned long long)record->created, record->id);
}

static int make_dirs(const struct hb_store *store, const char *source)
{
	char dir[DIR_SIZE];
	int r = sys_mkdirat(store->dir, PROJECTS, 0700);

	dir_of(source, strlen(source), dir);
	if (r >= 0 || r == -EEXIST)
		r = sys_mkdirat(store->dir, dir, 0700);
	return r == -EEXIST ? 0 : r;
}

static int add_note(const struct hb_store *store,
		    const struct session_record *record, const char *source)
{
	char note[PATH_SIZE];
	int r;

	note_of(record, source, note);
	r = sys_symlinkat(record->name, store->dir, note);
	for (int i = 0; r == -ENOENT && i < TRIES; i++) {
		r = make_dirs(store, source);
		if (r >= 0)
			r = sys_symlinkat(record->name, store->dir, note);
	}
	return r == -EEXIST ? 0 : r;
}

int projects_add(const struct hb_store *store,
		 const struct session_record *record, struct hb_error *err)
{
	for (size_t i = 0; i < record->n_resources; i++) {
		const char *source = record->resources[i].source;
		int r = add_note(store, record, source);

		if (r < 0)
			return hb_fail_at(err, r, source,
					  "cannot note the session of");
	}
	return 0;
}

void projects_remove(const struct hb_store *store,
		     const struct session_record *record)
{
	char note[PATH_SIZE];

	for (size_t i = 0; i < record->n_resources; i++) {
		note_of(record, record->resources[i].source, note);
		(void)sys_unlinkat(store->dir, note, 0);
	}
}

/* Whether the notes are those of all sessions: (b). */
static bool is_whole(const struct hb_store *store, const char *boot)
{
	char told[RECORD_BOOT_SIZE];

	return strcmp(boot, UNKNOWN) != 0 &&
	       sys_readlinkat(store->dir, BOOT, told, sizeof(told)) >= 0 &&
	       strcmp(told, boot) == 0;
}

/* A session that is made meanwhile notes itself: (a). */
static int make_whole(const struct hb_store *store, const char *boot)
{
	char **names = NULL;
	size_t n = 0;
	int r;

	r = sys_mkdirat(store->dir, PROJECTS, 0700);
	if (r < 0 && r != -EEXIST)
		return r;
	r = store_names(store, &names, &n, NULL);
	for (size_t i = 0; r >= 0 && i < n; i++) {
		auto_record struct session_record record = { 0 };
		auto_fd int dir = store_open_session(store, names[i], NULL);

		/* A record that cannot be read says of no directory. */
		if (dir >= 0 && record_read(dir, &record, NULL) >= 0)
			r = projects_add(store, &record, NULL);
	}
	store_free_names(names, n);
	if (r < 0)
		return r;
	(void)sys_unlinkat(store->dir, BOOT_NEW, 0);
	r = sys_symlinkat(boot, store->dir, BOOT_NEW);
	return r < 0 ? r : sys_renameat(store->dir, BOOT_NEW, store->dir, BOOT);
}

/* Notes of all directories on the way to one. */
struct notes {
	struct note {
		char path[PATH_SIZE];
		size_t name; /* where TIME-ID begins */
	} * list;
	size_t n;
	const char *dir; /* that is read */
};

static int keep_note(void *ctx, const char *name, struct hb_error *err)
{
	struct notes *notes = ctx;
	struct note *note;

	if (strlen(name) != NOTE_SIZE - 1)
		return 0;
	if (grow(notes->list, notes->n) < 0)
		return hb_fail(err, -ENOMEM, "cannot list sessions");
	note = &notes->list[notes->n++];
	note->name = strlen(notes->dir) + 1;
	(void)snprintf(note->path, sizeof(note->path), "%s/%s", notes->dir,
		       name);
	return 0;
}

/* The last made first. */
static int compare_notes(const void *a, const void *b)
{
	const struct note *x = a, *y = b;

	return strcmp(y->path + y->name, x->path + x->name);
}

static int read_dir(const struct hb_store *store, const char *path, size_t n,
		    struct notes *notes, struct hb_error *err)
{
	char dir[DIR_SIZE];
	auto_fd int fd = -1;

	dir_of(path, n, dir);
	fd = sys_openat(store->dir, dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW,
			0);
	if (fd == -ENOENT)
		return 0;
	if (fd < 0)
		return hb_fail(err, fd, "cannot list sessions");
	notes->dir = dir;
	return store_each_name(fd, keep_note, notes, err);
}

/* In the directory itself and in each above it. */
static int read_notes(const struct hb_store *store, const char *path,
		      struct notes *notes, struct hb_error *err)
{
	size_t n = strlen(path);
	int r = read_dir(store, path, n, notes, err);

	while (r >= 0 && n > 1) {
		do
			n--;
		while (n > 0 && path[n] != '/');
		r = read_dir(store, path, n > 0 ? n : 1, notes, err);
		n = n > 0 ? n : 1;
	}
	if (notes->n > 1)
		qsort(notes->list, notes->n, sizeof(*notes->list),
		      compare_notes);
	return r;
}

/* A session that holds several of the directories is named once. */
static int name_sessions(const struct hb_store *store,
			 const struct notes *notes, size_t max,
			 char **ret_names, size_t *ret_n, struct hb_error *err)
{
	char name[RECORD_NAME_MAX + 1];
	const char *last = "";

	for (size_t i = 0; i < notes->n && *ret_n < max; i++) {
		const struct note *note = &notes->list[i];

		if (strcmp(note->path + note->name, last) == 0 ||
		    sys_readlinkat(store->dir, note->path, name, sizeof(name)) <
			    0 ||
		    record_check_name("session", name, NULL) < 0)
			continue;
		last = note->path + note->name;
		ret_names[*ret_n] = strdup(name);
		if (!ret_names[*ret_n])
			return hb_fail(err, -ENOMEM, "cannot list sessions");
		++*ret_n;
	}
	return 0;
}

int projects_find(const struct hb_store *store, const char *path, size_t max,
		  char ***ret_names, size_t *ret_n, struct hb_error *err)
{
	char boot[RECORD_BOOT_SIZE], **names = NULL;
	struct notes notes = { 0 };
	size_t n = 0;
	int r;

	*ret_names = NULL;
	*ret_n = 0;
	if (store->sessions < 0)
		return 0;
	r = boot_id(boot, err);
	if (r < 0)
		return r;
	if (!is_whole(store, boot) && make_whole(store, boot) < 0)
		return store_names(store, ret_names, ret_n, err);
	r = read_notes(store, path, &notes, err);
	if (r >= 0 && notes.n > 0) {
		names = calloc(notes.n < max ? notes.n : max, sizeof(*names));
		r = names ? name_sessions(store, &notes, max, names, &n, err)
			  : hb_fail(err, -ENOMEM, "cannot list sessions");
	}
	free(notes.list);
	if (r < 0) {
		store_free_names(names, n);
		return r;
	}
	*ret_names = names;
	*ret_n = n;
	return 0;
}

/* Whether a note is of a session that is there, or is being made. */
static bool is_needed(const struct hb_store *store, int dir, const char *note)
{
	char making[sizeof(STORE_NEW) + RECORD_ID_SIZE];
	char name[RECORD_NAME_MAX + 1];
	auto_record struct session_record record = { 0 };
	auto_fd int session = -1;

	if (strlen(note) != NOTE_SIZE - 1)
		return false;
	/* First: what has its name by now had this one until then. */
	(void)snprintf(making, sizeof(making), STORE_NEW "%s",
		       note + NOTE_SIZE - RECORD_ID_SIZE);
	if (sys_faccessat(store->sessions, making, F_OK) >= 0)
		return true;
	if (sys_readlinkat(dir, note, name, sizeof(name)) < 0 ||
	    record_check_name("session", name, NULL) < 0)
		return false;
	session = store_open_session(store, name, NULL);
	if (session < 0)
		return session != -HB_E_NO_SESSION;
	return record_read(session, &record, NULL) < 0 ||
	       strcmp(record.id, note + NOTE_SIZE - RECORD_ID_SIZE) == 0;
}

struct collecting {
	const struct hb_store *store;
	int dir;
};

static int collect_note(void *ctx, const char *name, struct hb_error *err)
{
	const struct collecting *c = ctx;

	(void)err;
	if (!is_needed(c->store, c->dir, name))
		(void)sys_unlinkat(c->dir, name, 0);
	return 0;
}

static int collect_dir(void *ctx, const char *name, struct hb_error *err)
{
	const struct collecting *top = ctx;
	struct collecting c = { .store = top->store };
	auto_fd int dir = sys_openat(top->dir, name,
				     O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);

	(void)err;
	if (dir < 0)
		return 0;
	c.dir = dir;
	(void)store_each_name(dir, collect_note, &c, NULL);
	/* Unless it still has one. */
	(void)sys_unlinkat(top->dir, name, AT_REMOVEDIR);
	return 0;
}

void projects_collect(const struct hb_store *store)
{
	auto_fd int dir = store_open_own(store->dir, PROJECTS, NULL);
	struct collecting c = { .store = store, .dir = dir };

	if (dir >= 0 && store->sessions >= 0)
		(void)store_each_name(dir, collect_dir, &c, NULL);
}
