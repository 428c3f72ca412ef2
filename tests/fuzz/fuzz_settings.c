/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzzes: plan
 *
 * The input is read as the file of a workspace, after a profile and options
 * that weaken everything: whatever it says, nothing is wider afterwards.
 */
#include "fuzz.h"
#include "plan/settings.h"

#include "base/path.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void begin(struct settings *s, const char *net)
{
	const struct setting_origin origin = { .source = SETTING_OPTION };

	settings_init(s);
	MUST(settings_profile(s, PROFILE_BASE, NULL) == 1);
	MUST(settings_set(s, "net", net, &origin, NULL) == 0);
	MUST(settings_set(s, "ro", "/x", &origin, NULL) == 0);
	MUST(settings_set(s, "size", "64M", &origin, NULL) == 0);
}

static void check(const struct settings *s, size_t n_before)
{
	MUST(s->n_items >= n_before);
	for (size_t i = n_before; i < s->n_items; i++) {
		MUST(s->items[i].key == KEY_HIDE);
		MUST(!path_is_absolute(s->items[i].value));
		MUST(!path_has_dotdot(s->items[i].value));
	}
	MUST(s->size > 0 && s->size <= 64U << 20);
	MUST(!s->allow_nested && !s->is_ephemeral && !s->is_quiet);
	MUST(!s->profile && !s->chdir && !s->at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const nets[] = { "none", "host" };

	for (size_t i = 0; i < 2; i++) {
		struct settings s;
		size_t n;

		begin(&s, nets[i]);
		n = s.n_items;
		(void)settings_read(&s, SETTING_WORKSPACE, "f",
				    (const char *)data, size, NULL);
		check(&s, n);
		MUST(i == 1 || strcmp(s.net, "none") == 0);
		settings_done(&s);
	}
	return 0;
}
