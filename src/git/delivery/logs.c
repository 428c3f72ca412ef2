/* SPDX-License-Identifier: Apache-2.0 */
#include "git/delivery/logs.h"

#include "base/auto.h"
#include "base/buf.h"
#include "git/ancestry.h"
#include "git/delivery/decision.h"
#include "git/objectstore.h"
#include "git/reflog.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SYMBOLIC "ref: "
#define LOGS	 "logs/"
#define HEAD	 "HEAD"
#define STASH	 "refs/stash"

/* "logs/refs/heads/x" of "refs/heads/x", "DESK/logs/HEAD" of "DESK/HEAD". */
static void log_of(const char *name, char *ret, size_t size)
{
	size_t n = strlen(name), k = strlen("/" HEAD);

	if (n > k && strcmp(name + n - k, "/" HEAD) == 0 &&
	    strncmp(name, "refs/", 5) != 0)
		(void)snprintf(ret, size, "%.*s/" LOGS HEAD, (int)(n - k),
			       name);
	else
		(void)snprintf(ret, size, LOGS "%s", name);
}

/* The id that a name has when all is in place; "": none. */
static const char *final_value(const struct decision *d, const char *name)
{
	for (int i = 0; i < 5; i++) {
		const char *value = kept_refs_value(&d->moved, name);

		if (!value)
			value = decision_base(d, name);
		if (strncmp(value, SYMBOLIC, strlen(SYMBOLIC)) != 0)
			return value;
		name = value + strlen(SYMBOLIC);
	}
	return "";
}

static int read_base(const struct decision *d, const char *path, char **ret)
{
	int r = gitref_read_file(d->q->base, d->q->prefix, path, REFLOG_MAX,
				 ret);

	if (r == -ENOENT || r == -ENOTDIR) {
		*ret = strdup("");
		r = *ret ? 0 : -ENOMEM;
	}
	return r;
}

/* Lines that the session has and the base has not; "" where it has none. */
static int read_session(const struct decision *d, const char *path,
			const char *base, char **ret_text, const char **ret_own)
{
	const struct delivery_change *change = decision_change(d, path);
	size_t len = 0, same = 0;
	int r = 0;

	*ret_text = NULL;
	*ret_own = "";
	if (!change || change->is_gone)
		return 0;
	r = d->q->read(d->q->ctx, path, REFLOG_MAX, ret_text, &len);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	for (size_t i = 0; (*ret_text)[i] && (*ret_text)[i] == base[i]; i++)
		if (base[i] == '\n')
			same = i + 1;
	*ret_own = *ret_text + same;
	return 0;
}

/* The last new value in a log; "": there is none. */
static void last_of(const char *text, struct git_id *ret)
{
	struct reflog_line line;

	ret->hex[0] = '\0';
	while (reflog_next(&text, &line))
		*ret = line.new;
}

/* Adds the lines that follow on `*last`, each on the one before it. */
static int add_chain(struct buf *out, const char *own, struct git_id *last)
{
	struct reflog_line line;

	while (out->error == 0 && reflog_next(&own, &line)) {
		if (last->hex[0] && !git_id_is_same(&line.old, last))
			continue;
		(void)buf_add(out, line.text, line.len);
		*last = line.new;
	}
	return out->error;
}

/* A line of our own, in the name of the commit's author. */
static int add_line(const struct decision *d, struct buf *out,
		    const struct git_id *last, const char *value)
{
	struct git_object object = { 0 };
	struct git_commit commit;
	struct git_id id;
	int r;

	if (!git_id_parse(value, strlen(value), &id))
		return 0;
	r = objectstore_read(d->q->objects, &id, OBJECTSTORE_COMMIT_MAX,
			     &object);
	if (r >= 0)
		r = git_commit_parse(&object, &commit);
	if (r < 0) {
		free(object.data);
		return r == -ENOMEM ? r : 0;
	}
	if (last->hex[0])
		(void)buf_add_str(out, last->hex);
	else
		(void)buf_add_fill(out, '0', strlen(value));
	r = buf_add_fmt(out, " %s %.*s\tholdback: commit of a session\n", value,
			(int)strcspn(commit.committer, "\n"), commit.committer);
	free(object.data);
	return r;
}

static int make(struct decision *d, const char *path, struct buf *text)
{
	char *content = NULL;
	size_t len = 0;
	int r = text->len > 0 ? buf_take(text, &content, &len) : 0;

	if (r < 0 || !content)
		return r;
	return decision_make(d, path, DELIVERY_STAGE_LOGS, content, len)
		       ? 0
		       : -ENOMEM;
}

/* The log of a name whose value is `value` afterwards. */
static int write_log(struct decision *d, const char *name, const char *origin,
		     const char *value, bool is_moved)
{
	auto_buf struct buf text = BUF_INIT(REFLOG_MAX);
	auto_free char *base = NULL;
	auto_free char *of_origin = NULL;
	auto_free char *session = NULL;
	char path[PATH_MAX], from[PATH_MAX];
	const char *own;
	struct git_id last;
	size_t n;
	int r;

	log_of(name, path, sizeof(path));
	log_of(origin, from, sizeof(from));
	r = read_base(d, path, &base);
	if (r >= 0)
		r = read_base(d, from, &of_origin);
	if (r >= 0)
		r = read_session(d, from, of_origin, &session, &own);
	/* Too large to be read is too large to be added to. */
	if (r == -EFBIG)
		return 0;
	if (r < 0 || (!base[0] && !of_origin[0] && !own[0]))
		return r;
	last_of(base, &last);
	r = buf_add_str(&text, base);
	/* A line that was cut stays one of its own. */
	if (text.len > 0 && text.data[text.len - 1] != '\n')
		r = buf_add_char(&text, '\n');
	n = text.len;
	if (r >= 0)
		r = add_chain(&text, own, &last);
	if (r >= 0 && strcmp(last.hex, value) != 0 && !is_moved)
		buf_cut(&text, n);
	else if (r >= 0 && strcmp(last.hex, value) != 0)
		r = add_line(d, &text, &last, value);
	if (r < 0 || text.len == n)
		return r == -E2BIG ? 0 : r;
	return make(d, path, &text);
}

static int delete_log(struct decision *d, const char *name)
{
	char path[PATH_MAX];

	log_of(name, path, sizeof(path));
	if (!decision_base_has(d, path))
		return 0;
	return decision_add(d, path, DELIVERY_DELETE, DELIVERY_STAGE_GONE)
		       ? 0
		       : -ENOMEM;
}

static int log_moved(struct decision *d)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < d->moved.n; i++) {
		const char *name = d->moved.refs[i].name;
		const char *origin = kept_refs_value(&d->origins, name);

		if (strcmp(name, STASH) == 0)
			continue;
		if (strncmp(name, "worktrees/", 10) == 0 &&
		    decision_base(d, name)[0] == '\0')
			continue;
		r = d->moved.refs[i].value[0]
			    ? write_log(d, name, origin ? origin : name,
					final_value(d, name), true)
			    : delete_log(d, name);
	}
	return r;
}

/* HEAD's, where only the branch below it moved, or it came back. */
static int log_head(struct decision *d)
{
	char head[PATH_MAX];

	decision_head(d, head, sizeof(head));
	if (!d->is_forward || kept_refs_value(&d->moved, head))
		return 0;
	return write_log(d, head, head, final_value(d, head),
			 strcmp(final_value(d, head),
				decision_resolve(&d->base, head)) != 0);
}

int logs_decide(struct decision *d)
{
	int r;

	kept_refs_sort(&d->moved);
	kept_refs_sort(&d->pending);
	kept_refs_sort(&d->origins);
	r = log_moved(d);
	return r < 0 ? r : log_head(d);
}
