/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CHANGES_RESOURCE_TYPE_H
#define HB_CHANGES_RESOURCE_TYPE_H

/*
 * The types of resources, one row each.  A type is found, not typed: by what
 * the word of the option names.  The first is the type of a record that names
 * none.
 *
 *	enum
 *	name	in records, in JSON and for people
 *	option	of run and create that names such a resource
 */
#define RESOURCE_TYPES(ROW)                                     \
	ROW(RESOURCE_FS_DIRECTORY, "fs-directory", "--cow DIR") \
	ROW(RESOURCE_FS_MOUNT, "fs-mount", "--cow DIR")         \
	ROW(RESOURCE_FS_FILE, "fs-file", "--cow FILE")          \
	ROW(RESOURCE_GIT_CHECKOUT, "git-checkout", "--cow DIR") \
	ROW(RESOURCE_SQLITE, "sqlite", "--db FILE")             \
	ROW(RESOURCE_POSTGRES, "postgres", "--db postgres:///NAME")

#define RESOURCE_TYPE_ENUM(type, name, option) type,
enum resource_type {
	RESOURCE_TYPES(RESOURCE_TYPE_ENUM) RESOURCE_N_TYPES
};

/* The name of a type; "unknown" for any other number. */
const char *resource_type_name(enum resource_type type);

/* The option that names a resource of the type. */
const char *resource_type_option(enum resource_type type);

/* The type of that name; RESOURCE_N_TYPES: there is none. */
enum resource_type resource_type_find(const char *name);

#endif
