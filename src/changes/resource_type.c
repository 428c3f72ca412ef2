/* SPDX-License-Identifier: Apache-2.0 */
#include "changes/resource_type.h"

#include <string.h>

#define RESOURCE_TYPE_NAME(type, name, option) [type] = (name),
static const char *const names[] = { RESOURCE_TYPES(RESOURCE_TYPE_NAME) };

#define RESOURCE_TYPE_OPTION(type, name, option) [type] = (option),
static const char *const options[] = { RESOURCE_TYPES(RESOURCE_TYPE_OPTION) };

const char *resource_type_name(enum resource_type type)
{
	return type < RESOURCE_N_TYPES ? names[type] : "unknown";
}

const char *resource_type_option(enum resource_type type)
{
	return type < RESOURCE_N_TYPES ? options[type] : "";
}

enum resource_type resource_type_find(const char *name)
{
	enum resource_type type = 0;

	while (type < RESOURCE_N_TYPES && strcmp(names[type], name) != 0)
		type++;
	return type;
}
