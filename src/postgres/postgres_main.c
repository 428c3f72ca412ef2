/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "base/quote.h"
#include "holdback/holdback.h"
#include "postgres/inspection.h"
#include "postgres/original.h"
#include "postgres/serving.h"
#include "sys/file.h"
#include "sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/*
 * libexec/holdback/postgres: the only program that links libpq.  src/database
 * starts it, outside or in a box, and its words are for that alone:
 *
 *	take URL DIR PICTURE		outside
 *	look DIR PICTURE		outside; status 1: the original changed
 *	first DIR PICTURE FACTS		in a box
 *	inspect DIR PICTURE FACTS BASE	in a box
 *	serve DIR PICTURE FACTS -- COMMAND...	in the box of a command
 *
 * A failure is status 125, and the file `error` in DIR is a struct hb_error.
 */
#define ERROR_FILE "error"

static int open_dir(const char *path, struct hb_error *err)
{
	int fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);

	return fd < 0 ? hb_fail(err, fd, "cannot open '%s'", quoted(path)) : fd;
}

static int open_place(char **argv, const char *base, char *const *envp,
		      struct place *ret, struct hb_error *err)
{
	*ret = (struct place){ .path = argv[0],
			       .picture_path = argv[1],
			       .base = -1,
			       .envp = envp };
	ret->dir = open_dir(argv[0], err);
	ret->picture = ret->dir < 0 ? -1 : open_dir(argv[1], err);
	ret->facts = ret->picture < 0 ? -1 : open_dir(argv[2], err);
	if (ret->facts < 0)
		return -HB_E_STATE;
	if (base)
		ret->base = open_dir(base, err);
	return base && ret->base < 0 ? ret->base : 0;
}

static int take(char **argv, char *const *envp, int *ret_status,
		struct hb_error *err)
{
	auto_fd int dir = open_dir(argv[1], err);

	(void)ret_status;
	return dir < 0 ? dir : original_take(argv[0], dir, argv[2], envp, err);
}

static int look(char **argv, char *const *envp, int *ret_status,
		struct hb_error *err)
{
	auto_fd int dir = open_dir(argv[0], err);
	int r = dir < 0 ? dir : original_look(dir, argv[1], envp, err);

	*ret_status = r > 0;
	return r;
}

static int first(char **argv, char *const *envp, int *ret_status,
		 struct hb_error *err)
{
	struct place place;
	int r = open_place(argv, NULL, envp, &place, err);

	(void)ret_status;
	return r < 0 ? r : inspection_first(&place, err);
}

static int inspect(char **argv, char *const *envp, int *ret_status,
		   struct hb_error *err)
{
	struct place place;
	int r = open_place(argv, argv[3], envp, &place, err);

	(void)ret_status;
	return r < 0 ? r : inspection_run(&place, err);
}

static int serve(char **argv, char *const *envp, int *ret_status,
		 struct hb_error *err)
{
	struct place place;
	int r = open_place(argv, NULL, envp, &place, err);

	return r < 0 ? r : serving_run(&place, argv + 4, ret_status, err);
}

static const struct {
	const char *name;
	int n; /* arguments, or at least so many */
	bool is_open;
	int dir; /* which of them gets `error`; -1: it is told */
	int (*run)(char **argv, char *const *envp, int *ret_status,
		   struct hb_error *err);
} modes[] = {
	{ "take", 3, false, 1, take },	 { "look", 2, false, 0, look },
	{ "first", 3, false, 0, first }, { "inspect", 4, false, 0, inspect },
	{ "serve", 5, true, -1, serve },
};

static void leave_error(const char *dir, const struct hb_error *err)
{
	auto_fd int at = sys_openat(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY, 0);
	auto_fd int fd =
		at < 0 ? -1
		       : sys_openat(at, ERROR_FILE,
				    O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW,
				    0600);

	if (fd >= 0)
		(void)sys_write_all(fd, err, sizeof(*err));
}

static void tell_error(const struct hb_error *err)
{
	char text[HB_TEXT_SIZE + 128];

	hb_error_format(err, text, sizeof(text));
	(void)fprintf(stderr, "holdback: %s\n", text);
	if (err->fix[0])
		(void)fprintf(stderr, "holdback: fix: %s\n", err->fix);
}

int main(int argc, char **argv)
{
	struct hb_error err = { 0 };
	int status = 0;

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (argc < 2 || strcmp(argv[1], modes[i].name) != 0 ||
		    argc - 2 < modes[i].n ||
		    (argc - 2 > modes[i].n && !modes[i].is_open))
			continue;
		if (modes[i].run(argv + 2, environ, &status, &err) >= 0)
			return status;
		if (modes[i].dir < 0)
			tell_error(&err);
		else
			leave_error(argv[2 + modes[i].dir], &err);
		return HB_EXIT_OURS;
	}
	(void)fprintf(stderr,
		      "holdback: this program is for holdback itself\n");
	return HB_EXIT_USAGE;
}
