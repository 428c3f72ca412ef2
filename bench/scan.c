/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/scan/scan.h"

#include "scan_tree.h"

/*
 * scan DIRECTORY...
 *
 * Looks for secrets in every file, as the gate does in those that changed.
 */
int main(int argc, char **argv)
{
	struct scan_tree tree = { .most = SIZE_MAX };
	struct scan *scan = NULL;

	if (argc < 2 || scan_new(&scan, NULL) < 0)
		return 2;
	if (scan_tree(&tree, scan, argv + 1) != 0)
		return 1;
	printf("%zu files, %zu bytes, %zu findings\n", tree.files, tree.bytes,
	       tree.findings);
	scan_free(scan);
	return 0;
}
