/* SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>

/*
 * The static payload: with no argument it ends at once.  With one it says that
 * it runs, a byte to standard output, and ends when standard input does, so
 * that many of them can be held at rest and let go together.
 */
int main(int argc, char **argv)
{
	char byte = '.';

	(void)argv;
	if (argc < 2)
		return 0;
	if (write(1, &byte, 1) != 1)
		return 1;
	while (read(0, &byte, 1) > 0)
		;
	return 0;
}
