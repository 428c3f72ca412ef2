/* SPDX-License-Identifier: Apache-2.0 */
#include "store/layout.h"

#include <stdio.h>

void layout_resource_dir(size_t number, char ret[LAYOUT_RESOURCE_SIZE])
{
	(void)snprintf(ret, LAYOUT_RESOURCE_SIZE, "r%u", (unsigned)number);
}
