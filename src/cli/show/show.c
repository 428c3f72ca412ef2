/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show/show.h"

#include "base/error.h"
#include "base/quote.h"
#include "cli/show/colour.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define UNIT_MAX (1U << 20)

int show_summary(const struct hb_summary *s, struct buf *out)
{
	return show_summary_lines(s, NULL, out);
}

bool show_has_changes(const struct hb_summary *s, bool with_times)
{
	return s->n_files || s->n_directories || s->n_git ||
	       (s->n_times && with_times);
}

int show_ignored_part(const struct hb_summary *s, struct buf *out)
{
	if (s->n_ignored > 0) {
		(void)buf_add_fmt(out, " · %llu ignored (",
				  (unsigned long long)s->n_ignored);
		(void)show_size(s->ignored_bytes, out);
		(void)buf_add_char(out, ')');
	} else if (s->n_ignored_directories > 0) {
		(void)buf_add_fmt(out, " · %llu ignored director%s",
				  (unsigned long long)s->n_ignored_directories,
				  s->n_ignored_directories == 1 ? "y" : "ies");
	}
	if (s->n_locks > 0)
		(void)buf_add_fmt(out, " · %llu file%s of git left behind",
				  (unsigned long long)s->n_locks,
				  s->n_locks == 1 ? "" : "s");
	if (s->n_unjudged > 0)
		(void)buf_add_fmt(out,
				  " · .gitignore takes too long to read: "
				  "%llu path%s as not ignored",
				  (unsigned long long)s->n_unjudged,
				  s->n_unjudged == 1 ? " counts" : "s count");
	return out->error;
}

int show_ignored_words(const struct hb_session_info *info,
		       const struct hb_ignored *ignored, struct buf *out)
{
	const struct hb_change place = { .resource = ignored->resource,
					 .is_directory =
						 ignored->is_directory };

	(void)show_path(info, &place, ignored->path, out);
	(void)buf_add_fmt(out, " (%llu file%s, ",
			  (unsigned long long)ignored->n_files,
			  ignored->n_files == 1 ? "" : "s");
	(void)show_size(ignored->bytes, out);
	if (ignored->n_deleted > 0)
		(void)buf_add_fmt(out, ", %llu deleted",
				  (unsigned long long)ignored->n_deleted);
	return buf_add_char(out, ')');
}

struct ignored_list {
	const struct hb_session_info *info;
	struct doc *doc;
};

static int show_one_ignored(void *ctx, const struct hb_ignored *ignored,
			    struct hb_error *err)
{
	const struct ignored_list *list = ctx;
	struct doc *doc = list->doc;

	if (doc->is_json) {
		json_object(&doc->json);
		doc_str(doc, "source",
			list->info->resources[ignored->resource].source);
		doc_str(doc, "path", ignored->path);
		doc_bool(doc, "directory", ignored->is_directory);
		doc_uint(doc, "files", ignored->n_files);
		doc_uint(doc, "deleted", ignored->n_deleted);
		doc_uint(doc, "bytes", ignored->bytes);
		json_end(&doc->json);
		return doc_flow(doc, err);
	}
	(void)buf_add_str(&doc->out, "  ignored: ");
	(void)show_ignored_words(list->info, ignored, &doc->out);
	(void)buf_add_char(&doc->out, '\n');
	return doc_flow(doc, err);
}

int show_ignored(const struct hb_session_info *info, struct hb_changes *changes,
		 struct doc *doc, struct hb_error *err)
{
	struct ignored_list list = { .info = info, .doc = doc };
	int r;

	if (doc->is_json) {
		json_key(&doc->json, "ignored");
		json_array(&doc->json);
	}
	r = hb_changes_ignored(changes, show_one_ignored, &list, err);
	if (doc->is_json)
		json_end(&doc->json);
	return r;
}

int show_summary_lines(const struct hb_summary *s,
		       const struct show_lines *lines, struct buf *out)
{
	const struct {
		uint64_t n;
		const char *word;
	} parts[] = {
		{ s->n_changed, "changed" },
		{ s->n_added, "added" },
		{ s->n_deleted, "deleted" },
		{ s->n_renamed, "renamed" },
	};
	const char *before = ": ";

	if (s->n_files == 0 && s->n_directories == 0 && s->n_git == 0 &&
	    s->n_times == 0) {
		(void)buf_add_str(out, "no changes");
		return show_ignored_part(s, out);
	}
	(void)buf_add_fmt(out, "%llu file%s", (unsigned long long)s->n_files,
			  s->n_files == 1 ? "" : "s");
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (parts[i].n == 0)
			continue;
		(void)buf_add_fmt(out, "%s%llu %s", before,
				  (unsigned long long)parts[i].n,
				  parts[i].word);
		before = ", ";
	}
	if (lines)
		(void)buf_add_fmt(out, " · +%llu -%llu",
				  (unsigned long long)lines->plus,
				  (unsigned long long)lines->minus);
	if (s->n_directories > 0)
		(void)buf_add_fmt(out, " · %llu director%s",
				  (unsigned long long)s->n_directories,
				  s->n_directories == 1 ? "y" : "ies");
	if (s->n_git > 0)
		(void)buf_add_str(out, " · git");
	if (s->n_times > 0)
		(void)buf_add_fmt(out, " · %llu with another time only",
				  (unsigned long long)s->n_times);
	(void)show_ignored_part(s, out);
	if (s->n_conflicts > 0)
		(void)buf_add_fmt(out, " · %llu conflict%s",
				  (unsigned long long)s->n_conflicts,
				  s->n_conflicts == 1 ? "" : "s");
	return out->error;
}

static void add_lines(const struct show_lines *lines, struct doc *doc)
{
	if (!lines)
		return;
	doc_uint(doc, "lines_added", lines->plus);
	doc_uint(doc, "lines_removed", lines->minus);
}

void show_summary_json(const struct hb_summary *s, struct doc *doc)
{
	show_summary_lines_json(s, NULL, doc);
}

void show_summary_lines_json(const struct hb_summary *s,
			     const struct show_lines *lines, struct doc *doc)
{
	json_key(&doc->json, "summary");
	json_object(&doc->json);
	doc_uint(doc, "files", s->n_files);
	doc_uint(doc, "changed", s->n_changed);
	doc_uint(doc, "added", s->n_added);
	doc_uint(doc, "deleted", s->n_deleted);
	doc_uint(doc, "renamed", s->n_renamed);
	doc_uint(doc, "directories", s->n_directories);
	doc_uint(doc, "times", s->n_times);
	doc_uint(doc, "git", s->n_git);
	doc_uint(doc, "conflicts", s->n_conflicts);
	doc_uint(doc, "bytes", s->bytes);
	doc_uint(doc, "ignored", s->n_ignored);
	doc_uint(doc, "ignored_directories", s->n_ignored_directories);
	doc_uint(doc, "ignored_bytes", s->ignored_bytes);
	doc_uint(doc, "locks", s->n_locks);
	doc_uint(doc, "unjudged", s->n_unjudged);
	add_lines(lines, doc);
	if (s->hash[0])
		doc_str(doc, "hash", s->hash);
	json_end(&doc->json);
}

void show_session_json(const struct hb_session_info *info, struct doc *doc)
{
	struct json *j = &doc->json;

	doc_str(doc, "name", info->name);
	doc_str(doc, "id", info->id);
	doc_str(doc, "state", hb_state_name(info->state));
	json_key(j, "created");
	json_int(j, info->created);
	json_key(j, "used");
	json_int(j, info->used);
	if (info->command[0])
		doc_str(doc, "command", info->command);
	if (info->view)
		doc_str(doc, "view", info->view);
	doc_bool(doc, "durable", info->is_durable);
	doc_bool(doc, "unsynced", info->is_unsynced);
	doc_bool(doc, "lost", info->has_lost);
	doc_uint(doc, "undo_bytes", info->undo_bytes);
	if (info->interrupted) {
		doc_str(doc, "interrupted", info->interrupted);
		doc_bool(doc, "damaged", info->is_damaged);
	}
	json_key(j, "resources");
	json_array(j);
	for (size_t i = 0; i < info->n_resources; i++) {
		json_object(j);
		doc_str(doc, "type", info->resources[i].type);
		doc_str(doc, "source", info->resources[i].source);
		doc_str(doc, "inside", info->resources[i].inside);
		doc_str(doc, "requested", info->resources[i].requested);
		doc_str(doc, "strategy", info->resources[i].strategy);
		if (info->knows_gone)
			doc_bool(doc, "gone", info->resources[i].is_gone);
		json_end(j);
	}
	json_end(j);
}

const char *show_root(const struct hb_session_info *info, size_t resource)
{
	bool is_known = info->n_resources == 1 ||
			(info->has_workspace && resource == 0);

	return is_known ? NULL : info->resources[resource].source;
}

int show_path(const struct hb_session_info *info,
	      const struct hb_change *change, const char *path, struct buf *out)
{
	const char *root = show_root(info, change->resource);
	struct buf whole = BUF_INIT(out->limit);

	if (root)
		(void)buf_add_str(&whole, root);
	if (root && strcmp(path, ".") != 0)
		(void)buf_add_char(&whole, '/');
	if (!root || strcmp(path, ".") != 0)
		(void)buf_add_str(&whole, path);
	if (change->is_directory)
		(void)buf_add_char(&whole, '/');
	if (whole.error)
		(void)buf_fail(out, whole.error);
	else
		(void)quote_name(whole.data, whole.len, out);
	buf_done(&whole);
	return out->error;
}

int show_seconds(int64_t when, struct buf *out)
{
	time_t seconds = when;
	struct tm local;
	char text[32];

	if (!localtime_r(&seconds, &local) ||
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &local) == 0)
		return buf_add_fmt(out, "%lld", (long long)when);
	return buf_add_str(out, text);
}

int show_time(struct timespec when, struct buf *out)
{
	if (when.tv_sec == 0 && when.tv_nsec == 0)
		return buf_add_char(out, '-');
	(void)show_seconds(when.tv_sec, out);
	return buf_add_fmt(out, ".%03ld", when.tv_nsec / 1000000);
}

int show_size(uint64_t bytes, struct buf *out)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
	size_t unit = 0;

	while (bytes >= 10000 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		bytes /= 1000;
		unit++;
	}
	return buf_add_fmt(out, "%llu %s", (unsigned long long)bytes,
			   units[unit]);
}

static void add_time(struct doc *doc, const char *key, struct timespec when)
{
	char text[48];

	if (when.tv_sec == 0 && when.tv_nsec == 0)
		return;
	(void)snprintf(text, sizeof(text), "%lld.%09ld", (long long)when.tv_sec,
		       when.tv_nsec);
	doc_str(doc, key, text);
}

/* By enum hb_asks: for people, and in a document. */
static const struct {
	const char *words, *key;
} asks[] = {
	[HB_ASKS_NOTHING] = { NULL, NULL },
	[HB_ASKS_SPECIAL] = { "a fifo, committed only with --special",
			      "special" },
	[HB_ASKS_SETID] = { "setuid, setgid or file capabilities, committed "
			    "only with --setid",
			    "setid" },
	[HB_ASKS_NEVER] = { "a socket or a device, which is never committed",
			    "never" },
};

const char *show_asks(const struct hb_change *change)
{
	return asks[change->asks].words;
}

/* Why it is in conflict, with the process that stands against it. */
static int show_why(const struct hb_change *change, struct buf *out)
{
	(void)buf_add_str(out, change->why ? change->why : "changed");
	if (change->holder > 0)
		(void)buf_add_fmt(out, " (process %d)", (int)change->holder);
	else if (change->is_held)
		(void)buf_add_str(out, " (a process of another namespace)");
	return out->error;
}

int show_conflict(const struct hb_change *change, struct buf *out)
{
	(void)show_why(change, out);
	(void)buf_add_str(out, "; real ");
	(void)show_time(change->base_time, out);
	(void)buf_add_str(out, ", session ");
	return show_time(change->session_time, out);
}

int show_conflict_below(const struct hb_change *change, bool has_colour,
			struct buf *out)
{
	if (!change->has_conflict)
		return out->error;
	(void)buf_add_fmt(out, "    %sconflict:%s ",
			  colour_begin(has_colour, COLOUR_DELETED),
			  colour_end(has_colour, COLOUR_DELETED));
	(void)show_conflict(change, out);
	return buf_add_char(out, '\n');
}

static void add_kind(char kind, bool has_colour, struct buf *out)
{
	enum colour colour = colour_of_kind(kind);

	(void)buf_add_fmt(out, "%s%c%s", colour_begin(has_colour, colour), kind,
			  colour_end(has_colour, colour));
}

int show_change(const struct hb_session_info *info,
		const struct hb_change *change, enum show_as as,
		struct buf *out)
{
	bool is_plain = as == SHOW_PLAIN, has_colour = as == SHOW_COLOURED;

	if (!is_plain)
		(void)buf_add_str(out, "  ");
	add_kind(change->kind, has_colour, out);
	(void)buf_add_char(out, is_plain ? '\t' : ' ');
	if (change->from) {
		(void)show_path(info, change, change->from, out);
		(void)buf_add_str(out, is_plain ? "\t" : " -> ");
	}
	(void)show_path(info, change, change->path, out);
	(void)buf_add_char(out, '\n');
	if (is_plain)
		return out->error;
	if (show_asks(change))
		(void)buf_add_fmt(out, "    %s\n", show_asks(change));
	return show_conflict_below(change, has_colour, out);
}

int show_sized(const struct hb_session_info *info,
	       const struct hb_change *change, bool has_colour, struct buf *out)
{
	auto_buf struct buf size = BUF_INIT(64);

	if (!change->is_directory)
		(void)show_size(change->kind == 'D' ? change->old.size
						    : change->size,
				&size);
	(void)buf_add_str(out, "  ");
	add_kind(change->kind, has_colour, out);
	(void)buf_add_fmt(out, " %8s  ", buf_str(&size));
	if (change->from) {
		(void)show_path(info, change, change->from, out);
		(void)buf_add_str(out, " -> ");
	}
	(void)show_path(info, change, change->path, out);
	return buf_add_char(out, '\n');
}

void show_change_members(const struct hb_session_info *info,
			 const struct hb_change *change,
			 const struct show_lines *lines, struct doc *doc)
{
	char kind[2] = { change->kind, '\0' };

	doc_str(doc, "kind", kind);
	doc_str(doc, "source", info->resources[change->resource].source);
	doc_str(doc, "path", change->path);
	if (change->from)
		doc_str(doc, "from", change->from);
	doc_bool(doc, "directory", change->is_directory);
	doc_bool(doc, "git", change->is_git);
	doc_uint(doc, "size", change->size);
	add_lines(lines, doc);
	if (change->asks != HB_ASKS_NOTHING)
		doc_str(doc, "asks", asks[change->asks].key);
	if (change->has_conflict) {
		doc_str(doc, "conflict", change->why ? change->why : "");
		if (change->holder > 0)
			doc_uint(doc, "process", (uint64_t)change->holder);
		add_time(doc, "base_time", change->base_time);
		add_time(doc, "session_time", change->session_time);
	}
}

void show_change_json(const struct hb_session_info *info,
		      const struct hb_change *change,
		      const struct show_lines *lines, struct doc *doc)
{
	json_object(&doc->json);
	show_change_members(info, change, lines, doc);
	json_end(&doc->json);
}

void show_walk_init(struct show_walk *walk, struct hb_changes *changes,
		    bool with_times)
{
	walk->changes = changes;
	walk->with_times = with_times;
	buf_init(&walk->unit, UNIT_MAX);
}

void show_walk_done(struct show_walk *walk)
{
	buf_done(&walk->unit);
}

/* The length of the path up to its ".git", which may be all of it. */
static size_t unit_length(const char *path)
{
	for (const char *at = path; (at = strstr(at, ".git")); at++)
		if ((at == path || at[-1] == '/') &&
		    (at[4] == '/' || at[4] == '\0'))
			return (size_t)(at + 4 - path);
	return 0;
}

/* The repository that a change is in, which may be the resource itself. */
static int set_unit(struct show_walk *walk, const struct hb_change *change)
{
	size_t n = unit_length(change->path);
	const char *path = n > 0 ? change->path : ".";

	n = n > 0 ? n : 1;
	if (walk->unit.len == n && walk->resource == change->resource &&
	    memcmp(walk->unit.data, path, n) == 0)
		return 0;
	buf_cut(&walk->unit, 0);
	walk->resource = change->resource;
	return buf_add(&walk->unit, path, n) < 0 ? walk->unit.error : 1;
}

int show_walk_next(struct show_walk *walk, struct hb_change *ret_change,
		   struct hb_error *err)
{
	int r;

	while ((r = hb_changes_next(walk->changes, ret_change, err)) == 1) {
		if (ret_change->kind == 't' && !walk->with_times)
			continue;
		/* A conflict is shown at its own path. */
		if (!ret_change->is_git || ret_change->has_conflict)
			return 1;
		r = set_unit(walk, ret_change);
		if (r < 0)
			return hb_fail(err, r, "cannot show a change");
		if (r == 0)
			continue;
		ret_change->path = buf_str(&walk->unit);
		ret_change->kind = 'M';
		ret_change->from = NULL;
		ret_change->is_directory = true;
		return 1;
	}
	return r;
}

const char *show_age(int64_t since, char *out, size_t size)
{
	static const struct {
		int64_t seconds;
		char letter;
	} units[] = { { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' }, { 1, 's' } };
	int64_t age = (int64_t)time(NULL) - since;

	(void)snprintf(out, size, since > 0 ? "0s" : "-");
	for (size_t i = 0; since > 0 && i < 4; i++) {
		if (age < units[i].seconds)
			continue;
		(void)snprintf(out, size, "%lld%c",
			       (long long)(age / units[i].seconds),
			       units[i].letter);
		break;
	}
	return out;
}
