/* SPDX-License-Identifier: Apache-2.0 */
#include "box/reach.h"

#include "sys/file.h"
#include "sys/proc.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The counters of a network namespace that is the box's own begin at zero, and
 * the kernel counts each refusal.  So nothing stands in the way of a call.
 */

#define SNMP_MAX 16384

/* Behind the first word of the next line that begins with it. */
static const char *find_row(const char *text, const char *word)
{
	size_t n = strlen(word);

	while (text && *text) {
		if (strncmp(text, word, n) == 0 && strchr(" \t:", text[n]))
			return text + n + (text[n] == ':');
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return NULL;
}

/* A row of names, and right behind it a row of their numbers. */
static unsigned long long count4(const char *text, const char *protocol,
				 const char *name)
{
	const char *names = find_row(text, protocol);
	const char *numbers = find_row(names, protocol);
	size_t n = strlen(name);

	while (names && numbers && *names == ' ' && *numbers == ' ') {
		names++;
		numbers++;
		if (strncmp(names, name, n) == 0 &&
		    (names[n] == ' ' || names[n] == '\n'))
			return strtoull(numbers, NULL, 10);
		names += strcspn(names, " \n");
		numbers += strcspn(numbers, " \n");
	}
	return 0;
}

/* A line for each counter: NAME, blanks, the number. */
static unsigned long long count6(const char *text, const char *name)
{
	const char *number = find_row(text, name);

	return number ? strtoull(number, NULL, 10) : 0;
}

static bool read_counters(pid_t pid, const char *file, char text[SNMP_MAX])
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/net/%s", (int)pid, file);
	return sys_read_file_at(AT_FDCWD, path, text, SNMP_MAX) > 0;
}

uint64_t reach_failures(pid_t pid)
{
	char text[SNMP_MAX];
	uint64_t n = 0;

	if (!sys_has_own_proc())
		return 0;
	if (read_counters(pid, "snmp", text))
		n += count4(text, "Ip", "OutNoRoutes") +
		     count4(text, "Udp", "NoPorts");
	if (read_counters(pid, "snmp6", text))
		n += count6(text, "Ip6OutNoRoutes") +
		     count6(text, "Udp6NoPorts");
	return n;
}
