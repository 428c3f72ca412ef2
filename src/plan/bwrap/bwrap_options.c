/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of the bubblewrap command line: one table, one row an option.
 *
 * A row says what follows the option, which handler takes it and in what the
 * option differs from its family.  The words of complaints are bubblewrap's:
 * programs that drive it look for them.
 *
 * (a) A handler only writes the plan and the parser's state; what the options
 *     mean together is checked at the end, in bwrap_parse.c.
 * (b) A handler that takes a modifier (--perms, --size, --overlay-src) resets
 *     it; the loop refuses an option that left one behind.
 *
 * tests/unit/t_bwrap_parse.c looks at the plan for each row, tests/bwrap at the
 * effect.
 */
#include "plan/bwrap/bwrap_grammar.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/num.h"
#include "base/report.h"
#include "plan/cap_names.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HELP_COLUMN	29
#define MAX_PERMS	07777
#define MAX_TMPFS_BYTES ((uint64_t)(SIZE_MAX >> 1))

static int refuse(struct hb_error *err, const char *what, const char *word)
{
	return hb_fail(err, -HB_E_USAGE, "%s%s", what, word);
}

static void warn_only_last(struct bwrap_state *s, const struct bwrap_option *o)
{
	report_text(s->world->listener, HB_REPORT_SAID,
		    "Only the last %s option will take effect", o->name);
}

/*
 * Leading blanks and a sign pass, as in bubblewrap.  A number that does not fit
 * an int is refused; bubblewrap takes its lower half.
 */
static int parse_number(const char *word, const char *complaint, int *ret_n,
			struct hb_error *err)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(word, &end, 10);
	if (word[0] == '\0' || *end != '\0' || errno || n < 0 || n > INT_MAX)
		return refuse(err, complaint, word);
	*ret_n = (int)n;
	return 0;
}

static int parse_fd(const char *word, int *ret_fd, struct hb_error *err)
{
	return parse_number(word, "Invalid fd: ", ret_fd, err);
}

static int parse_octal(const struct bwrap_option *o, const char *word,
		       int *ret_perms, struct hb_error *err)
{
	char *end;
	unsigned long n = strtoul(word, &end, 8);

	if (word[0] == '\0' || *end != '\0' || n > MAX_PERMS)
		return refuse(err, o->name,
			      " takes an octal argument <= 07777");
	*ret_perms = (int)n;
	return 0;
}

/* what: enum bwrap_request */
static int request(struct bwrap_state *s, const struct bwrap_option *o,
		   char *const *words, struct hb_error *err)
{
	(void)words;
	(void)err;
	s->call->request = (enum bwrap_request)o->what;
	return 1;
}

static int read_args(struct bwrap_state *s, const struct bwrap_option *o,
		     char *const *words, struct hb_error *err)
{
	int fd, r;

	(void)o;
	if (s->in_file)
		return refuse(err, "--args not supported in arguments file",
			      "");
	r = parse_fd(words[0], &fd, err);
	if (r < 0)
		return r;
	/* The parser reads it, right behind this option. */
	s->args_fd = fd;
	s->has_args = true;
	return 0;
}

static int set_argv0(struct bwrap_state *s, const struct bwrap_option *o,
		     char *const *words, struct hb_error *err)
{
	if (s->plan->argv0)
		return refuse(err, o->name, " used multiple times");
	s->plan->argv0 = words[0];
	return 0;
}

static int set_level_prefix(struct bwrap_state *s, const struct bwrap_option *o,
			    char *const *words, struct hb_error *err)
{
	(void)o;
	(void)words;
	(void)err;
	s->call->level_prefix = true;
	return 0;
}

/* what, flags: enum plan_ns, demanded and wished for */
static int unshare_ns(struct bwrap_state *s, const struct bwrap_option *o,
		      char *const *words, struct hb_error *err)
{
	(void)words;
	(void)err;
	s->ns |= o->what;
	s->ns_try |= o->flags;
	return 0;
}

/* what: enum plan_ns; an option to unshare it that comes later still does */
static int share_ns(struct bwrap_state *s, const struct bwrap_option *o,
		    char *const *words, struct hb_error *err)
{
	(void)words;
	(void)err;
	s->ns &= ~o->what;
	return 0;
}

/* what: enum plan_setting */
static int set_setting(struct bwrap_state *s, const struct bwrap_option *o,
		       char *const *words, struct hb_error *err)
{
	(void)words;
	(void)err;
	s->plan->settings |= o->what;
	return 0;
}

/* what: enum plan_fd */
static int set_fd(struct bwrap_state *s, const struct bwrap_option *o,
		  char *const *words, struct hb_error *err)
{
	int *fd = &s->plan->fds[o->what];

	if (*fd != -1)
		warn_only_last(s, o);
	return parse_fd(words[0], fd, err);
}

static int set_id(struct bwrap_state *s, const struct bwrap_option *o,
		  int64_t *id, const char *complaint, const char *word,
		  struct hb_error *err)
{
	int n, r;

	if (*id != -1)
		warn_only_last(s, o);
	r = parse_number(word, complaint, &n, err);
	if (r < 0)
		return r;
	*id = n;
	return 0;
}

static int set_uid(struct bwrap_state *s, const struct bwrap_option *o,
		   char *const *words, struct hb_error *err)
{
	return set_id(s, o, &s->plan->uid, "Invalid uid: ", words[0], err);
}

static int set_gid(struct bwrap_state *s, const struct bwrap_option *o,
		   char *const *words, struct hb_error *err)
{
	return set_id(s, o, &s->plan->gid, "Invalid gid: ", words[0], err);
}

static int add_hostname(struct bwrap_state *s, const struct bwrap_option *o,
			char *const *words, struct hb_error *err)
{
	struct plan_op *op;
	int r;

	if (s->has_hostname)
		warn_only_last(s, o);
	r = plan_add(s->plan, OP_HOSTNAME, &op, err);
	if (r < 0)
		return r;
	op->source = words[0];
	s->has_hostname = true;
	return 0;
}

static int set_chdir(struct bwrap_state *s, const struct bwrap_option *o,
		     char *const *words, struct hb_error *err)
{
	(void)err;
	if (s->plan->chdir)
		warn_only_last(s, o);
	s->plan->chdir = words[0];
	return 0;
}

/* what: enum plan_env_kind */
static int change_env(struct bwrap_state *s, const struct bwrap_option *o,
		      char *const *words, struct hb_error *err)
{
	enum plan_env_kind kind = (enum plan_env_kind)o->what;
	const char *name = kind == ENV_CLEAR ? NULL : words[0];
	const char *value = kind == ENV_SET ? words[1] : NULL;

	if (name && (name[0] == '\0' || strchr(name, '=')))
		return refuse(err, o->name + strlen("--"), " failed");
	return plan_add_env(s->plan, kind, name, value, err);
}

static int add_lock_file(struct bwrap_state *s, const struct bwrap_option *o,
			 char *const *words, struct hb_error *err)
{
	(void)o;
	return plan_add_lock_file(s->plan, words[0], err);
}

/* what: the kind; flags: enum plan_op_flag */
static int add_bind(struct bwrap_state *s, const struct bwrap_option *o,
		    char *const *words, struct hb_error *err)
{
	struct plan_op *op;
	int r;

	r = plan_add(s->plan, (enum plan_op_kind)o->what, &op, err);
	if (r < 0)
		return r;
	op->flags = o->flags;
	op->source = words[0];
	op->dest = words[1];
	return 0;
}

/* what, flags: as above */
static int add_bind_fd(struct bwrap_state *s, const struct bwrap_option *o,
		       char *const *words, struct hb_error *err)
{
	struct plan_op *op;
	int fd, r;

	r = parse_fd(words[0], &fd, err);
	if (r < 0)
		return r;
	r = plan_add(s->plan, (enum plan_op_kind)o->what, &op, err);
	if (r < 0)
		return r;
	op->flags = o->flags;
	op->fd = fd;
	op->dest = words[1];
	return 0;
}

/* what: the kind of an operation that has a destination and nothing else */
static int add_at(struct bwrap_state *s, const struct bwrap_option *o,
		  char *const *words, struct hb_error *err)
{
	struct plan_op *op;
	int r;

	r = plan_add(s->plan, (enum plan_op_kind)o->what, &op, err);
	if (r < 0)
		return r;
	op->dest = words[0];
	return 0;
}

static void take_perms(struct bwrap_state *s, struct plan_op *op)
{
	op->perms = plan_kinds[op->kind].perms;
	if (s->perms >= 0) {
		op->perms = (mode_t)s->perms;
		op->flags |= PLAN_HAS_PERMS;
	}
	s->perms = -1;
}

static int add_dir(struct bwrap_state *s, const struct bwrap_option *o,
		   char *const *words, struct hb_error *err)
{
	int r = add_at(s, o, words, err);

	if (r >= 0)
		take_perms(s, &s->plan->ops[s->plan->n_ops - 1]);
	return r;
}

static int add_tmpfs(struct bwrap_state *s, const struct bwrap_option *o,
		     char *const *words, struct hb_error *err)
{
	int r = add_dir(s, o, words, err);

	if (r < 0)
		return r;
	s->plan->ops[s->plan->n_ops - 1].size = s->size;
	s->size = 0;
	return 0;
}

/* what: the kind; flags: enum plan_op_flag */
static int add_data(struct bwrap_state *s, const struct bwrap_option *o,
		    char *const *words, struct hb_error *err)
{
	int r = add_bind_fd(s, o, words, err);

	if (r >= 0)
		take_perms(s, &s->plan->ops[s->plan->n_ops - 1]);
	return r;
}

static int add_chmod(struct bwrap_state *s, const struct bwrap_option *o,
		     char *const *words, struct hb_error *err)
{
	struct plan_op *op;
	int perms, r;

	r = parse_octal(o, words[0], &perms, err);
	if (r < 0)
		return r;
	r = plan_add(s->plan, OP_CHMOD, &op, err);
	if (r < 0)
		return r;
	op->perms = (mode_t)perms;
	op->flags = PLAN_HAS_PERMS;
	op->dest = words[1];
	return 0;
}

static int add_layer(struct bwrap_state *s, const struct bwrap_option *o,
		     char *const *words, struct hb_error *err)
{
	int r;

	(void)o;
	r = plan_add_layer(s->plan, words[0], err);
	if (r < 0)
		return r;
	s->n_layers++;
	return 0;
}

/* what: how many --overlay-src at least; flags: PLAN_OVERLAY_*, or 0 */
static int add_overlay(struct bwrap_state *s, const struct bwrap_option *o,
		       char *const *words, struct hb_error *err)
{
	struct plan_op *op;
	int r;

	if (s->n_layers < o->what)
		return hb_fail(err, -HB_E_USAGE,
			       "%s requires at least %s --overlay-src", o->name,
			       o->what == 1 ? "one" : "two");
	r = plan_add(s->plan, OP_OVERLAY, &op, err);
	if (r < 0)
		return r;
	op->flags = o->flags;
	op->first_layer = s->plan->n_layers - s->n_layers;
	op->n_layers = s->n_layers;
	s->n_layers = 0;
	if (!o->flags) {
		op->upper = words[0];
		op->work = words[1];
	}
	op->dest = words[o->flags ? 0 : 2];
	return 0;
}

static int set_perms(struct bwrap_state *s, const struct bwrap_option *o,
		     char *const *words, struct hb_error *err)
{
	if (s->perms != -1)
		return refuse(err, o->name, " given twice for the same action");
	return parse_octal(o, words[0], &s->perms, err);
}

static int set_size(struct bwrap_state *s, const struct bwrap_option *o,
		    char *const *words, struct hb_error *err)
{
	uint64_t n;

	if (s->size)
		return refuse(err, o->name, " given twice for the same action");
	if (num_u64(words[0], &n) < 0 || n == 0)
		return refuse(err, o->name,
			      " takes a non-zero number of bytes");
	if (n > MAX_TMPFS_BYTES)
		return hb_fail(err, -HB_E_USAGE,
			       "%s (for tmpfs) is limited to %" PRIu64, o->name,
			       MAX_TMPFS_BYTES);
	s->size = n;
	return 0;
}

static int set_seccomp(struct bwrap_state *s, const struct bwrap_option *o,
		       char *const *words, struct hb_error *err)
{
	if (s->plan->n_filter_fds)
		return refuse(err, o->name,
			      " cannot be combined with --add-seccomp-fd");
	if (s->seccomp_fd != -1)
		warn_only_last(s, o);
	return parse_fd(words[0], &s->seccomp_fd, err);
}

static int add_seccomp(struct bwrap_state *s, const struct bwrap_option *o,
		       char *const *words, struct hb_error *err)
{
	int fd, r;

	if (s->seccomp_fd != -1)
		return refuse(err, o->name,
			      " cannot be combined with --seccomp");
	r = parse_fd(words[0], &fd, err);
	if (r < 0)
		return r;
	return plan_add_filter_fd(s->plan, fd, err);
}

/* A label that is not enforced is worse than none at all. */
static int refuse_label(struct bwrap_state *s, const struct bwrap_option *o,
			char *const *words, struct hb_error *err)
{
	(void)s;
	(void)o;
	(void)words;
	return refuse(err, "labeling not supported on this system", "");
}

/* what: 1 adds, 0 drops */
static int fold_cap(struct bwrap_state *s, const struct bwrap_option *o,
		    char *const *words, struct hb_error *err)
{
	uint64_t mask = UINT64_MAX;

	if (strcasecmp(words[0], "ALL") != 0) {
		int n = cap_number(words[0]);

		if (n < 0)
			return refuse(err, "unknown cap: ", words[0]);
		mask = UINT64_C(1) << n;
	}
	if (o->what) {
		s->plan->caps_add |= mask;
	} else {
		s->plan->caps_add &= ~mask;
		s->plan->caps_keep &= ~mask;
	}
	return 0;
}

#define NS_ALL (PLAN_NS_IPC | PLAN_NS_PID | PLAN_NS_NET | PLAN_NS_UTS)

/* One row a line, so that a row can be taken out by line. */
/* clang-format off */
static const struct bwrap_option options[] = {
	{ "--help", NONE, request, BWRAP_HELP, 0, "", "show this text and exit" },
	{ "--version", NONE, request, BWRAP_VERSION, 0, "", "show the version and exit" },
	{ "--args", AN, read_args, 0, 0, "FD", "read more options from FD, each ended by a NUL" },
	{ "--argv0", ONE, set_argv0, 0, 0, "VALUE", "start COMMAND under the name VALUE" },
	{ "--level-prefix", NONE, set_level_prefix, 0, 0, "", "begin diagnostics with their syslog level, as in <3>" },
	{ "--unshare-all", NONE, unshare_ns, NS_ALL, PLAN_NS_USER | PLAN_NS_CGROUP, "", "new namespaces of all kinds that can be had" },
	{ "--share-net", NONE, share_ns, PLAN_NS_NET, 0, "", "keep the network after all (after --unshare-all)" },
	{ "--unshare-user", NONE, unshare_ns, PLAN_NS_USER, 0, "", "new user namespace (always, unless started by root)" },
	{ "--unshare-user-try", NONE, unshare_ns, 0, PLAN_NS_USER, "", "the same, if the host allows it" },
	{ "--unshare-ipc", NONE, unshare_ns, PLAN_NS_IPC, 0, "", "new ipc namespace" },
	{ "--unshare-pid", NONE, unshare_ns, PLAN_NS_PID, 0, "", "new pid namespace" },
	{ "--unshare-net", NONE, unshare_ns, PLAN_NS_NET, 0, "", "new network namespace, with nothing but loopback" },
	{ "--unshare-uts", NONE, unshare_ns, PLAN_NS_UTS, 0, "", "new uts namespace" },
	{ "--unshare-cgroup", NONE, unshare_ns, PLAN_NS_CGROUP, 0, "", "new cgroup namespace" },
	{ "--unshare-cgroup-try", NONE, unshare_ns, 0, PLAN_NS_CGROUP, "", "the same, if the kernel has them" },
	{ "--userns", AN, set_fd, PLAN_FD_USERNS, 0, "FD", "enter this user namespace instead of a new one" },
	{ "--userns2", AN, set_fd, PLAN_FD_USERNS2, 0, "FD", "enter this user namespace when all is set up" },
	{ "--disable-userns", NONE, set_setting, PLAN_NO_USERNS, 0, "", "no user namespaces inside (needs --unshare-user)" },
	{ "--assert-userns-disabled", NONE, set_setting, PLAN_PROVE_NO_USERNS, 0, "", "refuse to run if user namespaces can be made inside" },
	{ "--pidns", AN, set_fd, PLAN_FD_PIDNS, 0, "FD", "enter this pid namespace (--unshare-pid: one below it)" },
	{ "--uid", AN, set_uid, 0, 0, "UID", "user id inside (needs --unshare-user or --userns)" },
	{ "--gid", AN, set_gid, 0, 0, "GID", "group id inside (needs --unshare-user or --userns)" },
	{ "--hostname", AN, add_hostname, 0, 0, "NAME", "host name inside (needs --unshare-uts)" },
	{ "--chdir", ONE, set_chdir, 0, 0, "DIR", "run COMMAND in DIR" },
	{ "--clearenv", NONE, change_env, ENV_CLEAR, 0, "", "empty the environment" },
	{ "--setenv", TWO, change_env, ENV_SET, 0, "VAR VALUE", "set a variable of the environment" },
	{ "--unsetenv", AN, change_env, ENV_UNSET, 0, "VAR", "remove a variable from the environment" },
	{ "--lock-file", AN, add_lock_file, 0, 0, "DEST", "hold a read lock on DEST while the sandbox lives" },
	{ "--sync-fd", AN, set_fd, PLAN_FD_SYNC, 0, "FD", "hold FD open while the sandbox lives" },
	{ "--bind", TWO, add_bind, OP_BIND, 0, "SRC DEST", "show the host's SRC at DEST" },
	{ "--bind-try", TWO, add_bind, OP_BIND, PLAN_TRY, "SRC DEST", "the same, if there is a SRC" },
	{ "--dev-bind", TWO, add_bind, OP_BIND, PLAN_DEVICES, "SRC DEST", "show the host's SRC at DEST, with working devices" },
	{ "--dev-bind-try", TWO, add_bind, OP_BIND, PLAN_DEVICES | PLAN_TRY, "SRC DEST", "the same, if there is a SRC" },
	{ "--ro-bind", TWO, add_bind, OP_BIND, PLAN_RO, "SRC DEST", "show the host's SRC at DEST, read-only" },
	{ "--ro-bind-try", TWO, add_bind, OP_BIND, PLAN_RO | PLAN_TRY, "SRC DEST", "the same, if there is a SRC" },
	{ "--bind-fd", TWO, add_bind_fd, OP_BIND_FD, 0, "FD DEST", "show the directory or file behind FD at DEST" },
	{ "--ro-bind-fd", TWO, add_bind_fd, OP_BIND_FD, PLAN_RO, "FD DEST", "the same, read-only" },
	{ "--remount-ro", ONE, add_at, OP_REMOUNT_RO, 0, "DEST", "make the mount at DEST read-only, none below it" },
	{ "--overlay-src", AN, add_layer, 0, 0, "SRC", "a layer of the overlay that follows, lowest first" },
	{ "--overlay", THREE, add_overlay, 1, 0, "RWSRC WORKDIR DEST", "overlay at DEST; writes go to RWSRC, WORKDIR is scratch" },
	{ "--tmp-overlay", AN, add_overlay, 1, PLAN_OVERLAY_TMP, "DEST", "overlay at DEST; writes are lost at the end" },
	{ "--ro-overlay", AN, add_overlay, 2, PLAN_OVERLAY_RO, "DEST", "overlay at DEST, read-only" },
	{ "--exec-label", AN, refuse_label, 0, 0, "LABEL", "not supported" },
	{ "--file-label", AN, refuse_label, 0, 0, "LABEL", "not supported" },
	{ "--proc", AN, add_at, OP_PROC, 0, "DEST", "procfs at DEST" },
	{ "--dev", AN, add_at, OP_DEV, 0, "DEST", "a minimal /dev at DEST" },
	{ "--tmpfs", AN, add_tmpfs, OP_TMPFS, 0, "DEST", "empty tmpfs at DEST" },
	{ "--mqueue", AN, add_at, OP_MQUEUE, 0, "DEST", "message queues at DEST" },
	{ "--dir", AN, add_dir, OP_DIR, 0, "DEST", "a directory at DEST" },
	{ "--file", TWO, add_data, OP_FILE, 0, "FD DEST", "a file at DEST with the data of FD" },
	{ "--bind-data", TWO, add_data, OP_BIND_DATA, 0, "FD DEST", "the same, as a file mounted at DEST" },
	{ "--ro-bind-data", TWO, add_data, OP_BIND_DATA, PLAN_RO, "FD DEST", "the same, read-only" },
	{ "--symlink", TWO, add_bind, OP_SYMLINK, 0, "SRC DEST", "a symbolic link to SRC at DEST" },
	{ "--seccomp", AN, set_seccomp, 0, 0, "FD", "load the filter program in FD; the last one counts" },
	{ "--add-seccomp-fd", AN, add_seccomp, 0, 0, "FD", "load the filter program in FD; all of them count" },
	{ "--block-fd", AN, set_fd, PLAN_FD_BLOCK, 0, "FD", "start COMMAND when FD can be read" },
	{ "--userns-block-fd", AN, set_fd, PLAN_FD_USERNS_BLOCK, 0, "FD", "leave the id maps to others, go on when FD can be read" },
	{ "--info-fd", AN, set_fd, PLAN_FD_INFO, 0, "FD", "describe the sandbox on FD" },
	{ "--json-status-fd", AN, set_fd, PLAN_FD_JSON_STATUS, 0, "FD", "describe the sandbox and its end on FD, a line each" },
	{ "--new-session", NONE, set_setting, PLAN_NEW_SESSION, 0, "", "a terminal session of its own" },
	{ "--die-with-parent", NONE, set_setting, PLAN_DIE_WITH_PARENT, 0, "", "kill the sandbox when the caller dies" },
	{ "--as-pid-1", NONE, set_setting, PLAN_AS_PID_1, 0, "", "COMMAND itself is process 1 (needs --unshare-pid)" },
	{ "--cap-add", AN, fold_cap, 1, 0, "CAP", "let COMMAND have the capability CAP, or ALL" },
	{ "--cap-drop", AN, fold_cap, 0, 0, "CAP", "take the capability CAP, or ALL, from COMMAND" },
	{ "--perms", AN, set_perms, 0, 0, "OCTAL", "mode of the next option's file" },
	{ "--size", AN, set_size, 0, 0, "BYTES", "size limit of the --tmpfs that follows" },
	{ "--chmod", TWO, add_chmod, OP_CHMOD, 0, "OCTAL PATH", "set the mode of PATH, which must exist" },
};
/* clang-format on */

#define N_OPTIONS (sizeof(options) / sizeof(options[0]))

const struct bwrap_option *bwrap_option_find(const char *name)
{
	for (size_t i = 0; i < N_OPTIONS; i++) {
		if (strcmp(name, options[i].name) == 0)
			return &options[i];
	}
	return NULL;
}

const char *bwrap_option_name(size_t i)
{
	return i < N_OPTIONS ? options[i].name : NULL;
}

int bwrap_usage(const char *argv0, struct buf *out, struct hb_error *err)
{
	(void)buf_add_fmt(out,
			  "usage: %s [OPTIONS...] [--] COMMAND [ARGS...]\n\n",
			  argv0 ? argv0 : "bwrap");
	for (size_t i = 0; i < N_OPTIONS; i++) {
		const struct bwrap_option *o = &options[i];
		size_t width = strlen(o->name) + 1 + strlen(o->args);

		(void)buf_add_fmt(out, "    %s %s", o->name, o->args);
		(void)buf_add_fill(out, ' ',
				   width < HELP_COLUMN ? HELP_COLUMN - width
						       : 1);
		(void)buf_add_fmt(out, "%s\n", o->help);
	}
	if (out->error)
		return hb_fail(err, out->error, "cannot write the usage");
	return 0;
}
