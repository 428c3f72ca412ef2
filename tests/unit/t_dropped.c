/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "plan/environment/dropped.h"
#include "plan/plan.h"
#include "plan/settings.h"
#include "tap.h"

#include <string.h>

static size_t count(const char *profile, const char *net, const char *entry)
{
	static const struct setting_origin option = { SETTING_OPTION, NULL, 0 };
	char copy[64];
	char *envp[] = { copy, NULL };
	const char *names[1] = { NULL };
	struct hb_error err = { 0 };
	struct settings s;
	struct plan plan;
	size_t n;

	(void)snprintf(copy, sizeof(copy), "%s", entry);
	settings_init(&s);
	plan_init(&plan);
	CHECK_INT(settings_profile(&s, PROFILE_BASE, &err), 1);
	CHECK_INT(settings_profile(&s, profile, &err), 1);
	CHECK_INT(settings_set(&s, "net", net, &option, &err), 0);
	CHECK_INT(plan_add_env(&plan, ENV_CLEAR, NULL, NULL, &err), 0);
	for (size_t i = 0; i < s.n_items; i++)
		if (s.items[i].key == KEY_ENV && !strchr(s.items[i].value, '='))
			CHECK_INT(plan_add_env(&plan, ENV_PASS,
					       s.items[i].value, NULL, &err),
				  0);
	n = dropped_find(&s, &plan, envp, names, 1);
	CHECK(n == 0 || names[0] == copy);
	plan_done(&plan);
	settings_done(&s);
	return n;
}

/* Of each family one variable that a profile of an agent does not pass. */
static void each_family_is_known_with_the_network(void)
{
	static const char *const entries[] = {
		"ANTHROPIC_A=1",    "CLAUDE_A=1",     "OPENAI_A=1",
		"CODEX_A=1",	    "GEMINI_A=1",     "GOOGLE_A=1",
		"OPENCODE_A=1",	    "OPENROUTER_A=1", "AIDER_A=1",
		"DEEPSEEK_A=1",	    "GROQ_A=1",	      "VERTEX_A=1",
		"SSL_CERT_FILE=/x",
	};

	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		CHECK_INT(count("generic", "host", entries[i]), 1);
		CHECK_INT(count("generic", "none", entries[i]), 0);
	}
	CHECK_INT(count("generic", "host", "AWS_A=1"), 0);
	CHECK_INT(count("generic", "host", "AZURE_A=1"), 0);
	CHECK_INT(count("generic", "host", "MY_OPENAI_A=1"), 0);
	CHECK_INT(count("generic", "host", "SSL_CERT_FILES=/x"), 0);
}

static void an_agent_wants_the_families_of_its_profile(void)
{
	CHECK_INT(count("claude", "host", "AWS_PROFILE=1"), 1);
	CHECK_INT(count("claude", "host", "AWS_REGION=1"), 0);
	CHECK_INT(count("claude", "host", "ANTHROPIC_A=1"), 0);
	CHECK_INT(count("claude", "host", "OPENAI_A=1"), 0);
	CHECK_INT(count("codex", "host", "AZURE_A=1"), 1);
	CHECK_INT(count("gemini", "host", "GOOGLE_A=1"), 1);
	CHECK_INT(count("gemini", "host", "GOOGLE_API_KEY=1"), 0);
}

TESTS(T(each_family_is_known_with_the_network),
      T(an_agent_wants_the_families_of_its_profile))
