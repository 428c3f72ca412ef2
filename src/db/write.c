/* SPDX-License-Identifier: Apache-2.0 */
#include "db/db.h"

#include "sys/file.h"
#include "sys/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * SQLite's own way to replace all of a database while others use it: one
 * transaction, which its journal or write-ahead log takes back if this process
 * dies.  Readers see the old pages until the last step, and writers wait.
 */

#define BUSY_MS	  5000
#define PAUSE_MS  20
#define PATH_SIZE 4200
#define FDS_MAX	  64 /* of this process: it has few */

struct writing {
	sqlite3 *to, *from;
	sqlite3_backup *backup;
};

/* How it ended, once all of it is closed; a backup that is not whole goes. */
static int end(struct writing *w, int status, const char *what)
{
	int r = w->backup ? sqlite3_backup_finish(w->backup) : SQLITE_OK;

	(void)sqlite3_close(w->from);
	if (what)
		return db_fail(w->to, what);
	(void)sqlite3_close(w->to);
	return status == DB_OK && r != SQLITE_OK ? DB_FAILED : status;
}

static bool ask(char told, char wanted)
{
	char answer = 0;

	return sys_write_all(STDOUT_FILENO, &told, 1) == 0 &&
	       sys_read(STDIN_FILENO, &answer, 1) == 1 && answer == wanted;
}

/*
 * SQLite opens by path.  Whether that led to the file in this directory, or to
 * one that took the path meanwhile.
 */
static bool has_open(const char *name)
{
	struct stat there, st;

	if (sys_fstatat(AT_FDCWD, name, &there, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	for (int fd = STDERR_FILENO + 1; fd < FDS_MAX; fd++)
		if (sys_fstat(fd, &st) >= 0 && st.st_ino == there.st_ino &&
		    st.st_dev == there.st_dev)
			return true;
	return false;
}

/*
 * SQLite gives side files the owner of the database when root opens them.  To
 * give an owner again that a file has would change its time, and look like a
 * write.
 */
static int give_owner(int fd, uid_t uid, gid_t gid)
{
	struct stat st;

	if (sys_fstat(fd, &st) >= 0 && st.st_uid == uid && st.st_gid == gid)
		return 0;
	return fchown(fd, uid, gid);
}

static int begin(struct writing *w, const char *name, const char *from)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
	char path[PATH_SIZE];
	int r;

	r = vfs && vfs->xSetSystemCall
		    ? vfs->xSetSystemCall(vfs, "fchown",
					  (sqlite3_syscall_ptr)give_owner)
		    : SQLITE_ERROR;
	if (r != SQLITE_OK)
		return r;
	(void)snprintf(path, sizeof(path), "./%s", name);
	r = sqlite3_open_v2(path, &w->to,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW, NULL);
	if (r != SQLITE_OK)
		return r;
	(void)snprintf(path, sizeof(path), "file:%s?mode=ro&immutable=1", from);
	r = sqlite3_open_v2(path, &w->from,
			    SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
	if (r != SQLITE_OK)
		return r;
	w->backup = sqlite3_backup_init(w->to, "main", w->from, "main");
	if (!w->backup)
		return sqlite3_errcode(w->to);
	/* No page yet, and the lock for writing. */
	for (int left = BUSY_MS / PAUSE_MS; left > 0; left--) {
		r = sqlite3_backup_step(w->backup, 0);
		if (r != SQLITE_BUSY && r != SQLITE_LOCKED)
			break;
		sys_pause(PAUSE_MS);
	}
	return r;
}

int db_write(const char *name, const char *from)
{
	struct writing w = { 0 };
	char told = 'B';
	int r = begin(&w, name, from);

	if (r == SQLITE_BUSY || r == SQLITE_LOCKED) {
		(void)sys_write_all(STDOUT_FILENO, &told, 1);
		return end(&w, DB_BUSY, NULL);
	}
	if (r != SQLITE_OK)
		return end(&w, DB_FAILED, "cannot lock the database");
	if (!has_open(name))
		return end(&w, DB_FAILED, "the directory is another one");
	if (!ask('L', 'p'))
		return end(&w, DB_FAILED, NULL);
	r = sqlite3_backup_pagecount(w.backup) > 1
		    ? sqlite3_backup_step(
			      w.backup, sqlite3_backup_pagecount(w.backup) - 1)
		    : SQLITE_OK;
	if (r != SQLITE_OK)
		return end(&w, DB_FAILED, "cannot write to the database");
	if (!ask('P', 'c'))
		return end(&w, DB_FAILED, NULL);
	r = sqlite3_backup_step(w.backup, -1);
	if (r != SQLITE_DONE)
		return end(&w, DB_FAILED, "cannot commit to the database");
	r = end(&w, DB_OK, NULL);
	told = 'D';
	return r == DB_OK && sys_write_all(STDOUT_FILENO, &told, 1) < 0
		       ? DB_FAILED
		       : r;
}
