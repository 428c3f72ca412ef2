/* SPDX-License-Identifier: Apache-2.0 */
#include "run/later.h"

#include "base/error.h"
#include "holdback/delivery.h"
#include "holdback/holdback.h"
#include "host/look.h"
#include "session/session.h"
#include "store/store.h"
#include "view/config.h"
#include "view/policy.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

int later_text(struct hb_session *s, enum setting_key key,
	       struct settings *settings, const char **ret_value,
	       struct hb_error *err)
{
	const struct hb_run_options options = { .envp = s->store->envp };
	char home[PATH_MAX];
	bool has_home;
	int r = policy_load(&s->record, &options, settings, err);

	if (r < 0)
		return r;
	*ret_value = settings_text(settings, key, NULL, 0);
	if (*ret_value)
		return 0;
	settings_done(settings);
	settings_init(settings);
	has_home = look_home(s->store->envp, home) != NULL;
	r = config_load(settings, &options, NULL, has_home ? home : NULL, err);
	*ret_value = r < 0 ? NULL : settings_text(settings, key, NULL, 0);
	return r;
}

static_assert((int)HB_GIT_FF == (int)GIT_MODE_FF + 1 &&
		      (int)HB_GIT_BRANCH == (int)GIT_MODE_BRANCH + 1 &&
		      (int)HB_GIT_MERGE == (int)GIT_MODE_MERGE + 1 &&
		      (int)HB_GIT_FILES == (int)GIT_MODE_FILES + 1,
	      "the words of the key are in the order of the modes");

int hb_session_git_mode(struct hb_session *session, const char *word,
			enum hb_git_mode *ret_mode, struct hb_error *err)
{
	struct settings settings;
	int i = 0, r = 0;

	settings_init(&settings);
	if (!word)
		r = later_text(session, KEY_GIT, &settings, &word, err);
	/* Options and settings have looked at the word. */
	while (r >= 0 && word && i < GIT_MODES &&
	       strcmp(key_gits[i], word) != 0)
		i++;
	if (i == GIT_MODES)
		r = hb_fail(err, -HB_E_USAGE, "'%.80s' is no mode of git",
			    word);
	if (r >= 0)
		*ret_mode = (enum hb_git_mode)(i + 1);
	settings_done(&settings);
	return r;
}
