/* SPDX-License-Identifier: Apache-2.0 */
#include "box/stage.h"

#include "box/state.h"

#include <stdbool.h>

enum stage_by {
	BY_SUPERVISOR,
	BY_VIEW,
	BY_INIT,
	BY_COMMAND,
	BY_EXEC,
};

/* Stages that are no step of a table. */
#define step_nothing NULL

#define IN_BARE	      true
#define IN_NAMESPACES false
#define STAGE(id_, name_, by_, needs_, function_) \
	[STAGE_##id_] = { (name_), BY_##by_, IN_##needs_, step_##function_ },

static const struct {
	const char *name;
	enum stage_by by;
	bool is_bare; /* also without namespaces */
	int (*run)(struct box *box, struct hb_error *err);
} stages[STAGE_END] = { BOX_STAGES(STAGE) };

int stage_fail(struct hb_error *err, int r)
{
	if (err->stage <= 0 || err->stage >= STAGE_EXEC ||
	    err->stage == STAGE_CWD)
		return r;
	return hb_fail(err, r, "stage %s", stages[err->stage].name);
}

static int run(enum stage_by by, struct box *box, struct hb_error *err)
{
	for (int i = 1; i < STAGE_END; i++) {
		int r;

		if (stages[i].by != by ||
		    (is_set(box, PLAN_BARE) && !stages[i].is_bare))
			continue;
		r = stages[i].run(box, err);
		if (r < 0) {
			/* Sets the code even if the step forgot to. */
			if (err->code == 0)
				(void)hb_fail(err, r, "%s", stages[i].name);
			err->stage = i;
			return r;
		}
	}
	return 0;
}

int stage_run_view(struct box *box, struct hb_error *err)
{
	return run(BY_VIEW, box, err);
}

int stage_run_command(struct box *box, struct hb_error *err)
{
	return run(BY_COMMAND, box, err);
}
