/* SPDX-License-Identifier: Apache-2.0 */
#include "review/git/merge/merge.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/quote.h"
#include "base/report.h"
#include "changes/changes.h"
#include "changes/git/delivered.h"
#include "changes/part.h"
#include "holdback/session.h"
#include "review/git/deliveries.h"
#include "review/git/merge/aside_files.h"
#include "review/git/merge/uncommitted.h"
#include "session/fork/fork.h"
#include "session/git/own_record.h"
#include "session/open.h"
#include "session/remove/gc.h"
#include "session/session.h"
#include "session/state.h"
#include "store/store.h"
#include "sys/proc.h"
#include "tree/content.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD	   "cannot merge"
#define SAME_LINES "both sides changed the same lines"
#define IN_THE_WAY "changes that are not committed are in the way of the merge"
#define OBJECTS	   "objects/"
#define OTHERS	   16 /* words before the operands: identity and time */

/* How the script ends. */
enum end {
	END_MERGED,
	END_CONFLICT = 10, /* lines are paths */
	END_EDITS,	   /* likewise */
	END_REFUSED,	   /* git's last line */
	END_NO_GIT = 127,
};

/*
 * Operands: variables, the work tree, the branch, its commit, and a message if
 * changes that are in no commit are to become one (uncommitted.h).  With one
 * more that commit is made, and nothing is merged.  Hooks and
 * the file system monitor of the repository do not run, also not in the box.
 * With an effect of theirs it would be another merge.  Filters and merge
 * drivers do.
 */
static const char script[] =
	"while :; do case $1 in GIT_*=*) export \"$1\"; shift ;; *) break ;; "
	"esac; done\n"
	"cd \"$1\" || exit 12\n"
	"command -v git >/dev/null || exit 127\n"
	"export LC_ALL=C GIT_LFS_SKIP_SMUDGE=1 GIT_TERMINAL_PROMPT=0 "
	"GIT_EDITOR=:\n"
	"g() { git -c core.hooksPath=/dev/null -c core.fsmonitor=false "
	"-c gc.auto=0 -c maintenance.auto=false -c commit.gpgSign=false "
	"-c merge.verifySignatures=false -c merge.ff=true "
	"-c merge.autoStash=false -c rerere.enabled=false "
	"-c submodule.recurse=false -c core.quotePath=true \"$@\"; }\n"
	"g var GIT_COMMITTER_IDENT >/dev/null 2>&1 || "
	"export GIT_AUTHOR_NAME=holdback GIT_AUTHOR_EMAIL=holdback@localhost "
	"GIT_COMMITTER_NAME=holdback GIT_COMMITTER_EMAIL=holdback@localhost\n"
	"into=$(g rev-parse -q --verify HEAD) || "
	"{ echo 'HEAD has no commit'; exit 12; }\n"
	"tip=$3\n"
	"if [ -n \"$4\" ]; then tip=$(\n"
	"GIT_DIR=$(g rev-parse --absolute-git-dir) && export GIT_DIR &&\n"
	"from=$(g rev-parse --path-format=absolute --git-common-dir)/" UNCOMMITTED_DIR
	" &&\n"
	"export GIT_INDEX_FILE=\"$from/index\" GIT_WORK_TREE=\"$from/tree\" "
	"&&\n"
	"cd \"$from/tree\" && g read-tree \"$3\" &&\n"
	"g update-index --force-remove -z --stdin <\"$from/gone\" &&\n"
	"g update-index --replace -z --index-info <\"$from/info\" &&\n"
	"g update-index --add --replace -z --stdin <\"$from/there\" &&\n"
	/* 1: it ignores none. */
	"{ g check-ignore --no-index -z --stdin <\"$from/fresh\" "
	">\"$from/ignored\" || [ $? -eq 1 ]; } &&\n"
	"g update-index --force-remove -z --stdin <\"$from/ignored\" &&\n"
	"tree=$(g write-tree) && old=$(g rev-parse \"$3^{tree}\") &&\n"
	"if [ \"$tree\" = \"$old\" ]; then echo \"$3\"\n"
	"else g commit-tree -p \"$3\" -m \"$4\" \"$tree\"; fi 2>&1\n"
	") || { echo \"$tip\" | tail -n 1; exit 12; }; fi\n"
	"g update-ref \"refs/heads/$2\" \"$tip\" || exit 12\n"
	"if [ -n \"$5\" ]; then printf '%s\\n' \"$tip\" \"$into\" \"$tip\"; "
	"exit; fi\n"
	"if said=$(g merge --no-edit --no-stat --no-progress \"$2\" 2>&1); "
	"then g rev-parse HEAD && echo \"$into\" && echo \"$tip\"; exit; fi\n"
	"names=$(g diff --name-only --diff-filter=U | head -n 20)\n"
	"if [ -n \"$names\" ]; then printf '%s\\n' \"$names\"; exit 10; fi\n"
	"names=$(printf '%s\\n' \"$said\" | sed -n 's/^\t//p' | head -n 20)\n"
	"if [ -n \"$names\" ]; then printf '%s\\n' \"$names\"; exit 11; fi\n"
	"printf '%s\\n' \"$said\" | tail -n 1; exit 12\n";

static const char *const variables[] = {
	"GIT_AUTHOR_NAME=",    "GIT_AUTHOR_EMAIL=",    "GIT_AUTHOR_DATE=",
	"GIT_COMMITTER_NAME=", "GIT_COMMITTER_EMAIL=", "GIT_COMMITTER_DATE=",
};

static void free_changes(struct changes **changes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		changes_free(changes[i]);
		changes[i] = NULL;
	}
}

/* What cannot be removed now, gc_remove_checks() removes. */
static void remove_aside(struct merge *merge)
{
	if (!merge->aside && merge->name[0])
		(void)hb_session_open(&merge->store, merge->name,
				      HB_OPEN_REMOVE, &merge->aside, NULL);
	if (merge->aside)
		(void)hb_session_cleanup(merge->aside, NULL);
	hb_session_free(merge->aside);
	merge->aside = NULL;
	merge->name[0] = '\0';
}

void merge_done(struct merge *merge)
{
	free_changes(merge->changes, RECORD_RESOURCES_MAX);
	units_done(&merge->units);
	remove_aside(merge);
	for (size_t i = 0; i < merge->n; i++) {
		free(merge->repos[i].prefix);
		free(merge->repos[i].below);
		free(merge->repos[i].branch);
		path_list_done(&merge->repos[i].taken);
		path_list_done(&merge->repos[i].ignored);
		path_list_done(&merge->repos[i].stays);
	}
	free(merge->repos);
	merge->repos = NULL;
	merge->n = 0;
}

/* All resources of an open session. */
static int scan(struct hb_session *s, bool ignores, struct changes **ret,
		struct hb_error *err)
{
	struct txn *txn = NULL;
	int r = session_txn(s, &txn, err);

	for (size_t i = 0; r >= 0 && i < txn->n_resources; i++) {
		const struct changes_request request = {
			.resource = &txn->resources[i],
			.spill_dir = s->dir,
			.seen = txn->seen,
			.seen_ctx = txn->seen_ctx[i],
			.ignores = ignores,
			.without_hash = true,
		};

		r = part_of(&txn->resources[i])
			    ->changes(&request, &ret[i], err);
	}
	return r < 0 ? r : 0;
}

static int add_repo(struct merge *merge, const struct deliver_repo *from,
		    struct hb_error *err)
{
	struct merge_repo *repo;

	if (!from->merged)
		return 0;
	if (grow(merge->repos, merge->n) < 0)
		return hb_fail(err, -ENOMEM, WORD);
	repo = &merge->repos[merge->n++];
	*repo = (struct merge_repo){
		.resource = from->resource,
		.prefix = strdup(from->prefix),
		.tree = from->tree,
		.below = strdup(from->below),
		.branch = strdup(from->delivery.branch),
		.is_own = from->is_own,
		.from = from->delivery.tip,
		.tip = from->delivery.tip,
	};
	return repo->prefix && repo->below && repo->branch
		       ? 0
		       : hb_fail(err, -ENOMEM, WORD);
}

/* The repositories whose commits cannot go to their branch. */
static int find_repos(struct merge *merge, struct hb_session *s,
		      struct changes **changes,
		      const struct changes_choice *choice, bool with_ignored,
		      struct hb_error *err)
{
	auto_deliver struct deliver deliver = { .session = s,
						.asked = HB_GIT_MERGE,
						.with_ignored = with_ignored,
						.is_ahead = true };
	struct delivered lists[RECORD_RESOURCES_MAX] = { 0 };
	int r = deliver_decide(&deliver, changes, choice, lists, err);

	for (size_t i = 0; i < RECORD_RESOURCES_MAX; i++)
		delivered_done(&lists[i]);
	for (size_t i = 0; r >= 0 && i < deliver.n; i++)
		r = add_repo(merge, &deliver.repos[i], err);
	return r;
}

static int copy_object(const struct resource *from, int upper,
		       const struct unit_file *file, struct hb_error *err)
{
	const struct content_place place = {
		.root = from->layers[file->layer],
		.in_layer = true,
		.path = file->whole,
		.entry = &file->new,
	};

	return aside_copy(&place, upper, file->whole, 0444, err);
}

static int copy_objects(const struct merge *merge, const struct hb_session *s,
			const struct units *units, struct hb_session *aside,
			struct hb_error *err)
{
	int r = session_open_resources(aside, err);

	for (size_t i = 0; i < units->n; i++) {
		const struct unit *unit = &units->list[i];

		if (!merge_find(merge, unit->resource, unit->prefix))
			continue;
		for (size_t k = 0; r >= 0 && k < unit->n; k++)
			if (!unit->files[k].is_gone &&
			    strncmp(unit->files[k].path, OBJECTS,
				    strlen(OBJECTS)) == 0)
				r = copy_object(
					&s->resources[unit->resource],
					aside->resources[unit->resource].upper,
					&unit->files[k], err);
	}
	return r;
}

/* What the commits that are to be made need. */
static int copy_uncommitted(struct merge *merge, const struct hb_session *s,
			    const struct units *units, struct changes **changes,
			    const struct hb_session *aside,
			    struct hb_error *err)
{
	int r = 0;

	for (size_t i = 0; i < units->n; i++)
		for (size_t k = 0; r >= 0 && k < merge->n; k++) {
			struct merge_repo *repo = &merge->repos[k];

			if (repo->is_own &&
			    repo->resource == units->list[i].resource &&
			    strcmp(repo->prefix, units->list[i].prefix) == 0)
				r = uncommitted_copy(repo, s, &units->list[i],
						     changes[repo->tree], aside,
						     err);
		}
	return r;
}

/* The session aside, with the objects of ours; it is closed again. */
static int make_aside(struct merge *merge, struct hb_session *s,
		      struct changes **changes,
		      const struct changes_choice *choice, struct hb_error *err)
{
	auto_units struct units units = { 0 };
	struct hb_session *aside = NULL;
	int r;

	merge->store = *s->store;
	/* Of no use to anybody: it is gone in a moment. */
	merge->store.listener = NULL;
	gc_remove_checks(s);
	(void)snprintf(merge->name, sizeof(merge->name), "merge-%s-%ld",
		       s->record.id, (long)sys_getpid());
	r = units_find(s, changes, choice, &units, err);
	if (r >= 0)
		r = session_make_aside(s, merge->name, err);
	if (r < 0)
		return r;
	r = hb_session_open(&merge->store, merge->name, HB_OPEN_CHANGE, &aside,
			    err);
	if (r >= 0)
		r = copy_objects(merge, s, &units, aside, err);
	if (r >= 0)
		r = copy_uncommitted(merge, s, &units, changes, aside, err);
	hb_session_free(aside);
	return r;
}

/* "f, g": the lines of the output, each as it can be shown. */
static const char *list_names(char *output, struct buf *out)
{
	char *rest = NULL;

	for (char *name = strtok_r(output, "\n", &rest); name;
	     name = strtok_r(NULL, "\n", &rest))
		(void)buf_add_fmt(out, "%s%s", out->len > 0 ? ", " : "",
				  name[0] == '"' ? name : quoted(name));
	return out->error ? "..." : buf_str(out);
}

/* Each path by itself, for those who read no words. */
static void report_names(const struct hb_session *s,
			 const struct merge_repo *repo, const char *output,
			 const char *why)
{
	for (const char *at = output; *at; at += strspn(at, "\n")) {
		size_t n = strcspn(at, "\n");
		auto_buf struct buf path = BUF_INIT(PATH_MAX);
		struct hb_report report = {
			.kind = HB_REPORT_CONFLICTED,
			.session = s->record.name,
			.resource = repo->tree,
			.source = s->record.resources[repo->tree].source,
			.text = why,
		};

		(void)buf_add_str(&path, repo->below);
		if (unquote_name(at, n, &path) >= 0 && !path.error) {
			report.path = buf_str(&path);
			(void)report_send(s->store->listener, &report);
		}
		at += n;
	}
}

/* A way for commits that cannot be merged as they are. */
static void fix_merge(const struct hb_session *s, const struct merge_repo *repo,
		      const char *then, struct hb_error *err)
{
	if (repo->is_own)
		hb_fix(err, "holdback shell @%s: git merge your branch there",
		       s->record.name);
	else if (then)
		hb_fix(err, "--git=branch, and then %s %s", then,
		       quoted(repo->branch));
	else
		hb_fix(err, "--git=branch");
}

static int explain(const struct hb_session *s, const struct merge_repo *repo,
		   struct hb_gate_check *check, struct hb_error *err)
{
	auto_buf struct buf names = BUF_INIT(sizeof(check->output) * 4);
	const char *list;

	if (check->status == END_CONFLICT)
		report_names(s, repo, check->output, SAME_LINES);
	if (check->status == END_EDITS)
		report_names(s, repo, check->output, IN_THE_WAY);
	list = list_names(check->output, &names);

	switch ((enum end)check->status) {
	case END_CONFLICT:
		fix_merge(s, repo, "git merge", err);
		return hb_fail(err, -HB_E_CONFLICT, SAME_LINES ": %s", list);
	case END_EDITS:
		hb_fix(err, "commit or stash these changes first");
		return hb_fail(err, -HB_E_CONFLICT, IN_THE_WAY ": %s", list);
	case END_NO_GIT:
		hb_fix(err, "--git=branch");
		return hb_fail(err, -HB_E_UNSUPPORTED,
			       "there is no git inside to merge with");
	case END_REFUSED:
	case END_MERGED:
	default:
		fix_merge(s, repo, NULL, err);
		return hb_fail(err, -HB_E_CONFLICT, "git does not merge: %s",
			       list);
	}
}

/* The lines of a merge that was made: the result and what it was made of. */
static bool read_ids(const char *text, struct merge_repo *repo)
{
	struct git_id *const ids[] = { &repo->result, &repo->into, &repo->tip };

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		size_t n = strcspn(text, "\n");

		if (!git_id_parse(text, n, ids[i]))
			return false;
		text += n + (text[n] != '\0');
	}
	return true;
}

static int run_one(const struct merge *merge, struct hb_session *s,
		   struct merge_repo *repo, struct hb_error *err)
{
	static char sh[] = "sh", c[] = "-c", unmerged[] = "unmerged";
	auto_free char *text = strdup(script);
	auto_free char *dir = NULL;
	char *argv[4 + OTHERS + 6] = { sh, c, text, sh };
	size_t n = 4;
	struct hb_gate_check check;
	auto_free char *words = NULL;
	int r;

	for (char *const *at = s->store->envp; at && *at; at++)
		for (size_t i = 0; i < sizeof(variables) / sizeof(*variables);
		     i++)
			if (n < 4 + OTHERS &&
			    strncmp(*at, variables[i], strlen(variables[i])) ==
				    0)
				argv[n++] = *at;
	if (!text ||
	    asprintf(&dir, "%s/%s", s->record.resources[repo->tree].inside,
		     repo->below) < 0) {
		dir = NULL;
		return hb_fail(err, -ENOMEM, WORD);
	}
	argv[n++] = dir;
	argv[n++] = repo->branch;
	argv[n++] = repo->tip.hex;
	if (repo->is_own &&
	    asprintf(&words, "Changes of session %s", s->record.name) < 0) {
		words = NULL;
		return hb_fail(err, -ENOMEM, WORD);
	}
	argv[n++] = words;
	argv[n] = words && !merge->merges ? unmerged : NULL;
	r = hb_session_run_aside(s, merge->name, argv, &check, err);
	if (r < 0)
		return r;
	if (check.status != END_MERGED)
		return explain(s, repo, &check, err);
	if (read_ids(check.output, repo))
		return 0;
	check.status = END_REFUSED;
	return explain(s, repo, &check, err);
}

/* What git did, as a change set of the session aside. */
static int read_result(struct merge *merge, struct hb_error *err)
{
	const struct changes_choice all = { 0 };
	int r;

	r = hb_session_open(&merge->store, merge->name, HB_OPEN_CHANGE,
			    &merge->aside, err);
	if (r >= 0)
		r = scan(merge->aside, false, merge->changes, err);
	for (size_t i = 0; r >= 0 && i < merge->n; i++)
		if (merge->repos[i].is_own)
			r = uncommitted_read(&merge->repos[i], merge->aside,
					     err);
	return r < 0 ? r
		     : units_find(merge->aside, merge->changes, &all,
				  &merge->units, err);
}

static int ask_gate(struct merge *merge, const struct hb_filter *filter,
		    struct hb_error *err)
{
	const struct hb_changes_options options = { .filter = *filter,
						    .with_ignored = true,
						    .without_hash = true };
	const struct hb_gate_options gate = { .allow = merge->gate->allow,
					      .n_allow = merge->gate->n_allow };
	struct hb_gate_result result = { 0 };
	struct hb_changes *changes = NULL;
	int r = hb_session_changes(merge->aside, &options, &changes, err);

	merge->store.listener = merge->listener;
	if (r >= 0)
		r = hb_session_gate(merge->aside, changes, &gate, &result, err);
	merge->store.listener = NULL;
	hb_changes_free(changes);
	if (r >= 0 && result.n_asked + result.n_denied > 0)
		r = hb_fail(err, -HB_E_DENIED,
			    "the gate does not let the merge pass");
	return r;
}

static int judge_paths(struct merge *merge, size_t resource, char *const *paths,
		       size_t n, struct hb_error *err)
{
	const char *source = merge->aside->record.resources[resource].source;
	auto_free char **whole = calloc(n + 1, sizeof(*whole));
	struct hb_filter filter = { .n_paths = n };
	int r = whole ? 0 : -ENOMEM;

	for (size_t i = 0; r >= 0 && i < n; i++)
		if (asprintf(&whole[i], "%s/%s", source, paths[i]) < 0) {
			whole[i] = NULL;
			r = -ENOMEM;
		}
	filter.paths = (const char *const *)whole;
	if (r < 0)
		(void)hb_fail(err, r, WORD);
	else if (merge->gate)
		r = ask_gate(merge, &filter, err);
	for (size_t i = 0; whole && i < n; i++)
		free(whole[i]);
	return r;
}

int merge_make(struct merge *merge, struct hb_session *s,
	       const struct changes_filter *filter, bool with_ignored,
	       struct hb_error *err)
{
	const struct changes_choice choice = { .filter = *filter };
	struct changes *changes[RECORD_RESOURCES_MAX] = { 0 };
	int r;

	merge->judge = judge_paths;
	r = session_needs_lock(s, err);
	if (r >= 0)
		/* What git ignores is never made a commit of. */
		r = scan(s, !with_ignored || own_branch_is_any(&s->record),
			 changes, err);
	if (r >= 0)
		r = find_repos(merge, s, changes, &choice, with_ignored, err);
	if (r >= 0 && merge->n > 0)
		r = make_aside(merge, s, changes, &choice, err);
	free_changes(changes, RECORD_RESOURCES_MAX);
	session_close_resources(s);
	for (size_t i = 0; r >= 0 && i < merge->n; i++)
		r = run_one(merge, s, &merge->repos[i], err);
	return r < 0 || merge->n == 0 ? r : read_result(merge, err);
}
