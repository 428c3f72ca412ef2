/* SPDX-License-Identifier: Apache-2.0 */
#include "box/state.h"
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

/*
 * Why there is no user namespace.  The kernel answers EPERM to nearly all of
 * it, so the host's switches are looked at, the most specific first.
 */

struct cause {
	int code;	  /* the errno it shows as; 0: any */
	const char *file; /* a switch of the host; NULL: none to look at */
	long value;	  /* the value that means this cause */
	const char *words;
	const char *fix;
};

static const struct cause causes[] = {
	{ ENOSPC, "/proc/sys/user/max_user_namespaces", 0,
	  "user namespaces are switched off (user.max_user_namespaces is 0)",
	  "sysctl user.max_user_namespaces=10000" },
	{ ENOSPC, NULL, 0,
	  "the limit on user namespaces is reached, or we are in a box that allows none",
	  "raise user.max_user_namespaces, or run outside of the other sandbox" },
	{ EUSERS, NULL, 0, "user namespaces are nested too deeply",
	  "run outside of the other sandbox" },
	{ EPERM, "/proc/sys/kernel/unprivileged_userns_clone", 0,
	  "unprivileged user namespaces are switched off (kernel.unprivileged_userns_clone is 0)",
	  "sysctl kernel.unprivileged_userns_clone=1" },
	{ 0, "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 1,
	  "AppArmor does not let unprivileged programs use user namespaces",
	  "install an AppArmor profile that allows userns for holdback, or: sysctl kernel.apparmor_restrict_unprivileged_userns=0" },
	{ EINVAL, NULL, 0, "this kernel has no user namespaces",
	  "use a kernel with CONFIG_USER_NS" },
	{ EPERM, NULL, 0,
	  "a seccomp filter or security module of the container we run in refuses user namespaces",
	  "docker: --security-opt seccomp=unconfined; podman and systemd-nspawn allow them" },
};

static int has_value(const char *file, long value)
{
	char text[32];
	char *end;

	if (sys_read_file_at(AT_FDCWD, file, text, sizeof(text)) <= 0)
		return 0;
	return strtol(text, &end, 10) == value && end != text;
}

int explain_userns(struct hb_error *err, int r)
{
	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
		const struct cause *c = &causes[i];

		if (c->code != 0 && c->code != -r)
			continue;
		if (c->file && !has_value(c->file, c->value))
			continue;
		hb_fix(err, "%s", c->fix);
		return hb_fail(err, r, "%s", c->words);
	}
	return r;
}
