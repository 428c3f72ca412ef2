/* SPDX-License-Identifier: Apache-2.0 */
#include "box/probe.h"

#include "base/auto.h"
#include "base/path.h"
#include "box/state.h"
#include "net/access.h"
#include "net/capture.h"
#include "plan/plan.h"
#include "sys/dir.h"
#include "sys/file.h"
#include "sys/landlock.h"
#include "sys/net/inet.h"
#include "sys/net/netlink.h"
#include "sys/proc.h"
#include "sys/seccomp.h"
#include "sys/sock.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

/*
 * Probes for `holdback doctor`.  A row is a small plan, its namespaces and the
 * steps of a box that are taken there; or a look from outside.
 */

#define STEPS_MAX 5

/* One attempt. */
struct attempt {
	struct box box;
	struct plan plan;
	const char *dir;
	const char *source; /* of overlays: what lies below all; or NULL */
	char lower[PATH_MAX], upper[PATH_MAX], work[PATH_MAX];
};

typedef int (*step_fn)(struct box *box, struct hb_error *err);

struct row {
	struct probe probe;
	unsigned long flags; /* CLONE_NEW*; 0 with `look` */
	int (*plan)(struct attempt *a, struct hb_error *err);
	step_fn steps[STEPS_MAX];
	int (*look)(char *ret_found, struct hb_error *err);
};

/* The layers of the overlay probes, below the directory of the caller. */
#define LOWER "lower"
#define UPPER "upper"
#define WORK  "work"

/* A name that is unique in a directory that is tried. */
#define THING ".holdback-probe"

static int add_op(struct attempt *a, enum plan_op_kind kind, const char *dest,
		  struct plan_op **ret_op, struct hb_error *err)
{
	int r = plan_add(&a->plan, kind, ret_op, err);

	if (r >= 0)
		(*ret_op)->dest = dest;
	return r;
}

static int plan_root(struct attempt *a, struct hb_error *err)
{
	struct plan_op *op;

	return add_op(a, OP_TMPFS, "/", &op, err);
}

static int plan_proc(struct attempt *a, struct hb_error *err)
{
	struct plan_op *op;
	int r = plan_root(a, err);

	return r < 0 ? r : add_op(a, OP_PROC, "/proc", &op, err);
}

static int plan_dev(struct attempt *a, struct hb_error *err)
{
	struct plan_op *op;
	int r = plan_root(a, err);

	return r < 0 ? r : add_op(a, OP_DEV, "/dev", &op, err);
}

static int plan_no_userns(struct attempt *a, struct hb_error *err)
{
	(void)err;
	a->plan.settings |= PLAN_NO_USERNS;
	return 0;
}

static int plan_filter(struct attempt *a, struct hb_error *err)
{
	(void)err;
	a->plan.settings |= PLAN_FILTER | PLAN_PROVE_NO_USERNS;
	return 0;
}

/* A directory with a file in it is below; what is done to it stays above. */
static int make_layers(struct attempt *a, struct hb_error *err)
{
	static const char *const dirs[] = { LOWER, LOWER "/" THING, UPPER,
					    WORK };
	auto_fd int dir = -1;
	auto_fd int file = -1;
	int r = 0;

	dir = sys_openat(AT_FDCWD, a->dir, O_RDONLY | O_DIRECTORY, 0);
	if (dir < 0)
		return hb_fail(err, dir, "cannot open '%s'", a->dir);
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		r = sys_mkdirat(dir, dirs[i], 0755);
		if (r < 0 && r != -EEXIST)
			return hb_fail(err, r, "cannot make '%s/%s'", a->dir,
				       dirs[i]);
	}
	file = sys_openat(dir, LOWER "/" THING "/f", O_WRONLY | O_CREAT, 0644);
	if (file < 0)
		return hb_fail(err, file, "cannot make a file in '%s'", a->dir);
	(void)snprintf(a->lower, sizeof(a->lower), "%s/" LOWER, a->dir);
	(void)snprintf(a->upper, sizeof(a->upper), "%s/" UPPER, a->dir);
	(void)snprintf(a->work, sizeof(a->work), "%s/" WORK, a->dir);
	return 0;
}

static int plan_overlay(struct attempt *a, struct hb_error *err)
{
	struct plan_op *op;
	int r;

	r = make_layers(a, err);
	if (r >= 0)
		r = plan_root(a, err);
	if (r >= 0)
		r = add_op(a, OP_OVERLAY, "/o", &op, err);
	if (r < 0)
		return r;
	op->upper = a->upper;
	op->work = a->work;
	op->n_layers = 1;
	if (!a->source)
		return plan_add_layer(&a->plan, a->lower, err);
	r = plan_add_layer(&a->plan, a->source, err);
	/* The kernel refuses layers of which one lies in the other. */
	if (r < 0 || path_is_beneath(a->lower, a->source))
		return r;
	op->n_layers = 2;
	return plan_add_layer(&a->plan, a->lower, err);
}

static int plan_overlay_memory(struct attempt *a, struct hb_error *err)
{
	int r = plan_overlay(a, err);

	if (r >= 0)
		a->plan.ops[a->plan.n_ops - 1].flags |= PLAN_OVERLAY_TMP;
	return r;
}

/* What is to be changed: at the top, or where the lower one has the layers. */
static int open_things(const struct box *box)
{
	const struct plan *plan = box->plan;
	const struct plan_op *op = &plan->ops[plan->n_ops - 1];
	const char *below = plan->layers[op->first_layer];
	char path[PATH_MAX] = "o";

	if (op->upper && path_is_beneath(op->upper, below))
		(void)snprintf(path, sizeof(path), "o%.*s" LOWER,
			       (int)(strlen(op->upper + strlen(below)) -
				     strlen(UPPER)),
			       op->upper + strlen(below));
	return sys_openat(box->root, path, O_RDONLY | O_DIRECTORY, 0);
}

/*
 * Copy-up, delete and make again: the last works only if the kernel can mark a
 * directory opaque, which it says at no earlier moment.
 */
static int use_overlay(struct box *box, struct hb_error *err)
{
	auto_fd int o = -1;
	auto_fd int fd = -1;
	int r;

	o = open_things(box);
	if (o < 0)
		return hb_fail(err, o, "cannot open the overlay");
	fd = sys_openat(o, THING "/f", O_WRONLY, 0);
	r = fd < 0 ? fd : sys_write_all(fd, "x", 1);
	if (r < 0)
		return hb_fail(err, r, "cannot write in the overlay");
	r = sys_unlinkat(o, THING "/f", 0);
	if (r >= 0)
		r = sys_unlinkat(o, THING, AT_REMOVEDIR);
	if (r < 0)
		return hb_fail(err, r, "cannot delete in the overlay");
	r = sys_mkdirat(o, THING, 0755);
	if (r >= 0 && sys_faccessat(o, THING "/f", F_OK) != -ENOENT)
		r = -EIO;
	if (r >= 0)
		r = sys_unlinkat(o, THING, AT_REMOVEDIR);
	if (r < 0)
		return hb_fail(
			err, r,
			"cannot make a deleted directory again in the overlay");
	return 0;
}

static int set_no_new_privs(struct box *box, struct hb_error *err)
{
	int r;

	(void)box;
	r = sys_set_no_new_privs();
	return r < 0 ? hb_fail(err, r, "cannot set no_new_privs") : 0;
}

static int look_openat2(char *ret_found, struct hb_error *err)
{
	auto_fd int fd = -1;

	(void)ret_found;
	fd = sys_openat2(AT_FDCWD, "/", O_PATH | O_DIRECTORY, 0,
			 K_RESOLVE_IN_ROOT | K_RESOLVE_NO_MAGICLINKS);
	return fd < 0 ? hb_fail(err, fd, "cannot open with openat2") : 0;
}

static int look_notifier(char *ret_found, struct hb_error *err)
{
	int r = sys_seccomp_notif_probe();

	(void)ret_found;
	return r < 0 ? hb_fail(err, r, "cannot have a listener for calls") : 0;
}

static int look_wake_up(char *ret_found, struct hb_error *err)
{
	int r = sys_seccomp_notif_probe();

	(void)ret_found;
	if (r > 0)
		return 0;
	return hb_fail(err, r < 0 ? r : -EOPNOTSUPP,
		       "cannot wake a caller on our own processor");
}

static int look_landlock(char *ret_found, struct hb_error *err)
{
	int abi = sys_landlock_abi();

	if (abi < 0)
		return hb_fail(err, abi, "cannot ask for landlock");
	(void)snprintf(ret_found, PROBE_FOUND_SIZE, "version %d", abi);
	if (abi < 2)
		return hb_fail(err, -EOPNOTSUPP,
			       "landlock %d does not know renames", abi);
	return 0;
}

static int look_scopes(char *ret_found, struct hb_error *err)
{
	int abi = sys_landlock_abi();

	(void)ret_found;
	if (abi >= 6)
		return 0;
	return hb_fail(err, abi < 0 ? abi : -EOPNOTSUPP,
		       "landlock cannot close abstract sockets");
}

static int look_cgroup(char *ret_found, struct hb_error *err)
{
	const struct cgroup_limit limits[] = {
		{ "memory", "memory.max", "1073741824", false },
		{ "cpu", "cpu.max", "100000 100000", false },
	};
	struct cgroup cgroup = CGROUP_NONE;
	int r = cgroup_make(limits, 2, &cgroup, err);

	(void)ret_found;
	cgroup_remove(&cgroup);
	return r;
}

/* As a box does it, but for the last way, which needs nothing. */
static int catch_ports(struct box *box, struct hb_error *err)
{
	enum net_way way;
	int r = -EOPNOTSUPP;

	(void)box;
	for (way = NET_WAY_TPROXY; r < 0 && way < NET_WAY_LIST; way++) {
		struct capture c = { .size = 0 };

		capture_rules(&c, way, sys_inet_has_v6());
		r = sys_netlink(K_NETLINK_NETFILTER, c.at, c.size, c.n_acks);
	}
	return r < 0 ? hb_fail(err, r, "cannot make a rule of nf_tables") : 0;
}

#define USER (CLONE_NEWUSER)
#define MNT  (CLONE_NEWUSER | CLONE_NEWNS)

/* clang-format off */
static const struct row rows[] = {
	{ { "user-namespace", true, NULL,
	    "a root of its own for an ordinary user",
	    "nothing can be run but, weaker, with --allow-degraded" },
	  .flags = USER },
	{ { "id-map", true, "user-namespace",
	    "the same user and group inside as outside",
	    "nothing can be run" },
	  .flags = USER, .steps = { step_ids } },
	{ { "mount-namespace", true, "user-namespace",
	    "a view of the files of its own",
	    "nothing can be run" },
	  .flags = MNT },
	{ { "pid-namespace", true, "user-namespace",
	    "processes that cannot see or outlive others",
	    "nothing can be run" },
	  .flags = USER | CLONE_NEWPID },
	{ { "ipc-namespace", true, "user-namespace",
	    "shared memory and queues of its own",
	    "nothing can be run" },
	  .flags = USER | CLONE_NEWIPC },
	{ { "uts-namespace", true, "user-namespace",
	    "a host name of its own",
	    "nothing can be run" },
	  .flags = USER | CLONE_NEWUTS },
	{ { "cgroup-namespace", true, "user-namespace",
	    "control groups of others out of sight",
	    "nothing can be run" },
	  .flags = USER | CLONE_NEWCGROUP },
	{ { "network-namespace", true, "user-namespace",
	    "no network but a loopback",
	    "only --net host can be run" },
	  .flags = USER | CLONE_NEWNET, .steps = { step_network } },
	{ { "nf-tables", false, "network-namespace",
	    "a network by name on every port: --net allow",
	    "--net allow reaches only the ports that its rules name" },
	  .flags = USER | CLONE_NEWNET, .steps = { step_network, catch_ports } },
	{ { "openat2", true, NULL,
	    "paths that cannot lead out of the view",
	    "nothing can be run" },
	  .look = look_openat2 },
	{ { "mount-api", true, "mount-namespace",
	    "mounts that are complete before anybody sees them",
	    "nothing can be run" },
	  .flags = MNT, .plan = plan_root,
	  .steps = { step_ids, step_private, step_mounts, step_root } },
	{ { "overlay-memory", false, "mount-api",
	    "changes kept in memory: run --ephemeral",
	    "run --ephemeral cannot work" },
	  .flags = MNT, .plan = plan_overlay_memory,
	  .steps = { step_ids, step_private, step_mounts, use_overlay } },
	{ { "overlay-disk", false, "mount-api",
	    "changes kept on disk without a copy of the tree",
	    "sessions on this file system need a copy of the tree" },
	  .flags = MNT, .plan = plan_overlay,
	  .steps = { step_ids, step_private, step_mounts, use_overlay } },
	{ { "procfs", false, "mount-api",
	    "a /proc with the command's own processes only",
	    "the /proc around it is shown, read-only, with other processes" },
	  .flags = MNT | CLONE_NEWPID, .plan = plan_proc,
	  .steps = { step_ids, step_private, step_mounts } },
	{ { "devpts", true, "mount-api",
	    "device files, and terminals for the commands inside",
	    "nothing can be run" },
	  .flags = MNT, .plan = plan_dev,
	  .steps = { step_ids, step_private, step_mounts } },
	{ { "no-nesting", false, "id-map",
	    "no new user namespaces inside",
	    "only the filter keeps new ones from being made" },
	  .flags = USER, .plan = plan_no_userns,
	  .steps = { step_ids, step_no_userns, step_prove } },
	{ { "seccomp", true, NULL,
	    "dangerous system calls refused",
	    "nothing can be run" },
	  .flags = 0, .plan = plan_filter,
	  .steps = { set_no_new_privs, step_seccomp, step_prove } },
	{ { "seccomp-notifier", false, "seccomp",
	    "tells of sandboxes that were refused inside",
	    "they are refused, and the end of a run does not say so" },
	  .look = look_notifier },
	{ { "seccomp-wake-up", false, "seccomp-notifier",
	    "needed for a log that costs little",
	    "nothing today: there is no such log yet" },
	  .look = look_wake_up },
	{ { "landlock", false, NULL,
	    "a second lock on writes",
	    "the mounts are the only lock" },
	  .look = look_landlock },
	{ { "landlock-scopes", false, "landlock",
	    "abstract sockets of the host closed with --net host",
	    "abstract sockets are open with --net host" },
	  .look = look_scopes },
	{ { "control-group", false, NULL,
	    "limits on memory and processors",
	    "--memory and --cpus cannot be run, nor --pids as root" },
	  .look = look_cgroup },
};
/* clang-format on */

/*
 * What a refusal means, where the words of the step do not say it.  A row with
 * NULL for the probe stands for all.
 */
static const struct {
	const char *probe;
	int code;
	const char *words, *fix;
} causes[] = {
	{ "procfs", EPERM,
	  "something is mounted over parts of /proc, as in a container",
	  "docker: --security-opt systempaths=unconfined; podman: --security-opt unmask=ALL" },
	{ "overlay-memory", ENODEV, "this kernel has no overlayfs",
	  "modprobe overlay" },
	{ "overlay-disk", ENODEV, "this kernel has no overlayfs",
	  "modprobe overlay" },
	{ "overlay-memory", EIO,
	  "a tmpfs of this kernel cannot hold the attributes of an overlay",
	  "use Linux 6.6 or later" },
	{ "overlay-memory", EPERM, "overlays are not for user namespaces here",
	  "use Linux 5.11 or later" },
	{ "overlay-disk", EPERM, "overlays are not for user namespaces here",
	  "use Linux 5.11 or later" },
	{ "overlay-disk", EINVAL,
	  "this file system cannot hold an overlay's layers",
	  "set XDG_STATE_HOME to a directory on ext4, xfs or btrfs" },
	{ "seccomp-wake-up", EOPNOTSUPP, "this kernel cannot do it",
	  "use Linux 6.6 or later" },
	{ "landlock", EOPNOTSUPP, "landlock is built in but not switched on",
	  "add landlock to the kernel's lsm= parameter" },
	{ "landlock", ENOSYS, "this kernel has no landlock",
	  "use a kernel with CONFIG_SECURITY_LANDLOCK" },
	{ "landlock-scopes", EOPNOTSUPP, "this kernel's landlock is too old",
	  "use Linux 6.12 or later" },
	{ "no-nesting", EACCES, "/proc/sys cannot be written here",
	  "mount a procfs at /proc with a sys directory that can be written" },
	{ "no-nesting", EROFS, "/proc/sys is read-only here",
	  "mount a procfs at /proc with a sys directory that can be written" },
	{ NULL, ENOSPC, "the limit on such namespaces is reached",
	  "raise the limits that 'sysctl -a --pattern user.max_' shows as 0" },
	{ NULL, ENOSYS,
	  "the kernel, or a seccomp filter around us, has no such call",
	  "use Linux 5.14 or later; in docker: --security-opt seccomp=unconfined" },
	{ NULL, EPERM,
	  "a seccomp filter or security module around us refuses it",
	  "docker: --security-opt seccomp=unconfined --security-opt apparmor=unconfined" },
};

static_assert(sizeof(rows) / sizeof(rows[0]) < 64, "an attempt each");

const struct probe *probe_at(size_t i)
{
	return i < sizeof(rows) / sizeof(rows[0]) ? &rows[i].probe : NULL;
}

/* A user namespace has causes of its own, which the host's switches tell. */
static int explain(const struct row *row, int r, struct hb_error *err)
{
	if (err->code == 0)
		(void)hb_fail(err, r, "%s", row->probe.name);
	if (err->fix[0])
		return r;
	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
		if (causes[i].code != -r ||
		    (causes[i].probe &&
		     strcmp(causes[i].probe, row->probe.name) != 0))
			continue;
		hb_fix(err, "%s", causes[i].fix);
		return hb_fail(err, r, "%s", causes[i].words);
	}
	return r;
}

static void init_attempt(struct attempt *a, const struct row *row,
			 const char *dir)
{
	*a = (struct attempt){ .dir = dir };
	plan_init(&a->plan);
	a->plan.ns = row->flags & CLONE_NEWUSER ? PLAN_NS_USER : 0;
	if (row->flags & CLONE_NEWPID)
		a->plan.ns |= PLAN_NS_PID;
	if (row->flags & CLONE_NEWNET)
		a->plan.ns |= PLAN_NS_NET;
	a->box = (struct box){
		.plan = &a->plan,
		.uid = sys_getuid(),
		.gid = sys_getgid(),
		.in_uid = sys_getuid(),
		.in_gid = sys_getgid(),
		.ns = a->plan.ns,
		BOX_NO_DESCRIPTORS,
	};
}

_Noreturn static void child_main(struct attempt *a, const struct row *row,
				 int to)
{
	struct hb_error err = { 0 };
	int r = 0;

	for (size_t i = 0; r >= 0 && i < STEPS_MAX && row->steps[i]; i++)
		r = row->steps[i](&a->box, &err);
	if (r < 0 && err.code == 0)
		(void)hb_fail(&err, r, "%s", row->probe.name);
	(void)sys_send_record(to, &err, sizeof(err));
	sys_exit(0);
}

static int try_in_child(struct attempt *a, const struct row *row,
			struct hb_error *err)
{
	struct hb_error told = { 0 };
	auto_fd int rd = -1;
	auto_fd int wr = -1;
	pid_t pid;
	int r;

	r = sys_socket_pair(&rd, &wr);
	if (r < 0)
		return hb_fail(err, r, "cannot make a socket");
	pid = sys_clone(row->flags, NULL);
	if (pid == 0)
		child_main(a, row, wr);
	if (pid < 0) {
		(void)hb_fail(err, pid, "cannot make the namespace");
		err->stage = STAGE_CLONE;
		return row->flags == USER ? explain_userns(pid, err) : pid;
	}
	fd_closep(&wr);
	r = sys_recv_record(rd, &told, sizeof(told), NULL);
	(void)sys_waitpid(pid, NULL, 0);
	if (r <= 0)
		return hb_fail(err, -HB_E_CHILD, "the attempt was killed");
	if (told.code == 0)
		return 0;
	*err = told;
	return -told.code;
}

int probe_try(size_t i, const char *dir, char ret_found[PROBE_FOUND_SIZE],
	      struct hb_error *err)
{
	const struct row *row = &rows[i];
	struct hb_error local = { 0 };
	struct attempt a;
	int r;

	if (!err)
		err = &local;
	ret_found[0] = '\0';
	if (row->look) {
		r = row->look(ret_found, err);
		return r < 0 ? explain(row, r, err) : 0;
	}
	init_attempt(&a, row, dir);
	r = row->plan ? row->plan(&a, err) : 0;
	if (r >= 0)
		r = try_in_child(&a, row, err);
	plan_done(&a.plan);
	return r < 0 ? explain(row, r, err) : 0;
}

int probe_named(const char *name, struct hb_error *err)
{
	char found[PROBE_FOUND_SIZE];
	size_t i = 0;

	while (strcmp(rows[i].probe.name, name) != 0)
		i++;
	return probe_try(i, NULL, found, err);
}

int probe_overlay(const char *source, const char *dir, struct hb_error *err)
{
	static const struct row row = {
		.probe = { .name = "overlay-disk" },
		.flags = MNT,
		.steps = { step_ids, step_private, step_mounts, use_overlay },
	};
	struct hb_error why = { 0 };
	struct attempt a;
	int r;

	init_attempt(&a, &row, dir);
	a.source = source;
	r = plan_overlay(&a, &why);
	/* As boxes do: else its end would sync the whole file system. */
	if (r >= 0)
		a.plan.ops[a.plan.n_ops - 1].flags |= PLAN_VOLATILE;
	if (r >= 0)
		r = try_in_child(&a, &row, &why);
	plan_done(&a.plan);
	if (r >= 0)
		return 0;
	/* Without a namespace there is no box at all, which it says itself. */
	if (why.stage == STAGE_CLONE)
		return 1;
	if (err)
		*err = why;
	return explain(&row, r, err ? err : &why);
}

/*
 * The kernel keeps a whiteout, under a name of its own choice, in a directory
 * that it made without any permission.
 */
static void empty_work(int fd)
{
	_Alignas(struct k_dirent) char block[1024];
	auto_fd int path = -1;
	auto_fd int dir = -1;
	ssize_t n, at = 0;

	path = sys_openat(fd, WORK "/work", O_PATH | O_NOFOLLOW, 0);
	if (path < 0 || sys_chmod_fd(path, 0700) < 0)
		return;
	dir = sys_openat(fd, WORK "/work", O_RDONLY | O_DIRECTORY | O_NOFOLLOW,
			 0);
	n = dir < 0 ? dir : sys_getdents(dir, block, sizeof(block));
	while (at < n) {
		const struct k_dirent *entry = (const void *)(block + at);

		/* For "." and ".." this fails, as it should. */
		(void)sys_unlinkat(dir, entry->name, 0);
		at += entry->reclen;
	}
}

/* Inner first; what is not there is no matter, and a whiteout is a file. */
void probe_clean_up(const char *dir)
{
	static const char *const names[] = {
		UPPER "/" THING "/f",
		UPPER "/" THING,
		UPPER,
		WORK "/work",
		WORK,
		LOWER "/" THING "/f",
		LOWER "/" THING,
		LOWER,
	};
	auto_fd int fd = -1;

	fd = sys_openat(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY, 0);
	if (fd < 0)
		return;
	empty_work(fd);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (sys_unlinkat(fd, names[i], 0) < 0)
			(void)sys_unlinkat(fd, names[i], AT_REMOVEDIR);
}
