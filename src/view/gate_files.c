/* SPDX-License-Identifier: Apache-2.0 */
#include "view/gate_files.h"

#include "gate/built_in.h"
#include "gate/rules.h"
#include "host/look.h"
#include "view/config.h"

#include <limits.h>
#include <stdbool.h>

#define RULES_FILE     "gate.rules"
#define WORKSPACE_FILE ".holdback.rules"

/* A file of rules, and whom it is from. */
struct from {
	struct gate_rules *rules;
	enum gate_source source;
};

static int read_rules(void *ctx, const char *path, const char *text, size_t n,
		      struct hb_error *err)
{
	const struct from *from = ctx;

	return gate_rules_read(from->rules, from->source, path, text, n, err);
}

int gate_files_read(char *const *envp, int base, const char *source,
		    struct gate_rules **ret_rules, struct hb_error *err)
{
	struct from from = { .source = GATE_CONFIGURED };
	char home[PATH_MAX];
	bool has_home;
	int r;

	r = gate_rules_new(ret_rules, err);
	if (r < 0)
		return r;
	from.rules = *ret_rules;
	has_home = look_home(envp, home) != NULL;
	r = config_each_text(envp, has_home ? home : NULL, RULES_FILE,
			     read_rules, &from, err);
	from.source = GATE_WORKSPACE;
	if (r >= 0 && base >= 0)
		r = config_workspace_text(base, source, WORKSPACE_FILE,
					  read_rules, &from, err);
	return r < 0 ? r : gate_rules_complete(from.rules, err);
}
