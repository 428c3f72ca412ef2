/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_FILTER_FILTER_H
#define HB_BOX_FILTER_FILTER_H

/*
 * The variants of the default filter, as bits of an index into the generated
 * tables: `filter_table[FILTER_NESTED]` is a struct k_sock_fprog, ready for
 * seccomp(2).  default.policy says what each bit changes.
 */
enum filter_variant {
	FILTER_DEFAULT = 0,
	FILTER_NO_PTRACE = 1,  /* ptrace is refused as well */
	FILTER_NESTED = 2,     /* namespaces and mounts inside are allowed */
	FILTER_BARE = 4,       /* no namespace holds the command */
	FILTER_NO_SOCKETS = 8, /* nor does it get a network */
	FILTER_NO_SETID = 16,  /* no file becomes setuid or setgid */
	FILTER_VARIANTS = 32,
};

/*
 * `filter_notified[variant]` has the places of the instructions that refuse a
 * call of a `notify` line, and 0 behind the last.  A program that has
 * SECCOMP_RET_USER_NOTIF in their stead asks a listener; else it is the same.
 */
#define FILTER_NOTIFIED_MAX 2

#endif
