/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show/log_text.h"

#include "base/buf.h"
#include "base/quote.h"
#include "cli/show/colour.h"
#include "holdback/events.h"

#include <inttypes.h>
#include <string.h>

/* How a kind is told to people. */
struct way {
	const char *kind;
	const char *word;
	/* Of its number; NULL: that is not shown. */
	const char *before, *after;
	enum colour colour;
	bool is_denial;
};

static const struct way ways[] = {
	{ "ordered", "command", NULL, NULL, COLOUR_HEAD, false },
	{ "policy", "policy", NULL, NULL, COLOUR_NONE, false },
	{ "weakened", "weakened", NULL, NULL, COLOUR_WARNING, false },
	{ "asked", "asked", NULL, NULL, COLOUR_NONE, false },
	{ "started", "started", "pid ", "", COLOUR_NONE, false },
	{ "stopped", "stopped", NULL, NULL, COLOUR_WARNING, false },
	{ "resumed", "resumed", NULL, NULL, COLOUR_NONE, false },
	{ "ended", "ended", "status ", "", COLOUR_NONE, false },
	{ "denied", "denied", NULL, NULL, COLOUR_DELETED, true },
	{ "caught", "caught", NULL, NULL, COLOUR_NONE, false },
	{ "net", "net", NULL, NULL, COLOUR_NONE, false },
	{ "called", NULL, NULL, NULL, COLOUR_NONE, false },
	{ "finding", "gate", NULL, NULL, COLOUR_WARNING, false },
	{ "begun", "begun", NULL, NULL, COLOUR_NONE, false },
	{ "done", "done", "", " operations", COLOUR_ADDED, false },
	{ "failed", "failed", NULL, NULL, COLOUR_DELETED, true },
	{ "refused", "refused", NULL, NULL, COLOUR_DELETED, true },
	{ "conflicted", "conflict", NULL, NULL, COLOUR_DELETED, true },
	{ "changed", "changed", NULL, NULL, COLOUR_NONE, false },
	{ "held", "held", NULL, NULL, COLOUR_NONE, false },
	{ "left", "left", NULL, NULL, COLOUR_WARNING, false },
	{ "torn", "torn", NULL, NULL, COLOUR_DELETED, false },
	{ "gap", "gap", NULL, NULL, COLOUR_DELETED, false },
	{ "lost", "lost", NULL, NULL, COLOUR_DELETED, false },
};

static const struct way *find_way(const char *kind)
{
	static const struct way other = { .colour = COLOUR_NONE };

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strcmp(ways[i].kind, kind) == 0)
			return &ways[i];
	return &other;
}

static void add_quoted(const char *text, struct buf *out)
{
	(void)buf_add_char(out, ' ');
	(void)quote_name(text, strlen(text), out);
}

/* A text of ours may hold quotes, but nothing that speaks to the terminal. */
static void add_words(const char *text, struct buf *out)
{
	(void)buf_add_char(out, ' ');
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			(void)buf_add_fmt(out, "\\%03o", (unsigned char)*text);
		else
			(void)buf_add_char(out, *text);
}

static void add_path(const struct hb_event *event, struct buf *out)
{
	if (!event->path)
		return;
	if (event->source) {
		add_quoted(event->source, out);
		(void)buf_add_char(out, ':');
	}
	add_quoted(event->path, out);
}

bool log_text_is_denial(const struct hb_event *event)
{
	if (event->verdict)
		return strcmp(event->verdict, "deny") == 0;
	if (strcmp(event->kind, "finding") == 0)
		return !event->is_allowed && event->severity &&
		       strcmp(event->severity, "warn") != 0;
	/* Without a code: a command was killed, and nothing was refused. */
	if (strcmp(event->kind, "failed") == 0 && event->number == 0)
		return false;
	return find_way(event->kind)->is_denial;
}

/* Those of a sandbox say it themselves. */
const char *log_text_fix(const struct hb_event *event)
{
	if (event->fix)
		return event->fix;
	if (strcmp(event->kind, "finding") == 0)
		return "look at the file; holdback commit --allow RULE, or "
		       "--except GLOB";
	if (strcmp(event->kind, "refused") == 0 ||
	    strcmp(event->kind, "conflicted") == 0)
		return "holdback status; holdback commit says the options";
	return NULL;
}

/* allow example.com:443 by *.com: the reason */
static void add_connection(const struct hb_event *event, struct buf *out)
{
	add_words(event->verdict, out);
	if (event->host && event->host[0]) {
		add_words(event->host, out);
		(void)buf_add_fmt(out, ":%" PRIu64, event->number);
	}
	if (event->rule && event->rule[0]) {
		(void)buf_add_str(out, " by");
		add_words(event->rule, out);
	}
	if (event->cause && event->cause[0]) {
		(void)buf_add_char(out, ':');
		add_words(event->cause, out);
	}
}

int log_text_add(const struct hb_event *event, bool has_colour, struct buf *out)
{
	const struct way *way = find_way(event->kind);

	(void)buf_add_fmt(out, "%s ", event->time);
	(void)quote_name(event->session ? event->session : "-",
			 event->session ? strlen(event->session) : 1, out);
	(void)buf_add_fmt(out, " %s%s%s", colour_begin(has_colour, way->colour),
			  way->word	? way->word
			  : event->verb ? event->verb
					: "other",
			  colour_end(has_colour, way->colour));
	if (event->verdict)
		add_connection(event, out);
	else if (event->rule)
		(void)buf_add_fmt(out, " %s (%s%s)", event->rule,
				  event->severity ? event->severity : "?",
				  event->is_allowed ? ", allowed" : "");
	if (event->text)
		add_words(event->text, out);
	add_path(event, out);
	if (event->to) {
		(void)buf_add_str(out, " ->");
		add_quoted(event->to, out);
	}
	if (event->program) {
		(void)buf_add_char(out, ' ');
		add_quoted(event->program, out);
		(void)buf_add_fmt(out, "[%" PRIu64 "]", event->number);
	}
	if (event->detail)
		add_quoted(event->detail, out);
	if (strcmp(event->kind, "asked") == 0)
		(void)buf_add_str(out, event->answer ? " (yes)" : " (no)");
	if (event->has_number && way->before)
		(void)buf_add_fmt(out, " [%s%" PRIu64 "%s]", way->before,
				  event->number, way->after);
	return buf_add_char(out, '\n');
}
