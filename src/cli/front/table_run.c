/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/front/table_run.h"

#include "base/error.h"
#include "cli/front/table.h"
#include "plan/keys.h"

#define AT(field) offsetof(struct cli_values, field)

/*
 * The options of `run`.  Each is also a key of profiles and configuration
 * files. plan/settings.c decides the meaning of the words for all of them, so
 * here they are only collected.
 */

static int cli_add_setting(void *values, const struct option *option,
			   const char *arg, struct hb_error *err)
{
	struct cli_values *v = values;

	if (v->n_settings >= CLI_MAX_SETTINGS)
		return hb_fail(err, -HB_E_USAGE, "more than %d settings",
			       CLI_MAX_SETTINGS);
	v->settings[v->n_settings++] =
		(struct hb_setting){ option->name, arg ? arg : "yes" };
	return 0;
}

/* A key without a word for its argument takes none. */
#define TAKES(meta) ((meta) ? OPTION_ARG_REQUIRED : OPTION_ARG_NONE)

/* clang-format off */
#define RUN_OPTION(group_, id_, name_, letter_, meta_, offer_, kind_, member_, max_, choices_, rule_, word_, scope_, time_, help_) \
	{ .name = (name_), .letter = (letter_), .kind = OPTION_CALL, .arg = TAKES(meta_), \
	  .metavar = (meta_), .offer = (offer_), .choices = (choices_), \
	  .call = cli_add_setting, .group = (group_), .help = (help_) },
/* clang-format on */

#define CALL_OPTION(...)  RUN_OPTION(NULL, __VA_ARGS__)
#define FILE_OPTION(...)  RUN_OPTION("Files and directories", __VA_ARGS__)
#define LIMIT_OPTION(...) RUN_OPTION("Limits", __VA_ARGS__)
#define REACH_OPTION(...) \
	RUN_OPTION("Network, variables and terminal", __VA_ARGS__)
#define TRUST_OPTION(...) RUN_OPTION("More and less strict", __VA_ARGS__)

/* What is no key: it is about the call, and no file says it. */
const struct option run_options[] = {
	{ .name = "continue",
	  .letter = 'c',
	  .kind = OPTION_SET,
	  .offset = AT(is_continuing),
	  .help = "go on in the last session here that has changes" },
	CLI_ROW_DIRECTORY,
	/* clang-format off */
	CALL_KEYS(CALL_OPTION)
	CLI_ROWS_JSON_FD,
	{ 0 },
	/* clang-format on */
};
const struct option view_options[] = { FILE_KEYS(FILE_OPTION) LIMIT_KEYS(
	LIMIT_OPTION) REACH_KEYS(REACH_OPTION) TRUST_KEYS(TRUST_OPTION){ 0 } };

int cli_json_fd(const struct cli_values *values, struct hb_error *err)
{
	int fd = values->json_fd > 0 ? (int)values->json_fd : CLI_JSON_USUAL;

	if (!values->json && values->json_fd == 0)
		return 0;
	if (hb_write_to(fd, "", 0, NULL) >= 0)
		return fd;
	hb_fix(err, "open it in the shell: %d>FILE; or choose one: --json-fd N",
	       fd);
	return hb_fail(err, -HB_E_USAGE,
		       "descriptor %d is not open for the documents: stdout is "
		       "the command's",
		       fd);
}

void cli_run_options(const struct cli_values *values, char *const *argv,
		     char *const *envp, struct hb_run_options *ret_options)
{
	*ret_options = (struct hb_run_options){
		.argv = argv,
		.envp = envp,
		.settings = values->settings,
		.n_settings = values->n_settings,
	};
}
