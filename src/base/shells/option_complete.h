/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BASE_SHELLS_OPTION_COMPLETE_H
#define HB_BASE_SHELLS_OPTION_COMPLETE_H

#include "base/option_help.h"

/* A script that makes the shell complete the program's words. */
int option_completion(const struct program *p, enum option_shell shell,
		      struct buf *out);

#endif
