/* SPDX-License-Identifier: Apache-2.0 */
#include "host/mountinfo.h"

#include "base/auto.h"
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A host with more mounts than this gets a message with less in it. */
#define TEXT_SIZE (1U << 20)

int mountinfo_read(pid_t pid, char **ret_text)
{
	auto_free char *text = malloc(TEXT_SIZE);
	char path[32] = "/proc/self/mountinfo";
	ssize_t n;

	if (!text)
		return -ENOMEM;
	if (pid > 0)
		(void)snprintf(path, sizeof(path), "/proc/%d/mountinfo",
			       (int)pid);
	n = sys_read_file_at(AT_FDCWD, path, text, TEXT_SIZE);
	if (n < 0)
		return (int)n;
	*ret_text = take_ptr(&text);
	return 0;
}

static bool is_octal(const char *s)
{
	for (int i = 0; i < 3; i++)
		if (s[i] < '0' || s[i] > '7')
			return false;
	return true;
}

/* The kernel writes blanks and backslashes in names as \ooo. */
static void unescape(char *name)
{
	char *to = name;

	for (const char *from = name; *from; from++) {
		if (*from == '\\' && is_octal(from + 1)) {
			*to++ = (char)((from[1] - '0') * 64 +
				       (from[2] - '0') * 8 + (from[3] - '0'));
			from += 3;
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
}

/* Up to the next blank, or NULL at the end; a word may be empty. */
static char *next_word(char **at)
{
	char *word = *at;

	if (!word)
		return NULL;
	*at = strchr(word, ' ');
	if (*at)
		*(*at)++ = '\0';
	return word;
}

/* ID PARENT DEV ROOT PATH OPTIONS [TAG...] - TYPE SOURCE OPTIONS */
static bool split(char *line, struct hb_mount *ret)
{
	enum {
		PATH = 4,
		OPTIONS,
		TYPE,
		SOURCE,
		FS_OPTIONS,
		WORDS
	};
	char *words[WORDS], *word;

	for (size_t i = 0; i < WORDS; i++) {
		word = next_word(&line);
		while (i == TYPE && word && strcmp(word, "-") != 0)
			word = next_word(&line);
		words[i] = i == TYPE ? next_word(&line) : word;
		if (!words[i])
			return false;
		unescape(words[i]);
	}
	*ret = (struct hb_mount){ .path = words[PATH],
				  .type = words[TYPE],
				  .source = words[SOURCE],
				  .options = words[OPTIONS],
				  .fs_options = words[FS_OPTIONS] };
	return true;
}

bool mountinfo_next(char **at, struct hb_mount *ret_mount)
{
	while (**at) {
		char *line = *at;

		*at += strcspn(*at, "\n");
		if (**at)
			*(*at)++ = '\0';
		if (split(line, ret_mount))
			return true;
	}
	return false;
}
