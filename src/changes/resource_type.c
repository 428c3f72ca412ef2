/* SPDX-License-Identifier: Apache-2.0 */
#include "changes/resource_type.h"

#include <string.h>

#define RESOURCE_TYPE_NAME(type, name) [type] = (name),
static const char *const names[] = { RESOURCE_TYPES(RESOURCE_TYPE_NAME) };

const char *resource_type_name(enum resource_type type)
{
	return type < RESOURCE_N_TYPES ? names[type] : "unknown";
}

enum resource_type resource_type_find(const char *name)
{
	enum resource_type type = 0;

	while (type < RESOURCE_N_TYPES && strcmp(names[type], name) != 0)
		type++;
	return type;
}
