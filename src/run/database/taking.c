/* SPDX-License-Identifier: Apache-2.0 */
#include "run/database/taking.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/path.h"
#include "holdback/holdback.h"
#include "host/helper_error.h"
#include "host/self.h"
#include "run/database/kept_database.h"
#include "store/pictures.h"
#include "store/store.h"
#include "sys/file.h"
#include "tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define HELPER	   "postgres"
#define FIRST	   "server-first"
#define NAME_SHOWN 64
#define SCHEME	   "postgres:///"

/* The name as a part of a path, for people alone. */
static void name_of(const char *url, char ret[NAME_SHOWN])
{
	size_t n = 0;

	if (strncmp(url, SCHEME, sizeof(SCHEME) - 1) == 0)
		url += sizeof(SCHEME) - 1;
	for (; *url && *url != '?' && n < NAME_SHOWN - 1; url++)
		ret[n++] = strchr("/.%:", *url) || (unsigned char)*url <= ' '
				   ? '_'
				   : *url;
	ret[n] = '\0';
}

static int run_helper(const char *name, const char *const *words, int dir,
		      char *const *envp, struct hb_error *err)
{
	int status = 0;
	int r = hb_run_helper(name, (char *const *)(uintptr_t)words, envp,
			      &status, err);

	if (r < 0)
		return r;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0
		       ? 0
		       : helper_error(dir, err);
}

/*
 * The archive is read where nothing of the user can be seen: a box that has the
 * programs of the system and these directories.
 */
static int make_first(const char *place, const char *picture, char *const *envp,
		      struct hb_error *err)
{
	char server[PATH_MAX], facts[PATH_MAX], program[PATH_MAX];
	const char *words[] = { "bwrap",
				"--unshare-all",
				"--die-with-parent",
				"--new-session",
				"--clearenv",
				"--setenv",
				"PATH",
				"/usr/local/bin:/usr/bin:/bin",
				"--setenv",
				"HOME",
				"/tmp",
				"--setenv",
				"LC_ALL",
				"C.UTF-8",
				"--ro-bind",
				"/usr",
				"/usr",
				"--ro-bind-try",
				"/bin",
				"/bin",
				"--ro-bind-try",
				"/sbin",
				"/sbin",
				"--ro-bind-try",
				"/lib",
				"/lib",
				"--ro-bind-try",
				"/lib64",
				"/lib64",
				"--ro-bind-try",
				"/etc/passwd",
				"/etc/passwd",
				"--ro-bind-try",
				"/etc/group",
				"/etc/group",
				"--ro-bind-try",
				"/etc/nsswitch.conf",
				"/etc/nsswitch.conf",
				"--ro-bind-try",
				"/etc/ld.so.cache",
				"/etc/ld.so.cache",
				"--ro-bind-try",
				"/etc/localtime",
				"/etc/localtime",
				"--proc",
				"/proc",
				"--dev",
				"/dev",
				"--tmpfs",
				"/tmp",
				"--bind",
				server,
				DATABASE_SERVER,
				"--bind",
				picture,
				DATABASE_PICTURE,
				"--ro-bind",
				facts,
				DATABASE_FACTS "/" PICTURES_FACTS,
				"--ro-bind",
				program,
				DATABASE_PROGRAM,
				"--",
				DATABASE_PROGRAM,
				"first",
				DATABASE_SERVER,
				DATABASE_PICTURE,
				DATABASE_FACTS,
				NULL };
	auto_fd int at = -1;
	int r = path_join(place, FIRST, server, sizeof(server));

	if (r >= 0)
		r = path_join(place, PICTURES_FACTS, facts, sizeof(facts));
	if (r >= 0)
		r = place_helper(HELPER, program);
	if (r >= 0)
		r = sys_mkdirat(AT_FDCWD, server, 0700);
	if (r < 0)
		return hb_fail(err, r, "cannot make a place for a server");
	at = store_open_own(AT_FDCWD, server, err);
	return at < 0 ? at : run_helper("bwrap", words, at, envp, err);
}

static int fill(const char *url, const char *picture, char *const *envp,
		struct hb_error *err)
{
	char place[PATH_MAX];
	const char *words[] = {
		HELPER, "take", url, place, path_basename(picture).s, NULL
	};
	auto_fd int dir = pictures_open(picture, place, err);
	int r = dir < 0 ? dir : run_helper(HELPER, words, dir, envp, err);

	if (r >= 0)
		r = make_first(place, picture, envp, err);
	if (dir >= 0 && tree_remove(dir, FIRST, NULL) < 0 && r >= 0)
		r = hb_fail(err, -EIO, "cannot remove '" FIRST "'");
	return r;
}

int database_take(const struct hb_store *store, const char *url,
		  char *const *envp, char ret_picture[PATH_MAX], int *ret_lock,
		  struct hb_error *err)
{
	char name[NAME_SHOWN];
	auto_fd int lock = -1;
	int r;

	name_of(url, name);
	r = pictures_make(store, name, ret_picture, &lock, err);
	if (r >= 0)
		r = fill(url, ret_picture, envp, err);
	if (r < 0) {
		fd_closep(&lock);
		pictures_sweep(store);
		return r;
	}
	*ret_lock = take_fd(&lock);
	return 0;
}
