/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/quote.h"
#include "holdback/holdback.h"
#include "host/look.h"
#include "plan/profile.h"
#include "plan/settings.h"
#include "view/config.h"
#include "view/prepare.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* `holdback config` and `holdback profile`: what is said, and where. */

static void tell_value(enum setting_key key, const char *value,
		       const struct setting_origin *origin, hb_config_fn tell,
		       void *context)
{
	char words[QUOTE_SHOWN + 32];
	const struct hb_config_value v = {
		.key = setting_name(key),
		.value = value,
		.source = setting_source_name(origin->source),
		.file = origin->file,
		.line = origin->line,
		.words =
			setting_origin_words(origin, key, words, sizeof(words)),
	};

	tell(context, &v);
}

static void tell_settings(const struct settings *s, bool with_defaults,
			  hb_config_fn tell, void *context)
{
	char text[32];

	for (int key = 0; key < SETTING_KEYS; key++) {
		const char *value = settings_text(s, key, text, sizeof(text));

		if (value && (with_defaults ||
			      s->origins[key].source != SETTING_DEFAULT))
			tell_value(key, value, &s->origins[key], tell, context);
		for (size_t i = 0; i < s->n_items; i++)
			if ((int)s->items[i].key == key)
				tell_value(key, s->items[i].value,
					   &s->items[i].origin, tell, context);
	}
}

int hb_config(const struct hb_run_options *options, hb_config_fn tell,
	      void *context, struct hb_error *err)
{
	struct hb_error none = { 0 };
	struct run run = { 0 };
	int r;

	r = run_configure(&run, options, NULL, err);
	if (r >= 0)
		r = run_find_workspace(&run, &none);
	/* Where nothing could run there is no file of a workspace either. */
	if (r == -HB_E_USAGE)
		r = 0;
	else if (r < 0 && none.code && err)
		*err = none;
	if (r >= 0)
		tell_settings(&run.settings, true, tell, context);
	run_done(&run);
	return r;
}

int hb_profile(const char *name, char *const *envp, hb_config_fn tell,
	       void *context, struct hb_error *err)
{
	char home[PATH_MAX];
	struct settings s;
	int r;

	settings_init(&s);
	r = config_load_profile(&s, name, envp,
				look_home(envp, home) ? home : NULL, err);
	if (r >= 0)
		tell_settings(&s, false, tell, context);
	settings_done(&s);
	return r;
}

struct listing {
	void (*tell)(void *context, const struct hb_profile *profile);
	void *context;
};

static int tell_file(void *ctx, const char *dir, const char *name,
		     struct hb_error *err)
{
	const struct profile *built_in = profile_find(name);
	const struct listing *listing = ctx;
	char file[PATH_MAX];
	const struct hb_profile profile = {
		.name = name,
		.summary = built_in ? built_in->summary : NULL,
		.file = file,
	};

	(void)err;
	(void)snprintf(file, sizeof(file), "%s/%s.conf", dir, name);
	listing->tell(listing->context, &profile);
	return 0;
}

int hb_profiles(char *const *envp,
		void (*tell)(void *context, const struct hb_profile *profile),
		void *context, struct hb_error *err)
{
	struct listing listing = { tell, context };
	const struct profile *p;
	char home[PATH_MAX];

	for (size_t i = 0; (p = profile_at(i)) != NULL; i++) {
		const struct hb_profile profile = { p->name, p->summary, NULL };

		tell(context, &profile);
	}
	return config_each_file(envp, look_home(envp, home) ? home : NULL,
				tell_file, &listing, err);
}
