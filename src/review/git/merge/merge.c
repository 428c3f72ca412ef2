/* SPDX-License-Identifier: Apache-2.0 */
#include "review/git/merge/merge.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/quote.h"
#include "changes/changes.h"
#include "changes/git/delivered.h"
#include "changes/part.h"
#include "holdback/session.h"
#include "review/git/deliveries.h"
#include "session/fork/fork.h"
#include "session/open.h"
#include "session/remove/gc.h"
#include "session/session.h"
#include "session/state.h"
#include "store/store.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "sys/proc.h"
#include "tree/content.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD	"cannot merge"
#define OBJECTS "objects/"
#define BLOCK	65536
#define OTHERS	16 /* words before the operands: identity and time */

/* How the script ends. */
enum end {
	END_MERGED,
	END_CONFLICT = 10, /* lines are paths */
	END_EDITS,	   /* likewise */
	END_REFUSED,	   /* git's last line */
	END_NO_GIT = 127,
};

/*
 * Operands: variables, the work tree, the branch, its commit.  Hooks and the
 * file system monitor of the repository do not run, also not in the box.  With
 * an effect of theirs it would be another merge.  Filters and merge drivers do.
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
	"g update-ref \"refs/heads/$2\" \"$3\" || exit 12\n"
	"if said=$(g merge --no-edit --no-stat --no-progress \"$2\" 2>&1); "
	"then g rev-parse HEAD && echo \"$into\"; exit; fi\n"
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
		.tip = from->delivery.tip,
	};
	return repo->prefix && repo->below && repo->branch
		       ? 0
		       : hb_fail(err, -ENOMEM, WORD);
}

/* The repositories whose commits cannot go to their branch. */
static int find_repos(struct merge *merge, struct hb_session *s,
		      struct changes **changes,
		      const struct changes_choice *choice, struct hb_error *err)
{
	auto_deliver struct deliver deliver = { .session = s,
						.asked = HB_GIT_MERGE,
						.is_ahead = true };
	struct delivered lists[RECORD_RESOURCES_MAX] = { 0 };
	int r = deliver_decide(&deliver, changes, choice, lists, err);

	for (size_t i = 0; i < RECORD_RESOURCES_MAX; i++)
		delivered_done(&lists[i]);
	for (size_t i = 0; r >= 0 && i < deliver.n; i++)
		r = add_repo(merge, &deliver.repos[i], err);
	return r;
}

/* The directory of the path in an upper that is ours alone. */
static int make_dirs(int root, const char *path, const char **ret_name)
{
	auto_fd int dir =
		sys_openat(root, ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	const char *slash;

	while (dir >= 0 && (slash = strchr(path, '/'))) {
		auto_free char *name = strndup(path, (size_t)(slash - path));
		int next, r = name ? sys_mkdirat(dir, name, 0755) : -ENOMEM;

		if (r < 0 && r != -EEXIST)
			return r;
		next = sys_openat(dir, name,
				  O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
		fd_closep(&dir);
		dir = next;
		path = slash + 1;
	}
	*ret_name = path;
	return take_fd(&dir);
}

static int copy_content(int from, int to)
{
	char block[BLOCK];
	ssize_t n;

	if (sys_clone_file(to, from) >= 0)
		return 0;
	while ((n = sys_read(from, block, sizeof(block))) > 0) {
		int r = sys_write_all(to, block, (size_t)n);

		if (r < 0)
			return r;
	}
	return (int)n;
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
	const char *name;
	auto_fd int in = content_open(&place, err);
	auto_fd int dir = in < 0 ? in : make_dirs(upper, file->whole, &name);
	auto_fd int out =
		dir < 0 ? dir
			: sys_openat(dir, name,
				     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
				     0444);
	int r = out < 0 ? out : copy_content(in, out);

	return r < 0 ? hb_fail_at(err, r, file->whole, "cannot copy") : 0;
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

static int explain(const struct merge_repo *repo, struct hb_gate_check *check,
		   struct hb_error *err)
{
	auto_buf struct buf names = BUF_INIT(sizeof(check->output) * 4);
	const char *list = list_names(check->output, &names);

	switch ((enum end)check->status) {
	case END_CONFLICT:
		hb_fix(err, "--git=branch, and then git merge %s",
		       quoted(repo->branch));
		return hb_fail(err, -HB_E_CONFLICT,
			       "both sides changed the same lines: %s", list);
	case END_EDITS:
		hb_fix(err, "commit or stash these changes first");
		return hb_fail(err, -HB_E_CONFLICT,
			       "changes that are not committed are in the way "
			       "of the merge: %s",
			       list);
	case END_NO_GIT:
		hb_fix(err, "--git=branch");
		return hb_fail(err, -HB_E_UNSUPPORTED,
			       "there is no git inside to merge with");
	case END_REFUSED:
	case END_MERGED:
	default:
		hb_fix(err, "--git=branch");
		return hb_fail(err, -HB_E_CONFLICT, "git does not merge: %s",
			       list);
	}
}

static int run_one(const struct merge *merge, struct hb_session *s,
		   struct merge_repo *repo, struct hb_error *err)
{
	static char sh[] = "sh", c[] = "-c";
	auto_free char *text = strdup(script);
	auto_free char *dir = NULL;
	char *argv[4 + OTHERS + 4] = { sh, c, text, sh };
	size_t n = 4;
	struct hb_gate_check check;
	const char *into;
	size_t len;
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
	argv[n] = repo->tip.hex;
	r = hb_session_run_aside(s, merge->name, argv, &check, err);
	if (r < 0)
		return r;
	if (check.status != END_MERGED)
		return explain(repo, &check, err);
	len = strcspn(check.output, "\n");
	into = check.output + len + (check.output[len] ? 1 : 0);
	if (git_id_parse(check.output, len, &repo->result) &&
	    git_id_parse(into, strcspn(into, "\n"), &repo->into))
		return 0;
	check.status = END_REFUSED;
	return explain(repo, &check, err);
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
		r = scan(s, !with_ignored, changes, err);
	if (r >= 0)
		r = find_repos(merge, s, changes, &choice, err);
	if (r >= 0 && merge->n > 0)
		r = make_aside(merge, s, changes, &choice, err);
	free_changes(changes, RECORD_RESOURCES_MAX);
	session_close_resources(s);
	for (size_t i = 0; r >= 0 && i < merge->n; i++)
		r = run_one(merge, s, &merge->repos[i], err);
	return r < 0 || merge->n == 0 ? r : read_result(merge, err);
}
