/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "box/state.h"
#include "sys/sock.h"

#include <assert.h>
#include <string.h>

/* The way of news out of the box, and the words of two front ends. */

void message_send(int fd, enum message_kind kind, int value)
{
	struct message message;

	/* Whole, because uninitialized bytes would cross to the outside. */
	memset(&message, 0, sizeof(message));
	message.kind = kind;
	message.value = value;
	(void)sys_send_record(fd, &message, sizeof(message));
}

int message_send_fd(int fd, enum message_kind kind, int sent)
{
	struct message message;

	memset(&message, 0, sizeof(message));
	message.kind = kind;
	return sys_send_record_fds(fd, &message, sizeof(message), &sent, 1);
}

void message_error(int fd, const struct hb_error *err)
{
	struct message message;

	memset(&message, 0, sizeof(message));
	message.kind = MESSAGE_ERROR;
	message.error = *err;
	(void)sys_send_record(fd, &message, sizeof(message));
}

/*
 * init may be in the command's hands: under the bubblewrap front end it can be
 * traced, and with it its end of the socket.  So the words need not end.
 */
int message_adopt(const struct message *message, struct hb_error *err)
{
	if (err) {
		*err = message->error;
		err->text[sizeof(err->text) - 1] = '\0';
		err->fix[sizeof(err->fix) - 1] = '\0';
	}
	return message->error.code > 0 ? -message->error.code : -HB_E_CHILD;
}

static const struct {
	const char *before, *after;
} words[][2] = {
	[WORD_NO_SOURCE] = { { "cannot find '", "'" },
			     { "Can't find source path ", "" } },
	[WORD_CHDIR] = { { "cannot enter '", "'" }, { "Can't chdir to ", "" } },
	[WORD_EXEC] = { { "cannot execute '", "'" }, { "execvp ", "" } },
	[WORD_DEST] = { { "cannot make '", "'" }, { "Can't mkdir ", "" } },
	[WORD_FILE] = { { "cannot make the file '", "'" },
			{ "Can't create file at ", "" } },
};

static_assert(sizeof(words) / sizeof(words[0]) == WORD_END,
	      "every failure has both its wordings");

int box_fail(const struct box *box, struct hb_error *err, int r,
	     enum box_word word, const char *object)
{
	int kind = is_set(box, PLAN_BWRAP_WORDS);

	return hb_fail(err, r, "%s%s%s", words[word][kind].before, object,
		       words[word][kind].after);
}
