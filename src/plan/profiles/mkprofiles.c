/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/kv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * mkprofiles FILE... > profile_table.h
 *
 * Each FILE is NAME.conf; its first line is a comment that says what it is for.
 * Runs on the build machine, with the reader that the program itself has.
 */

static char text[KV_FILE_MAX];

static void print_string(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\' || c < ' ' || c >= 127)
			printf("\\%03o", c);
		else
			putchar(c);
	}
	putchar('"');
}

static size_t read_file(const char *path)
{
	FILE *file = fopen(path, "re");
	size_t n;

	if (!file) {
		perror(path);
		exit(1);
	}
	n = fread(text, 1, sizeof(text) - 1, file);
	(void)fclose(file);
	text[n] = '\0';
	return n;
}

/* data/profiles/NAME.conf: NAME. */
static void name_of(const char *path, char *ret, size_t size)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;

	(void)snprintf(ret, size, "%.*s", (int)strcspn(base, "."), base);
}

static void print_entries(const char *path)
{
	struct hb_error err = { 0 };
	struct kv_reader reader;
	struct kv_entry entry;
	char name[64];
	int r;

	name_of(path, name, sizeof(name));
	printf("static const struct profile_entry %s_entries[] = {\n", name);
	kv_reader_init(&reader, path, text, read_file(path));
	while ((r = kv_next(&reader, &entry, &err)) > 0) {
		printf("\t{ \"%s\", ", entry.key);
		print_string(entry.value);
		printf(", %zu },\n", entry.line);
	}
	kv_reader_done(&reader);
	if (r < 0) {
		(void)fprintf(stderr, "mkprofiles: %s\n", err.text);
		exit(1);
	}
	printf("};\n\n");
}

static void print_profile(const char *path)
{
	char name[64], summary[128];

	name_of(path, name, sizeof(name));
	(void)read_file(path);
	if (strncmp(text, "# ", 2) != 0) {
		(void)fprintf(stderr, "mkprofiles: %s: no first comment\n",
			      path);
		exit(1);
	}
	(void)snprintf(summary, sizeof(summary), "%.*s",
		       (int)strcspn(text + 2, "\n"), text + 2);
	printf("\t{ \"%s\", ", name);
	print_string(summary);
	printf(",\n\t  %s_entries, sizeof(%s_entries) / "
	       "sizeof(%s_entries[0]) },\n",
	       name, name, name);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		print_entries(argv[i]);
	printf("static const struct profile profiles[] = {\n");
	for (int i = 1; i < argc; i++)
		print_profile(argv[i]);
	printf("};\n");
	return 0;
}
