/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

/*
 * mktext NAME FILE > NAME.h
 *
 * A file as a constant of the program: NAME, an array of its bytes and a NUL.
 * Runs on the build machine.
 */

int main(int argc, char **argv)
{
	FILE *file = argc == 3 ? fopen(argv[2], "re") : NULL;
	int c;

	if (!file) {
		perror(argc == 3 ? argv[2] : "usage: mktext NAME FILE");
		return 1;
	}
	printf("static const char %s[] =\n\t\"", argv[1]);
	while ((c = getc(file)) != EOF) {
		if (c == '\n')
			printf("\\n\"\n\t\"");
		else if (c == '"' || c == '\\' || c == '?' || c < ' ' ||
			 c >= 127)
			printf("\\%03o", (unsigned)c);
		else
			putchar(c);
	}
	printf("\";\n");
	return ferror(file) || fclose(file) != 0 ? 1 : 0;
}
