/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop over the words of a bubblewrap command line, and the checks after
 * the last word.
 *
 * (a) Options are whole words and match exactly; the first other word is the
 *     command, and "--" ends the options.
 * (b) A modifier belongs to the very next option that can take it.  A modifier
 *     left behind is an error, except --perms and --size right before the
 *     command, which bubblewrap lets pass.
 * (c) The order of the last checks is bubblewrap's, so that a call which is
 *     wrong in two ways gets the same complaint.
 */
#include "plan/bwrap/bwrap_grammar.h"

#include "base/auto.h"
#include "base/error.h"

#include <string.h>

static const struct {
	size_t n;
	const char *words;
} arities[] = {
	[NONE] = { 0, "no argument" },	    [AN] = { 1, "an argument" },
	[ONE] = { 1, "one argument" },	    [TWO] = { 2, "two arguments" },
	[THREE] = { 3, "three arguments" },
};

static const char left_layers[] =
	"--overlay-src must be followed by another --overlay-src or one of --overlay, --tmp-overlay, or --ro-overlay";

static int check_count(size_t n_words, struct hb_error *err)
{
	if (n_words > BWRAP_MAX_ARGS)
		return hb_fail(err, -HB_E_USAGE,
			       "Exceeded maximum number of arguments %u",
			       BWRAP_MAX_ARGS);
	return 0;
}

/* Whether `name` left a modifier behind that was not for it. */
static int check_modifiers(const struct bwrap_state *s, const char *name,
			   struct hb_error *err)
{
	bool is_modifier =
		strcmp(name, "--perms") == 0 || strcmp(name, "--size") == 0;

	if (!is_modifier && s->perms >= 0)
		return hb_fail(
			err, -HB_E_USAGE,
			"--perms must be followed by an option that creates a file");
	if (!is_modifier && s->size)
		return hb_fail(err, -HB_E_USAGE,
			       "--size must be followed by --tmpfs");
	if (s->n_layers && strcmp(name, "--overlay-src") != 0)
		return hb_fail(err, -HB_E_USAGE, "%s", left_layers);
	return 0;
}

static int parse_file(struct bwrap_state *s, int fd, struct hb_error *err);

static int parse_words(struct bwrap_state *s, size_t n, char *const *words,
		       size_t *ret_used, struct hb_error *err)
{
	size_t i = 0;
	int r;

	while (i < n && words[i][0] == '-' && strcmp(words[i], "--") != 0) {
		const struct bwrap_option *o = bwrap_option_find(words[i]);

		if (!o)
			return hb_fail(err, -HB_E_USAGE, "Unknown option %s",
				       words[i]);
		if (n - i - 1 < arities[o->arity].n)
			return hb_fail(err, -HB_E_USAGE, "%s takes %s", o->name,
				       arities[o->arity].words);
		r = o->apply(s, o, words + i + 1, err);
		if (r == 0 && s->has_args) {
			s->has_args = false;
			r = parse_file(s, s->args_fd, err);
		}
		if (r != 0)
			return r;
		r = check_modifiers(s, o->name, err);
		if (r < 0)
			return r;
		i += 1 + arities[o->arity].n;
	}
	if (i < n && strcmp(words[i], "--") == 0)
		i++;
	*ret_used = i;
	return 0;
}

/* The strings that begin in `data`, each ended by a NUL or by the end. */
static size_t count_strings(const char *data, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i += strlen(data + i) + 1)
		n++;
	return n;
}

static int parse_file(struct bwrap_state *s, int fd, struct hb_error *err)
{
	auto_free char **words = NULL;
	char *data = NULL;
	size_t len, n, used, i = 0;
	int r;

	/* Not asked for words of its own: bubblewrap's are these alone. */
	r = s->world->read_fd(s->world->ctx, fd, &data, &len, NULL);
	if (r < 0)
		return hb_fail(err, r, "Can't read --args data");
	r = plan_keep(s->plan, data, err);
	if (r < 0)
		return r;

	n = count_strings(data, len);
	s->n_words += n;
	r = check_count(s->n_words, err);
	if (r < 0)
		return r;
	words = calloc(n + 1, sizeof(*words));
	if (!words)
		return hb_fail(err, -ENOMEM, "Can't read --args data");
	for (size_t at = 0; at < len; at += strlen(data + at) + 1)
		words[i++] = data + at;

	s->in_file = true;
	r = parse_words(s, i, words, &used, err);
	s->in_file = false;
	return r;
}

/* Contradictions among what was asked for by name. */
static int check_requests(const struct bwrap_state *s, struct hb_error *err)
{
	const int *fds = s->plan->fds;
	bool user = s->ns & PLAN_NS_USER;
	bool blocks = fds[PLAN_FD_USERNS_BLOCK] != -1;
	bool joins = fds[PLAN_FD_USERNS] != -1;
	bool disables = s->plan->settings & PLAN_NO_USERNS;
	const struct {
		bool wrong;
		const char *words;
	} checks[] = {
		{ blocks && !user,
		  "--userns-block-fd requires --unshare-user" },
		{ blocks && fds[PLAN_FD_INFO] == -1,
		  "--userns-block-fd requires --info-fd" },
		{ joins && user, "--userns not compatible --unshare-user" },
		{ joins && (s->ns_try & PLAN_NS_USER),
		  "--userns not compatible --unshare-user-try" },
		{ disables && !user,
		  "--disable-userns requires --unshare-user" },
		{ disables && blocks,
		  "--disable-userns is not compatible with  --userns-block-fd" },
	};

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		if (checks[i].wrong)
			return hb_fail(err, -HB_E_USAGE, "%s", checks[i].words);
	}
	return 0;
}

/* What the host allows and what is implied decide the user namespace. */
static void settle_user(struct bwrap_state *s)
{
	const struct bwrap_world *world = s->world;

	bool is_implied = !world->is_root && s->plan->fds[PLAN_FD_USERNS] == -1;

	if (is_implied ||
	    ((s->ns_try & PLAN_NS_USER) && world->can_unshare_user(world->ctx)))
		s->ns |= PLAN_NS_USER;
}

/* Contradictions with what it will be. */
static int check_settled(const struct bwrap_state *s, struct hb_error *err)
{
	const struct plan *plan = s->plan;
	bool maps = (s->ns & PLAN_NS_USER) || plan->fds[PLAN_FD_USERNS] != -1;
	bool as_pid_1 = plan->settings & PLAN_AS_PID_1;
	const struct {
		bool wrong;
		const char *words;
	} checks[] = {
		/* Without a map the caller is root: its ids are 0 and gid. */
		{ !maps && plan->uid > 0,
		  "Specifying --uid requires --unshare-user or --userns" },
		{ !maps && plan->gid != -1 && plan->gid != s->world->gid,
		  "Specifying --gid requires --unshare-user or --userns" },
		{ s->has_hostname && !(s->ns & PLAN_NS_UTS),
		  "Specifying --hostname requires --unshare-uts" },
		{ as_pid_1 && !(s->ns & PLAN_NS_PID),
		  "Specifying --as-pid-1 requires --unshare-pid" },
		{ as_pid_1 && plan->n_lock_files,
		  "Specifying --as-pid-1 and --lock-file is not permitted" },
	};

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		if (checks[i].wrong)
			return hb_fail(err, -HB_E_USAGE, "%s", checks[i].words);
	}
	return 0;
}

static int settle_cgroup(struct bwrap_state *s, struct hb_error *err)
{
	const struct bwrap_world *world = s->world;
	unsigned asked = (s->ns | s->ns_try) & PLAN_NS_CGROUP;

	if (!asked)
		return 0;
	if (world->can_unshare_cgroup(world->ctx))
		s->ns |= PLAN_NS_CGROUP;
	else if (s->ns & PLAN_NS_CGROUP)
		return hb_fail(
			err, -HB_E_USAGE,
			"Cannot create new cgroup namespace because the kernel does not support it");
	return 0;
}

/* The plan from the state; `command` is what the options left over. */
static int finish(struct bwrap_state *s, char *const *command,
		  struct hb_error *err)
{
	int r;

	if (s->n_layers)
		return hb_fail(err, -HB_E_USAGE, "%s", left_layers);
	r = check_requests(s, err);
	if (r < 0)
		return r;
	settle_user(s);
	if (!command[0]) {
		s->call->request = BWRAP_USAGE;
		return 0;
	}
	r = check_settled(s, err);
	if (r < 0)
		return r;
	r = settle_cgroup(s, err);
	if (r < 0)
		return r;
	if (s->seccomp_fd != -1) {
		r = plan_add_filter_fd(s->plan, s->seccomp_fd, err);
		if (r < 0)
			return r;
	}
	s->plan->ns = s->ns;
	s->plan->argv = command;
	return 0;
}

int bwrap_parse(int argc, char *const argv[], const struct bwrap_world *world,
		struct plan *plan, struct bwrap_call *ret_call,
		struct hb_error *err)
{
	struct bwrap_state s = {
		.world = world,
		.plan = plan,
		.call = ret_call,
		.n_words = argc > 1 ? (size_t)argc - 1 : 0,
		.seccomp_fd = -1,
		.perms = -1,
	};
	size_t used;
	int r;

	*ret_call = (struct bwrap_call){ .request = BWRAP_RUN };
	if (s.n_words == 0) {
		ret_call->request = BWRAP_USAGE;
		return 0;
	}
	plan->settings |= PLAN_KEEP_ROOT_RW;
	plan->caps_keep = UINT64_MAX;

	r = check_count(s.n_words, err);
	if (r < 0)
		return r;
	r = parse_words(&s, s.n_words, argv + 1, &used, err);
	if (r != 0)
		return r < 0 ? r : 0;
	return finish(&s, argv + 1 + used, err);
}
