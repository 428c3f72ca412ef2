/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/selection.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "cli/commands/cmd.h"
#include "cli/show/show.h"
#include "holdback/holdback.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Lines are told apart by their numbers, so that an odd name need not be read
 * back.
 */

#define TEXT_MAX ((size_t)64 << 20)
#define HEAD                                                                     \
	"# The changes that are going to be committed. Delete the lines of\n"    \
	"# changes that shall wait; a directory stands for all that is in it.\n" \
	"# Numbers tell the changes apart: leave them as they are.\n"

void selection_done(struct selection *selection)
{
	for (size_t i = 0; i < selection->n_left; i++)
		free(selection->left[i]);
	free(selection->left);
	*selection = (struct selection){ 0 };
}

int selection_leave(struct selection *selection,
		    const struct hb_session_info *info, size_t resource,
		    const char *path, struct hb_error *err)
{
	struct buf whole = BUF_INIT(TEXT_MAX);
	char **larger;

	larger = reallocarray(selection->left, selection->n_left + 1,
			      sizeof(*larger));
	if (!larger)
		return hb_fail(err, -ENOMEM, "cannot keep a path");
	selection->left = larger;
	(void)buf_add_str(&whole, info->resources[resource].source);
	if (strcmp(path, ".") != 0)
		(void)buf_add_fmt(&whole, "/%s", path);
	if (buf_take(&whole, &larger[selection->n_left], NULL) < 0)
		return hb_fail(err, -ENOMEM, "cannot keep a path");
	selection->n_left++;
	return 0;
}

/* A directory's own mode cannot wait without everything that is in it. */
static bool can_wait(const struct hb_change *change)
{
	return strcmp(change->path, ".") != 0 && change->path[0] != '\0';
}

static int list(const struct hb_session_info *info, struct hb_changes *changes,
		struct buf *text, size_t *ret_n, struct hb_error *err)
{
	struct hb_change change;
	struct show_walk walk;
	size_t n = 0;
	int r;

	(void)buf_add_str(text, HEAD);
	show_walk_init(&walk, changes, true);
	while ((r = show_walk_next(&walk, &change, err)) == 1) {
		if (!can_wait(&change))
			continue;
		(void)buf_add_fmt(text, "%zu", ++n);
		(void)show_sized(info, &change, false, text);
	}
	show_walk_done(&walk);
	if (r >= 0 && text->error)
		r = hb_fail(err, text->error, "cannot list the changes");
	if (r >= 0)
		r = hb_changes_rewind(changes, err);
	*ret_n = n;
	return r;
}

/* The numbers that lines begin with; what is no number counts for nothing. */
static void read_numbers(const char *text, bool *is_wanted, size_t n)
{
	while (*text) {
		size_t digits = strspn(text, "0123456789");
		unsigned long number =
			digits > 0 && digits < 10 ? strtoul(text, NULL, 10) : 0;

		if (number > 0 && number <= n)
			is_wanted[number - 1] = true;
		text = strchrnul(text, '\n');
		text += *text == '\n';
	}
}

static int leave_rest(struct selection *selection,
		      const struct hb_session_info *info,
		      struct hb_changes *changes, const bool *is_wanted,
		      struct hb_error *err)
{
	struct hb_change change;
	struct show_walk walk;
	size_t n = 0;
	int r, n_left = 0;

	show_walk_init(&walk, changes, true);
	while ((r = show_walk_next(&walk, &change, err)) == 1) {
		if (!can_wait(&change) || is_wanted[n++])
			continue;
		r = selection_leave(selection, info, change.resource,
				    change.path, err);
		if (r >= 0 && change.from)
			r = selection_leave(selection, info, change.resource,
					    change.from, err);
		if (r < 0)
			break;
		n_left++;
	}
	show_walk_done(&walk);
	if (r >= 0)
		r = hb_changes_rewind(changes, err);
	return r < 0 ? r : n_left;
}

int selection_edit(struct selection *selection, const struct cmd_call *call,
		   const struct hb_session_info *info,
		   struct hb_changes *changes, struct hb_error *err)
{
	auto_buf struct buf text = BUF_INIT(TEXT_MAX);
	auto_free char *edited = NULL;
	auto_free bool *is_wanted = NULL;
	size_t n = 0;
	int r;

	r = list(info, changes, &text, &n, err);
	if (r >= 0)
		r = hb_edit_text(text.data, text.len, call->envp, &edited, err);
	if (r < 0)
		return r;
	is_wanted = calloc(n + 1, sizeof(*is_wanted));
	if (!is_wanted)
		return hb_fail(err, -ENOMEM, "cannot read the selection");
	read_numbers(edited, is_wanted, n);
	return leave_rest(selection, info, changes, is_wanted, err);
}
