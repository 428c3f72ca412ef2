/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show/state_text.h"

#include "base/buf.h"
#include "base/path.h"
#include "base/quote.h"
#include "cli/show/doc.h"
#include "cli/show/say.h"
#include "holdback/state.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* More are counted: `holdback state` has all of them. */
#define LINES_MAX 10

const char *state_home(char *const *envp)
{
	for (; *envp; envp++)
		if (strncmp(*envp, "HOME=", 5) == 0)
			return *envp + 5;
	return "";
}

void state_add_path(const char *path, const char *home, struct buf *out)
{
	if (home[0] == '/' && home[1] && path_is_beneath(path, home)) {
		(void)buf_add_char(out, '~');
		path += strlen(home);
	}
	(void)quote_name(path, strlen(path), out);
}

void state_show_file(const struct hb_state_file *file, const char *home,
		     struct doc *doc)
{
	if (!doc->is_json) {
		(void)buf_add_fmt(&doc->out, "%-5s %-8s ", file->class,
				  file->agent);
		state_add_path(file->path, home, &doc->out);
		if (strcmp(file->type, "gone") == 0)
			(void)buf_add_str(&doc->out, " (removed)");
		if (file->is_outdated)
			(void)buf_add_str(&doc->out,
					  " (the host's is newer, and used)");
		return;
	}
	json_object(&doc->json);
	doc_str(doc, "agent", file->agent);
	doc_str(doc, "project", file->project);
	doc_str(doc, "path", file->path);
	doc_str(doc, "class", file->class);
	doc_str(doc, "type", file->type);
	doc_uint(doc, "size", file->size);
	doc_uint(doc, "time", (uint64_t)file->time);
	doc_str(doc, "policy", file->policy);
	doc_bool(doc, "outdated", file->is_outdated);
	json_end(&doc->json);
}

struct section {
	struct doc *doc;
	const char *home;
	size_t n;
};

static int add_file(void *ctx, const struct hb_state_file *file,
		    struct hb_error *err)
{
	struct section *s = ctx;

	s->n++;
	if (!s->doc->is_json && s->n == 1)
		(void)buf_add_str(&s->doc->out,
				  "agent state, kept for the next run "
				  "(holdback commit --state):\n");
	if (!s->doc->is_json && s->n > LINES_MAX)
		return 0;
	if (!s->doc->is_json)
		(void)buf_add_str(&s->doc->out, "  ");
	state_show_file(file, s->home, s->doc);
	if (!s->doc->is_json)
		(void)buf_add_char(&s->doc->out, '\n');
	return doc_flow(s->doc, err);
}

int state_show(struct hb_session *session, struct doc *doc,
	       struct hb_error *err)
{
	struct section s = { .doc = doc, .home = state_home(environ) };
	int r;

	if (doc->is_json) {
		json_key(&doc->json, "state");
		json_array(&doc->json);
	}
	r = hb_session_state(session, add_file, &s, err);
	if (doc->is_json)
		json_end(&doc->json);
	else if (s.n > LINES_MAX)
		(void)buf_add_fmt(&doc->out,
				  "  … and %zu more (holdback state)\n",
				  s.n - LINES_MAX);
	return r;
}

/* The files of one agent, which come together. */
struct kept {
	const char *home;
	char agent[NAME_MAX + 1];
	size_t n;
	/* The path that all of them begin with, not always at a slash. */
	char place[PATH_MAX];
	bool is_whole; /* and a name ends there in all of them */
};

static void say_kept(struct kept *k)
{
	size_t len = strlen(k->place), home = strlen(k->home);
	auto_buf struct buf line = BUF_INIT(PATH_MAX + 256);

	if (k->n == 0)
		return;
	if (!k->is_whole)
		while (len > 0 && k->place[len] != '/')
			len--;
	k->place[len] = '\0';
	if (len > home && path_is_beneath(k->place, k->home))
		state_add_path(k->place, k->home, &line);
	else
		(void)buf_add_str(&line, k->agent);
	(void)buf_add_fmt(&line,
			  ": %zu file%s of agent state %s kept for the next "
			  "run; holdback commit --state",
			  k->n, k->n == 1 ? "" : "s", k->n == 1 ? "is" : "are");
	cli_say(buf_str(&line));
	k->n = 0;
}

static bool ends_name(char c)
{
	return c == '\0' || c == '/' || c == '.';
}

static int note_kept(void *ctx, const struct hb_state_file *file,
		     struct hb_error *err)
{
	struct kept *k = ctx;
	size_t len = 0;

	(void)err;
	if (strcmp(k->agent, file->agent) != 0)
		say_kept(k);
	if (k->n++ == 0) {
		(void)snprintf(k->agent, sizeof(k->agent), "%s", file->agent);
		(void)snprintf(k->place, sizeof(k->place), "%s", file->path);
		k->is_whole = true;
		return 0;
	}
	while (k->place[len] && k->place[len] == file->path[len])
		len++;
	/* `~/.claude` is the place of `~/.claude.json` as well. */
	k->is_whole = ends_name(file->path[len]) &&
		      (k->place[len] ? ends_name(k->place[len]) : k->is_whole);
	k->place[len] = '\0';
	return 0;
}

int state_say(struct hb_session *session, struct hb_error *err)
{
	struct kept k = { .home = state_home(environ) };
	int r = hb_session_state(session, note_kept, &k, err);

	say_kept(&k);
	return r;
}
