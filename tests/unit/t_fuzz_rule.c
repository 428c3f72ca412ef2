/* SPDX-License-Identifier: Apache-2.0 */
/* modes: user */
#include "replay.h"

static void what_always_holds_does_so_for_changed_rules(void)
{
	replay(CORPUS "/rule", 20000);
}

TESTS(T(what_always_holds_does_so_for_changed_rules))
