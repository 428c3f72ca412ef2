/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/gate.h"
#include "review/changeset.h"
#include "session/open.h"

#include "base/error.h"
#include "base/path.h"
#include "base/report.h"
#include "gate/above.h"
#include "gate/rules.h"
#include "host/look.h"
#include "plan/role.h"
#include "review/found.h"
#include "review/gate.h"
#include "review/git/repository.h"
#include "session/session.h"
#include "store/store.h"
#include "view/gate_files.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GIT_DIR ".git"
#define CHECK	"gate-run"

static_assert((int)HB_SEVERITY_WARN == (int)GATE_WARN &&
		      (int)HB_SEVERITY_DENY == (int)GATE_DENY,
	      "severities are told as they are known");

const char *hb_severity_name(enum hb_severity severity)
{
	return gate_severity_name((enum gate_severity)severity);
}

/* A rule may be one resource's alone. */
static int check_allow(const struct session_gate *gate, const char *words,
		       struct hb_error *err)
{
	struct hb_error why = { 0 };
	int r = 0;

	for (size_t i = 0; i < gate->n_rules; i++) {
		r = gate_allow_check(gate->rules[i], words,
				     i == 0 ? &why : NULL);
		if (r >= 0)
			return 0;
	}
	return hb_pass(err, &why, r);
}

int session_gate_begin(struct session_gate *gate, struct hb_session *session,
		       const struct hb_gate_options *options,
		       struct hb_error *err)
{
	const size_t n = session->record.n_resources;
	int r;

	gate->session = session;
	gate->options = options;
	gate->allowed.session = session;
	gate->allowed.words = options->allow;
	gate->allowed.n_words = options->n_allow;
	r = session_open_resources(session, err);
	if (r < 0)
		return r;
	gate->rules = calloc(n, sizeof(struct gate_rules *));
	if (!gate->rules)
		return hb_fail(err, -ENOMEM, "cannot read the rules");
	for (size_t i = 0; r >= 0 && i < n; i++) {
		gate->n_rules++;
		r = gate_files_read(session->store->envp,
				    session->resources[i].base,
				    session->record.resources[i].source,
				    &gate->rules[i], err);
	}
	for (size_t i = 0; r >= 0 && i < options->n_allow; i++)
		r = check_allow(gate, options->allow[i], err);
	return r < 0 ? r : 0;
}

void session_gate_done(struct session_gate *gate)
{
	for (size_t i = 0; i < gate->n_rules; i++)
		gate_rules_free(gate->rules[i]);
	free(gate->rules);
	allowed_done(&gate->allowed);
	*gate = (struct session_gate){ 0 };
}

static bool is_allowed(const struct session_gate *gate,
		       const struct gate_finding *finding)
{
	const struct hb_gate_options *options = gate->options;

	if (finding->severity != GATE_ASK)
		return false;
	if ((gate->with_special && strcmp(finding->rule, "special") == 0) ||
	    (gate->with_setid && strcmp(finding->rule, "setid") == 0))
		return true;
	for (size_t i = 0; i < options->n_allow; i++)
		if (gate_allow_matches(options->allow[i], finding->rule,
				       finding->path))
			return true;
	return false;
}

struct telling {
	struct session_gate *gate;
	size_t resource;
	bool is_refused;
	const char *output;
};

static int tell(void *ctx, const struct gate_finding *from,
		struct hb_error *err)
{
	struct telling *t = ctx;
	struct hb_gate_result *result = &t->gate->result;
	const struct hb_session *s = t->gate->session;
	const struct hb_finding finding = {
		.rule = from->rule,
		.severity = (enum hb_severity)from->severity,
		.is_allowed = is_allowed(t->gate, from),
		.class = gate_class_name(from->class),
		.resource = t->resource,
		.path = from->path,
		.line = from->line,
		.detail = from->detail,
		.reason = from->reason,
		.output = t->output,
		.repository = from->repository,
		.commit = from->commit,
		.ref = from->ref,
	};

	if (t->gate->kept)
		found_note(t->gate->kept, t->resource, from);
	if (finding.is_allowed)
		allowed_note(&t->gate->allowed, from->rule, from->path);
	(void)err;
	result->n_warnings += finding.severity == HB_SEVERITY_WARN;
	result->n_denied += finding.severity == HB_SEVERITY_DENY;
	result->n_allowed += finding.is_allowed;
	result->n_asked +=
		finding.severity == HB_SEVERITY_ASK && !finding.is_allowed;
	t->is_refused = t->is_refused || (finding.severity > HB_SEVERITY_WARN &&
					  !finding.is_allowed);
	/* Again if it is recalled: now with the answer. */
	(void)report_send(
		s->store->listener,
		&(struct hb_report){
			.kind = HB_REPORT_FINDING,
			.session = s->record.name,
			.source = s->record.resources[t->resource].source,
			.resource = t->resource,
			.path = from->path,
			.finding = &finding });
	return 0;
}

int session_gate_check(struct session_gate *gate,
		       const struct hb_gate_check *check, struct hb_error *err)
{
	const struct gate_rule *rule = gate_rules_find(gate->rules[0], CHECK);
	struct telling telling = { .gate = gate, .output = check->output };
	char words[32];
	struct gate_finding finding = { .path = ".", .detail = words };
	int r;

	if (!check->was_run || check->status == 0 || !rule ||
	    rule->severity == GATE_OFF)
		return 0;
	(void)snprintf(words, sizeof(words), "status %d", check->status);
	if (check->status < 0)
		finding.detail = "it cannot be run";
	finding.rule = rule->id;
	finding.severity = rule->severity;
	finding.reason = rule->reason;
	r = tell(&telling, &finding, err);
	gate->check_failed = telling.is_refused;
	return r;
}

/*
 * A repository's own directory and an agent's state are known by the names
 * above them, which are not in the paths of their changes.
 */
static const char *prefix_of(const struct record_resource *resource)
{
	const char *path = resource->source;
	const char *last = strrchr(path, '/');

	if (strcmp(resource->role, role_name(VIEW_GIT)) == 0 ||
	    strcmp(last, "/" GIT_DIR) == 0)
		return GIT_DIR;
	if (strcmp(resource->role, role_name(VIEW_STATE)) != 0)
		return "";
	/* By the name that the agent knows: a link may lead elsewhere. */
	path = resource->inside;
	last = strrchr(path, '/');
	while (last > path && last[-1] != '/')
		last--;
	return last;
}

int session_gate_look(void *ctx, size_t resource, struct changes *changes,
		      const struct txn_options *options, struct hb_error *err)
{
	struct session_gate *gate = ctx;
	struct hb_session *s = gate->session;
	struct telling telling = { .gate = gate, .resource = resource };
	const char *source = s->record.resources[resource].source;
	const char *prefix = prefix_of(&s->record.resources[resource]);
	char home[PATH_MAX];
	bool has_home = look_home(s->store->envp, home) != NULL;
	const struct gate_request request = {
		.changes = changes,
		.resource = &s->resources[resource],
		.choice = &options->choice,
		.rules = gate->rules[resource],
		.objects = repository_objects,
		.prefix = prefix,
		.above = prefix[0] ? ""
				   : gate_above(source, has_home ? home : NULL),
		/* Of an agent's state the rules of agents ask already. */
		.is_home = has_home && path_is_beneath(home, source) &&
			   strcmp(s->record.resources[resource].role,
				  role_name(VIEW_STATE)) != 0,
		.is_git = strcmp(prefix, GIT_DIR) == 0,
	};
	int r = gate_run(&request, tell, &telling, err);

	return r < 0 ? r : telling.is_refused || gate->check_failed;
}

int session_gate_recall(void *ctx, size_t resource, struct changes *changes,
			const struct txn_options *options, struct hb_error *err)
{
	struct session_gate *gate = ctx;
	struct telling telling = { .gate = gate, .resource = resource };
	int r = 0;

	(void)changes;
	(void)options;
	if (resource == 0)
		gate->result.n_warnings += gate->found->n_warnings;
	for (size_t i = 0; r >= 0 && i < gate->found->n; i++) {
		const struct found_one *one = &gate->found->list[i];
		const struct gate_finding finding = {
			.rule = one->rule,
			.severity = (enum gate_severity)one->severity,
			.path = one->path,
			.reason = "",
		};

		if (one->resource == resource)
			r = tell(&telling, &finding, err);
	}
	return r < 0 ? r : telling.is_refused || gate->check_failed;
}

int hb_session_gate(struct hb_session *session, struct hb_changes *changes,
		    const struct hb_gate_options *options,
		    struct hb_gate_result *ret_result, struct hb_error *err)
{
	const struct txn_options txn_options = {
		.choice.filter = *session_changes_filter(changes),
	};
	struct session_gate gate = { 0 };
	struct txn *txn = NULL;
	int r;

	r = session_txn(session, &txn, err);
	if (r >= 0)
		r = session_gate_begin(&gate, session, options, err);
	if (r >= 0 && options->check)
		r = session_gate_check(&gate, options->check, err);
	/* What the check said is its own, and a commit runs its own. */
	gate.kept = session_changes_found(changes);
	found_begin(gate.kept);
	for (size_t i = 0; r >= 0 && i < session->record.n_resources; i++) {
		struct changes *of = session_changes_of(changes, i);

		assert(of);
		r = session_gate_look(&gate, i, of, &txn_options, err);
	}
	if (r >= 0)
		r = hb_changes_rewind(changes, err);
	if (r >= 0)
		*ret_result = gate.result;
	else
		found_done(gate.kept);
	session_gate_done(&gate);
	return r < 0 ? r : 0;
}

int hb_session_rules(struct hb_session *session, hb_rule_fn fn, void *ctx,
		     struct hb_error *err)
{
	const struct hb_gate_options none = { 0 };
	struct session_gate gate = { 0 };
	int r;

	r = session_gate_begin(&gate, session, &none, err);
	for (size_t i = 0; r >= 0 && i < gate.rules[0]->n; i++) {
		const struct gate_rule *rule = &gate.rules[0]->rules[i];
		const struct hb_rule told = {
			.id = rule->id,
			.reason = rule->reason,
			.severity = gate_severity_name(rule->severity),
			.class = gate_class_name(rule->class),
		};

		r = fn(ctx, &told, err);
	}
	session_gate_done(&gate);
	return r;
}
