/* SPDX-License-Identifier: Apache-2.0 */
#include "bwrap_parsed.h"

/* Every complaint there is, in bubblewrap's words. */
static const struct {
	const char *line;
	const char *words;
} complaints[] = {
	{ "-", "Unknown option -" },
	{ "-x", "Unknown option -x" },
	{ "--unshare", "Unknown option --unshare" },
	{ "--bind=/a", "Unknown option --bind=/a" },
	{ "--args", "--args takes an argument" },
	{ "--args x c", "Invalid fd: x" },
	{ "--args 8 c", "Can't read --args data" },
	{ "--argv0", "--argv0 takes one argument" },
	{ "--argv0 a --argv0 a c", "--argv0 used multiple times" },
	{ "--chdir", "--chdir takes one argument" },
	{ "--remount-ro", "--remount-ro takes one argument" },
	{ "--bind /a", "--bind takes two arguments" },
	{ "--bind-try /a", "--bind-try takes two arguments" },
	{ "--ro-bind", "--ro-bind takes two arguments" },
	{ "--dev-bind-try /a", "--dev-bind-try takes two arguments" },
	{ "--bind-fd 3", "--bind-fd takes two arguments" },
	{ "--overlay-src", "--overlay-src takes an argument" },
	{ "--overlay-src a --overlay u w", "--overlay takes three arguments" },
	{ "--overlay u w d c",
	  "--overlay requires at least one --overlay-src" },
	{ "--tmp-overlay d c",
	  "--tmp-overlay requires at least one --overlay-src" },
	{ "--overlay-src a --ro-overlay d c",
	  "--ro-overlay requires at least two --overlay-src" },
	{ "--overlay-src a --dir d c",
	  "--overlay-src must be followed by another --overlay-src or one of --overlay, --tmp-overlay, or --ro-overlay" },
	{ "--overlay-src a c",
	  "--overlay-src must be followed by another --overlay-src or one of --overlay, --tmp-overlay, or --ro-overlay" },
	{ "--proc", "--proc takes an argument" },
	{ "--exec-label", "--exec-label takes an argument" },
	{ "--exec-label l c", "labeling not supported on this system" },
	{ "--file-label l c", "labeling not supported on this system" },
	{ "--file 3", "--file takes two arguments" },
	{ "--file -1 /a c", "Invalid fd: -1" },
	{ "--file 3x /a c", "Invalid fd: 3x" },
	{ "--file '' /a c", "Invalid fd: " },
	{ "--bind-data 99999999999999999999 /a c",
	  "Invalid fd: 99999999999999999999" },
	{ "--ro-bind-data 4294967296 /a c", "Invalid fd: 4294967296" },
	{ "--bind-fd x /a c", "Invalid fd: x" },
	{ "--symlink a", "--symlink takes two arguments" },
	{ "--sync-fd x c", "Invalid fd: x" },
	{ "--seccomp x c", "Invalid fd: x" },
	{ "--add-seccomp-fd x c", "Invalid fd: x" },
	{ "--seccomp 3 --add-seccomp-fd 4 c",
	  "--add-seccomp-fd cannot be combined with --seccomp" },
	{ "--add-seccomp-fd 4 --seccomp 3 c",
	  "--seccomp cannot be combined with --add-seccomp-fd" },
	{ "--setenv A", "--setenv takes two arguments" },
	{ "--setenv A=B c c", "setenv failed" },
	{ "--setenv '' c c", "setenv failed" },
	{ "--unsetenv A=B c", "unsetenv failed" },
	{ "--uid x c", "Invalid uid: x" },
	{ "--gid -5 c", "Invalid gid: -5" },
	{ "--cap-add chown c", "unknown cap: chown" },
	{ "--cap-drop 64 c", "unknown cap: 64" },
	{ "--perms 8 --dir /a c", "--perms takes an octal argument <= 07777" },
	{ "--perms '' --dir /a c", "--perms takes an octal argument <= 07777" },
	{ "--perms 10000 --dir /a c",
	  "--perms takes an octal argument <= 07777" },
	{ "--perms -1 --dir /a c", "--perms takes an octal argument <= 07777" },
	{ "--perms 1 --perms 1 --dir /a c",
	  "--perms given twice for the same action" },
	{ "--perms 1 --size 1 --perms 1 --tmpfs /a c",
	  "--perms given twice for the same action" },
	{ "--size 1 --size 1 --tmpfs /a c",
	  "--size given twice for the same action" },
	{ "--perms 0700 --bind /a /a c",
	  "--perms must be followed by an option that creates a file" },
	{ "--perms 0700 --symlink a /a c",
	  "--perms must be followed by an option that creates a file" },
	{ "--size 1 --dir /a c", "--size must be followed by --tmpfs" },
	{ "--size 0 --tmpfs /a c", "--size takes a non-zero number of bytes" },
	{ "--size -1 --tmpfs /a c", "--size takes a non-zero number of bytes" },
	{ "--size 1k --tmpfs /a c", "--size takes a non-zero number of bytes" },
	{ "--size 99999999999999999999 --tmpfs /a c",
	  "--size takes a non-zero number of bytes" },
	{ "--size 9223372036854775808 --tmpfs /a c",
	  "--size (for tmpfs) is limited to 9223372036854775807" },
	{ "--chmod 9 /a c", "--chmod takes an octal argument <= 07777" },
	{ "--chmod 1", "--chmod takes two arguments" },
	{ "--userns-block-fd 3 --info-fd 4 c",
	  "--userns-block-fd requires --unshare-user" },
	{ "--unshare-user --userns-block-fd 3 c",
	  "--userns-block-fd requires --info-fd" },
	{ "--userns 3 --unshare-user c",
	  "--userns not compatible --unshare-user" },
	{ "--userns 3 --unshare-user-try c",
	  "--userns not compatible --unshare-user-try" },
	{ "--userns 3 --unshare-all c",
	  "--userns not compatible --unshare-user-try" },
	{ "--disable-userns c", "--disable-userns requires --unshare-user" },
	{ "--unshare-user --disable-userns --userns-block-fd 3 --info-fd 4 c",
	  "--disable-userns is not compatible with  --userns-block-fd" },
	/* Before the missing command is noticed. */
	{ "--disable-userns", "--disable-userns requires --unshare-user" },
	{ "--hostname h c", "Specifying --hostname requires --unshare-uts" },
	{ "--as-pid-1 c", "Specifying --as-pid-1 requires --unshare-pid" },
	{ "--unshare-pid --as-pid-1 --lock-file /l c",
	  "Specifying --as-pid-1 and --lock-file is not permitted" },
};

static void complaints_have_bubblewraps_words(void)
{
	for (size_t i = 0; i < sizeof(complaints) / sizeof(complaints[0]);
	     i++) {
		struct parsed p = { 0 };

		parse_line(&p, complaints[i].line);
		CHECK(p.r < 0);
		if (strcmp(p.err.text, complaints[i].words) != 0)
			printf("# '%s' gives '%s'\n", complaints[i].line,
			       p.err.text);
		IS(p.err.text, complaints[i].words);
		CHECK_INT(p.err.code, strstr(p.err.text, "Can't read")
					      ? EBADF
					      : HB_E_USAGE);
		plan_done(&p.plan);
	}
}

static void every_option_says_what_it_takes(void)
{
	const char *name;
	size_t n = 0, without = 0;

	for (; (name = bwrap_option_name(n)); n++) {
		struct parsed p = { 0 };

		parse_line(&p, name);
		if (p.r < 0 && strstr(p.err.text, " takes ")) {
			CHECK(strncmp(p.err.text, name, strlen(name)) == 0);
		} else {
			without++;
		}
		plan_done(&p.plan);
	}
	CHECK_INT(n, 67);
	CHECK_INT(without, 19);
}

static void cgroups_that_are_missing_are_an_error_by_name(void)
{
	struct parsed p = { .no_cgroup = true };

	parse_line(&p, "--unshare-cgroup c");
	CHECK_INT(p.r, -HB_E_USAGE);
	IS(p.err.text,
	   "Cannot create new cgroup namespace because the kernel does not support it");
	plan_done(&p.plan);
}

static void ids_need_a_map(void)
{
	static const struct {
		const char *line;
		const char *words; /* NULL: right */
	} rows[] = {
		{ "--uid 5 c",
		  "Specifying --uid requires --unshare-user or --userns" },
		{ "--gid 5 c",
		  "Specifying --gid requires --unshare-user or --userns" },
		{ "--uid 0 --gid 7 c", NULL },
		{ "--unshare-user --uid 5 --gid 5 c", NULL },
		{ "--unshare-user-try --uid 5 --gid 5 c", NULL },
		{ "--userns 3 --uid 5 --gid 5 c", NULL },
	};
	struct parsed p;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		p = (struct parsed){ .world = { .is_root = true, .gid = 7 } };
		parse_line(&p, rows[i].line);
		CHECK_INT(p.r, rows[i].words ? -HB_E_USAGE : 0);
		if (rows[i].words)
			IS(p.err.text, rows[i].words);
		plan_done(&p.plan);
	}
	p = accepted("--uid 5 --gid 6 c");
	CHECK_INT(p.plan.uid, 5);
	CHECK_INT(p.plan.gid, 6);
	plan_done(&p.plan);
}

static void what_is_given_twice_warns(void)
{
	static const char *const names[] = {
		"--chdir",    "--sync-fd",	  "--block-fd",
		"--info-fd",  "--json-status-fd", "--seccomp",
		"--userns2",  "--pidns",	  "--uid",
		"--gid",      "--userns",	  "--userns-block-fd",
		"--hostname",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char line[128], want[96];
		struct parsed p = { 0 };

		(void)snprintf(line, sizeof(line),
			       "--level-prefix %s 3 %s 4 --version", names[i],
			       names[i]);
		(void)snprintf(want, sizeof(want),
			       "Only the last %s option will take effect\n",
			       names[i]);
		parse_line(&p, line);
		CHECK_INT(p.r, 0);
		IS(p.warnings, want);
		CHECK(p.warned_with_prefix);
		plan_done(&p.plan);
	}
	struct parsed p = accepted("--bind a b --bind a b --dir x --dir x c");
	IS(p.warnings, "");
	plan_done(&p.plan);
}

static void the_prefix_holds_from_its_place_on(void)
{
	struct parsed p = { 0 };

	parse_line(&p, "--chdir a --chdir b --level-prefix --no-such");
	CHECK(!p.warned_with_prefix);
	CHECK(p.call.level_prefix);
	plan_done(&p.plan);

	p = (struct parsed){ 0 };
	parse_line(&p, "--no-such --level-prefix");
	CHECK(!p.call.level_prefix);
	plan_done(&p.plan);
}

static void a_file_obeys_the_same_rules(void)
{
	static const struct {
		const char *file, *line;
		const char *words; /* NULL: right */
	} rows[] = {
		{ "--args\0009\0", "--args 9 c",
		  "--args not supported in arguments file" },
		{ "--dir\0", "--args 9 /x c", "--dir takes an argument" },
		{ "--perms\000700\0", "--args 9 --dir /x c",
		  "--perms must be followed by an option that creates a file" },
		{ "--overlay-src\0a\0", "--args 9 --tmp-overlay /x c",
		  "--overlay-src must be followed by another --overlay-src or one of --overlay, --tmp-overlay, or --ro-overlay" },
		{ "--dir\0/x\0", "--perms 700 --args 9 c", NULL },
		{ "\0", "--args 9 c", NULL },
		{ "--\0--no-such\0", "--args 9 c", NULL },
		{ "prog\0--no-such\0", "--args 9 c", NULL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct parsed p = { .file = rows[i].file };

		parse_line(&p, rows[i].line);
		if (rows[i].words) {
			CHECK(p.r < 0);
			IS(p.err.text, rows[i].words);
		} else {
			CHECK_INT(p.r, 0);
			IS(p.plan.argv[0], "c");
		}
		plan_done(&p.plan);
	}
}

static void nine_thousand_words_are_the_limit(void)
{
	static char word[] = "word", option[] = "--args", fd[] = "9";
	char **argv = calloc(BWRAP_MAX_ARGS + 3, sizeof(*argv));
	struct parsed p = { .file = "--dir\0/x\0" };

	CHECK(argv != NULL);
	for (int i = 0; i < BWRAP_MAX_ARGS + 2; i++)
		argv[i] = word;
	argv[1] = option;
	argv[2] = fd;

	argv[BWRAP_MAX_ARGS - 1] = NULL;
	parse_argv(&p, BWRAP_MAX_ARGS - 1, argv);
	CHECK_INT(p.r, 0);
	plan_done(&p.plan);

	argv[BWRAP_MAX_ARGS - 1] = word;
	argv[BWRAP_MAX_ARGS] = NULL;
	parse_argv(&p, BWRAP_MAX_ARGS, argv);
	CHECK_INT(p.r, -HB_E_USAGE);
	IS(p.err.text, "Exceeded maximum number of arguments 9000");
	plan_done(&p.plan);

	p = (struct parsed){ 0 };
	argv[1] = word;
	argv[BWRAP_MAX_ARGS] = word;
	argv[BWRAP_MAX_ARGS + 1] = NULL;
	parse_argv(&p, BWRAP_MAX_ARGS + 1, argv);
	CHECK_INT(p.r, 0);
	plan_done(&p.plan);

	argv[BWRAP_MAX_ARGS + 1] = word;
	argv[BWRAP_MAX_ARGS + 2] = NULL;
	parse_argv(&p, BWRAP_MAX_ARGS + 2, argv);
	CHECK_INT(p.r, -HB_E_USAGE);
	plan_done(&p.plan);
	free(argv);
}

TESTS(T(complaints_have_bubblewraps_words), T(every_option_says_what_it_takes),
      T(cgroups_that_are_missing_are_an_error_by_name), T(ids_need_a_map),
      T(what_is_given_twice_warns), T(the_prefix_holds_from_its_place_on),
      T(a_file_obeys_the_same_rules), T(nine_thousand_words_are_the_limit))
