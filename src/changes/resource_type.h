/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CHANGES_RESOURCE_TYPE_H
#define HB_CHANGES_RESOURCE_TYPE_H

/*
 * The types of resources, one row each: enum, and the name in a session's
 * record.  The first is the type of a record that names none.
 */
#define RESOURCE_TYPES(ROW) ROW(RESOURCE_FS_DIRECTORY, "fs-directory")

#define RESOURCE_TYPE_ENUM(type, name) type,
enum resource_type {
	RESOURCE_TYPES(RESOURCE_TYPE_ENUM) RESOURCE_N_TYPES
};

/* The name of a type; "unknown" for any other number. */
const char *resource_type_name(enum resource_type type);

/* The type of that name; RESOURCE_N_TYPES: there is none. */
enum resource_type resource_type_find(const char *name);

#endif
