/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * mkgroups FILE > net_group_table.h
 *
 * FILE is data/net.groups.  Runs on the build machine.
 * tests/unit/t_host_group.c reads the rules that it lets pass with the reader
 * of the program.
 */

#define LINE_SIZE 256

static _Noreturn void refuse(const char *file, size_t line, const char *words)
{
	(void)fprintf(stderr, "mkgroups: %s:%zu: %s\n", file, line, words);
	exit(1);
}

int main(int argc, char **argv)
{
	char line[LINE_SIZE], group[64], rule[128], post[16], more[2];
	FILE *file = argc == 2 ? fopen(argv[1], "re") : NULL;

	if (!file) {
		(void)fprintf(stderr, "usage: mkgroups FILE\n");
		return 1;
	}
	printf("static const struct net_group_row rows[] = {\n");
	for (size_t n = 1; fgets(line, sizeof(line), file); n++) {
		if (line[0] == '#' || line[0] == '\n')
			continue;
		if (!strchr(line, '\n'))
			refuse(argv[1], n, "the line is too long");
		if (sscanf(line, "%63s %127s %15s %1s", group, rule, post,
			   more) != 3)
			refuse(argv[1], n, "a line has three words");
		if (strcspn(rule, "\"\\") != strlen(rule))
			refuse(argv[1], n, "a rule has no quotes");
		if (strcmp(post, "open") != 0 && strcmp(post, "read") != 0 &&
		    strcmp(post, "-") != 0)
			refuse(argv[1], n, "the last word is open, read or -");
		if ((rule[0] == '@') != (post[0] == '-'))
			refuse(argv[1], n, "a group alone has '-'");
		printf("\t{ \"%s\", \"%s\", %s },\n", group, rule,
		       strcmp(post, "open") == 0 ? "true" : "false");
	}
	printf("};\n");
	return fclose(file) == 0 ? 0 : 1;
}
