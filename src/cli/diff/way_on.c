/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/diff/way_on.h"

#include "base/buf.h"
#include "holdback/holdback.h"

#include <stdio.h>
#include <string.h>

#define COMMAND_MAX 58 /* "Go on: holdback -c " before it: 80 columns */
#define WORDS_SIZE  64

struct words {
	char text[WORDS_SIZE]; /* "": the profile has none */
};

static void note_words(void *context, const struct hb_config_value *value)
{
	struct words *words = context;

	if (strcmp(value->key, "go-on") == 0)
		(void)snprintf(words->text, sizeof(words->text), "%s",
			       value->value);
}

static bool is_plain(const char *word)
{
	return word[0] && word[strspn(word, "abcdefghijklmnopqrstuvwxyz"
					    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
					    "0123456789-_./=:,+@%")] == '\0';
}

/* Bytes that a terminal does not show as they are cannot be typed either. */
static bool is_printable(const char *word)
{
	for (; *word; word++)
		if ((unsigned char)*word < ' ' || (unsigned char)*word > '~')
			return false;
	return true;
}

/* False: it cannot be written on a line. */
static bool add_word(const char *word, struct buf *out)
{
	if (is_plain(word))
		return buf_add_str(out, word) >= 0;
	if (!is_printable(word))
		return false;
	(void)buf_add_char(out, '\'');
	for (; *word; word++)
		if (*word == '\'')
			(void)buf_add_str(out, "'\\''");
		else
			(void)buf_add_char(out, *word);
	return buf_add_char(out, '\'') >= 0;
}

static bool add_words(char *const *command, const char *go_on, struct buf *out)
{
	if (!command[0])
		return false;
	/* An option of ours would be meant. */
	if (command[0][0] == '-')
		(void)buf_add_str(out, "-- ");
	for (size_t i = 0; command[i] && (i == 0 || !go_on[0]); i++) {
		if (i > 0)
			(void)buf_add_char(out, ' ');
		if (!add_word(command[i], out))
			return false;
	}
	if (go_on[0])
		(void)buf_add_fmt(out, " %s", go_on);
	return !out->error && out->len <= COMMAND_MAX;
}

int way_on_add(char *const *command, char *const *envp, struct buf *out)
{
	auto_buf struct buf words = BUF_INIT(4096);
	struct words go_on = { "" };

	if (command[0]) {
		const char *slash = strrchr(command[0], '/');

		(void)hb_profile(slash ? slash + 1 : command[0], envp,
				 note_words, &go_on, NULL);
	}
	if (!add_words(command, go_on.text, &words)) {
		buf_cut(&words, 0);
		(void)buf_add_str(&words, "COMMAND");
	}
	return buf_add_fmt(out, "holdback -c %s", buf_str(&words));
}
