/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_DIFF_GIT_SETTINGS_H
#define HB_CLI_DIFF_GIT_SETTINGS_H

#include "cli/diff/config_lines.h"

#include <stdbool.h>

struct cli_values;
struct hb_error;
struct hb_pager;
struct hb_session;

/*
 * The look of a diff, by options, the environment and the user's own git
 * configuration: /etc/gitconfig, ~/.config/git/config and ~/.gitconfig, as git
 * finds them.  Never by anything in a repository.
 */
struct settings {
	bool has_colour;
	bool is_for_terminal;
	/* What the shell runs behind our stdout; "": nothing. */
	char pager[GITCONFIG_VALUE];
};

void settings_find(const struct cli_values *values, char *const *envp,
		   struct settings *ret_settings);

/*
 * Starts the pager if there is one; *ret_pager is NULL otherwise.  Without LESS
 * and LV in the environment it gets what git gives it.
 */
int settings_start_pager(const struct settings *settings,
			 const struct hb_session *session, char *const *envp,
			 struct hb_pager **ret_pager, struct hb_error *err);

#endif
