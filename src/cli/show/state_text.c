/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show/state_text.h"

#include "base/buf.h"
#include "base/path.h"
#include "base/quote.h"
#include "cli/show/doc.h"
#include "cli/show/say.h"
#include "holdback/state.h"

#include <inttypes.h>
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
	char first[128]; /* the agent's */
};

static int add_file(void *ctx, const struct hb_state_file *file,
		    struct hb_error *err)
{
	struct section *s = ctx;

	if (s->n++ == 0)
		(void)snprintf(s->first, sizeof(s->first), "%s", file->agent);
	if (!s->doc)
		return 0;
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

int state_say(struct hb_session *session, struct hb_error *err)
{
	struct section s = { 0 };
	char line[512];
	int r = hb_session_state(session, add_file, &s, err);

	if (r < 0 || s.n == 0)
		return r;
	(void)snprintf(
		line, sizeof(line),
		"%s: %zu file%s of agent state %s kept for the next run; "
		"holdback commit --state",
		s.first, s.n, s.n == 1 ? "" : "s", s.n == 1 ? "is" : "are");
	cli_say(line);
	return 0;
}
