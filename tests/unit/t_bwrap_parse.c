/* SPDX-License-Identifier: Apache-2.0 */
#include "bwrap_parsed.h"

#include "base/buf.h"
#include "plan/cap_names.h"

static struct plan_op only_op(const char *line, enum plan_op_kind kind)
{
	struct parsed p = accepted(line);
	struct plan_op op;

	CHECK_INT(p.plan.n_ops, 1);
	op = p.plan.ops[0];
	CHECK_INT(op.kind, kind);
	plan_done(&p.plan);
	return op;
}

static void the_first_other_word_is_the_command(void)
{
	struct parsed p = accepted("--unshare-ipc prog --unshare-pid");

	CHECK_INT(p.plan.ns, PLAN_NS_USER | PLAN_NS_IPC);
	IS(p.plan.argv[0], "prog");
	IS(p.plan.argv[1], "--unshare-pid");
	CHECK(p.plan.argv[2] == NULL);
	plan_done(&p.plan);

	p = accepted("-- --prog");
	IS(p.plan.argv[0], "--prog");
	plan_done(&p.plan);

	p = accepted("''");
	IS(p.plan.argv[0], "");
	plan_done(&p.plan);
}

static void requests_end_the_parse(void)
{
	static const struct {
		const char *line;
		enum bwrap_request want;
	} rows[] = {
		{ "", BWRAP_USAGE },
		{ "--", BWRAP_USAGE },
		{ "--unshare-pid", BWRAP_USAGE },
		{ "--help --no-such", BWRAP_HELP },
		{ "--version", BWRAP_VERSION },
		{ "--dir /a --version --no-such", BWRAP_VERSION },
		/* The missing command is noticed before these. */
		{ "--hostname h", BWRAP_USAGE },
		{ "--as-pid-1", BWRAP_USAGE },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct parsed p = { 0 };

		parse_line(&p, rows[i].line);
		CHECK_INT(p.r, 0);
		CHECK_INT(p.call.request, rows[i].want);
		plan_done(&p.plan);
	}
}

static void binds_differ_in_their_flags(void)
{
	static const struct {
		const char *line;
		unsigned flags;
	} rows[] = {
		{ "--bind /s /d c", 0 },
		{ "--bind-try /s /d c", PLAN_TRY },
		{ "--ro-bind /s /d c", PLAN_RO },
		{ "--ro-bind-try /s /d c", PLAN_RO | PLAN_TRY },
		{ "--dev-bind /s /d c", PLAN_DEVICES },
		{ "--dev-bind-try /s /d c", PLAN_DEVICES | PLAN_TRY },
	};
	struct plan_op op;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		op = only_op(rows[i].line, OP_BIND);
		CHECK_INT(op.flags, rows[i].flags);
		IS(op.source, "/s");
		IS(op.dest, "/d");
		CHECK_INT(op.fd, -1);
	}
	op = only_op("--bind-fd 7 /d c", OP_BIND_FD);
	CHECK_INT(op.flags, 0);
	CHECK_INT(op.fd, 7);
	IS(op.dest, "/d");
	CHECK_INT(only_op("--ro-bind-fd 7 /d c", OP_BIND_FD).flags, PLAN_RO);
}

static void plain_operations_have_a_destination(void)
{
	static const struct {
		const char *line;
		enum plan_op_kind kind;
	} rows[] = {
		{ "--remount-ro /d c", OP_REMOUNT_RO },
		{ "--proc /d c", OP_PROC },
		{ "--dev /d c", OP_DEV },
		{ "--mqueue /d c", OP_MQUEUE },
		{ "--tmpfs /d c", OP_TMPFS },
		{ "--dir /d c", OP_DIR },
		{ "--file 3 /d c", OP_FILE },
		{ "--bind-data 3 /d c", OP_BIND_DATA },
		{ "--ro-bind-data 3 /d c", OP_BIND_DATA },
		{ "--symlink t /d c", OP_SYMLINK },
		{ "--chmod 1 /d c", OP_CHMOD },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		IS(only_op(rows[i].line, rows[i].kind).dest, "/d");
	IS(only_op("--symlink t /d c", OP_SYMLINK).source, "t");
	IS(only_op("--unshare-uts --hostname h c", OP_HOSTNAME).source, "h");
}

static void modes_and_sizes_have_defaults(void)
{
	static const struct {
		const char *line;
		enum plan_op_kind kind;
		unsigned flags;
		unsigned perms;
		uint64_t size;
	} rows[] = {
		{ "--tmpfs /d c", OP_TMPFS, 0, 0755, 0 },
		{ "--dir /d c", OP_DIR, 0, 0755, 0 },
		{ "--file 3 /d c", OP_FILE, 0, 0666, 0 },
		{ "--bind-data 3 /d c", OP_BIND_DATA, 0, 0600, 0 },
		{ "--ro-bind-data 3 /d c", OP_BIND_DATA, PLAN_RO, 0600, 0 },
		{ "--perms 0 --dir /d c", OP_DIR, PLAN_HAS_PERMS, 0, 0 },
		{ "--perms 1777 --size 0x10 --tmpfs /d c", OP_TMPFS,
		  PLAN_HAS_PERMS, 01777, 16 },
		{ "--size 4096 --perms 7 --tmpfs /d c", OP_TMPFS,
		  PLAN_HAS_PERMS, 7, 4096 },
		{ "--size 9223372036854775807 --tmpfs /d c", OP_TMPFS, 0, 0755,
		  INT64_MAX },
		{ "--perms 640 --file 3 /d c", OP_FILE, PLAN_HAS_PERMS, 0640,
		  0 },
		{ "--perms 640 --ro-bind-data 3 /d c", OP_BIND_DATA,
		  PLAN_RO | PLAN_HAS_PERMS, 0640, 0 },
		{ "--chmod 4755 /d c", OP_CHMOD, PLAN_HAS_PERMS, 04755, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct plan_op op = only_op(rows[i].line, rows[i].kind);

		CHECK_INT(op.flags, rows[i].flags);
		CHECK_INT(op.perms, rows[i].perms);
		CHECK_INT(op.size, rows[i].size);
	}
}

static void a_modifier_serves_one_option(void)
{
	struct parsed p = accepted(
		"--perms 700 --size 9 --tmpfs /a --tmpfs /b --dir /c c");

	CHECK_INT(p.plan.ops[0].perms, 0700);
	CHECK_INT(p.plan.ops[0].size, 9);
	CHECK_INT(p.plan.ops[1].perms, 0755);
	CHECK_INT(p.plan.ops[1].size, 0);
	CHECK_INT(p.plan.ops[2].perms, 0755);
	plan_done(&p.plan);

	p = accepted("--perms 700 c");
	CHECK_INT(p.plan.n_ops, 0);
	plan_done(&p.plan);
}

static void overlays_take_the_layers_before_them(void)
{
	struct parsed p = accepted(
		"--overlay-src a --overlay-src b --overlay u w /1 --overlay-src c --tmp-overlay /2 --overlay-src d --overlay-src e --ro-overlay /3 c");
	const struct plan_op *op = p.plan.ops;

	CHECK_INT(p.plan.n_ops, 3);
	CHECK_INT(op[0].kind, OP_OVERLAY);
	CHECK_INT(op[0].flags, 0);
	CHECK_INT(op[0].first_layer, 0);
	CHECK_INT(op[0].n_layers, 2);
	IS(op[0].upper, "u");
	IS(op[0].work, "w");
	IS(op[0].dest, "/1");
	IS(p.plan.layers[0], "a");
	IS(p.plan.layers[1], "b");
	CHECK_INT(op[1].flags, PLAN_OVERLAY_TMP);
	CHECK_INT(op[1].first_layer, 2);
	CHECK_INT(op[1].n_layers, 1);
	CHECK(op[1].upper == NULL);
	IS(op[1].dest, "/2");
	CHECK_INT(op[2].flags, PLAN_OVERLAY_RO);
	CHECK_INT(op[2].first_layer, 3);
	CHECK_INT(op[2].n_layers, 2);
	IS(op[2].dest, "/3");
	IS(p.plan.layers[4], "e");
	plan_done(&p.plan);
}

static void descriptors_go_where_they_belong(void)
{
	static const struct {
		const char *line;
		enum plan_fd which;
	} rows[] = {
		{ "--userns 5 c", PLAN_FD_USERNS },
		{ "--userns2 5 c", PLAN_FD_USERNS2 },
		{ "--pidns 5 c", PLAN_FD_PIDNS },
		{ "--sync-fd 5 c", PLAN_FD_SYNC },
		{ "--block-fd 5 c", PLAN_FD_BLOCK },
		{ "--unshare-user --info-fd 4 --userns-block-fd 5 c",
		  PLAN_FD_USERNS_BLOCK },
		{ "--info-fd 5 c", PLAN_FD_INFO },
		{ "--json-status-fd 5 c", PLAN_FD_JSON_STATUS },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct parsed p = accepted(rows[i].line);

		for (int fd = 0; fd < PLAN_FD_COUNT; fd++) {
			if (fd == (int)rows[i].which)
				CHECK_INT(p.plan.fds[fd], 5);
			else
				CHECK(p.plan.fds[fd] != 5);
		}
		plan_done(&p.plan);
	}
}

static void namespaces_as_root(void)
{
	static const struct {
		const char *line;
		unsigned ns;
		bool no_userns, no_cgroup;
	} rows[] = {
		{ "c", 0, false, false },
		{ "--unshare-user c", PLAN_NS_USER, true, false },
		{ "--unshare-user-try c", PLAN_NS_USER, false, false },
		{ "--unshare-user-try c", 0, true, false },
		{ "--unshare-ipc c", PLAN_NS_IPC, false, false },
		{ "--unshare-pid c", PLAN_NS_PID, false, false },
		{ "--unshare-net c", PLAN_NS_NET, false, false },
		{ "--unshare-uts c", PLAN_NS_UTS, false, false },
		{ "--unshare-cgroup c", PLAN_NS_CGROUP, false, false },
		{ "--unshare-cgroup-try c", PLAN_NS_CGROUP, false, false },
		{ "--unshare-cgroup-try c", 0, false, true },
		{ "--unshare-all c", 0x3f, false, false },
		{ "--unshare-all c", 0x3f & ~(PLAN_NS_USER | PLAN_NS_CGROUP),
		  true, true },
		{ "--unshare-all --share-net c", 0x3f & ~PLAN_NS_NET, false,
		  false },
		{ "--share-net --unshare-all c", 0x3f, false, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct parsed p = { .world.is_root = true,
				    .no_userns = rows[i].no_userns,
				    .no_cgroup = rows[i].no_cgroup };

		parse_line(&p, rows[i].line);
		CHECK_INT(p.r, 0);
		CHECK_INT(p.plan.ns, rows[i].ns);
		CHECK_INT(p.plan.ns_try, 0);
		plan_done(&p.plan);
	}
}

static void others_get_a_user_namespace_unasked(void)
{
	struct parsed p = { .no_userns = true };

	parse_line(&p, "c");
	CHECK_INT(p.r, 0);
	CHECK_INT(p.plan.ns, PLAN_NS_USER);
	plan_done(&p.plan);

	p = accepted("--userns 3 c");
	CHECK_INT(p.plan.ns, 0);
	plan_done(&p.plan);
}

static void settings_and_scalars_are_set(void)
{
	static const struct {
		const char *line;
		unsigned settings;
	} rows[] = {
		{ "c", 0 },
		{ "--new-session c", PLAN_NEW_SESSION },
		{ "--die-with-parent c", PLAN_DIE_WITH_PARENT },
		{ "--unshare-pid --as-pid-1 c", PLAN_AS_PID_1 },
		{ "--unshare-user --disable-userns c", PLAN_NO_USERNS },
		{ "--assert-userns-disabled c", PLAN_PROVE_NO_USERNS },
	};
	struct parsed p;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		p = accepted(rows[i].line);
		CHECK_INT(p.plan.settings,
			  rows[i].settings | PLAN_KEEP_ROOT_RW);
		plan_done(&p.plan);
	}
	p = accepted("--chdir /x --argv0 -me --lock-file /1 --lock-file /2 c");
	IS(p.plan.chdir, "/x");
	IS(p.plan.argv0, "-me");
	CHECK_INT(p.plan.n_lock_files, 2);
	IS(p.plan.lock_files[1], "/2");
	plan_done(&p.plan);
}

static void filters_replace_or_add_up(void)
{
	struct parsed p = accepted("--seccomp 3 --seccomp 4 c");

	CHECK_INT(p.plan.n_filter_fds, 1);
	CHECK_INT(p.plan.filter_fds[0], 4);
	plan_done(&p.plan);

	p = accepted("--add-seccomp-fd 3 --add-seccomp-fd 4 c");
	CHECK_INT(p.plan.n_filter_fds, 2);
	CHECK_INT(p.plan.filter_fds[0], 3);
	CHECK_INT(p.plan.filter_fds[1], 4);
	plan_done(&p.plan);
}

static void the_environment_is_a_list_of_changes(void)
{
	struct parsed p = accepted(
		"--setenv A b --unsetenv C --clearenv --setenv D '' c");

	CHECK_INT(p.plan.n_env, 4);
	CHECK_INT(p.plan.env[0].kind, ENV_SET);
	IS(p.plan.env[0].name, "A");
	IS(p.plan.env[0].value, "b");
	CHECK_INT(p.plan.env[1].kind, ENV_UNSET);
	IS(p.plan.env[1].name, "C");
	CHECK_INT(p.plan.env[2].kind, ENV_CLEAR);
	CHECK_INT(p.plan.env[3].kind, ENV_SET);
	IS(p.plan.env[3].value, "");
	plan_done(&p.plan);
}

static void capabilities_fold_in_order(void)
{
	static const struct {
		const char *line;
		uint64_t keep, add;
	} rows[] = {
		{ "c", UINT64_MAX, 0 },
		{ "--cap-add CAP_KILL c", UINT64_MAX, 1 << 5 },
		{ "--cap-add cap_kill --cap-drop Cap_Kill c",
		  ~(UINT64_C(1) << 5), 0 },
		{ "--cap-drop all --cap-add cap_checkpoint_restore c", 0,
		  UINT64_C(1) << 40 },
		{ "--cap-add ALL --cap-drop cap_chown c", UINT64_MAX - 1,
		  UINT64_MAX - 1 },
		{ "--cap-add 63 c", UINT64_MAX, UINT64_C(1) << 63 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct parsed p = accepted(rows[i].line);

		CHECK(p.plan.caps_keep == rows[i].keep);
		CHECK(p.plan.caps_add == rows[i].add);
		plan_done(&p.plan);
	}
}

static void capability_names_go_both_ways(void)
{
	int n = 0;

	while (cap_name(n)) {
		CHECK_INT(cap_number(cap_name(n)), n);
		n++;
	}
	CHECK_INT(n, 41);
	CHECK_INT(cap_number("cap_sys_admin"), 21);
	CHECK_INT(cap_number("CAP_SETFCAP"), 31);
	CHECK_INT(cap_number("7x"), -1);
	CHECK(cap_name(-1) == NULL);
}

static void words_from_a_file_stand_in_its_place(void)
{
	struct parsed p = { .file = "--dir\0/b\0--symlink\0t\0/c\0prog\0" };

	parse_line(&p, "--dir /a --args 9 --dir /d c");
	CHECK_INT(p.r, 0);
	CHECK_INT(p.plan.n_ops, 4);
	IS(p.plan.ops[0].dest, "/a");
	IS(p.plan.ops[1].dest, "/b");
	IS(p.plan.ops[2].source, "t");
	IS(p.plan.ops[2].dest, "/c");
	IS(p.plan.ops[3].dest, "/d");
	IS(p.plan.argv[0], "c");
	plan_done(&p.plan);
}

static void the_usage_names_every_option(void)
{
	struct buf out;
	const char *name;

	buf_init(&out, 1 << 16);
	CHECK_INT(bwrap_usage("x/bwrap", &out, NULL), 0);
	CHECK(strncmp(buf_str(&out),
		      "usage: x/bwrap [OPTIONS...] [--] COMMAND [ARGS...]\n\n",
		      51) == 0);
	for (size_t i = 0; (name = bwrap_option_name(i)); i++) {
		char row[64];

		(void)snprintf(row, sizeof(row), "\n    %s ", name);
		CHECK(strstr(buf_str(&out), row) != NULL);
	}
	buf_done(&out);

	buf_init(&out, 100);
	CHECK_INT(bwrap_usage("bwrap", &out, NULL), -E2BIG);
	buf_done(&out);
}

TESTS(T(the_first_other_word_is_the_command), T(requests_end_the_parse),
      T(binds_differ_in_their_flags), T(plain_operations_have_a_destination),
      T(modes_and_sizes_have_defaults), T(a_modifier_serves_one_option),
      T(overlays_take_the_layers_before_them),
      T(descriptors_go_where_they_belong), T(namespaces_as_root),
      T(others_get_a_user_namespace_unasked), T(settings_and_scalars_are_set),
      T(filters_replace_or_add_up), T(the_environment_is_a_list_of_changes),
      T(capabilities_fold_in_order), T(capability_names_go_both_ways),
      T(words_from_a_file_stand_in_its_place), T(the_usage_names_every_option))
