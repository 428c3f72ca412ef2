/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_REVIEW_GIT_MODULE_TREE_H
#define HB_REVIEW_GIT_MODULE_TREE_H

/*
 * Where the files of a submodule are: of ".git/modules/x" the path "libs/x/",
 * from the base on and with a slash, for the caller to free.  The base's own
 * configuration says so, and nothing is opened there.  NULL: it does not, or
 * the files are elsewhere.  -ENOMEM.
 */
int module_tree_find(int base, const char *prefix, char **ret_below);

#endif
