/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/error.h"
#include "holdback/holdback.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "sys/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * What a process is left with, asked of the kernel by that process itself.
 *
 * Nothing tells the number of landlock rulesets in force.  But there is room
 * for 16: adding more until the kernel refuses tells the number.  That spoils
 * the process, which is why it runs by itself.
 */

#define STATUS_SIZE 16384
#define LAYERS_MAX  16 /* LANDLOCK_MAX_NUM_LAYERS */

static const struct {
	const char *field, *name;
} sets[HB_CAP_SETS] = {
	{ "CapInh", "inheritable" }, { "CapPrm", "permitted" },
	{ "CapEff", "effective" },   { "CapBnd", "bounding" },
	{ "CapAmb", "ambient" },
};

/* The text behind "NAME:" in /proc/self/status; NULL if it is not there. */
static const char *find_field(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (const char *line = text; line && *line;) {
		if (strncmp(line, name, n) == 0 && line[n] == ':')
			return line + n + 1 + strspn(line + n + 1, " \t");
		line = strchr(line, '\n');
		line += line ? 1 : 0;
	}
	return NULL;
}

static int read_number(const char *text, const char *name, int base,
		       uint64_t *ret, struct hb_error *err)
{
	const char *value = find_field(text, name);
	char *end;

	if (!value)
		return hb_fail(err, -HB_E_UNSUPPORTED,
			       "the kernel does not tell '%s'", name);
	errno = 0;
	*ret = strtoull(value, &end, base);
	if (errno || end == value)
		return hb_fail(err, -HB_E_UNSUPPORTED,
			       "the kernel's '%s' is no number", name);
	return 0;
}

static int count_layers(void)
{
	int n = 0, r = 0;

	while (n <= LAYERS_MAX) {
		auto_fd int ruleset = -1;

		ruleset = sys_landlock_create(K_LANDLOCK_MAKE_BLOCK, 0);
		r = ruleset < 0 ? ruleset : sys_landlock_restrict(ruleset);
		if (r < 0)
			break;
		n++;
	}
	return r == -E2BIG ? LAYERS_MAX - n : r;
}

int hb_audit_self(struct hb_audit *ret, struct hb_error *err)
{
	auto_free char *text = malloc(STATUS_SIZE);
	uint64_t n = 0;
	int r;

	if (!text)
		return hb_fail(err, -ENOMEM, "cannot read the status");
	r = (int)sys_read_file_at(AT_FDCWD, "/proc/self/status", text,
				  STATUS_SIZE);
	if (r < 0)
		return hb_fail(err, r, "cannot read '/proc/self/status'");
	*ret = (struct hb_audit){ 0 };
	for (size_t i = 0; i < HB_CAP_SETS; i++) {
		ret->sets[i].name = sets[i].name;
		r = read_number(text, sets[i].field, 16, &ret->sets[i].caps,
				err);
		if (r < 0)
			return r;
	}
	r = read_number(text, "NoNewPrivs", 10, &n, err);
	ret->has_no_new_privs = n == 1;
	if (r >= 0)
		r = read_number(text, "Seccomp", 10, &n, err);
	ret->has_filter = n == 2;
	if (r >= 0 && read_number(text, "Seccomp_filters", 10, &n, NULL) >= 0)
		ret->n_filters = (unsigned)n;
	if (r < 0)
		return r;
	ret->landlock_version = sys_landlock_abi();
	if (ret->landlock_version < 0)
		ret->landlock_version = 0;
	ret->n_rulesets = ret->landlock_version ? count_layers() : 0;
	return 0;
}

int hb_audit_run(char *const *words, char *const *envp, int *ret_status,
		 struct hb_error *err)
{
	char self[PATH_MAX];
	const struct hb_setting settings[] = {
		{ "ephemeral", "yes" },
		{ "quiet", "yes" },
		{ "ro", self },
	};
	struct hb_run_options options = {
		.envp = envp,
		.settings = settings,
		.n_settings = sizeof(settings) / sizeof(settings[0]),
		.without_workspace = true,
	};
	struct hb_run_result result = { 0 };
	char *argv[HB_AUDIT_WORDS + 2] = { self };
	size_t n = 0;
	int r;

	r = (int)sys_readlinkat(AT_FDCWD, "/proc/self/exe", self, sizeof(self));
	if (r < 0)
		return hb_fail(err, r, "cannot tell where this program lies");
	for (; n < HB_AUDIT_WORDS && words[n]; n++)
		argv[n + 1] = words[n];
	options.argv = argv;
	r = hb_run(&options, &result, err);
	if (r < 0)
		return r;
	*ret_status = result.status;
	return 0;
}
