/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TREE_ENTRY_H
#define HB_TREE_ENTRY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct hb_error;
struct sys_attr;

/*
 * The types of objects, one row each.
 *
 *	id		ENTRY_ID
 *	name		in rules of the gate
 *	format		in st_mode; 0: every other
 *	openness	OPEN: it can be opened, and users set attributes on it;
 *			SHUT: neither; SPECIAL: likewise, and it has no content
 */
/* clang-format off */
#define ENTRY_ROWS(ROW) \
	ROW(FILE, "file", S_IFREG, OPEN) \
	ROW(DIR, "dir", S_IFDIR, OPEN) \
	ROW(LINK, "link", S_IFLNK, SHUT) /* symbolic */ \
	ROW(FIFO, "fifo", S_IFIFO, SPECIAL) \
	ROW(SOCKET, "socket", S_IFSOCK, SPECIAL) \
	ROW(DEVICE, "device", 0, SPECIAL) \
	/* Their numbers are in journals: a new row comes last. */

#define ENTRY_ID(id, ...) ENTRY_##id,
enum entry_type {
	ENTRY_NONE = 0, /* nothing there, or a whiteout in the layer */
	ENTRY_ROWS(ENTRY_ID)
	ENTRY_TYPES /* one past the last */
};
#undef ENTRY_ID
/* clang-format on */

/*
 * One object in a layer or a base, without having opened it: type, identity,
 * attributes, and the meaning of the overlay's marks on it.
 */
struct entry {
	enum entry_type type;
	mode_t mode; /* 07777 */
	uid_t uid;
	gid_t gid;
	uint64_t dev, ino, size, nlink;
	uint64_t stored; /* bytes on the disk: less than `size` with holes */
	struct timespec mtime, ctime, btime; /* btime zero: not told */
	bool is_fixed; /* immutable or append-only: it cannot be removed */
	/* of a layer only */
	bool is_whiteout; /* either form; type is ENTRY_NONE then */
	bool is_opaque;	  /* the directory hides everything below it */
	bool has_origin;  /* it was copied up from what lies below */
	bool is_stand_in; /* as standin.h says */
	bool has_xattrs;  /* some that are not the overlay's */
	uint64_t taken;	  /* OVERLAY_TAKEN at this entry_place(); 0: never */
};

/*
 * The number of a path, never 0.  A mark travels with its directory, and counts
 * only where it was set.
 */
uint64_t entry_place(const char *path);

/* By the attributes alone; no mark is decoded. */
struct entry entry_of_attr(const struct sys_attr *a);

/*
 * Looks at `name` in `dirfd` without following it.  In a layer the overlay's
 * own attributes are decoded.  A forged or unknown attribute (redirect,
 * metacopy, an opaque other than "y") is -HB_E_CORRUPT with the name.  Nothing
 * there is ENTRY_NONE and success.
 */
int entry_read_base(int dirfd, const char *name, struct entry *ret_entry,
		    struct hb_error *err);
int entry_read_layer(int dirfd, const char *name, struct entry *ret_entry,
		     struct hb_error *err);

/*
 * The same in a layer where `known`, which may be NULL, was read before.  If it
 * is a file and unchanged, so are its marks.
 */
int entry_read_known(int dirfd, const char *name, const struct entry *known,
		     struct entry *ret_entry, struct hb_error *err);

/* The same for an open descriptor, O_PATH ones too. */
int entry_read_fd(int fd, bool is_layer, struct entry *ret_entry,
		  struct hb_error *err);

/*
 * The same object, and nothing has been done to it in between as far as the
 * kernel tells; the marks are not compared.
 */
bool entry_is_untouched(const struct entry *a, const struct entry *b);

/* Neither file, directory nor symbolic link: nothing that may be opened. */
bool entry_is_special(const struct entry *e);

/* Whether it can be opened: a file or a directory. */
bool entry_opens(enum entry_type type);

#endif
