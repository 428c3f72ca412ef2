/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/front/cmd_run.h"

#include "base/auto.h"
#include "base/error.h"
#include "cli/front/hand_over.h"
#include "cli/front/here.h"
#include "cli/front/table.h"
#include "cli/front/table_run.h"
#include "cli/show/doc.h"
#include "cli/show/ended_doc.h"
#include "cli/show/reports.h"
#include "cli/show/say.h"
#include "holdback/holdback.h"
#include "holdback/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* `holdback run`: in the executable that starts fast. */

/* "14m02s", "3.2s", "120ms". */
static const char *format_time(int64_t ms, char *out, size_t size)
{
	long long s = (long long)(ms / 1000);

	if (s >= 3600)
		(void)snprintf(out, size, "%lldh%02lldm%02llds", s / 3600,
			       s / 60 % 60, s % 60);
	else if (s >= 60)
		(void)snprintf(out, size, "%lldm%02llds", s / 60, s % 60);
	else if (s >= 1)
		(void)snprintf(out, size, "%lld.%llds", s,
			       (long long)(ms / 100 % 10));
	else
		(void)snprintf(out, size, "%lldms", (long long)ms);
	return out;
}

/* Before anything that takes time: it is what was waited for. */
static void tell_end(const char *command, const struct hb_run_result *result)
{
	const char *slash = strrchr(command, '/');
	char line[PATH_MAX], time[32], how[64];

	if (!result->session[0] || !hb_is_terminal(STDERR_FILENO))
		return;
	if (result->death.signal)
		(void)snprintf(how, sizeof(how), "was ended by signal %d",
			       result->death.signal);
	else
		(void)snprintf(how, sizeof(how), "exited %d", result->status);
	(void)snprintf(line, sizeof(line), "%.64s %s after %s",
		       slash ? slash + 1 : command, how,
		       format_time(result->ms, time, sizeof(time)));
	cli_say(line);
}

/*
 * What there is to say about the changes takes memory and libraries, so that
 * another executable says it.  It gives the status on.
 */
static int show_changes(const struct hb_run_result *result, int json_fd,
			char **operands, char *const *envp)
{
	static char name[] = "holdback", command[] = "ended", quiet[] = "quiet",
		    loud[] = "loud", typed[] = "typed", sent[] = "sent";
	char session[HB_SESSION_NAME_SIZE + 1], status[16], signal[16];
	char fd[16], ms[32], nested[32];
	char *before[] = {
		name,
		command,
		session,
		status,
		signal,
		result->death.is_typed ? typed : sent,
		result->is_quiet ? quiet : loud,
		fd,
		ms,
		nested,
	};
	auto_free char **argv = NULL;
	struct hb_error err = { 0 };
	size_t n = 0;

	while (operands[n])
		n++;
	argv = calloc(n + sizeof(before) / sizeof(before[0]) + 1,
		      sizeof(*argv));
	if (!argv)
		return result->status;
	memcpy(argv, before, sizeof(before));
	memcpy(argv + sizeof(before) / sizeof(before[0]), operands,
	       n * sizeof(*argv));
	(void)snprintf(session, sizeof(session), "@%s", result->session);
	(void)snprintf(status, sizeof(status), "%d", result->status);
	(void)snprintf(signal, sizeof(signal), "%d", result->death.signal);
	(void)snprintf(fd, sizeof(fd), "%d", json_fd);
	(void)snprintf(ms, sizeof(ms), "%lld", (long long)result->ms);
	(void)snprintf(nested, sizeof(nested), "%lld",
		       (long long)result->n_nested);
	(void)fflush(stderr);
	(void)hb_exec_helper("diff", argv, envp, &err);
	(void)cli_fail(&err);
	return cli_end(result->status, &result->death);
}

/* The changes since the last sync; it says itself what went wrong. */
static void sync_rest(const struct hb_run_result *result, char *const *envp)
{
	static char name[] = "holdback", command[] = "sync",
		    every[] = "--every", last[] = "--last", quiet[] = "--quiet";
	char session[HB_SESSION_NAME_SIZE + 1], seconds[32];
	char *argv[] = { name,
			 command,
			 every,
			 seconds,
			 last,
			 session,
			 result->is_quiet ? quiet : NULL,
			 NULL };
	struct hb_error err = { 0 };
	int status = 0;

	(void)snprintf(session, sizeof(session), "@%s", result->session);
	(void)snprintf(seconds, sizeof(seconds), "%llus",
		       (unsigned long long)result->sync);
	(void)fflush(stderr);
	if (hb_run_helper("commands", argv, envp, &status, &err) < 0)
		(void)cli_fail(&err);
}

/* There is more to do than fits here: the other executable goes on. */
static int run_behind(char **words, const struct hb_run_result *result,
		      int back, char *const *envp, struct hb_error *err)
{
	static char name[] = "holdback", command[] = "run";
	char session[HB_SESSION_NAME_SIZE];
	auto_free char **argv = NULL;

	(void)snprintf(session, sizeof(session), "%s", result->session);
	argv = cli_words_in(session, words);
	if (!argv)
		return hb_fail(err, -ENOMEM, "cannot keep the words");
	hb_work_back(back);
	if (session[0])
		return hb_exec_helper("commands", argv, envp, err);
	argv[2] = name;
	argv[3] = command;
	return hb_exec_helper("commands", argv + 2, envp, err);
}

/* What an option asks for is in force, or nothing runs. */
static int run_unprotected(const struct cli_values *values, char **operands,
			   char *const *envp, struct hb_error *err)
{
	bool is_plain = operands[0];

	for (size_t i = 0; i < values->n_settings; i++)
		if (strcmp(values->settings[i].key, "quiet") != 0)
			is_plain = false;
	if (!is_plain) {
		hb_fix(err, "unset " HB_SWITCH ", or give no option");
		return hb_fail(err, -HB_E_USAGE,
			       HB_SWITCH " is off, and takes a command alone");
	}
	reports_say(HB_REPORT_WEAKENED,
		    hb_is_inside(envp) ? HB_SWITCH
			    " is off: no sandbox of its own; the one "
			    "around it holds back and hides as before"
				       : HB_SWITCH
			    " is off: nothing is held back, nothing is hidden");
	return hb_exec_unprotected(operands, envp, err);
}

/* Whether an option says where the changes go, or that there are none. */
static bool says_where(const struct cli_values *values)
{
	static const char *const keys[] = { "session", "ephemeral", "direct",
					    "code" };

	for (size_t i = 0; i < values->n_settings; i++)
		for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
			if (strcmp(values->settings[i].key, keys[k]) == 0)
				return true;
	return false;
}

/* 0: there is nothing left to run, and `ret_result` has the status. */
static int read_words(char **operands, struct cli_values *values,
		      enum cmd_run_how how, char *const *envp, int *ret_back,
		      struct hb_run_result *ret_result, struct hb_error *err)
{
	const struct command *c = command_find(&cli_program, "run");
	int r;

	if (!operands)
		return hb_fail(err, -ENOMEM, "cannot keep the words");
	r = option_parse(&cli_program, c, operands, values, operands, err);
	if (r < 0)
		return r;
	if (values->help || values->version) {
		ret_result->status = cli_hand_over("run", values, envp);
		return 0;
	}
	if (how != RUN_BEHIND && values->is_continuing && says_where(values)) {
		hb_fix(err,
		       "holdback -s NAME COMMAND goes on in the session NAME");
		return hb_fail(
			err, -HB_E_USAGE,
			"--continue says where the changes go: it excludes "
			"--session, --ephemeral, --direct and --code");
	}
	r = hb_work_in(values->directory, ret_back, err);
	if (r >= 0)
		r = hb_is_switched_on(envp, err);
	return r == 0 ? run_unprotected(values, operands, envp, err) : r;
}

/* A word that is no program may be a command of ours with a slip in it. */
static void suggest(enum cmd_run_how how, char **operands, struct hb_error *err)
{
	const char *meant = NULL;

	if (how == RUN_IMPLIED && operands[0])
		meant = command_suggest(&cli_program, operands[0]);
	if (meant)
		hb_fix(err, "did you mean 'holdback %s'?", meant);
}

/* A word that cannot be run is to fail at once, and not after a question. */
static bool is_program(const char *word, char *const *envp)
{
	return word && (strchr(word, '/') || hb_stands_for(word, envp));
}

/* Without words and without a terminal there is nothing to say or ask. */
static bool is_silent(const struct cli_values *values)
{
	bool is_quiet = false;

	for (size_t i = 0; i < values->n_settings; i++)
		is_quiet |= strcmp(values->settings[i].key, "quiet") == 0;
	return is_quiet &&
	       !(hb_is_terminal(STDIN_FILENO) && hb_is_terminal(STDERR_FILENO));
}

/*
 * Whether an earlier session may have changes here, which the user is told of
 * first.  That takes a look into it, and the memory of the other executable.
 */
static bool may_go_on(const struct cli_values *values, char **operands,
		      char *const *envp)
{
	const struct hb_store_options options = { .envp = envp };
	struct hb_store *store = NULL;
	bool has_free;

	if (values->is_continuing)
		return true;
	if (says_where(values) || is_silent(values) ||
	    !is_program(operands[0], envp) ||
	    hb_store_open(&options, false, &store, NULL) < 0)
		return false;
	has_free = here_has_free(store);
	hb_store_free(store);
	return has_free;
}

int cmd_run(char **words, enum cmd_run_how how, char *const *envp)
{
	struct reports reports;
	const struct hb_store_options store = { .envp = envp,
						.listener = &reports.listener };
	auto_free char **operands = cli_copy_words(words);
	struct hb_run_result result = { 0 };
	struct cli_values values = { 0 };
	struct hb_run_options options;
	struct hb_error err = { 0 };
	int json_fd = 0, back = -1, r;

	r = read_words(operands, &values, how, envp, &back, &result, &err);
	if (r > 0) {
		json_fd = cli_json_fd(&values, &err);
		r = json_fd < 0 ? json_fd : r;
	}
	if (r > 0 && how != RUN_BEHIND && may_go_on(&values, operands, envp)) {
		r = run_behind(words, &result, back, envp, &err);
	} else if (r > 0) {
		cli_run_options(&values, operands, envp, &options);
		reports_init(&reports, envp);
		options.store = &store;
		reports.command = "run";
		reports.json_fd = json_fd;
		options.is_quick = how != RUN_BEHIND;
		r = hb_run(&options, &result, &err);
		/* A crash is to be made up for first, or a copy to be made. */
		if (r == -EAGAIN && err.code == 0)
			r = run_behind(words, &result, back, envp, &err);
		else if (r == -HB_E_NOT_FOUND)
			suggest(how, operands, &err);
		else if (r >= 0 && !result.is_quiet)
			tell_end(operands[0] ? operands[0] : "the file",
				 &result);
	}
	if (r < 0) {
		if (json_fd > 0)
			doc_error(json_fd, "run", &err, NULL);
		return cli_fail_run(&err);
	}
	if (result.session[0] && result.sync > 0)
		sync_rest(&result, envp);
	if (result.session[0])
		return show_changes(&result, json_fd, operands, envp);
	if (json_fd > 0) {
		auto_doc struct doc doc = { .fd = json_fd };

		ended_doc_begin(&doc, &result);
		(void)doc_end(&doc, NULL);
	}
	return cli_end(result.status, &result.death);
}
