/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SYS_KERNEL_H
#define HB_SYS_KERNEL_H

#include <stdint.h>
#include <sys/syscall.h>

/*
 * The kernel's interface in our own words: distributions ship headers that are
 * older than the kernels they run, and musl ships none.  Numbers from 424 up
 * are the same on every architecture we build for.
 */

#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_listxattrat
#define SYS_listxattrat 465
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule	    445
#define SYS_landlock_restrict_self  446
#endif

/* openat2 */
struct k_open_how {
	uint64_t flags;
	uint64_t mode;
	uint64_t resolve;
};
#define K_RESOLVE_NO_XDEV	0x01
#define K_RESOLVE_NO_MAGICLINKS 0x02
#define K_RESOLVE_NO_SYMLINKS	0x04
#define K_RESOLVE_BENEATH	0x08
#define K_RESOLVE_IN_ROOT	0x10

/* FS_IOC_FSGETXATTR */
#define K_FSGETXATTR 0x801c581fUL

struct k_fsxattr {
	uint32_t flags, extent_size, n_extents, project, cow_size;
	unsigned char unused[8];
};

/* getdents64 */
struct k_dirent {
	uint64_t ino;
	int64_t off;
	uint16_t reclen;
	uint8_t type;
	char name[];
};

/* statx: the fields that libc's struct may not have yet */
struct k_statx {
	uint32_t mask, blksize;
	uint64_t attributes;
	uint32_t nlink, uid, gid;
	uint16_t mode, spare0;
	uint64_t ino, size, blocks, attributes_mask;
	uint64_t times[8];
	uint32_t rdev_major, rdev_minor, dev_major, dev_minor;
	uint64_t mnt_id;
	uint64_t spare[13];
};
_Static_assert(sizeof(struct k_statx) == 256, "the kernel's size");
#define K_STATX_INO		0x00000100U
#define K_STATX_MNT_ID		0x00001000U
#define K_STATX_ATTR_IMMUTABLE	0x10U
#define K_STATX_ATTR_APPEND	0x20U
#define K_STATX_ATTR_ENCRYPTED	0x800U
#define K_STATX_ATTR_MOUNT_ROOT 0x2000U

/* the descriptor-based mount API */
#define K_AT_RECURSIVE	    0x8000
#define K_OPEN_TREE_CLONE   1
#define K_OPEN_TREE_CLOEXEC 02000000
#define K_MOVE_F_EMPTY_PATH 0x04
#define K_MOVE_T_EMPTY_PATH 0x40
#define K_FSOPEN_CLOEXEC    1
#define K_FSMOUNT_CLOEXEC   1
#define K_MOUNT_RDONLY	    0x01
#define K_MOUNT_NOSUID	    0x02
#define K_MOUNT_NODEV	    0x04
#define K_MOUNT_NOEXEC	    0x08
#define K_MOUNT_NOSYMFOLLOW 0x200000
enum k_fsconfig {
	K_FSCONFIG_SET_FLAG = 0,
	K_FSCONFIG_SET_STRING = 1,
	K_FSCONFIG_SET_FD = 5,
	K_FSCONFIG_CREATE = 6,
};
struct k_mount_attr {
	uint64_t set;
	uint64_t clear;
	uint64_t propagation;
	uint64_t userns_fd;
};
#define K_MS_UNBINDABLE (1 << 17)
#define K_MS_PRIVATE	(1 << 18)

/* landlock */
struct k_landlock_ruleset {
	uint64_t fs;
	uint64_t net;
	uint64_t scoped;
};
struct k_landlock_path {
	uint64_t access;
	int32_t parent_fd;
} __attribute__((packed));
#define K_LANDLOCK_VERSION	  1
#define K_LANDLOCK_RULE_PATH	  1
#define K_LANDLOCK_EXECUTE	  (1ULL << 0)
#define K_LANDLOCK_WRITE_FILE	  (1ULL << 1)
#define K_LANDLOCK_READ_FILE	  (1ULL << 2)
#define K_LANDLOCK_READ_DIR	  (1ULL << 3)
#define K_LANDLOCK_REMOVE_DIR	  (1ULL << 4)
#define K_LANDLOCK_REMOVE_FILE	  (1ULL << 5)
#define K_LANDLOCK_MAKE_CHAR	  (1ULL << 6)
#define K_LANDLOCK_MAKE_DIR	  (1ULL << 7)
#define K_LANDLOCK_MAKE_REG	  (1ULL << 8)
#define K_LANDLOCK_MAKE_SOCK	  (1ULL << 9)
#define K_LANDLOCK_MAKE_FIFO	  (1ULL << 10)
#define K_LANDLOCK_MAKE_BLOCK	  (1ULL << 11)
#define K_LANDLOCK_MAKE_SYM	  (1ULL << 12)
#define K_LANDLOCK_REFER	  (1ULL << 13) /* ABI 2 */
#define K_LANDLOCK_TRUNCATE	  (1ULL << 14) /* ABI 3 */
#define K_LANDLOCK_IOCTL_DEV	  (1ULL << 15) /* ABI 5 */
#define K_LANDLOCK_SCOPE_ABSTRACT (1ULL << 0)  /* ABI 6 */
#define K_LANDLOCK_SCOPE_SIGNAL	  (1ULL << 1)  /* ABI 6 */

/* seccomp */
struct k_sock_filter {
	uint16_t code;
	uint8_t jt;
	uint8_t jf;
	uint32_t k;
};
struct k_sock_fprog {
	unsigned short len;
	const struct k_sock_filter *filter;
};
struct k_seccomp_data {
	int32_t nr;
	uint32_t arch;
	uint64_t instruction_pointer;
	uint64_t args[6];
};
struct k_seccomp_notif {
	uint64_t id;
	uint32_t pid;
	uint32_t flags;
	struct k_seccomp_data data;
};
struct k_seccomp_notif_resp {
	uint64_t id;
	int64_t val;
	int32_t error;
	uint32_t flags;
};
#define K_SECCOMP_SET_MODE_FILTER	  1
#define K_SECCOMP_GET_ACTION_AVAIL	  2
#define K_SECCOMP_FLAG_NEW_LISTENER	  (1UL << 3)
#define K_SECCOMP_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#define K_SECCOMP_RET_USER_NOTIF	  0x7fc00000U
#define K_SECCOMP_RET_ALLOW		  0x7fff0000U
#define K_SECCOMP_USER_NOTIF_CONTINUE	  1U
#define K_SECCOMP_NOTIF_SYNC_WAKE_UP	  1UL
/* _IOWR('!', 0..4, ...): the sizes are part of the numbers */
#define K_SECCOMP_NOTIF_RECV	  0xc0502100UL
#define K_SECCOMP_NOTIF_SEND	  0xc0182101UL
#define K_SECCOMP_NOTIF_ID_VALID  0x40082102UL
#define K_SECCOMP_NOTIF_SET_FLAGS 0x40082104UL

/* capabilities */
struct k_cap_header {
	uint32_t version;
	int32_t pid;
};
struct k_cap_data {
	uint32_t effective;
	uint32_t permitted;
	uint32_t inheritable;
};
#define K_CAP_VERSION_3	       0x20080522
#define K_PR_CAP_AMBIENT       47
#define K_PR_CAP_AMBIENT_RAISE 2
#define K_PR_CAP_AMBIENT_CLEAR 4
#define K_CAP_SETGID	       6
#define K_CAP_SETUID	       7
#define K_CAP_SYS_PTRACE       19
#define K_CAP_SYS_ADMIN	       21
#define K_CAP_SETFCAP	       31

#endif
