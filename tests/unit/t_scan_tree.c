/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modes: user
 *
 * Source code that people wrote has no secrets: the files of this machine's
 * packages, or those below HB_SCAN_TREE.
 */
#include "gate/scan/scan.h"

#include "scan_tree.h"
#include "tap.h"

#include <glob.h>

#define FILES_MIN    10000
#define FILES_MAX    12000
#define FINDINGS_MAX 5

/* What the packages that build and test this have, and then whatever is. */
static const char *const places[] = {
	"/usr/include",	       "/usr/lib/gcc",
	"/usr/lib/python3.*",  "/usr/lib/llvm-*/include",
	"/usr/share/perl",     "/usr/share/vim",
	"/usr/share/nodejs",   "/usr/share/zsh",
	"/usr/share/git-core", "/usr/share/i18n",
	"/usr/share/zoneinfo", "/usr/share/locale",
	"/usr/share/man",      "/usr/share/doc",
};

static void source_code_has_none(void)
{
	struct scan_tree tree = { .most = FILES_MAX };
	char *given[] = { getenv("HB_SCAN_TREE"), NULL };
	glob_t found = { 0 };
	struct scan *scan = NULL;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		(void)glob(places[i], i ? GLOB_APPEND : 0, NULL, &found);
	if (given[0])
		tree.most = SIZE_MAX;
	CHECK_INT(scan_new(&scan, NULL), 0);
	CHECK_INT(scan_tree(&tree, scan, given[0] ? given : found.gl_pathv), 0);
	printf("# %zu files, %zu bytes, %zu findings\n", tree.files, tree.bytes,
	       tree.findings);
	CHECK(tree.findings <= FINDINGS_MAX);
	CHECK(tree.files >= FILES_MIN);
	scan_free(scan);
	globfree(&found);
}

TESTS(T(source_code_has_none))
