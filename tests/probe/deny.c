/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"

#include "sys/kernel.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/*
 * probe deny CALL[:N=VALUE|:N&MASK] ERRNO ... -- COMMAND ...
 *
 * Runs the command where a system call fails with that errno: always, or if
 * its N-th argument (from 0, its lower half) has that value, or any bit of
 * MASK.  So an older kernel or a host that refuses is had for the asking.  The
 * errno "OK" makes the call do nothing and say that it did.
 */

#define MAX_RULES 32
#define MAX_CODE  (MAX_RULES * 4 + 2)

static const struct {
	const char *name;
	long number;
} names[] = {
	{ "capset", SYS_capset },
	{ "chdir", SYS_chdir },
	{ "clone", SYS_clone },
	{ "close_range", SYS_close_range },
	{ "fchdir", SYS_fchdir },
	{ "fsconfig", SYS_fsconfig },
	{ "fsmount", SYS_fsmount },
	{ "fsopen", SYS_fsopen },
	{ "ioctl", SYS_ioctl },
	{ "keyctl", SYS_keyctl },
	{ "landlock_add_rule", SYS_landlock_add_rule },
	{ "landlock_create_ruleset", SYS_landlock_create_ruleset },
	{ "landlock_restrict_self", SYS_landlock_restrict_self },
	{ "mount", SYS_mount },
	{ "mount_setattr", SYS_mount_setattr },
	{ "move_mount", SYS_move_mount },
	{ "open_tree", SYS_open_tree },
	{ "openat2", SYS_openat2 },
	{ "pivot_root", SYS_pivot_root },
	{ "prctl", SYS_prctl },
	{ "prlimit64", SYS_prlimit64 },
	{ "seccomp", SYS_seccomp },
	{ "setpgid", SYS_setpgid },
	{ "setsid", SYS_setsid },
	{ "umount2", SYS_umount2 },
	{ "unshare", SYS_unshare },
	{ "write", SYS_write },
};

struct program {
	struct k_sock_filter code[MAX_CODE];
	unsigned short n;
};

static void add(struct program *p, uint16_t code, uint32_t k, uint8_t jt,
		uint8_t jf)
{
	p->code[p->n++] = (struct k_sock_filter){ code, jt, jf, k };
}

static void load(struct program *p, size_t offset)
{
	add(p, 0x20, (uint32_t)offset, 0, 0);
}

static long number_of(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i].name) == len &&
		    memcmp(names[i].name, name, len) == 0)
			return names[i].number;
	return -1;
}

/* One rule; the number is loaded anew by whoever comes next. */
static int add_rule(struct program *p, const char *spec, const char *error)
{
	size_t len = strcspn(spec, ":");
	long number = number_of(spec, len);
	int code = errno_number(error);
	unsigned index, value;
	char how;

	if (number < 0 || code < 0 || p->n + 6 > MAX_CODE)
		return -1;
	load(p, offsetof(struct k_seccomp_data, nr));
	if (spec[len] == '\0') {
		add(p, 0x15, (uint32_t)number, 0, 1);
	} else {
		if (sscanf(spec + len, ":%u%c%i", &index, &how,
			   (int *)&value) != 3 ||
		    index > 5 || (how != '=' && how != '&'))
			return -1;
		add(p, 0x15, (uint32_t)number, 0, 3);
		load(p, offsetof(struct k_seccomp_data, args) + 8 * index);
		add(p, how == '=' ? 0x15 : 0x45, value, 0, 1);
	}
	add(p, 0x06, 0x00050000U | (uint32_t)code, 0, 0);
	return 0;
}

/* With a capability no_new_privs can stay as it was: that is tested too. */
static int install(const struct program *p)
{
	struct k_sock_fprog prog = { p->n, p->code };

	if (syscall(SYS_seccomp, K_SECCOMP_SET_MODE_FILTER, 0, &prog) == 0)
		return 0;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return (int)syscall(SYS_seccomp, K_SECCOMP_SET_MODE_FILTER, 0, &prog);
}

int deny_main(int argc, char **argv)
{
	struct program p = { .n = 0 };
	int i = 0;

	while (i + 1 < argc && strcmp(argv[i], "--") != 0) {
		if (add_rule(&p, argv[i], argv[i + 1]) < 0) {
			(void)fprintf(stderr, "deny: cannot deny %s %s\n",
				      argv[i], argv[i + 1]);
			return 2;
		}
		i += 2;
	}
	if (i + 1 >= argc || strcmp(argv[i], "--") != 0)
		return 2;
	add(&p, 0x06, 0x7fff0000U, 0, 0);
	if (install(&p) < 0) {
		perror("deny: cannot load the filter");
		return 2;
	}
	(void)execvp(argv[i + 1], argv + i + 1);
	perror("deny: cannot execute");
	return 2;
}
