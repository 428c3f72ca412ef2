/* SPDX-License-Identifier: Apache-2.0 */
#include "view/code.h"

#include "base/error.h"
#include "base/quote.h"
#include "plan/keys.h"
#include "plan/settings.h"
#include "sys/file.h"
#include "view/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By the end of the name; any other file is executed itself. */
static const struct {
	const char *suffix, *program;
} interpreters[] = {
	{ ".py", "python3" }, { ".js", "node" },   { ".mjs", "node" },
	{ ".cjs", "node" },   { ".sh", "sh" },	   { ".bash", "bash" },
	{ ".pl", "perl" },    { ".rb", "ruby" },   { ".lua", "lua" },
	{ ".php", "php" },    { ".R", "Rscript" }, { ".awk", "awk" },
};

/* What every one of them is told besides. */
#define N_MORE 2

static const char *interpreter_of(const char *file)
{
	size_t n = strlen(file);

	for (size_t i = 0; i < sizeof(interpreters) / sizeof(interpreters[0]);
	     i++) {
		size_t k = strlen(interpreters[i].suffix);

		if (n > k && strcmp(file + n - k, interpreters[i].suffix) == 0)
			return interpreters[i].program;
	}
	return NULL;
}

/* Words that are not changed by anybody: only their type says so. */
static char *word(const char *text)
{
	return (char *)(uintptr_t)text;
}

/*
 * By a name that is no option to an interpreter, and that is not looked for in
 * PATH.
 */
static int name_file(const char *file, bool is_command, struct code *code)
{
	bool is_plain = file[0] != '-' && (!is_command || strchr(file, '/'));

	return asprintf(&code->file, "%s%s", is_plain ? "" : "./", file) < 0
		       ? -ENOMEM
		       : 0;
}

static int make_argv(const char *file, char *const *words, struct code *code,
		     struct hb_error *err)
{
	const char *program = interpreter_of(file);
	size_t n = 0, k = 0;

	while (words && words[n])
		n++;
	code->argv = calloc(n + 4, sizeof(*code->argv));
	if (!code->argv || name_file(file, !program, code) < 0)
		return hb_fail(err, -ENOMEM, "cannot keep the command");
	if (program)
		code->argv[k++] = word(program);
	if (program && strcmp(program, "awk") == 0)
		code->argv[k++] = word("-f");
	code->argv[k++] = code->file;
	for (size_t i = 0; i < n; i++)
		code->argv[k++] = words[i];
	return 0;
}

/* An interpreter would wait for a fifo, or look for more in a directory. */
static int check_file(const char *file, struct hb_error *err)
{
	struct stat st;
	int r;

	r = sys_fstatat(AT_FDCWD, file, &st, 0);
	if (r < 0)
		return hb_fail(err, -HB_E_USAGE,
			       "option '--code': cannot find '%s': %s",
			       quoted(file), hb_strerror(-r));
	if (!S_ISREG(st.st_mode))
		return hb_fail(err, -HB_E_USAGE,
			       "option '--code': '%s' is not a file",
			       quoted(file));
	return 0;
}

int code_expand(const struct hb_run_options *options, struct code *code,
		struct hb_error *err)
{
	const char *file = config_option(options, KEY_CODE);
	static const enum setting_key named[] = { KEY_ALLOW, KEY_PORT,
						  KEY_HOST_PORT, KEY_NET_ASK };
	const char *net = config_option(options, KEY_NET);
	size_t n = options->n_settings;
	int r;

	if (!file)
		return 0;
	if (net && strcmp(net, key_nets[NET_NONE]) != 0) {
		hb_fix(err,
		       "leave '--net %s' away, or run the file as a "
		       "command",
		       net);
		return hb_fail(err, -HB_E_USAGE,
			       "option '--code' runs without network, and "
			       "'--net %s' asks for one",
			       net);
	}
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		const char *name = setting_name(named[i]);

		if (!config_option(options, named[i]))
			continue;
		hb_fix(err, "leave '--%s' away, or run the file as a command",
		       name);
		return hb_fail(err, -HB_E_USAGE,
			       "option '--code' runs without network, and "
			       "'--%s' asks for one",
			       name);
	}
	if (!file[0])
		return hb_fail(err, -HB_E_USAGE, "option '--code' is empty");
	r = check_file(file, err);
	if (r < 0)
		return r;
	code->settings = calloc(n + N_MORE, sizeof(*code->settings));
	if (!code->settings)
		return hb_fail(err, -ENOMEM, "cannot keep the settings");
	memcpy(code->settings, options->settings, n * sizeof(*code->settings));
	code->settings[n++] = (struct hb_setting){ setting_name(KEY_RO), file };
	code->settings[n++] = (struct hb_setting){ setting_name(KEY_NET),
						   key_nets[NET_NONE] };
	r = make_argv(file, options->argv, code, err);
	if (r < 0)
		return r;
	code->options = *options;
	code->options.settings = code->settings;
	code->options.n_settings = n;
	code->options.argv = code->argv;
	return 1;
}

void code_done(struct code *code)
{
	free(code->argv);
	free(code->file);
	free(code->settings);
	*code = (struct code){ 0 };
}
