/* SPDX-License-Identifier: Apache-2.0 */
#include "run/told/outside.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/report.h"
#include "plan/view.h"
#include "plan/view_place.h"
#include "store/berth.h"
#include "store/resource.h"
#include "sys/attr.h"
#include "sys/file.h"
#include "sys/place.h"
#include "tree/alteration.h"
#include "tree/tree.h"
#include "view/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More are counted. */
#define LINES_MAX 20

/* No clock that stamps files is behind ours by more. */
#define CLOCK_SLACK_NS 20000000L
#define SECOND_NS      1000000000L

#define TEXT_SIZE (QUOTE_SHOWN + 96)

struct outside_place {
	const char *source; /* the run's */
	int base;	    /* open: a name could lead elsewhere by the end */
	struct timespec t0;
};

/* Of a file system where we can make no file. */
static struct timespec a_moment_ago(void)
{
	struct timespec t = sys_now();

	t.tv_nsec -= CLOCK_SLACK_NS;
	if (t.tv_nsec < 0) {
		t.tv_nsec += SECOND_NS;
		t.tv_sec--;
	}
	return t;
}

static int begin_one(struct outside_place *place, const char *source,
		     struct hb_error *err)
{
	auto_fd int marker = -1;

	place->source = source;
	place->base = sys_openat(AT_FDCWD, source, O_RDONLY | O_DIRECTORY, 0);
	if (place->base < 0)
		return hb_fail(err, place->base, "cannot verify '%s'",
			       quoted(source));
	marker = sys_tmpfile(place->base);
	if (marker >= 0)
		return resource_clock(marker, &place->t0, err);
	place->t0 = a_moment_ago();
	return 0;
}

int outside_begin(struct outside *o, const struct run *run,
		  struct hb_error *err)
{
	int r = 0;

	o->places = calloc(run->n_resources + 1, sizeof(*o->places));
	if (!o->places)
		return hb_fail(err, -ENOMEM, "cannot verify");
	for (size_t i = 0; r >= 0 && i < run->n_resources; i++) {
		o->places[i].base = -1;
		o->n_places++;
		r = begin_one(&o->places[i], run->resources[i].source, err);
	}
	return r;
}

struct look {
	struct outside *outside;
	const struct run *run;
	const struct outside_place *place;
};

/* Of news that --quiet does not silence. */
static void say(const struct run *run, const char *text)
{
	(void)report_send(
		run->listener,
		&(struct hb_report){ .kind = HB_REPORT_SAID, .text = text });
}

static void look_at(const struct look *l, const char *path,
		    const struct sys_attr *attr)
{
	struct hb_verified *v = &l->outside->verified;
	const char *what = alteration_since(attr, l->place->t0);
	char text[TEXT_SIZE];

	v->n_looked++;
	if (!what || ++v->n_found > LINES_MAX)
		return;
	(void)snprintf(text, sizeof(text), "changed outside: '%s': %s",
		       quoted(path), what);
	say(l->run, text);
}

static bool is_real(const struct look *l, const char *path)
{
	for (size_t i = 0; i < l->run->n_entries; i++)
		if (l->run->entries[i].class == VIEW_RW &&
		    view_lies_in(path, l->run->entries[i].source))
			return true;
	return false;
}

/* Of type tree_fn. */
static int visit(void *ctx, const struct tree_visit *at, struct hb_error *err)
{
	struct look *l = ctx;
	char path[PATH_MAX];

	(void)err;
	if (at->when == TREE_LEAVE)
		return 0;
	if (at->when == TREE_SHUT) {
		l->outside->verified.n_unread++;
		return 0;
	}
	if (path_join(l->place->source, at->path, path, sizeof(path)) < 0) {
		/* Not to be told by a name, but counted. */
		look_at(l, at->path, &at->attr);
		return 0;
	}
	if (berth_is_name(at->path) || is_real(l, path))
		return TREE_SKIP;
	look_at(l, path, &at->attr);
	return 0;
}

static void tell_end(const struct outside *o, const struct run *run)
{
	const struct hb_verified *v = &o->verified;
	char text[TEXT_SIZE];

	if (v->n_found > LINES_MAX) {
		(void)snprintf(text, sizeof(text), "changed outside: %llu more",
			       (unsigned long long)(v->n_found - LINES_MAX));
		say(run, text);
	}
	if (v->n_unread > 0) {
		(void)snprintf(text, sizeof(text),
			       "%llu director%s could not be looked into",
			       (unsigned long long)v->n_unread,
			       v->n_unread == 1 ? "y" : "ies");
		say(run, text);
	}
	/* Of what was not seen nothing can be said. */
	if (v->n_found > 0 || v->n_unread > 0)
		return;
	(void)snprintf(text, sizeof(text), "nothing of %llu changed outside",
		       (unsigned long long)v->n_looked);
	report_text(run->listener, HB_REPORT_SAID, "%s", text);
}

static void look_through(struct look *l)
{
	char text[TEXT_SIZE];
	struct sys_attr top;
	int r = sys_attr_at(l->place->base, "", &top);

	if (r >= 0) {
		look_at(l, l->place->source, &top);
		r = tree_walk(l->place->base, ".", TREE_PATIENT, visit, l,
			      NULL);
	}
	if (r >= 0)
		return;
	l->outside->verified.n_unread++;
	(void)snprintf(text, sizeof(text), "cannot look through '%s': %s",
		       quoted(l->place->source), hb_strerror(-r));
	say(l->run, text);
}

void outside_look(struct outside *o, const struct run *run)
{
	struct look l = { o, run, NULL };

	if (!o->places)
		return;
	for (size_t i = 0; i < o->n_places; i++) {
		l.place = &o->places[i];
		look_through(&l);
	}
	o->is_looked = true;
	tell_end(o, run);
}

void outside_done(struct outside *o)
{
	for (size_t i = 0; i < o->n_places; i++)
		fd_closep(&o->places[i].base);
	free(o->places);
	o->places = NULL;
	o->n_places = 0;
}
