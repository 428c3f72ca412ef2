/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TEST_BWRAP_PARSED_H
#define HB_TEST_BWRAP_PARSED_H

#include "plan/bwrap/bwrap.h"

#include "base/error.h"
#include "base/report.h"
#include "plan/plan.h"

#include "tap.h"

#include <errno.h>
#include <string.h>

/*
 * A world for bwrap_parse() in which nothing is real, and lines to parse in it.
 */

#define IS(a, b) CHECK((a) != NULL && strcmp((a), (b)) == 0)

/* What one parse was given and what came of it. */
struct parsed {
	struct bwrap_world world;
	struct hb_listener listener;
	struct plan plan;
	struct bwrap_call call;
	struct hb_error err;
	const char *file; /* behind descriptor 9, ended by two NULs */
	bool no_userns, no_cgroup;
	char warnings[512];
	bool warned_with_prefix;
	int r;
};

static inline int read_fd(void *ctx, int fd, char **ret_data, size_t *ret_len,
			  struct hb_error *err)
{
	const struct parsed *p = ctx;
	size_t len = 0;

	(void)err;
	if (fd != 9 || !p->file)
		return -EBADF;
	while (p->file[len] != '\0' || p->file[len + 1] != '\0')
		len++;
	*ret_data = malloc(len + 1);
	CHECK(*ret_data != NULL);
	memcpy(*ret_data, p->file, len + 1);
	*ret_len = len;
	return 0;
}

static inline bool can_user(void *ctx)
{
	return !((const struct parsed *)ctx)->no_userns;
}

static inline bool can_cgroup(void *ctx)
{
	return !((const struct parsed *)ctx)->no_cgroup;
}

static inline bool hear(void *ctx, const struct hb_report *report)
{
	struct parsed *p = ctx;
	size_t used = strlen(p->warnings);

	p->warned_with_prefix |= p->call.level_prefix;
	(void)snprintf(p->warnings + used, sizeof(p->warnings) - used, "%s\n",
		       report->text);
	return false;
}

static inline void parse_argv(struct parsed *p, int argc, char *const *argv)
{
	p->world.ctx = p;
	p->world.read_fd = read_fd;
	p->world.can_unshare_user = can_user;
	p->world.can_unshare_cgroup = can_cgroup;
	p->listener = (struct hb_listener){ .hear = hear, .context = p };
	p->world.listener = &p->listener;
	plan_init(&p->plan);
	p->r = bwrap_parse(argc, argv, &p->world, &p->plan, &p->call, &p->err);
}

#define MAX_WORDS 32

/* Splits `line` at blanks into a static inline array; "''" is an empty word. */
static inline int split(const char *line, char **argv)
{
	static char copy[1024], name[] = "bwrap", empty[] = "";
	int argc = 1;
	char *save;

	CHECK(strlen(line) < sizeof(copy));
	memcpy(copy, line, strlen(line) + 1);
	argv[0] = name;
	for (char *w = strtok_r(copy, " ", &save); w;
	     w = strtok_r(NULL, " ", &save)) {
		CHECK(argc < MAX_WORDS - 1);
		argv[argc++] = strcmp(w, "''") == 0 ? empty : w;
	}
	argv[argc] = NULL;
	return argc;
}

static inline void parse_line(struct parsed *p, const char *line)
{
	static char *argv[MAX_WORDS];

	parse_argv(p, split(line, argv), argv);
}

/* The line is right and asks for a run. */
static inline struct parsed accepted(const char *line)
{
	struct parsed p = { 0 };

	parse_line(&p, line);
	if (p.r < 0)
		printf("# '%s': %s\n", line, p.err.text);
	CHECK_INT(p.r, 0);
	CHECK_INT(p.call.request, BWRAP_RUN);
	CHECK_INT(p.err.code, 0);
	return p;
}

#endif
