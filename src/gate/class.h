/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GATE_CLASS_H
#define HB_GATE_CLASS_H

/* When a program of the user's runs what a rule is about, or obeys it. */
enum gate_class {
	GATE_CLASS_NONE, /* nothing runs it by itself */
	GATE_CLASS_OPEN,
	GATE_CLASS_ENTER,
	GATE_CLASS_INSTALL,
	GATE_CLASS_PUSH,
	GATE_CLASS_GIT,
	GATE_CLASS_LOGIN,
	GATE_CLASS_BUILD,
	GATE_CLASS_AGENTS,
	GATE_CLASSES
};

/* As rules and JSON name it; NULL for none. */
const char *gate_class_name(enum gate_class class);

/* What follows a program's name: "runs it when ...". */
const char *gate_class_words(enum gate_class class);

/* The class of that name; -EINVAL for any other word. */
int gate_class_parse(const char *word);

#endif
