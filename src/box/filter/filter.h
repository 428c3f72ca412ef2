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
 * Calls that a program can ask a listener about.  `filter_notified[variant]`
 * has one place for each, behind the last one of class FILTER_CLASSES.  A
 * program without a listener is the table's; one with a listener has the places
 * of the wanted classes changed:
 *
 *	FILTER_REFUSED	code[at].k is the verdict that refuses the call, and
 *			becomes SECCOMP_RET_USER_NOTIF
 *	the others	code[at].k compares with no call, and becomes `nr`
 */
enum filter_class {
	FILTER_REFUSED, /* a user namespace */
	FILTER_RENAMES, /* rename, and landlock_restrict_self */
	FILTER_CALLS,	/* calls that change files, for the log */
	FILTER_LOOKS,	/* opens, of paths that the view may not have */
	FILTER_CLASSES
};

/*
 * The last two are in no program of `filter_table`, because most boxes have no
 * use for them.  They are in `filter_watch`, a program that refuses nothing,
 * beside the other classes: a chain of filters has one listener.  Its places
 * are `filter_watched`, all of which compare with no call but those of
 * FILTER_REFUSED: their verdict is SECCOMP_RET_ALLOW.  It is loaded with the
 * table's program, in which FILTER_REFUSED allows.  What that refuses is
 * refused: it outranks a notification.
 */

struct filter_place {
	unsigned short at;
	unsigned char class; /* enum filter_class */
	int nr;
};
#define FILTER_NOTIFIED_MAX 8
#define FILTER_WATCHED_MAX  64

#endif
