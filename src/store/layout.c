/* SPDX-License-Identifier: Apache-2.0 */
#include "store/layout.h"

#include "base/error.h"
#include "sys/place.h"

#include <stdio.h>

void layout_resource_dir(size_t number, char ret[LAYOUT_RESOURCE_SIZE])
{
	(void)snprintf(ret, LAYOUT_RESOURCE_SIZE, "r%u", (unsigned)number);
}

int layout_new_id(char ret[RECORD_ID_SIZE], struct hb_error *err)
{
	unsigned char bytes[(RECORD_ID_SIZE - 1) / 2];
	int r;

	r = sys_random(bytes, sizeof(bytes));
	if (r < 0)
		return hb_fail(err, r, "cannot make an id");
	for (size_t i = 0; i < sizeof(bytes); i++)
		(void)snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}
