/* SPDX-License-Identifier: Apache-2.0 */
#include "view/home/checkouts.h"

#include "base/auto.h"
#include "base/path.h"
#include "plan/plan.h"
#include "plan/view.h"
#include "store/store.h"
#include "sys/file.h"
#include "view/prepare.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The others belong to one manager each, which alone writes there. */
static const char *const shared[] = { "/.local/bin", "/.local/lib" };

#define SHARED (sizeof(shared) / sizeof(shared[0]))

struct hiding {
	struct run *run;
	const struct view_entry *in;
	int dir;
	size_t n;
};

static int hide(struct run *run, const char *path, struct hb_error *err)
{
	struct view_entry *e = &run->entries[run->n_entries++];

	*e = (struct view_entry){ .class = VIEW_HIDE, .found = VIEW_DIR };
	return plan_keep_text(&run->plan, path, &e->path, err);
}

static int hide_one(void *ctx, const char *name, struct hb_error *err)
{
	struct hiding *h = ctx;
	char git[NAME_MAX + sizeof("/.git")], path[PATH_MAX];

	(void)snprintf(git, sizeof(git), "%s/.git", name);
	if (h->n == CHECKOUTS_MAX / SHARED ||
	    sys_faccessat(h->dir, git, F_OK) < 0)
		return 0;
	h->n++;
	/* Of too many none is shown, and none of their neighbours. */
	if (h->n == CHECKOUTS_MAX / SHARED ||
	    path_join(h->in->path, name, path, sizeof(path)) < 0)
		return hide(h->run, h->in->path, err);
	return hide(h->run, path, err);
}

static int look_into(struct run *run, const struct view_entry *e,
		     struct hb_error *err)
{
	struct hiding h = { .run = run, .in = e };
	auto_fd int fd =
		sys_openat(AT_FDCWD, e->source, O_RDONLY | O_DIRECTORY, 0);

	if (fd < 0)
		return 0;
	h.dir = fd;
	return store_each_name(fd, hide_one, &h, err);
}

int checkouts_hide(struct run *run, struct hb_error *err)
{
	const char *home = run->host.home;
	size_t n = home ? run->n_entries : 0;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < n; i++) {
		const struct view_entry *e = &run->entries[i];

		if (e->class != VIEW_SHOW || !e->item ||
		    e->item->origin.source != SETTING_BUILT_IN ||
		    strncmp(e->path, home, strlen(home)) != 0)
			continue;
		for (size_t k = 0; r >= 0 && k < SHARED; k++)
			if (strcmp(e->path + strlen(home), shared[k]) == 0)
				r = look_into(run, e, err);
	}
	return r;
}
