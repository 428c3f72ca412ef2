/* SPDX-License-Identifier: Apache-2.0 */
#include "session/interruption.h"

#include "base/error.h"
#include "base/quote.h"
#include "session/session.h"
#include "store/store.h"
#include "sys/file.h"
#include "txn/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define JOURNAL "journal"

bool session_has_journal(const struct hb_session *s)
{
	return sys_faccessat(s->dir, JOURNAL, F_OK) != -ENOENT;
}

/* By kind: what it is called, and on which side its end is. */
static const struct {
	const char *name;
	bool is_forward; /* its end is the session's version */
} kinds[JOURNAL_KINDS] = {
	[JOURNAL_COMMIT] = { "commit", true },
	[JOURNAL_UNDO] = { "undo", false },
	[JOURNAL_REDO] = { "redo", true },
	[JOURNAL_ROLLBACK] = { "rollback", false },
};

/* What is in flight; a damaged one has no head that could be believed. */
static enum journal_kind kind_in_flight(const struct hb_session *s,
					bool *ret_damaged)
{
	struct journal *journal = NULL;
	enum journal_kind kind = JOURNAL_COMMIT;

	*ret_damaged = journal_open(s->dir, JOURNAL, &journal, NULL) < 0;
	if (!*ret_damaged)
		kind = journal_head(journal)->kind;
	journal_free(journal);
	return kind;
}

const char *session_interrupted(const struct hb_session *s, bool *ret_damaged)
{
	*ret_damaged = false;
	return session_has_journal(s)
		       ? kinds[kind_in_flight(s, ret_damaged)].name
		       : NULL;
}

bool session_goes_back(const struct hb_session *s)
{
	bool is_damaged;

	return session_has_journal(s) &&
	       kinds[kind_in_flight(s, &is_damaged)].is_forward;
}

static int fail_without(const struct hb_session *s, const char *source,
			struct hb_error *err)
{
	hb_fix(err,
	       "put '%s' back, then holdback recover @%s; or holdback cleanup "
	       "-y @%s, which discards the session",
	       quoted(source), s->record.name, s->record.name);
	return hb_fail(err, -HB_E_STATE,
		       "session '%s': %s interrupted, and the directory '%s' "
		       "is gone",
		       s->record.name, s->info.interrupted, quoted(source));
}

int session_fail_interrupted(const struct hb_session *s, struct hb_error *err)
{
	const char *name = s->record.name;

	for (size_t i = 0; s->info.knows_gone && i < s->record.n_resources; i++)
		if (s->infos[i].is_gone && !s->info.is_damaged)
			return fail_without(s, s->record.resources[i].source,
					    err);
	if (s->info.is_damaged)
		hb_fix(err,
		       "put 'journal' in %s/sessions/%s back as it was; "
		       "holdback recover --list @%s names the files that it "
		       "replaced",
		       s->store->path, name, name);
	else
		hb_fix(err,
		       "holdback recover @%s finishes it; "
		       "holdback recover --back @%s takes it back",
		       name, name);
	return hb_fail(err, -HB_E_STATE, "session '%s': %s interrupted", name,
		       s->info.interrupted);
}
