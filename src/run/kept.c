/* SPDX-License-Identifier: Apache-2.0 */
#include "run/kept.h"

#include "base/auto.h"
#include "base/error.h"
#include "base/path.h"
#include "holdback/holdback.h"
#include "holdback/session.h"
#include "plan/plan.h"
#include "plan/role.h"
#include "plan/view.h"
#include "plan/view_place.h"
#include "run/bare.h"
#include "run/beside/turn_marks.h"
#include "run/carry_names.h"
#include "run/database/kept_database.h"
#include "run/mounted.h"
#include "run/places.h"
#include "run/publish_names.h"
#include "session/create.h"
#include "session/gone.h"
#include "session/open.h"
#include "session/session.h"
#include "session/strategy/matrix.h"
#include "session/strategy/shown.h"
#include "store/resource.h"
#include "store/store.h"
#include "strategy/strategy.h"
#include "view/policy.h"
#include "view/prepare.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The resources of a run that are kept are those of its session, in the same
 * order: run->n_kept from run->n_direct on.  Those that are gone are left out.
 */

/* So many sessions of one command: more are hardly looked at by anybody. */
#define NUMBER_MAX 100000

/* Names that were taken when they were wanted, and not after that. */
#define MISSED_MAX 100

/* Room for "-" and such a number. */
#define STEM_MAX (RECORD_NAME_MAX - 8)

/*
 * Those that the user named have to be able to do what was asked for.  What
 * comes with them does so where it can.
 */
static int set_strategy(const struct run *run, const struct view_resource *from,
			struct record_resource *resource, struct hb_error *err)
{
	const char *name = run->settings.strategy;
	bool is_named =
		(from->role == VIEW_WORKSPACE || from->role == VIEW_COW) &&
		resource->type != RESOURCE_POSTGRES;
	int r;

	if (!name)
		return 0;
	if (!is_named && (strategy_over_find(name) ||
			  !strategy_allows(resource->type, name)))
		return 0;
	r = matrix_check(resource->type, resource->source, name, err);
	if (r >= 0)
		shown_set_strategy(resource, name);
	return r;
}

int kept_fill(const struct run *run, const struct hb_store *store,
	      struct session_record *record, struct hb_error *err)
{
	struct record_resource *resource = NULL;
	int r = places_make_state(run, err);

	for (size_t i = 0; r >= 0 && i < run->n_kept; i++) {
		const struct view_resource *from =
			&run->resources[run->n_direct + i];

		r = resource_add(store, from->source, from->inside, record,
				 &resource, err);
		if (r >= 0)
			r = set_strategy(run, from, resource, err);
		if (r < 0)
			break;
		/* Those that the user named have none: see role_of(). */
		if (!run->chosen || i >= run->chosen->n_resources)
			(void)snprintf(resource->role, sizeof(resource->role),
				       "%s", role_name(from->role));
		if (run->is_bare)
			(void)snprintf(resource->effective,
				       sizeof(resource->effective), "%s",
				       strategy_next(NULL, resource->type,
						     STRATEGY_BARE)
					       ->named->name);
	}
	return r < 0 ? r : policy_record(run, record, err);
}

/* What a session is called after; what cannot be a name is "run". */
static void find_stem(const struct run *run, char ret[STEM_MAX + 1])
{
	struct path_part base = path_basename(run->options->argv[0]);

	(void)snprintf(ret, STEM_MAX + 1, "%.*s", (int)base.n, base.s);
	if (base.n > STEM_MAX || record_check_name("session", ret, NULL) < 0)
		(void)snprintf(ret, STEM_MAX + 1, "run");
}

static int make_numbered(const struct run *run, const struct hb_store *store,
			 struct session_record *record,
			 const struct hb_create_options *asked,
			 struct hb_session **ret_session, struct hb_error *err)
{
	char stem[STEM_MAX + 1];
	unsigned missed = 0;
	int r;

	find_stem(run, stem);
	for (unsigned i = 1; i <= NUMBER_MAX; i++) {
		struct hb_error why = { 0 };

		(void)snprintf(record->name, sizeof(record->name), "%s-%u",
			       stem, i);
		r = session_check_new(store, record->name, &why);
		if (r >= 0)
			r = session_make(store, record, NULL, asked,
					 ret_session, &why);
		if (r >= 0)
			return 0;
		/* Taken, perhaps a moment ago, and perhaps free again by now.
		 */
		if (r == -HB_E_STATE &&
		    (session_check_new(store, record->name, NULL) < 0 ||
		     ++missed < MISSED_MAX))
			continue;
		*err = why;
		return r;
	}
	hb_fix(err, "holdback ls, then commit or rollback some of them");
	return hb_fail(err, -HB_E_STATE, "there are %d sessions of '%s'",
		       NUMBER_MAX, stem);
}

int kept_make(struct run *run, struct hb_store *store, bool trusts_trials,
	      struct hb_session **ret_session, struct hb_error *err)
{
	const struct hb_create_options asked = {
		.trusts_trials = trusts_trials,
		.is_quiet = run->settings.is_quiet,
		.without_fallback = run->settings.is_required,
	};
	auto_record struct session_record record = { 0 };
	int r;

	r = kept_fill(run, store, &record, err);
	if (r < 0)
		return r;
	record_note_command(&record, run->options->argv);
	record.is_passing = !run->settings.session;
	if (record.is_passing) {
		return make_numbered(run, store, &record, &asked, ret_session,
				     err);
	}
	r = session_check_new(store, run->settings.session, err);
	if (r < 0)
		return r;
	(void)snprintf(record.name, sizeof(record.name), "%s",
		       run->settings.session);
	return session_make(store, &record, NULL, &asked, ret_session, err);
}

/* What a session's store would show through a resource is covered there. */
static int add_covers(struct run *run, const struct mounted *m,
		      struct hb_error *err)
{
	const char **covers;
	size_t n = run->request.n_covered;

	covers = reallocarray(run->covers, n + 2 * m->n_hidden + 1,
			      sizeof(*covers));
	if (!covers)
		return hb_fail(err, -ENOMEM, "cannot make the view");
	run->request.covered = run->covers = covers;
	for (size_t i = 0; i < m->n_hidden; i++) {
		char inside[PATH_MAX];
		int r;

		if (view_inside(&run->request, m->hidden[i], inside) < 0)
			return hb_fail(err, -ENAMETOOLONG,
				       "the path of the store is too long");
		r = plan_keep_text(&run->plan, inside, &covers[n], err);
		if (r < 0)
			return r;
		n++;
		covers[n++] = m->hidden[i];
	}
	run->request.n_covered = n;
	return 0;
}

/* What a copy leaves out is shown as it is. */
static int add_held(struct run *run, const struct mounted *m,
		    struct hb_error *err)
{
	struct view_entry *entries;

	if (m->n_held == 0)
		return 0;
	entries = reallocarray(run->entries, run->n_entries + m->n_held,
			       sizeof(*entries));
	if (!entries)
		return hb_fail(err, -ENOMEM, "cannot make the view");
	run->entries = entries;
	for (size_t i = 0; i < m->n_held; i++)
		entries[run->n_entries++] = (struct view_entry){
			.class = VIEW_RO,
			.found = VIEW_DIR,
			.path = m->held[i].inside,
			.source = m->held[i].source,
		};
	run->request.entries = entries;
	run->request.n_entries = run->n_entries;
	return 0;
}

int kept_describe(struct hb_session *session, struct run_session *ret,
		  struct hb_error *err)
{
	int r;

	*ret = (struct run_session){ .record = &session->record,
				     .store = session->store->path };
	r = session_open_resources(session, err);
	if (r < 0)
		return r;
	/* Settings and the rest of the view go by the project. */
	if (session->resources[0].is_gone &&
	    session->record.resources[0].role[0])
		return gone_refuse(session, "no command can run without it",
				   err);
	for (size_t i = 0; i < session->record.n_resources; i++)
		ret->gone[i] = session->resources[i].is_gone;
	return 0;
}

int kept_lay(struct run *run, struct mounted *m, struct hb_error *err)
{
	int r;

	if (run->is_bare)
		places_leave_data(run);
	r = places_make_data(run, err);
	if (r >= 0)
		r = carry_prepare(run, m->session, err);
	if (r < 0)
		return r;
	m->resources = run->resources + run->n_direct;
	m->n_resources = run->n_kept;
	r = mounted_prepare(m, err);
	if (r < 0)
		return r;
	run->request.is_volatile = !m->session->record.is_durable;
	r = add_covers(run, m, err);
	if (r >= 0)
		r = places_cover(run, err);
	if (r >= 0)
		r = add_held(run, m, err);
	if (r >= 0)
		r = turn_marks_open(run, m, err);
	if (r >= 0)
		r = database_show(run, m, err);
	if (r >= 0)
		r = publish_prepare(run, m->session, err);
	if (r >= 0)
		r = carry_prepare_home(run, m->session, err);
	if (r >= 0 && run->is_bare)
		r = bare_prepare(run, m->session, err);
	return r;
}
