/* SPDX-License-Identifier: Apache-2.0 */
/* soak-modes: root userns */
#define FILTER_EVERY_ARCH
#include "filter_table.h"

#include "bpf.h"
#include "tap.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/*
 * What the filter says, asked of the generated programs themselves:
 *
 *  (a) every number, on both architectures, in every variant, gives what the
 *      policy file says, read here by a second reader that shares nothing with
 *      the generator's;
 *  (b) the policy file says what it must: `wanted` repeats each of its rules
 *      with numbers and arguments written by hand, and the two lists are
 * equally long, so that no rule can get lost, weakened or added unseen; (c)
 * what ordinary programs cannot do without is allowed.
 *
 * Lines that begin with `notify` or `hear` change none of this: t_notified.c.
 */

#define ALLOW	 0x7fff0000U
#define ERRNO(e) (0x00050000U | (uint32_t)(e))
#define X32	 0x40000000
#define N_OF(a)	 (sizeof(a) / sizeof((a)[0]))
#define LAST	 469

#define EVER	  0xffffffffU /* all variants */
#define FLAT	  0x33333333U /* those without nested */
#define ON_DEMAND 0xaaaaaaaaU /* those with no-ptrace */
#define BARE	  0xf0f0f0f0U /* those with bare */
#define ROOMY	  0x0f0f0f0fU /* those without bare */
#define CLOSED	  0xff00ff00U /* those with no-sockets */
#define SOCKETS	  0x00ff00ffU /* those without no-sockets */
#define REAL	  0xffff0000U /* those with no-setid */
#define NONE	  (-1)	      /* no such call on that architecture */
#define HIGH	  (1ULL << 32)

enum {
	X86,
	ARM,
	ARCHES,
};

static const uint32_t arch_value[ARCHES] = { 0xc000003e, 0xc00000b7 };
static const struct k_sock_fprog *const tables[ARCHES] = {
	filter_table_x86_64,
	filter_table_aarch64,
};

struct args {
	uint64_t a[5];
};

/* One rule: arguments it refuses, and the nearest ones it must let through. */
struct wanted {
	const char *call;
	int nr[ARCHES];
	int error;
	unsigned int variants;
	bool conditional;
	struct args hit;
	struct args miss;
};

/* clang-format off */
#define ALWAYS(call, x86, arm, error, variants) \
	{ #call, { x86, arm }, error, variants, false, { { 0 } }, { { 0 } } }
#define IF(call, x86, arm, error, variants, h0, h1, h2, m0, m1, m2) \
	{ #call, { x86, arm }, error, variants, true,               \
	  { { h0, h1, h2 } }, { { m0, m1, m2 } } }

/* The third and the fourth argument. */
#define WITH4(call, x86, arm, error, variants, h2, h3, m2, m3) \
	{ #call, { x86, arm }, error, variants, true,           \
	  { { 0, 0, h2, h3 } }, { { 0, 0, m2, m3 } } }

#define WITH5(call, x86, arm, error, variants, h4, m4) \
	{ #call, { x86, arm }, error, variants, true,   \
	  { { 0, 0, 0, 0, h4 } }, { { 0, 0, 0, 0, m4 } } }

static const struct wanted wanted[] = {
	IF(ioctl, 16, 29, EPERM, EVER, 0, HIGH | 0x5412, 0, 0, 0x5413, 0),
	IF(ioctl, 16, 29, EPERM, EVER, 0, HIGH | 0x541c, 0, 0, 0x541b, 0),
	IF(ioctl, 16, 29, EPERM, EVER, 0, HIGH | 0x5423, 0, 0, 0x5424, 0),
	IF(ioctl, 16, 29, EPERM, EVER, 0, HIGH | 0x540c, 0, 0, 0x540d, 0),

	ALWAYS(process_vm_readv, 310, 270, EPERM, EVER),
	ALWAYS(process_vm_writev, 311, 271, EPERM, EVER),
	ALWAYS(pidfd_getfd, 438, 438, EPERM, EVER),
	ALWAYS(kcmp, 312, 272, EPERM, EVER),
	ALWAYS(ptrace, 101, 117, EPERM, ON_DEMAND),

	ALWAYS(io_uring_setup, 425, 425, EPERM, EVER),
	ALWAYS(io_uring_enter, 426, 426, EPERM, EVER),
	ALWAYS(io_uring_register, 427, 427, EPERM, EVER),

	ALWAYS(mount, 165, 40, EPERM, FLAT),
	ALWAYS(umount2, 166, 39, EPERM, FLAT),
	ALWAYS(pivot_root, 155, 41, EPERM, FLAT),
	ALWAYS(chroot, 161, 51, EPERM, FLAT),
	ALWAYS(open_tree, 428, 428, EPERM, FLAT),
	ALWAYS(open_tree_attr, 467, 467, EPERM, FLAT),
	ALWAYS(move_mount, 429, 429, EPERM, FLAT),
	ALWAYS(fsopen, 430, 430, EPERM, FLAT),
	ALWAYS(fsconfig, 431, 431, EPERM, FLAT),
	ALWAYS(fsmount, 432, 432, EPERM, FLAT),
	ALWAYS(fspick, 433, 433, EPERM, FLAT),
	ALWAYS(mount_setattr, 442, 442, EPERM, FLAT),
	ALWAYS(setns, 308, 268, EPERM, FLAT),
	ALWAYS(unshare, 272, 97, EPERM, FLAT),
	/* thread flags, and SIGCHLD, with and without the one that matters */
	IF(clone, 56, 220, EPERM, FLAT, 0x00020011, 0, 0, 0x003d0f00, 0, 0),
	IF(clone, 56, 220, EPERM, FLAT, 0x02000011, 0, 0, 0x01200011, 0, 0),
	IF(clone, 56, 220, EPERM, FLAT, 0x04000011, 0, 0, 0x00000011, 0, 0),
	IF(clone, 56, 220, EPERM, FLAT, 0x08000011, 0, 0, 0x00004111, 0, 0),
	IF(clone, 56, 220, EPERM, FLAT, 0x10000011, 0, 0, 0x00001000, 0, 0),
	IF(clone, 56, 220, EPERM, FLAT, 0x20000011, 0, 0, 0x80000011, 0, 0),
	IF(clone, 56, 220, EPERM, FLAT, 0x40000011, 0, 0, 0x00000000, 0, 0),
	ALWAYS(clone3, 435, 435, ENOSYS, FLAT),
	ALWAYS(sethostname, 170, 161, EPERM, FLAT),
	ALWAYS(setdomainname, 171, 162, EPERM, FLAT),
	ALWAYS(statmount, 457, 457, ENOSYS, EVER),
	ALWAYS(listmount, 458, 458, ENOSYS, EVER),

	ALWAYS(keyctl, 250, 219, EPERM, EVER),
	ALWAYS(add_key, 248, 217, EPERM, EVER),
	ALWAYS(request_key, 249, 218, EPERM, EVER),

	IF(setrlimit, 160, 164, 0, EVER, HIGH | 4, 5, 0, 7, 4, 4),
	IF(prlimit64, 302, 261, 0, ROOMY, 4711, HIGH | 4, 8, 4, 4, 0),
	IF(prlimit64, 302, 261, 0, BARE, 0, HIGH | 4, 8, 0, 7, 8),

	ALWAYS(bpf, 321, 280, EPERM, EVER),
	ALWAYS(perf_event_open, 298, 241, EPERM, EVER),
	ALWAYS(userfaultfd, 323, 282, EPERM, EVER),
	ALWAYS(kexec_load, 246, 104, EPERM, EVER),
	ALWAYS(kexec_file_load, 320, 294, EPERM, EVER),
	ALWAYS(init_module, 175, 105, EPERM, EVER),
	ALWAYS(finit_module, 313, 273, EPERM, EVER),
	ALWAYS(delete_module, 176, 106, EPERM, EVER),
	ALWAYS(reboot, 169, 142, EPERM, EVER),
	ALWAYS(swapon, 167, 224, EPERM, EVER),
	ALWAYS(swapoff, 168, 225, EPERM, EVER),
	ALWAYS(acct, 163, 89, EPERM, EVER),
	ALWAYS(quotactl, 179, 60, EPERM, EVER),
	ALWAYS(quotactl_fd, 443, 443, EPERM, EVER),
	ALWAYS(syslog, 103, 116, EPERM, EVER),
	ALWAYS(open_by_handle_at, 304, 265, EPERM, EVER),
	ALWAYS(name_to_handle_at, 303, 264, EPERM, EVER),
	ALWAYS(fanotify_init, 300, 262, EPERM, EVER),
	ALWAYS(lookup_dcookie, 212, 18, EPERM, EVER),
	ALWAYS(nfsservctl, 180, 42, EPERM, EVER),
	ALWAYS(vhangup, 153, 58, EPERM, EVER),
	ALWAYS(ioperm, 173, NONE, EPERM, EVER),
	ALWAYS(iopl, 172, NONE, EPERM, EVER),
	ALWAYS(modify_ldt, 154, NONE, EPERM, EVER),
	ALWAYS(settimeofday, 164, 170, EPERM, EVER),
	ALWAYS(clock_settime, 227, 112, EPERM, EVER),
	ALWAYS(uselib, 134, NONE, ENOSYS, EVER),
	ALWAYS(sysfs, 139, NONE, ENOSYS, EVER),
	ALWAYS(ustat, 136, NONE, ENOSYS, EVER),
	IF(personality, 135, 92, EPERM, EVER, 0x40000, 0, 0, 0xffffffff, 0, 0),
	ALWAYS(get_mempolicy, 239, 236, EPERM, EVER),
	ALWAYS(set_mempolicy, 238, 237, EPERM, EVER),
	ALWAYS(set_mempolicy_home_node, 450, 450, EPERM, EVER),
	ALWAYS(mbind, 237, 235, EPERM, EVER),
	ALWAYS(migrate_pages, 256, 238, EPERM, EVER),
	ALWAYS(move_pages, 279, 239, EPERM, EVER),
	ALWAYS(setxattrat, 463, 463, ENOSYS, EVER),
	ALWAYS(removexattrat, 466, 466, ENOSYS, EVER),
	ALWAYS(file_setattr, 469, 469, ENOSYS, EVER),

	IF(socket, 41, 198, EAFNOSUPPORT, EVER, 40, 1, 0, 1, 1, 0),
	IF(socket, 41, 198, EPROTONOSUPPORT, EVER, 16, 3, 9, 16, 3, 0),
	IF(socket, 41, 198, EPROTONOSUPPORT, EVER, 2, 0x8000a, 3, 2, 0x80001, 6),
	IF(socket, 41, 198, EPROTONOSUPPORT, SOCKETS, 2, 0x80001, 262, 2, 2, 17),
	IF(socket, 41, 198, EPROTONOSUPPORT, SOCKETS, 10, 2, 115, 10, 2, 58),
	IF(socket, 41, 198, EPROTONOSUPPORT, SOCKETS, 2, 0x805, 0, 2, 0x802, 1),
	IF(socket, 41, 198, EPROTONOSUPPORT, SOCKETS, 10, 0x805, 0, 10, 3, 0),
	IF(socket, 41, 198, EPROTONOSUPPORT, SOCKETS, 2, 0x80006, 0, 2, 1, 0),
	IF(socket, 41, 198, EPROTONOSUPPORT, SOCKETS, 10, 6, 0, 10, 1, 6),
	IF(socketpair, 53, 199, EAFNOSUPPORT, EVER, 30, 1, 0, 1, 0x80001, 0),

	ALWAYS(shmget, 29, 194, EPERM, BARE),
	ALWAYS(shmat, 30, 196, EPERM, BARE),
	ALWAYS(msgget, 68, 186, EPERM, BARE),
	ALWAYS(semget, 64, 190, EPERM, BARE),
	ALWAYS(mq_open, 240, 180, EPERM, BARE),
	ALWAYS(mq_unlink, 241, 181, EPERM, BARE),
	ALWAYS(setxattr, 188, 5, EPERM, BARE),
	ALWAYS(lsetxattr, 189, 6, EPERM, BARE),
	ALWAYS(fsetxattr, 190, 7, EPERM, BARE),
	ALWAYS(removexattr, 197, 14, EPERM, BARE),
	ALWAYS(lremovexattr, 198, 15, EPERM, BARE),
	ALWAYS(fremovexattr, 199, 16, EPERM, BARE),
	IF(prlimit64, 302, 261, EPERM, BARE, 4711, 7, 8, 4711, 7, 0),
	IF(sched_setscheduler, 144, 119, EPERM, BARE, 4711, 0, 0, 0, 1, 1),
	IF(sched_setparam, 142, 118, EPERM, BARE, 4711, 0, 0, 0, 1, 0),
	IF(sched_setattr, 314, 274, EPERM, BARE, 4711, 0, 0, 0, 1, 0),
	IF(sched_setaffinity, 203, 122, EPERM, BARE, 4711, 0, 0, 0, 8, 8),
	IF(setpriority, 141, 140, EPERM, BARE, 2, 0, 19, 0, 0, 19),
	IF(setpriority, 141, 140, EPERM, BARE, 0, 4711, 19, 0, 0, 1),
	IF(ioprio_set, 251, 30, EPERM, BARE, 3, 0, 0, 1, 0, 0),
	IF(ioprio_set, 251, 30, EPERM, BARE, 1, 4711, 0, 1, 0, 7),
	IF(socket, 41, 198, EACCES, CLOSED, 1, 1, 0, 16, 3, 0),
	IF(socket, 41, 198, EACCES, CLOSED, 10, 1, 0, 16, 3, 0),
	IF(socket, 41, 198, EACCES, CLOSED, 2, 0x80001, 0, 16, 3, 0),
	IF(socket, 41, 198, EACCES, CLOSED, 2, 0x80002, 0, 16, 3, 0),
	IF(socket, 41, 198, EACCES, CLOSED, 2, 0x80003, 0, 16, 3, 0),
	IF(socket, 41, 198, EACCES, CLOSED, 2, 0x80005, 0, 16, 3, 0),
	IF(socket, 41, 198, EACCES, CLOSED, 2, 0x80006, 0, 16, 3, 0),

	IF(chmod, 90, NONE, EPERM, REAL, 0, HIGH | 04755, 0, 0, 0755, 0),
	IF(chmod, 90, NONE, EPERM, REAL, 0, HIGH | 02755, 0, 0, 01777, 0),
	IF(fchmod, 91, 52, EPERM, REAL, 0, HIGH | 04755, 0, 0, 0755, 0),
	IF(fchmod, 91, 52, EPERM, REAL, 0, HIGH | 02755, 0, 0, 01777, 0),
	IF(fchmodat, 268, 53, EPERM, REAL, 0, 0, HIGH | 04755, 0, 0, 0755),
	IF(fchmodat, 268, 53, EPERM, REAL, 0, 0, HIGH | 02755, 0, 0, 01777),
	IF(creat, 85, NONE, EPERM, REAL, 0, 04755, 0, 0, 0755, 0),
	IF(creat, 85, NONE, EPERM, REAL, 0, 02755, 0, 0, 0755, 0),
	IF(mknod, 133, NONE, EPERM, REAL, 0, 0104755, 0, 0, 0100755, 0),
	IF(mknod, 133, NONE, EPERM, REAL, 0, 0102755, 0, 0, 0100755, 0),
	IF(mknodat, 259, 33, EPERM, REAL, 0, 0, 0104755, 0, 0, 0100755),
	IF(mknodat, 259, 33, EPERM, REAL, 0, 0, 0102755, 0, 0, 0100755),
	/* without O_CREAT or O_TMPFILE the mode is whatever was left there */
	IF(open, 2, NONE, EPERM, REAL, 0, 0101, 04755, 0, 01, 06755),
	IF(open, 2, NONE, EPERM, REAL, 0, 0101, 02755, 0, 0101, 0755),
	IF(open, 2, NONE, EPERM, REAL, 0, 020200001, 04755, 0, 0200000, 06755),
	IF(open, 2, NONE, EPERM, REAL, 0, 020200001, 02755, 0, 020200001, 0755),
	WITH4(openat, 257, 56, EPERM, REAL, 0101, 04755, 01, 06755),
	WITH4(openat, 257, 56, EPERM, REAL, 0101, 02755, 0101, 0755),
	WITH4(openat, 257, 56, EPERM, REAL, 020200001, 04755, 0200000, 06755),
	WITH4(openat, 257, 56, EPERM, REAL, 020200001, 02755, 020200001, 0755),
	ALWAYS(fchmodat2, 452, 452, ENOSYS, REAL),
	IF(mknod, 133, NONE, EPERM, REAL & FLAT, 0, HIGH | 020644, 0, 0, 010644, 0),
	WITH4(mknodat, 259, 33, EPERM, REAL & FLAT, HIGH | 020644, 0, 0140644, 0),
	WITH5(renameat2, 316, 276, EPERM, REAL & FLAT, HIGH | 4, 3),
	ALWAYS(openat2, 437, 437, ENOSYS, REAL & FLAT),
};

/* Calls without which no shell, compiler, runtime or debugger gets anywhere. */
static const struct {
	const char *call;
	int nr[ARCHES];
} needed[] = {
	{ "read", { 0, 63 } },		 { "write", { 1, 64 } },
	{ "openat", { 257, 56 } },	 { "lseek", { 8, 62 } },
	{ "close", { 3, 57 } },		 { "close_range", { 436, 436 } },
	{ "mmap", { 9, 222 } },		 { "mprotect", { 10, 226 } },
	{ "execve", { 59, 221 } },	 { "execveat", { 322, 281 } },
	{ "fork", { 57, NONE } },	 { "vfork", { 58, NONE } },
	{ "exit_group", { 231, 94 } },	 { "wait4", { 61, 260 } },
	{ "kill", { 62, 129 } },	 { "tgkill", { 234, 131 } },
	{ "rt_sigaction", { 13, 134 } }, { "rt_sigreturn", { 15, 139 } },
	{ "futex", { 202, 98 } },	 { "set_robust_list", { 273, 99 } },
	{ "rseq", { 334, 293 } },	 { "membarrier", { 324, 283 } },
	{ "prctl", { 157, 167 } },	 { "seccomp", { 317, 277 } },
	{ "prlimit64", { 302, 261 } },	 { "getrandom", { 318, 278 } },
	{ "memfd_create", { 319, 279 } }, { "mseal", { 462, 462 } },
	{ "statx", { 332, 291 } },	 { "renameat2", { 316, 276 } },
	{ "utimensat", { 280, 88 } },	 { "faccessat2", { 439, 439 } },
	{ "setxattr", { 188, 5 } },	 { "copy_file_range", { 326, 285 } },
	{ "inotify_init1", { 294, 26 } }, { "epoll_pwait2", { 441, 441 } },
	{ "pidfd_open", { 434, 434 } },	 { "pidfd_send_signal", { 424, 424 } },
	{ "connect", { 42, 203 } },	 { "sendmsg", { 46, 211 } },
	{ "landlock_create_ruleset", { 444, 444 } },
	{ "landlock_add_rule", { 445, 445 } },
	{ "landlock_restrict_self", { 446, 446 } },
	{ "setsid", { 112, 157 } },	 { "setpgid", { 109, 154 } },
	{ "shmget", { 29, 194 } },	 { "vmsplice", { 278, 75 } },
	{ "arch_prctl", { 158, NONE } }, { "clock_gettime", { 228, 113 } },
};
/* clang-format on */

static uint32_t ask(int arch, unsigned int variant, uint32_t nr, uint32_t audit,
		    const struct args *args)
{
	struct k_seccomp_data data = {
		.nr = (int32_t)nr,
		.arch = audit,
		.args = { args->a[0], args->a[1], args->a[2], args->a[3],
			  args->a[4], 5 },
	};

	return bpf_run(&tables[arch][variant], &data);
}

/* The policy file, read a second time and in another way: as words. */

#define MAX_ROWS   256
#define MAX_CONSTS 64

struct row {
	char call[48];
	char error[32];
	char when[256];
	char variants[32];
	char reason[256];
};

static struct row rows[MAX_ROWS];
static size_t n_rows;
static struct {
	char name[48];
	uint64_t value;
	bool is_watched; /* a `watch` line has it */
} consts[MAX_CONSTS];
static size_t n_consts;
static int last[ARCHES];

static void read_policy(void)
{
	char line[512];
	FILE *f = fopen(FILTER_POLICY, "re");

	CHECK(f != NULL);
	n_rows = n_consts = 0;
	while (fgets(line, sizeof(line), f)) {
		struct row *row = &rows[n_rows];
		char arch[16];
		int number;

		CHECK(n_rows < MAX_ROWS && n_consts < MAX_CONSTS);
		if (sscanf(line, "last %15s %d", arch, &number) == 2) {
			last[strcmp(arch, "x86_64") != 0] = number;
		} else if (sscanf(line, "let %47s %li", consts[n_consts].name,
				  (long *)&consts[n_consts].value) == 2) {
			n_consts++;
		} else if (strncmp(line, "watch ", 6) == 0) {
			for (size_t i = 0; i < n_consts; i++)
				consts[i].is_watched |=
					strstr(line, consts[i].name) != NULL;
		} else if (strncmp(line, "notify ", 7) != 0 &&
			   strncmp(line, "hear ", 5) != 0 && line[0] != '#' &&
			   line[0] != '\n') {
			CHECK_INT(sscanf(line, "%47s %31s %255s %31s %255[^\n]",
					 row->call, row->error, row->when,
					 row->variants, row->reason),
				  5);
			row->call[strcspn(row->call, "=")] = '\0';
			n_rows++;
		}
	}
	(void)fclose(f);
}

static int error_value(const char *name)
{
	static const struct {
		const char *name;
		int value;
	} names[] = {
		{ "OK", 0 },
		{ "EPERM", 1 },
		{ "EACCES", 13 },
		{ "ENOSYS", 38 },
		{ "EPROTONOSUPPORT", 93 },
		{ "EAFNOSUPPORT", 97 },
	};

	for (size_t i = 0; i < N_OF(names); i++)
		if (strcmp(names[i].name, name) == 0)
			return names[i].value;
	printf("# error '%s'\n", name);
	CHECK(!"known error");
	return 0;
}

static uint64_t value_of(const char *text, size_t n)
{
	for (size_t i = 0; i < n_consts; i++)
		if (strlen(consts[i].name) == n &&
		    memcmp(consts[i].name, text, n) == 0)
			return consts[i].value;
	CHECK(text[0] >= '0' && text[0] <= '9');
	return strtoull(text, NULL, 0);
}

/* One comparison, up to the comma or the end. */
static bool holds(const char *text, const struct args *args)
{
	uint64_t value = args->a[text[3] - '0'];
	size_t n;

	text += 4;
	if (*text == '&') {
		n = strcspn(++text, "=");
		value &= value_of(text, n);
		text += n;
	}
	if (*text == '=')
		return value == value_of(text + 2, strcspn(text + 2, ","));
	if (*text == '>')
		return value > value_of(text + 1, strcspn(text + 1, ","));
	CHECK(*text == '!');
	for (text += 2;; text += n + 1) {
		n = strcspn(text, "|,");
		if (value == value_of(text, n))
			return false;
		if (text[n] != '|')
			return true;
	}
}

static bool is_in_force(const struct row *row, unsigned int variant)
{
	const char *v = row->variants;

	if (strcmp(v, "*") == 0)
		return true;
	if (strcmp(v, "!nested") == 0)
		return !(variant & FILTER_NESTED);
	if (strcmp(v, "bare") == 0)
		return variant & FILTER_BARE;
	if (strcmp(v, "!bare") == 0)
		return !(variant & FILTER_BARE);
	if (strcmp(v, "!no-sockets") == 0)
		return !(variant & FILTER_NO_SOCKETS);
	if (strcmp(v, "no-sockets") == 0)
		return variant & FILTER_NO_SOCKETS;
	if (strcmp(v, "no-ptrace") == 0)
		return variant & FILTER_NO_PTRACE;
	if (strcmp(v, "no-setid,!nested") == 0 && variant & FILTER_NESTED)
		return false;
	CHECK(strncmp(v, "no-setid", 8) == 0);
	return variant & FILTER_NO_SETID;
}

static bool applies(const struct row *row, unsigned int variant,
		    const struct args *args)
{
	const char *text = row->when;

	if (!is_in_force(row, variant))
		return false;
	if (strcmp(text, "*") == 0)
		return true;
	while (text) {
		if (!holds(text, args))
			return false;
		text = strchr(text, ',');
		if (text)
			text++;
	}
	return true;
}

/* Numbers come from `wanted`: the policy file has names only. */
static bool is_call(const struct row *row, int arch, int nr)
{
	for (size_t i = 0; i < N_OF(wanted); i++)
		if (strcmp(wanted[i].call, row->call) == 0)
			return wanted[i].nr[arch] == nr;
	printf("# no number for '%s'\n", row->call);
	CHECK(!"known call");
	return false;
}

/* The verdict that the SUBSET of the policy's rows gives. */
static uint32_t verdict_of(const struct row *const *subset, size_t n,
			   unsigned int variant, const struct args *args)
{
	uint32_t verdict = ALLOW;

	for (size_t i = 0; i < n; i++) {
		if (!applies(subset[i], variant, args))
			continue;
		CHECK(verdict == ALLOW ||
		      verdict == ERRNO(error_value(subset[i]->error)));
		verdict = ERRNO(error_value(subset[i]->error));
	}
	return verdict;
}

static void compare(int arch, unsigned int variant, int nr, uint32_t want,
		    const struct args *args)
{
	uint32_t got = ask(arch, variant, (uint32_t)nr, arch_value[arch], args);

	if (got != want)
		printf("# arch %d variant %u call %d (%#llx, %#llx, %#llx)\n",
		       arch, variant, nr, (unsigned long long)args->a[0],
		       (unsigned long long)args->a[1],
		       (unsigned long long)args->a[2]);
	CHECK_INT(got, want);
}

/* Around every constant in the conditions of a call, with and without high
 * bits. */
static size_t candidates(const struct row *const *subset, size_t n_subset,
			 uint64_t *ret, size_t max)
{
	static const uint64_t extra[] = { 0,	 3,	  40,	HIGH,
					  ~0ULL, 0x80001, 0x11, 0x3d0f00 };
	bool has_families = false;
	size_t n = 0;

	for (size_t i = 0; i < N_OF(extra); i++)
		ret[n++] = extra[i];
	for (size_t i = 0; i < n_consts && n + 5 < max; i++) {
		bool is_used = false;

		for (size_t k = 0; k < n_subset; k++)
			is_used |=
				strstr(subset[k]->when, consts[i].name) != NULL;
		if (!is_used)
			continue;
		has_families |= strncmp(consts[i].name, "AF_", 3) == 0;
		ret[n++] = consts[i].value;
		ret[n++] = consts[i].value | HIGH;
		ret[n++] = consts[i].value | 0x11;
		ret[n++] = consts[i].value - 1;
		ret[n++] = consts[i].value + 1;
	}
	for (uint64_t family = 0; has_families && family < 64; family++)
		ret[n++] = family;
	CHECK(n + 5 < max);
	return n;
}

static void compare_arguments(int arch, unsigned int variant, int nr,
			      const struct row *const *subset, size_t n_subset)
{
	static const uint64_t third[] = { 0, 1, 9, 15, 18, 59, HIGH, ~0ULL };
	uint64_t values[512];
	size_t n = candidates(subset, n_subset, values, N_OF(values));
	bool has_fourth = false;

	for (size_t i = 0; i < n_subset; i++)
		has_fourth |= strstr(subset[i]->when, "arg3") != NULL;
	for (size_t i = 0; i < n * n * N_OF(third); i++) {
		struct args args = { { values[i % n], values[i / n % n],
				       third[i / n / n], 3 } };

		/* What is about the last two is asked with all of them. */
		if (has_fourth)
			args = (struct args){ { 0, third[i / n / n],
						values[i % n],
						values[i / n % n] } };
		compare(arch, variant, nr,
			verdict_of(subset, n_subset, variant, &args), &args);
	}
}

static void compare_number(int arch, unsigned int variant, int nr)
{
	static const struct args plain[] = {
		{ { 0, 0, 0 } },
		{ { ~0ULL, ~0ULL, ~0ULL } },
		{ { 0x10000000, 0x5412, 9 } },
		{ { 40, 0x10000000, 1 } },
	};
	const struct row *subset[32];
	bool conditional = false;
	size_t n = 0;

	for (size_t i = 0; i < n_rows; i++) {
		if (!is_call(&rows[i], arch, nr))
			continue;
		CHECK(n < N_OF(subset));
		subset[n++] = &rows[i];
		conditional |= strcmp(rows[i].when, "*") != 0;
	}
	if (conditional)
		compare_arguments(arch, variant, nr, subset, n);
	for (size_t i = 0; i < N_OF(plain); i++)
		compare(arch, variant, nr,
			verdict_of(subset, n, variant, &plain[i]), &plain[i]);
}

/* Nobody is nested without namespaces, or without sockets with them. */
static bool is_used(unsigned int v)
{
	return !(v & FILTER_BARE && v & FILTER_NESTED) &&
	       (!(v & FILTER_NO_SOCKETS) || v & FILTER_BARE);
}

static void every_number_is_as_the_policy_says(void)
{
	read_policy();
	for (int arch = 0; arch < ARCHES; arch++)
		for (unsigned int v = 0; v < FILTER_VARIANTS; v++)
			for (int nr = 0; is_used(v) && nr <= last[arch]; nr++)
				compare_number(arch, v, nr);
}

static void numbers_above_the_last_are_not_there(void)
{
	static const struct args none;

	read_policy();
	for (int arch = 0; arch < ARCHES; arch++) {
		CHECK_INT(last[arch], LAST);
		for (unsigned int v = 0; v < FILTER_VARIANTS; v++)
			for (int nr = LAST + 1; nr <= LAST + 64; nr++)
				compare(arch, v, nr, ERRNO(ENOSYS), &none);
	}
}

static void x32_and_negative_numbers_are_not_there(void)
{
	static const struct args none;

	for (int arch = 0; arch < ARCHES; arch++)
		for (unsigned int v = 0; v < FILTER_VARIANTS; v++) {
			for (int nr = 0; nr <= 600; nr++) {
				compare(arch, v, nr | X32, ERRNO(ENOSYS),
					&none);
				compare(arch, v, -2 - nr, ERRNO(ENOSYS), &none);
			}
		}
}

/* A tracer that writes -1 into the register wants nothing to happen. */
static void a_call_taken_back_by_a_tracer_passes(void)
{
	static const struct args none;

	for (int arch = 0; arch < ARCHES; arch++)
		for (unsigned int v = 0; v < FILTER_VARIANTS; v++)
			compare(arch, v, -1, ALLOW, &none);
}

static void foreign_architectures_are_not_there(void)
{
	/* i386, arm, the other one of the two, riscv64, byte-swapped, none */
	static const uint32_t foreign[] = { 0x40000003, 0x40000028, 0xc000003e,
					    0xc00000b7, 0xc00000f3, 0x3e0000c0,
					    0x8000003e, 0,	    ~0U };
	static const struct args none;

	for (size_t i = 0; i < ARCHES * N_OF(foreign); i++) {
		int arch = (int)(i % ARCHES);

		if (foreign[i / ARCHES] == arch_value[arch])
			continue;
		/* From -1, the one that passes on our own architecture. */
		for (uint32_t nr = ~0U; nr != LAST + 64; nr++)
			for (unsigned int v = 0; v < FILTER_VARIANTS; v++)
				CHECK_INT(ask(arch, v, nr, foreign[i / ARCHES],
					      &none),
					  ERRNO(ENOSYS));
	}
}

/* Whether a row of its own refuses the same where this one is not in force. */
static bool has_other_rule(const struct wanted *w)
{
	/* Types of sockets that are refused with sockets as well. */
	if (w->variants == CLOSED && (w->hit.a[1] & 0xf) > 4)
		return true;
	return w->variants == ROOMY || w->variants == SOCKETS || w->error == 0;
}

static void check_wanted(const struct wanted *w, int arch, unsigned int v)
{
	bool on = w->variants & (1U << v);

	if (on || !has_other_rule(w))
		compare(arch, v, w->nr[arch], on ? ERRNO(w->error) : ALLOW,
			&w->hit);
	/* Without sockets the nearest ones are refused for that reason. */
	if (w->conditional && !(v & FILTER_NO_SOCKETS))
		compare(arch, v, w->nr[arch], ALLOW, &w->miss);
}

static void what_must_be_refused_is_refused(void)
{
	for (size_t i = 0; i < N_OF(wanted); i++)
		for (int arch = 0; arch < ARCHES; arch++)
			for (unsigned int v = 0; v < FILTER_VARIANTS; v++)
				if (wanted[i].nr[arch] != NONE)
					check_wanted(&wanted[i], arch, v);
}

static void what_programs_need_is_allowed(void)
{
	static const struct args some[] = { { { 0 } }, { { 1, 2, 3 } } };

	for (size_t i = 0; i < N_OF(needed) * N_OF(some); i++)
		for (int arch = 0; arch < ARCHES; arch++)
			for (unsigned int v = 0; v < FILTER_BARE; v++)
				if (needed[i / 2].nr[arch] != NONE)
					compare(arch, v, needed[i / 2].nr[arch],
						ALLOW, &some[i % 2]);
}

/* How many rows of the policy are the rule W. */
static size_t count_rows(const struct wanted *w)
{
	size_t n = 0;

	for (size_t i = 0; i < n_rows; i++) {
		unsigned int variants = 0;

		if (strcmp(rows[i].call, w->call) != 0 ||
		    error_value(rows[i].error) != w->error ||
		    w->conditional == (strcmp(rows[i].when, "*") == 0))
			continue;
		for (unsigned int v = 0; v < FILTER_VARIANTS; v++)
			if (applies(&rows[i], v, &w->hit))
				variants |= 1U << v;
		n += variants == w->variants;
	}
	return n;
}

static void every_rule_is_wanted_and_every_wanted_rule_is_there(void)
{
	read_policy();
	for (size_t i = 0; i < N_OF(wanted); i++) {
		if (count_rows(&wanted[i]) != 1)
			printf("# rule %zu, '%s'\n", i, wanted[i].call);
		CHECK_INT(count_rows(&wanted[i]), 1);
	}
	CHECK_INT(n_rows, N_OF(wanted));
}

static void every_constant_is_used(void)
{
	read_policy();
	for (size_t i = 0; i < n_consts; i++) {
		bool used = consts[i].is_watched;

		for (size_t k = 0; k < n_rows; k++)
			used |= strstr(rows[k].when, consts[i].name) != NULL;
		if (!used)
			printf("# %s\n", consts[i].name);
		CHECK(used);
	}
}

static void programs_fit_the_kernel(void)
{
	for (int arch = 0; arch < ARCHES; arch++)
		for (unsigned int v = 0; v < FILTER_VARIANTS; v++) {
			const struct k_sock_fprog *p = &tables[arch][v];

			CHECK(p->len > 0 && p->len <= 512);
			/* The architecture before anything else. */
			CHECK_INT(p->filter[0].code, 0x20);
			CHECK_INT(p->filter[0].k, 4);
			CHECK_INT(p->filter[1].k, arch_value[arch]);
		}
}

TESTS(T(programs_fit_the_kernel), T(what_must_be_refused_is_refused),
      T(what_programs_need_is_allowed),
      T(every_rule_is_wanted_and_every_wanted_rule_is_there),
      T(every_constant_is_used), T(every_number_is_as_the_policy_says),
      T(numbers_above_the_last_are_not_there),
      T(x32_and_negative_numbers_are_not_there),
      T(a_call_taken_back_by_a_tracer_passes),
      T(foreign_architectures_are_not_there))
