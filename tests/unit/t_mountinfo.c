/* SPDX-License-Identifier: Apache-2.0 */
#include "host/mountinfo.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every mount of the text as PATH|TYPE|SOURCE|OPTIONS|FS_OPTIONS. */
static void read_all(const char *text, char *ret, size_t size)
{
	char copy[512], *at = copy;
	struct hb_mount m;
	size_t n = 0;

	(void)snprintf(copy, sizeof(copy), "%s", text);
	ret[0] = '\0';
	while (mountinfo_next(&at, &m) && n < size)
		n += (size_t)snprintf(ret + n, size - n, "%s|%s|%s|%s|%s\n",
				      m.path, m.type, m.source, m.options,
				      m.fs_options);
}

static void a_line_is_split(void)
{
	static const struct {
		const char *line, *mounts;
	} cases[] = {
		{ "1 2 0:3 / /a ro,nosuid - tmpfs none rw,size=4k\n",
		  "/a|tmpfs|none|ro,nosuid|rw,size=4k\n" },
		{ "1 2 0:3 / /a rw shared:1 master:2 - ext4 /dev/x rw\n",
		  "/a|ext4|/dev/x|rw|rw\n" },
		/* Names as the kernel writes them. */
		{ "1 2 0:3 / /a\\040b\\134\\012c rw - t s\\011s l=\\134:\n",
		  "/a b\\\nc|t|s\ts|rw|l=\\:\n" },
		{ "1 2 0:3 / /a\\04 rw - t \\ o\n", "/a\\04|t|\\|rw|o\n" },
		{ "1 2 0:3 / /a rw - t  o\n", "/a|t||rw|o\n" },
		{ "1 2 0:3 / /- rw - - - -\n", "/-|-|-|rw|-\n" },
		/* What is no mount is left out, and what follows is not. */
		{ "1 2 0:3 / /a rw t s o\n1 2 0:3 / /b rw - t s o",
		  "/b|t|s|rw|o\n" },
		{ "\n1 2 0:3 / /a\n1 2 0:3 / /a rw - t\n", "" },
		{ "", "" },
	};
	char got[512];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		read_all(cases[i].line, got, sizeof(got));
		CHECK(strcmp(got, cases[i].mounts) == 0);
	}
}

static void our_own_can_be_read(void)
{
	struct hb_mount mount = { 0 };
	char *text = NULL, *at;
	bool has_root = false;

	CHECK(mountinfo_read(0, &text) == 0);
	for (at = text; at && mountinfo_next(&at, &mount);)
		has_root |= strcmp(mount.path, "/") == 0;
	CHECK(has_root);
	free(text);
}

TESTS(T(a_line_is_split), T(our_own_can_be_read))
