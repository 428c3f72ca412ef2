/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"

#include "sys/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* rename() as a program makes it that knows nothing of a library. */

int act_rename(int argc, char **argv)
{
	unsigned flags = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) : 0;

	return answer(syscall(SYS_renameat2, AT_FDCWD, argv[0], AT_FDCWD,
			      argv[1], flags));
}

/* The last two components, by descriptors of the directories above. */
int act_rename_at(int argc, char **argv)
{
	int from = open(argv[0], O_PATH | O_DIRECTORY | O_CLOEXEC);
	int to = open(argv[2], O_PATH | O_DIRECTORY | O_CLOEXEC);

	(void)argc;
	if (from < 0 || to < 0)
		return answer(-1);
	return answer(renameat(from, argv[1], to, argv[3]));
}

/*
 * Goes on writing through descriptors that were opened before, and tells what
 * became of them: the file at its new place, the directory that was listed, the
 * working directory.
 */
int act_rename_open(int argc, char **argv)
{
	char path[1024], here[512];
	int file, dir, r;

	(void)argc;
	(void)snprintf(path, sizeof(path), "%s/a", argv[0]);
	file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	dir = open(argv[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (file < 0 || dir < 0 || !getcwd(here, sizeof(here)) ||
	    chdir(argv[0]) < 0)
		return answer(-1);
	(void)snprintf(path, sizeof(path), "../%s", argv[1]);
	(void)snprintf(here + strlen(here), sizeof(here) - strlen(here), "/%s",
		       argv[0]);
	r = rename(here, path);
	if (r == 0 && write(file, "more\n", 5) != 5)
		r = -1;
	return answer(r);
}

/* Gives up the right to change anything, then does as `rename`. */
int act_rename_landlocked(int argc, char **argv)
{
	const struct k_landlock_ruleset rules = {
		.fs = K_LANDLOCK_REMOVE_DIR | K_LANDLOCK_REMOVE_FILE |
		      K_LANDLOCK_MAKE_DIR | K_LANDLOCK_MAKE_REG |
		      K_LANDLOCK_REFER,
	};
	int fd = (int)syscall(SYS_landlock_create_ruleset, &rules,
			      sizeof(rules.fs), 0);

	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (fd < 0 || syscall(SYS_landlock_restrict_self, fd, 0) < 0)
		return answer(-1);
	return act_rename(argc, argv);
}
