/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_VIEW_CONFIG_H
#define HB_VIEW_CONFIG_H

#include "plan/settings.h"

#include <stdbool.h>
#include <stddef.h>

struct hb_error;
struct hb_run_options;

/*
 * Reads the configuration of a run: files by descriptor, and only files that no
 * other user but root can have written.
 */

/* In a directory of ours: for all runs, and of one profile, NAME.conf. */
#define CONFIG_FILE_NAME "config"
#define CONFIG_SUFFIX	 ".conf"

/* The user's own directory, of PATH_MAX; false: there is none. */
bool config_user_dir(char *const *envp, const char *home, char *ret);

/* Makes it, and those above it, if it is not there. */
int config_make_dir(const char *dir, struct hb_error *err);

/* -HB_E_CONFIG if another user can write this file of ours. */
int config_check_owner(int fd, const char *path, struct hb_error *err);

/*
 * The settings of a run of `program`, which may be NULL, from everywhere but
 * the workspace.  `home` may be NULL.  Strings of the options are borrowed.
 * -HB_E_CONFIG or -HB_E_USAGE with the place and the cause.
 */
int config_load(struct settings *s, const struct hb_run_options *options,
		const char *program, const char *home, struct hb_error *err);

/*
 * One key before the settings are there, because their sources depend on it.
 * The first says it as the last of the options does, or NULL.  The second says
 * it as the settings will have it if no file may say it: an option before a
 * variable.
 */
const char *config_option(const struct hb_run_options *options,
			  enum setting_key key);
const char *config_ahead(const struct hb_run_options *options,
			 enum setting_key key);

/* Applies what the file in the workspace says, which may only tighten. */
int config_load_workspace(struct settings *s, const char *workspace,
			  struct hb_error *err);

/* One profile alone: compiled in, and what the configured files add to it. */
int config_load_profile(struct settings *s, const char *name, char *const *envp,
			const char *home, struct hb_error *err);

/*
 * Calls `fn` with the text of the file `name` in the directories of ours: the
 * system's, then the user's, where there is one.  -HB_E_CONFIG for a file that
 * another user can write.
 */
typedef int (*config_text_fn)(void *ctx, const char *path, const char *text,
			      size_t n, struct hb_error *err);
int config_each_text(char *const *envp, const char *home, const char *name,
		     config_text_fn fn, void *ctx, struct hb_error *err);

/*
 * The same for a file at the top of a real directory, `base`, which messages
 * call `dir`.  The file is regular and short, and no link leads to it.
 */
int config_workspace_text(int base, const char *dir, const char *name,
			  config_text_fn fn, void *ctx, struct hb_error *err);

/* Calls `fn` with each name that has a NAME.conf in a directory of ours. */
typedef int (*config_name_fn)(void *ctx, const char *dir, const char *name,
			      struct hb_error *err);
int config_each_file(char *const *envp, const char *home, config_name_fn fn,
		     void *ctx, struct hb_error *err);

#endif
