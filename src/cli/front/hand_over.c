/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/front/hand_over.h"

#include "base/error.h"
#include "cli/front/table.h"
#include "cli/show/say.h"
#include "holdback/holdback.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cli_hand_over(const char *command, const struct cli_values *values,
		  char *const *envp)
{
	static char name[] = "holdback", help[] = "help",
		    version[] = "--version";
	char word[32];
	char *help_argv[] = { name, help, word, NULL };
	char *version_argv[] = { name, version, NULL };
	struct hb_error err = { 0 };

	(void)snprintf(word, sizeof(word), "%s", command);
	(void)hb_exec_helper("commands",
			     values->help ? help_argv : version_argv, envp,
			     &err);
	return cli_fail(&err);
}

char **cli_words_in(char *session, char **words)
{
	static char name[] = "holdback", command[] = "run", option[] = "-s";
	char *before[] = { name, command, option, session };
	size_t n = 0;
	char **argv;

	while (words[n])
		n++;
	argv = calloc(n + 5, sizeof(*argv));
	if (!argv)
		return NULL;
	memcpy(argv, before, sizeof(before));
	memcpy(argv + 4, words, n * sizeof(*words));
	return argv;
}

char **cli_copy_words(char **words)
{
	size_t n = 0;
	char **copy;

	while (words[n])
		n++;
	copy = calloc(n + 1, sizeof(*copy));
	if (copy)
		memcpy(copy, words, n * sizeof(*copy));
	return copy;
}
