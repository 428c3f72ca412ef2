/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/class.h"

#include <errno.h>
#include <string.h>

static const struct {
	const char *name, *words;
} classes[GATE_CLASSES] = {
	[GATE_CLASS_OPEN] = { "runs-on-open",
			      "runs it when the folder is opened" },
	[GATE_CLASS_ENTER] = { "runs-on-enter",
			       "obeys it when the directory is entered" },
	[GATE_CLASS_INSTALL] = { "runs-on-install", "obeys it at install" },
	[GATE_CLASS_PUSH] = { "runs-on-push", "runs it when it is pushed" },
	[GATE_CLASS_GIT] = { "runs-on-git",
			     "runs it when git commits, checks out or pushes" },
	[GATE_CLASS_LOGIN] = { "runs-on-login",
			       "runs it at log in, or when it starts" },
	[GATE_CLASS_BUILD] = { "runs-on-build",
			       "runs it in a build or a test" },
	[GATE_CLASS_AGENTS] = { "agents-obey", "obeys it when it starts here" },
};

const char *gate_class_name(enum gate_class class)
{
	return classes[class].name;
}

const char *gate_class_words(enum gate_class class)
{
	return classes[class].words;
}

int gate_class_parse(const char *word)
{
	for (int i = GATE_CLASS_NONE + 1; i < GATE_CLASSES; i++)
		if (strcmp(word, classes[i].name) == 0)
			return i;
	return -EINVAL;
}
