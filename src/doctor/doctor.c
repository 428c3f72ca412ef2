/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/env.h"
#include "base/error.h"
#include "base/path.h"
#include "box/probe.h"
#include "doctor/assured.h"
#include "doctor/assured_storage.h"
#include "holdback/enabled.h"
#include "holdback/holdback.h"
#include "sys/file.h"
#include "sys/proc.h"
#include "tree/tree.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * `holdback doctor`: the probes of a box, each tried once, and whether the
 * parts of this installation are where they are looked for.
 */

#define PROBES_MAX 64
#define HEAD_SIZE  4096

/* Where layers could lie: the first that is ours to write in. */
static const struct {
	const char *variable; /* NULL: `below` is all of it */
	const char *below;
} places[] = {
	{ "XDG_STATE_HOME", "" }, { "HOME", ".local/state" }, { "HOME", "" },
	{ "TMPDIR", "" },	  { NULL, "/var/tmp" },	      { NULL, "/tmp" },
};

static int make_dir(char *const *envp, char *ret_dir, struct hb_error *err)
{
	char place[PATH_MAX], name[64];

	(void)snprintf(name, sizeof(name), "holdback-doctor.%d",
		       (int)sys_getpid());
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const char *value = "/";

		if (places[i].variable)
			value = env_get(envp, places[i].variable);
		if (!value || value[0] != '/' ||
		    path_join(value, places[i].below, place, sizeof(place)) <
			    0 ||
		    path_join(place, name, ret_dir, PATH_MAX) < 0)
			continue;
		if (sys_mkdirat(AT_FDCWD, ret_dir, 0700) >= 0)
			return 0;
	}
	hb_fix(err, "set TMPDIR to a directory that you can write in");
	return hb_fail(err, -HB_E_UNSUPPORTED,
		       "there is no directory to try things in");
}

/* With what trials left in it. */
static void remove_dir(const char *dir)
{
	struct path_part above = path_dirname(dir);
	char path[PATH_MAX];
	auto_fd int at = -1;

	(void)snprintf(path, sizeof(path), "%.*s", (int)above.n, above.s);
	at = sys_openat(AT_FDCWD, path[0] ? path : "/", O_RDONLY | O_DIRECTORY,
			0);
	/* Without openat2 that fails, and nothing is in it either. */
	if (at < 0 || tree_remove(at, path_basename(dir).s, NULL) < 0)
		(void)sys_unlinkat(AT_FDCWD, dir, AT_REMOVEDIR);
}

static bool has_interpreter(const Elf64_Ehdr *head, const char *bytes, size_t n)
{
	for (size_t i = 0; i < head->e_phnum; i++) {
		Elf64_Phdr part;
		size_t at = head->e_phoff + i * sizeof(part);

		if (at + sizeof(part) > n)
			return true;
		memcpy(&part, bytes + at, sizeof(part));
		if (part.p_type == PT_INTERP)
			return true;
	}
	return false;
}

/* 1: an executable that needs no library, 0: another one. */
static int is_static(int dir, const char *path)
{
	auto_fd int fd = -1;
	char bytes[HEAD_SIZE];
	Elf64_Ehdr head;
	ssize_t n;
	int r;

	r = sys_faccessat(dir, path, X_OK);
	if (r < 0)
		return r;
	fd = sys_openat(dir, path, O_RDONLY, 0);
	if (fd < 0)
		return fd;
	n = sys_read(fd, bytes, sizeof(bytes));
	if (n < 0)
		return (int)n;
	if ((size_t)n < sizeof(head) || memcmp(bytes, ELFMAG, SELFMAG) != 0)
		return 0;
	memcpy(&head, bytes, sizeof(head));
	return !has_interpreter(&head, bytes, (size_t)n);
}

static const struct {
	struct hb_check check;
	const char *path; /* from the directory of the executable */
} parts[] = {
	{ { .name = "run-path",
	    .was_tried = true,
	    .used_for = "starting fast, and where no library can be found",
	    .lost = "'holdback run' cannot be found" },
	  "../../bin/holdback" },
	{ { .name = "bwrap",
	    .was_tried = true,
	    .used_for = "sandboxes described as for bubblewrap",
	    .lost = "'holdback bwrap' cannot work" },
	  "bwrap" },
};

static void check_part(size_t i, struct hb_check *ret_check)
{
	char self[PATH_MAX], path[PATH_MAX + 64];
	struct path_part dir = { "", 0 };
	int r;

	*ret_check = parts[i].check;
	if (sys_readlinkat(AT_FDCWD, "/proc/self/exe", self, sizeof(self)) >= 0)
		dir = path_dirname(self);
	(void)snprintf(path, sizeof(path), "%.*s/%s", (int)dir.n, dir.s,
		       parts[i].path);
	r = is_static(AT_FDCWD, path);
	if (r > 0)
		return;
	ret_check->verdict = HB_VERDICT_WARN;
	if (r == 0) {
		ret_check->lost = "it starts later and needs its libraries";
		(void)snprintf(ret_check->found, HB_FOUND_SIZE,
			       "'%.400s' is not static", path);
	} else {
		(void)snprintf(ret_check->found, HB_FOUND_SIZE, "'%.400s': %s",
			       path, hb_strerror(-r));
	}
	(void)snprintf(ret_check->fix, sizeof(ret_check->fix),
		       "install holdback whole: bin/ and libexec/");
}

/* The last link that PATH does not reach. */
static void note_link(void *ctx, const struct hb_enabled *link)
{
	struct hb_check *check = ctx;

	if (link->reach == HB_REACH_ON || link->reach == HB_REACH_MISSING)
		return;
	check->verdict = HB_VERDICT_WARN;
	if (link->reach == HB_REACH_BEHIND)
		(void)snprintf(check->found, HB_FOUND_SIZE,
			       "PATH finds '%.400s' before the link '%.64s'",
			       link->program, link->name);
	else if (link->reach == HB_REACH_ABSENT)
		(void)snprintf(check->found, HB_FOUND_SIZE,
			       "PATH lacks the directory of the link '%.64s'",
			       link->name);
	else
		(void)snprintf(check->found, HB_FOUND_SIZE,
			       "the link '%.64s' leads to a holdback that is "
			       "gone",
			       link->name);
	(void)snprintf(check->fix, sizeof(check->fix), "%s",
		       link->reach == HB_REACH_STALE
			       ? "holdback enable, with the names of the links"
			       : "eval \"$(holdback enable --shell bash)\" as "
				 "the last line of your shell's start-up file");
}

/* False: no program is enabled, and there is nothing to tell. */
static bool check_links(char *const *envp, struct hb_check *ret_check)
{
	struct hb_error err = { 0 };
	int r;

	*ret_check = (struct hb_check){
		.name = "enabled",
		.was_tried = true,
		.used_for = "programs that always start in a sandbox",
		.lost = "these programs start without a sandbox",
	};
	r = hb_enabled_each(NULL, envp, note_link, ret_check, &err);
	if (r < 0) {
		ret_check->verdict = HB_VERDICT_WARN;
		hb_error_format(&err, ret_check->found, HB_FOUND_SIZE);
		memcpy(ret_check->fix, err.fix, sizeof(err.fix));
	}
	return r != 0;
}

static size_t index_of(const char *name)
{
	size_t i = 0;

	while (strcmp(probe_at(i)->name, name) != 0)
		i++;
	return i;
}

static void check_probe(size_t i, const char *dir, const bool *has_worked,
			struct hb_check *ret_check)
{
	const struct probe *probe = probe_at(i);
	char found[PROBE_FOUND_SIZE];
	struct hb_error err = { 0 };

	*ret_check = (struct hb_check){ .name = probe->name,
					.was_tried = true,
					.used_for = probe->used_for,
					.lost = probe->lost };
	if (probe->needs && !has_worked[index_of(probe->needs)]) {
		ret_check->was_tried = false;
		(void)snprintf(ret_check->found, HB_FOUND_SIZE,
			       "not tried: it needs %s", probe->needs);
	} else if (probe_try(i, dir, found, &err) >= 0) {
		memcpy(ret_check->found, found, sizeof(found));
		return;
	} else if (err.code >= HB_E_UNSUPPORTED) {
		memcpy(ret_check->found, err.text, sizeof(err.text));
	} else {
		hb_error_format(&err, ret_check->found, HB_FOUND_SIZE);
	}
	memcpy(ret_check->fix, err.fix, sizeof(err.fix));
	ret_check->verdict =
		probe->is_required ? HB_VERDICT_FAIL : HB_VERDICT_WARN;
}

int hb_doctor(char *const *envp,
	      void (*tell)(void *context, const struct hb_check *check),
	      void *context, struct hb_error *err)
{
	bool has_worked[PROBES_MAX] = { false };
	struct hb_check check;
	char dir[PATH_MAX];
	int n_failed = 0, r;

	r = make_dir(envp, dir, err);
	if (r < 0)
		return r;
	for (size_t i = 0; probe_at(i); i++) {
		check_probe(i, dir, has_worked, &check);
		has_worked[i] = check.verdict == HB_VERDICT_OK;
		n_failed += check.verdict == HB_VERDICT_FAIL;
		probe_clean_up(dir);
		tell(context, &check);
	}
	n_failed += assured_tell(dir, envp, n_failed == 0, tell, context);
	assured_storage(dir, envp, tell, context);
	remove_dir(dir);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		check_part(i, &check);
		tell(context, &check);
	}
	if (check_links(envp, &check))
		tell(context, &check);
	return n_failed;
}
