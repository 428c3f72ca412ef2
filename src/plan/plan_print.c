/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan for reading, as lines or as JSON.  Both come from one walk, so that
 * neither can show what the other leaves out:
 *
 *	bind source="/usr" dest="/usr" flags=ro	an operation
 *	setenv name="A" value="b"		a change of the environment
 *	namespaces user,pid			a setting
 *
 * Names are always quoted, because any byte may stand in one.  The plan does
 * not tell what the environment outside is, so that is not printed.
 */
#include "plan/plan_print.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/quote.h"
#include "plan/cap_names.h"

#include <stdio.h>
#include <string.h>

/* A bit without a name is printed as a number, never left out. */
struct bit_name {
	unsigned bit;
	const char *name;
};

static const struct bit_name flag_names[] = {
	{ PLAN_RO, "ro" },
	{ PLAN_DEVICES, "devices" },
	{ PLAN_TRY, "try" },
	{ PLAN_OVERLAY_TMP, "in-memory" },
	{ PLAN_OVERLAY_RO, "no-upper" },
	{ PLAN_VOLATILE, "volatile" },
	{ PLAN_TEXT, "text" },
	{ PLAN_NOEXEC, "noexec" },
	{ PLAN_MASKED, "masked" },
	{ PLAN_MASK_DIR, "directory" },
	{ PLAN_HOST_PROC, "host-proc" },
	{ PLAN_COVER, "cover" },
	{ PLAN_REAL, "real" },
	{ PLAN_OWN, "own" },
	{ PLAN_OURS, "ours" },
};
static const struct bit_name ns_names[] = {
	{ PLAN_NS_USER, "user" }, { PLAN_NS_IPC, "ipc" },
	{ PLAN_NS_PID, "pid" },	  { PLAN_NS_NET, "net" },
	{ PLAN_NS_UTS, "uts" },	  { PLAN_NS_CGROUP, "cgroup" },
};
static const struct bit_name setting_names[] = {
	{ PLAN_NEW_SESSION, "new-session" },
	{ PLAN_DIE_WITH_PARENT, "die-with-parent" },
	{ PLAN_AS_PID_1, "as-pid-1" },
	{ PLAN_NO_USERNS, "no-userns" },
	{ PLAN_PROVE_NO_USERNS, "prove-no-userns" },
	{ PLAN_FILTER, "filter" },
	{ PLAN_FILTER_NO_PTRACE, "filter-no-ptrace" },
	{ PLAN_FILTER_NESTED, "filter-nested" },
	{ PLAN_FILTER_NO_SETID, "filter-no-setid" },
	{ PLAN_LANDLOCK, "landlock" },
	{ PLAN_JOBS, "jobs" },
	{ PLAN_CLOSE_FDS, "close-fds" },
	{ PLAN_WAIT_ALL, "wait-all" },
	{ PLAN_PROVE, "prove" },
	{ PLAN_KEEP_ROOT_RW, "keep-root-rw" },
	{ PLAN_BARE, "bare" },
	{ PLAN_NO_SOCKETS, "no-sockets" },
	{ PLAN_MAP_ALL, "map-all" },
	{ PLAN_BWRAP_WORDS, "bwrap-words" },
	{ PLAN_LIMITS, "limits" },
	{ PLAN_TTY_REAL, "tty-real" },
	{ PLAN_CLIPBOARD, "clipboard" },
	{ PLAN_RENAMES, "rename-directories" },
	{ PLAN_CALLS, "record-calls" },
	{ PLAN_LOOKS, "record-looks" },
};
static const char *const fd_names[PLAN_FD_COUNT] = {
	[PLAN_FD_USERNS] = "userns-fd",
	[PLAN_FD_USERNS2] = "userns2-fd",
	[PLAN_FD_PIDNS] = "pidns-fd",
	[PLAN_FD_SYNC] = "sync-fd",
	[PLAN_FD_BLOCK] = "block-fd",
	[PLAN_FD_USERNS_BLOCK] = "userns-block-fd",
	[PLAN_FD_INFO] = "info-fd",
	[PLAN_FD_JSON_STATUS] = "json-status-fd",
	[PLAN_FD_DOOR] = "door-fd",
	[PLAN_FD_LENT] = "lent-fd",
	[PLAN_FD_TURNS] = "turns-fd",
};
static const char *const env_names[] = {
	[ENV_SET] = "setenv",
	[ENV_UNSET] = "unsetenv",
	[ENV_CLEAR] = "clearenv",
	[ENV_PASS] = "passenv",
};

#define NAMES(table) table, sizeof(table) / sizeof((table)[0])

struct writer {
	struct buf *out;
	struct json *json; /* NULL: lines */
	bool in_record;	   /* fields stand in one line, not in one each */
	bool in_list;	   /* lines: the next item needs a comma */
};

const char *plan_op_name(enum plan_op_kind kind)
{
	return kind > 0 && kind < OP_END ? plan_kinds[kind].name : NULL;
}

/* A list of records follows, or ends. */
static void begin_section(struct writer *w, const char *key)
{
	if (!w->json)
		return;
	json_key(w->json, key);
	json_array(w->json);
}

static void end_section(struct writer *w)
{
	if (w->json)
		json_end(w->json);
}

static void begin_record(struct writer *w, const char *name)
{
	w->in_record = true;
	if (w->json) {
		json_object(w->json);
		json_key(w->json, "kind");
		json_str(w->json, name);
	} else {
		(void)buf_add_str(w->out, name);
	}
}

static void end_record(struct writer *w)
{
	w->in_record = false;
	if (w->json)
		json_end(w->json);
	else
		(void)buf_add_char(w->out, '\n');
}

static void begin_field(struct writer *w, const char *key)
{
	if (w->json)
		json_key(w->json, key);
	else if (w->in_record)
		(void)buf_add_fmt(w->out, " %s=", key);
	else
		(void)buf_add_fmt(w->out, "%s ", key);
}

static void end_field(struct writer *w)
{
	if (!w->json && !w->in_record)
		(void)buf_add_char(w->out, '\n');
}

static void write_quoted(struct writer *w, const char *s)
{
	if (w->json)
		json_str(w->json, s);
	else
		(void)quote_name_always(s, strlen(s), w->out);
}

static void string_field(struct writer *w, const char *key, const char *s)
{
	if (!s)
		return;
	begin_field(w, key);
	write_quoted(w, s);
	end_field(w);
}

static void number_field(struct writer *w, const char *key, int64_t n)
{
	begin_field(w, key);
	if (w->json)
		json_int(w->json, n);
	else
		(void)buf_add_fmt(w->out, "%lld", (long long)n);
	end_field(w);
}

static void perms_field(struct writer *w, mode_t perms)
{
	char octal[16];

	(void)snprintf(octal, sizeof(octal), "%04o", (unsigned)perms);
	begin_field(w, "perms");
	if (w->json)
		json_str(w->json, octal);
	else
		(void)buf_add_str(w->out, octal);
	end_field(w);
}

static void begin_list(struct writer *w, const char *key)
{
	begin_field(w, key);
	w->in_list = false;
	if (w->json)
		json_array(w->json);
}

static void next_item(struct writer *w)
{
	if (!w->json && w->in_list)
		(void)buf_add_char(w->out, ',');
	w->in_list = true;
}

static void end_list(struct writer *w)
{
	if (w->json)
		json_end(w->json);
	end_field(w);
}

/* A word of ours: bare in lines. */
static void word_item(struct writer *w, const char *word)
{
	next_item(w);
	if (w->json)
		json_str(w->json, word);
	else
		(void)buf_add_str(w->out, word);
}

static void strings_field(struct writer *w, const char *key,
			  const char *const *strings, size_t n)
{
	if (n == 0)
		return;
	begin_list(w, key);
	for (size_t i = 0; i < n; i++) {
		next_item(w);
		write_quoted(w, strings[i]);
	}
	end_list(w);
}

static void bits_field(struct writer *w, const char *key, unsigned bits,
		       const struct bit_name *names, size_t n)
{
	if (bits == 0)
		return;
	begin_list(w, key);
	for (size_t i = 0; i < n; i++) {
		if (bits & names[i].bit)
			word_item(w, names[i].name);
		bits &= ~names[i].bit;
	}
	if (bits) {
		char rest[16];

		(void)snprintf(rest, sizeof(rest), "0x%x", bits);
		word_item(w, rest);
	}
	end_list(w);
}

static void caps_field(struct writer *w, const char *key, uint64_t caps)
{
	if (caps == 0)
		return;
	begin_list(w, key);
	if (caps == UINT64_MAX) {
		word_item(w, "all");
		caps = 0;
	}
	for (int i = 0; i < CAP_NUMBERS; i++) {
		char number[8];

		if (!(caps & (UINT64_C(1) << i)))
			continue;
		(void)snprintf(number, sizeof(number), "%d", i);
		word_item(w, cap_name(i) ? cap_name(i) : number);
	}
	end_list(w);
}

static void write_op(struct writer *w, const struct plan *plan,
		     const struct plan_op *op)
{
	unsigned has = plan_kinds[op->kind].members;

	if (has & HAS_CONTENT)
		has |= op->flags & PLAN_TEXT ? HAS_SOURCE : HAS_FD;

	begin_record(w, plan_kinds[op->kind].name);
	if (has & HAS_LAYERS) {
		strings_field(w, "layers", plan->layers + op->first_layer,
			      op->n_layers);
		string_field(w, "upper", op->upper);
		string_field(w, "work", op->work);
	}
	if (has & HAS_SOURCE)
		string_field(w, "source", op->source);
	if (has & HAS_FD)
		number_field(w, "fd", op->fd);
	if (has & HAS_DEST)
		string_field(w, "dest", op->dest);
	string_field(w, "base", op->base);
	if (has & HAS_PERMS)
		perms_field(w, op->perms);
	if ((has & HAS_SIZE) && op->size)
		number_field(w, "size", (int64_t)op->size);
	/* That they were given shows in what they are. */
	bits_field(w, "flags", op->flags & ~(unsigned)PLAN_HAS_PERMS,
		   NAMES(flag_names));
	end_record(w);
}

static void write_env(struct writer *w, const struct plan_env *change)
{
	begin_record(w, env_names[change->kind]);
	string_field(w, "name", change->name);
	string_field(w, "value", change->value);
	end_record(w);
}

/* 0: the usual number, which the host decides. */
static uint64_t asked(uint64_t limit)
{
	return limit == PLAN_USUAL ? 0 : limit;
}

static void write_limits(struct writer *w, const struct plan_limits *limits)
{
	const struct {
		const char *name;
		uint64_t value;
	} rows[] = {
		{ "memory", limits->memory },
		{ "cpus-thousandths", limits->cpus },
		{ "pids", limits->is_pids_usual ? 0 : limits->pids },
		{ "timeout", limits->seconds },
		{ "min-free", asked(limits->min_free) },
		{ "inodes", asked(limits->inodes) },
		{ "inotify", asked(limits->inotify) },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].value)
			number_field(w, rows[i].name, (int64_t)rows[i].value);
}

static void write_settings(struct writer *w, const struct plan *plan)
{
	bits_field(w, "namespaces", plan->ns, NAMES(ns_names));
	bits_field(w, "namespaces-try", plan->ns_try, NAMES(ns_names));
	bits_field(w, "settings", plan->settings, NAMES(setting_names));
	for (size_t i = 0; i < PLAN_FD_COUNT; i++) {
		if (plan->fds[i] != -1)
			number_field(w, fd_names[i], plan->fds[i]);
	}
	if (plan->uid != -1)
		number_field(w, "uid", plan->uid);
	if (plan->gid != -1)
		number_field(w, "gid", plan->gid);
	caps_field(w, "caps-keep", plan->caps_keep);
	caps_field(w, "caps-add", plan->caps_add);
	write_limits(w, &plan->limits);
	strings_field(w, "lock-files", plan->lock_files, plan->n_lock_files);
	string_field(w, "chdir", plan->chdir);
	string_field(w, "argv0", plan->argv0);
}

static void write_filters(struct writer *w, const struct plan *plan)
{
	if (plan->n_filter_fds == 0)
		return;
	begin_list(w, "filter-fds");
	for (size_t i = 0; i < plan->n_filter_fds; i++) {
		next_item(w);
		if (w->json)
			json_int(w->json, plan->filter_fds[i]);
		else
			(void)buf_add_fmt(w->out, "%d", plan->filter_fds[i]);
	}
	end_list(w);
}

static void write_command(struct writer *w, const struct plan *plan)
{
	if (!plan->argv)
		return;
	begin_list(w, "command");
	for (size_t i = 0; plan->argv[i]; i++) {
		next_item(w);
		write_quoted(w, plan->argv[i]);
	}
	end_list(w);
}

static void write_plan(struct writer *w, const struct plan *plan)
{
	begin_section(w, "operations");
	for (size_t i = 0; i < plan->n_ops; i++)
		write_op(w, plan, &plan->ops[i]);
	end_section(w);
	begin_section(w, "environment");
	for (size_t i = 0; i < plan->n_env; i++)
		write_env(w, &plan->env[i]);
	end_section(w);
	write_settings(w, plan);
	write_filters(w, plan);
	write_command(w, plan);
}

int plan_print(const struct plan *plan, struct buf *out, struct hb_error *err)
{
	struct writer w = { .out = out };

	write_plan(&w, plan);
	if (out->error)
		return hb_fail(err, out->error, "cannot print the plan");
	return 0;
}

int plan_print_json(const struct plan *plan, struct buf *out,
		    struct hb_error *err)
{
	struct json json;
	struct writer w = { .out = out, .json = &json };
	int r;

	json_init(&json, out);
	json_object(&json);
	write_plan(&w, plan);
	json_end(&json);
	r = json_end_text(&json);
	if (r < 0)
		return hb_fail(err, r, "cannot print the plan");
	return 0;
}
