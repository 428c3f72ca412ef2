/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/front/table_run.h"

#include "base/error.h"
#include "cli/front/table.h"
#include "plan/keys.h"

/*
 * The options of `run`.  Each is also a key of profiles and configuration
 * files: what the words mean is decided in one place for all of them, which is
 * not here, so these are only collected.
 */

int cli_add_setting(void *values, const struct option *option, const char *arg,
		    struct hb_error *err)
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
#define RUN_OPTION(id_, name_, letter_, meta_, offer_, kind_, member_, max_, choices_, rule_, word_, scope_, time_, help_) \
	{ .name = (name_), .letter = (letter_), .kind = OPTION_CALL, .arg = TAKES(meta_), \
	  .metavar = (meta_), .offer = (offer_), .choices = (choices_), \
	  .call = cli_add_setting, .help = (help_) },
/* clang-format on */

const struct option run_options[] = { CALL_KEYS(RUN_OPTION){ 0 } };
const struct option view_options[] = { VIEW_KEYS(RUN_OPTION){ 0 } };

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
