/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/quote.h"
#include "git/objectstore.h"
#include "holdback/git.h"
#include "holdback/session.h"
#include "review/git/repository.h"
#include "review/git/signing.h"
#include "session/open.h"
#include "session/session.h"
#include "session/state.h"
#include "sys/attr.h"
#include "sys/durable.h"
#include "sys/file.h"
#include "sys/kernel.h"
#include "tree/carry.h"
#include "tree/entry.h"
#include "tree/overlay.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Signs the commits of a session before they are committed: with the owner's
 * key, on the host, in the session's own layer.
 *
 * A signature is part of a commit, so a signed one has another name, and so has
 * every commit above it.  New objects come first, and nothing refers to them
 * before the last step, which gives the branch its new value.  Until then the
 * session is as it was, but for objects that nothing needs.  The commit that
 * follows is one transaction, and its undo takes all of it back.
 *
 * The agent wrote every byte of the commits.  No git runs: not its hooks, its
 * filters, nor the repository's configuration.
 */

#define RESOLVE	   (K_RESOLVE_BENEATH | K_RESOLVE_NO_SYMLINKS)
#define DIR_FLAGS  (O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
#define TEXT_MAX   (2 * OBJECTSTORE_COMMIT_MAX)
#define SIGNED_MAX 10000 /* commits: each runs a program */
#define NEW_SUFFIX ".lock"

/* A commit, and the signed commit that replaces it. */
struct renewal {
	struct git_id from, to;
};

struct job {
	struct hb_session *session;
	const struct repository *repo;
	const struct resource *resource;
	struct signing signing;
	const char *branch;  /* "refs/heads/main" */
	struct ancestry all; /* a commit before its parents */
	struct renewal *done;
	size_t n_done;
	uint64_t n_signed;
	char person[1024]; /* of the last commit, for the reflog */
};

static int fail_shared(const struct job *j, const struct git_id *id,
		       const char *name, struct hb_error *err)
{
	hb_fix(err, "commit without --sign, or remove '%s' inside first",
	       quoted(name));
	return hb_fail(err, -HB_E_STATE,
		       "commit %.10s of %s is also in '%s', and signing it "
		       "would part them",
		       id->hex, quoted(j->branch), quoted(name));
}

/* A commit with a second name would be there twice, signed and unsigned. */
static int check_others(const struct job *j, struct hb_error *err)
{
	const struct gitrefs *refs = &j->repo->new;

	for (size_t i = 0; i < refs->n; i++) {
		const struct gitref *ref = &refs->refs[i];
		const struct gitref *old =
			gitrefs_find(&j->repo->old, ref->name);
		auto_ancestry struct ancestry reached = { 0 };
		int r;

		/* What the real repository has reaches nothing new. */
		if (strcmp(ref->name, j->branch) == 0 ||
		    (old && git_id_is_same(&old->id, &ref->id)))
			continue;
		r = repository_new_commits(j->repo, &ref->id, &reached);
		if (r < 0)
			return hb_fail(err, r, "cannot follow '%s'",
				       quoted(ref->name));
		for (size_t k = 0; k < reached.n; k++)
			for (size_t m = 0; m < j->all.n; m++)
				if (git_id_is_same(&reached.items[k].id,
						   &j->all.items[m].id))
					return fail_shared(j,
							   &j->all.items[m].id,
							   ref->name, err);
	}
	return 0;
}

static const struct git_id *renewed(const struct job *j,
				    const struct git_id *id)
{
	for (size_t i = j->n_done; i > 0; i--)
		if (git_id_is_same(&j->done[i - 1].from, id))
			return &j->done[i - 1].to;
	return NULL;
}

/* The headers without signatures, and with the parents of now. */
static bool add_headers(const struct job *j, const struct git_object *object,
			const struct git_commit *commit, struct buf *out)
{
	bool skips = false, has_signature = false, has_new = false;
	const char *at = object->data;

	while (at < commit->end) {
		size_t n = strcspn(at, "\n") + 1;
		const struct git_id *to = NULL;
		struct git_id id;

		if (at[0] != ' ')
			skips = strncmp(at, "gpgsig ", 7) == 0 ||
				strncmp(at, "gpgsig-sha256 ", 14) == 0;
		has_signature = has_signature || skips;
		if (at >= commit->parents && at < commit->author &&
		    strncmp(at, "parent ", 7) == 0 &&
		    git_id_parse(at + 7, n - 8, &id))
			to = renewed(j, &id);
		has_new = has_new || to;
		if (to)
			(void)buf_add_fmt(out, "parent %s\n", to->hex);
		else if (!skips)
			(void)buf_add(out, at, n);
		at += n;
	}
	/* A commit that is signed, and stands where it stood, stays. */
	return has_new || !has_signature;
}

/* "gpgsig", the first line, and the others behind a blank. */
static void add_signature(const struct buf *signature, size_t digits,
			  struct buf *out)
{
	const char *at = buf_str(signature);

	(void)buf_add_str(out, digits == 64 ? "gpgsig-sha256" : "gpgsig");
	while (*at) {
		size_t n = strcspn(at, "\n");
		size_t end = n > 0 && at[n - 1] == '\r' ? n - 1 : n;

		(void)buf_add_char(out, ' ');
		(void)buf_add(out, at, end);
		(void)buf_add_char(out, '\n');
		at += n + (at[n] == '\n');
	}
}

/* The directory `name` in the layer's `dir`, as the real one is. */
static int make_dir(int dir, int base, const char *name, struct hb_error *err)
{
	struct entry entry = { 0 };
	struct sys_attr above;
	auto_fd int fd = -1;
	int r = sys_mkdirat(dir, name, 0700);

	if (r >= 0)
		r = sys_attr_at(dir, "", &above);
	if (r >= 0)
		fd = sys_openat(dir, name, DIR_FLAGS, 0);
	if (r < 0 || fd < 0)
		return r < 0 ? r : fd;
	if (base >= 0)
		r = entry_read_base(base, name, &entry, err);
	if (r >= 0 && entry.type == ENTRY_DIR) {
		const struct carry carry = {
			.from = base,
			.name = name,
			.entry = &entry,
			.flags = CARRY_FROM_OTHERS | CARRY_TO_LAYER | CARRY_OWN,
			.mode = entry.mode,
			.uid = entry.uid,
			.gid = entry.gid,
		};

		r = carry_attributes(&carry, fd, err);
	} else if (r >= 0) {
		if (above.uid != sys_effective_uid() ||
		    above.gid != sys_effective_gid())
			(void)sys_chown_at(fd, "", above.uid, above.gid);
		r = sys_fchmod(fd, above.mode & 07777);
	}
	return r < 0 ? r : take_fd(&fd);
}

/* git removes a directory of objects that it has packed. */
static int make_again(int dir, int base, const char *name, struct hb_error *err)
{
	struct entry entry;
	auto_fd int fd = -1;
	int r = entry_read_layer(dir, name, &entry, err);

	if (r >= 0)
		r = entry.is_whiteout ? sys_unlinkat(dir, name, 0) : -ENOTDIR;
	if (r >= 0)
		r = fd = make_dir(dir, base, name, err);
	if (r >= 0)
		r = sys_set_xattr(fd, OVERLAY_PREFIX "opaque", "y", 1);
	return r < 0 ? r : take_fd(&fd);
}

/*
 * The directory of the layer that a path of the git directory lies in, which is
 * made where it is missing; and the last name.
 */
static int open_parent(const struct job *j, const char *path,
		       const char **ret_name, struct hb_error *err)
{
	auto_buf struct buf whole = BUF_INIT((size_t)2 * PATH_MAX);
	auto_fd int dir = sys_openat(j->resource->upper, ".", DIR_FLAGS, 0);
	auto_fd int base = sys_openat(j->resource->base, ".", DIR_FLAGS, 0);
	const char *at, *slash;

	*ret_name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	(void)buf_add_fmt(&whole, "%s%s%s", j->repo->prefix,
			  j->repo->prefix[0] ? "/" : "", path);
	if (whole.error || dir < 0)
		return whole.error ? whole.error : dir;
	for (at = buf_str(&whole); (slash = strchr(at, '/')); at = slash + 1) {
		char name[NAME_MAX + 1];
		int next, below;

		if (slash - at > NAME_MAX)
			return -ENAMETOOLONG;
		(void)snprintf(name, sizeof(name), "%.*s", (int)(slash - at),
			       at);
		next = sys_openat(dir, name, DIR_FLAGS, 0);
		if (next == -ENOENT)
			next = make_dir(dir, base, name, err);
		else if (next == -ENOTDIR)
			next = make_again(dir, base, name, err);
		if (next < 0)
			return next;
		below = base < 0 ? -1 : sys_openat(base, name, DIR_FLAGS, 0);
		fd_closep(&dir);
		fd_closep(&base);
		dir = next;
		base = below < 0 ? -1 : below;
	}
	return take_fd(&dir);
}

/* A file of the layer, new and on disk, as one of the user's. */
static int put_file(int dir, const char *name, mode_t mode,
		    const struct buf *text)
{
	struct sys_attr above;
	auto_fd int fd = sys_openat(
		dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	int r = fd < 0 ? fd : sys_write_all(fd, text->data, text->len);

	if (r >= 0)
		r = sys_attr_at(dir, "", &above);
	if (r >= 0 && above.uid != sys_effective_uid())
		r = sys_chown_at(fd, "", above.uid, above.gid);
	if (r >= 0)
		r = sys_fchmod(fd, mode);
	return r < 0 ? r : sys_fsync(fd);
}

static int put_object(const struct job *j, const struct git_object *object,
		      const struct git_id *id, struct hb_error *err)
{
	auto_buf struct buf file = BUF_INIT(2 * TEXT_MAX);
	char path[GIT_HEX_SIZE + 16];
	auto_fd int dir = -1;
	const char *name;
	int r = git_object_write(object, &file);

	(void)snprintf(path, sizeof(path), "objects/%.2s/%s", id->hex,
		       id->hex + 2);
	if (r >= 0)
		dir = open_parent(j, path, &name, err);
	if (r >= 0)
		r = dir < 0 ? dir : put_file(dir, name, 0444, &file);
	/* The same object, from an earlier try. */
	if (r == -EEXIST)
		return 0;
	return r < 0 ? hb_fail(err, r, "cannot add a signed commit") : 0;
}

static int note_done(struct job *j, const struct git_id *from,
		     const struct git_id *to)
{
	if (grow(j->done, j->n_done) < 0)
		return -ENOMEM;
	j->done[j->n_done++] = (struct renewal){ *from, *to };
	return 0;
}

static int sign_text(struct job *j, const struct git_object *object,
		     const struct git_commit *commit, const struct git_id *id,
		     struct hb_error *err)
{
	auto_buf struct buf signature = BUF_INIT(OBJECTSTORE_COMMIT_MAX);
	auto_buf struct buf plain = BUF_INIT(TEXT_MAX);
	auto_buf struct buf text = BUF_INIT(TEXT_MAX);
	struct git_object made = { .type = GIT_COMMIT };
	size_t n_head;
	struct git_id to;
	int r;

	if (!add_headers(j, object, commit, &plain))
		return 0;
	n_head = plain.len;
	(void)buf_add_str(&plain, commit->end);
	r = plain.error;
	if (r >= 0)
		r = signing_run(&j->signing, plain.data, plain.len, &signature,
				err);
	if (r < 0)
		return r;
	(void)buf_add(&text, plain.data, n_head);
	add_signature(&signature, strlen(id->hex), &text);
	(void)buf_add_str(&text, plain.data + n_head);
	if (text.error)
		return hb_fail(err, text.error, "cannot sign");
	made.data = text.data;
	made.size = text.len;
	git_object_name(&made, strlen(id->hex), &to);
	r = put_object(j, &made, &to, err);
	if (r >= 0)
		r = note_done(j, id, &to);
	j->n_signed += r >= 0;
	return r;
}

static int sign_one(struct job *j, const struct ancestry_item *item,
		    struct hb_error *err)
{
	struct git_object object = { 0 };
	struct git_commit commit = { 0 };
	int r = objectstore_read(j->repo->objects, &item->id,
				 OBJECTSTORE_COMMIT_MAX, &object);

	if (r >= 0)
		r = git_commit_parse(&object, &commit);
	if (r < 0) {
		hb_fix(err, "commit without --sign");
		r = hb_fail(err, -HB_E_STATE,
			    "commit %.10s of the session cannot be read",
			    item->id.hex);
	} else {
		(void)snprintf(j->person, sizeof(j->person), "%.*s",
			       (int)strcspn(commit.committer, "\n"),
			       commit.committer);
		r = sign_text(j, &object, &commit, &item->id, err);
	}
	free(object.data);
	return r;
}

/*
 * The branch in the layer.  A value has the same length before and after: it is
 * written over the old one, at once, and the file keeps its marks.
 */
static int move_branch(const struct job *j, const struct git_id *to,
		       struct hb_error *err)
{
	auto_buf struct buf line = BUF_INIT(GIT_HEX_SIZE + 1);
	char temporary[NAME_MAX + 1];
	struct sys_attr attr;
	const char *name;
	auto_fd int fd = -1;
	auto_fd int dir = open_parent(j, j->branch, &name, err);
	int r = dir < 0 ? dir : 0;

	(void)buf_add_fmt(&line, "%s\n", to->hex);
	if (r >= 0)
		fd = sys_openat(dir, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK,
				0);
	if (fd >= 0 && sys_attr_at(fd, "", &attr) >= 0 && S_ISREG(attr.mode) &&
	    attr.nlink == 1 && attr.size == line.len) {
		r = sys_pwrite_all(fd, line.data, line.len, 0);
		return r < 0 ? r : sys_fsync(fd);
	}
	if (r >= 0 && j->resource->n_layers > 1) {
		hb_fix(err, "commit without --sign");
		return hb_fail(err, -HB_E_STATE,
			       "the branch %s of the session lies under a mark",
			       quoted(j->branch));
	}
	if (r >= 0 && strlen(name) + strlen(NEW_SUFFIX) > NAME_MAX)
		r = -ENAMETOOLONG;
	(void)snprintf(temporary, sizeof(temporary), "%.*s" NEW_SUFFIX,
		       NAME_MAX - (int)strlen(NEW_SUFFIX), r < 0 ? "" : name);
	if (r >= 0)
		r = put_file(dir, temporary, 0644, &line);
	return r < 0 ? r : sys_renameat(dir, temporary, dir, name);
}

/* A line as git would write it, if the session has a log there. */
static void log_move(const struct job *j, const char *of,
		     const struct git_id *from, const struct git_id *to)
{
	auto_buf struct buf path = BUF_INIT((size_t)2 * PATH_MAX);
	auto_buf struct buf line = BUF_INIT(4096);
	auto_fd int fd = -1;

	(void)buf_add_fmt(&path, "%s%slogs/%s", j->repo->prefix,
			  j->repo->prefix[0] ? "/" : "", of);
	(void)buf_add_fmt(&line, "%s %s %s\tholdback: sign\n", from->hex,
			  to->hex, j->person);
	if (!path.error)
		fd = sys_openat2(j->resource->upper, buf_str(&path),
				 O_WRONLY | O_APPEND | O_NONBLOCK, 0, RESOLVE);
	if (fd >= 0 && !line.error)
		(void)sys_write_all(fd, line.data, line.len);
}

static int sign_branch(struct job *j, const struct git_id *tip,
		       struct hb_error *err)
{
	const struct git_id *to;
	int r = repository_new_commits(j->repo, tip, &j->all);

	if (r == -EFBIG || (r >= 0 && j->all.n > SIGNED_MAX)) {
		hb_fix(err, "commit without --sign");
		return hb_fail(err, -HB_E_STATE,
			       "the session has too many commits to sign");
	}
	if (r < 0)
		return hb_fail(err, r, "cannot look for commits to sign");
	r = check_others(j, err);
	for (size_t i = j->all.n; r >= 0 && i > 0; i--)
		r = sign_one(j, &j->all.items[i - 1], err);
	to = r < 0 ? NULL : renewed(j, tip);
	if (!to)
		return r;
	r = move_branch(j, to, err);
	if (r < 0)
		return hb_fail(err, r, "cannot move the branch %s",
			       quoted(j->branch));
	log_move(j, j->branch, tip, to);
	log_move(j, "HEAD", tip, to);
	return 0;
}

/* The branch that HEAD names in the session; NULL: it names none. */
static const char *branch_of(const struct repository *repo, int base,
			     char **ret_text)
{
	const char *name = NULL;
	struct git_id id;

	if (repo->head)
		*ret_text = strdup(repo->head);
	else if (gitref_read_file(base, repo->prefix, "HEAD", GITREFS_FILE_MAX,
				  ret_text) < 0)
		*ret_text = NULL;
	return *ret_text && gitref_parse(*ret_text, &id, &name) == 2 ? name
								     : NULL;
}

static int sign_repository(struct hb_session *s, const struct repository *repo,
			   char *const *envp, uint64_t *n, struct hb_error *err)
{
	const struct resource *resource = &s->resources[repo->resource];
	struct job j = { .session = s, .repo = repo, .resource = resource };
	auto_free char *text = NULL;
	const struct gitref *tip = NULL, *old = NULL;
	char dir[PATH_MAX];
	int r;

	if (repo->is_unknown) {
		hb_fix(err, "commit without --sign");
		return hb_fail(err, -HB_E_STATE,
			       "the references of the session cannot be read");
	}
	j.branch = branch_of(repo, resource->base, &text);
	if (j.branch) {
		tip = gitrefs_find(&repo->new, j.branch);
		old = gitrefs_find(&repo->old, j.branch);
	}
	if (!tip || (old && git_id_is_same(&old->id, &tip->id)))
		return 0;
	r = snprintf(dir, sizeof(dir), "%s/%s", resource->record->source,
		     repo->prefix);
	if (r < 0 || (size_t)r >= sizeof(dir))
		return hb_fail(err, -ENAMETOOLONG, "cannot sign");
	r = signing_find(s, dir, envp, &j.signing, err);
	if (r >= 0)
		r = sign_branch(&j, &tip->id, err);
	*n += j.n_signed;
	ancestry_done(&j.all);
	free(j.done);
	return r;
}

int hb_session_sign(struct hb_session *session, const struct hb_filter *filter,
		    char *const *envp, uint64_t *ret_n, struct hb_error *err)
{
	const struct hb_changes_options options = { .filter = *filter,
						    .without_hash = true,
						    .names_only = true };
	auto_repositories struct repositories all = { 0 };
	struct hb_changes *changes = NULL;
	int r;

	*ret_n = 0;
	r = session_needs_lock(session, err);
	if (r >= 0)
		r = hb_session_changes(session, &options, &changes, err);
	if (r >= 0)
		r = repositories_find(session, changes, &all, err);
	for (size_t i = 0; r >= 0 && i < all.n; i++)
		r = sign_repository(session, &all.list[i], envp, ret_n, err);
	hb_changes_free(changes);
	return r < 0 ? r : 0;
}
