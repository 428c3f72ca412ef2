/* SPDX-License-Identifier: Apache-2.0 */
#include "strategy/strategy.h"

/*
 * The box writes to the real directory, which the view binds as `run --direct`
 * does.  So the layers stay empty: nothing is pending, and nothing comes back.
 */

int none_possible(const struct strategy_call *call, struct hb_error *err)
{
	(void)call;
	(void)err;
	return 0;
}

int none_adopt(const struct strategy_call *call, struct record_resource *record,
	       struct hb_error *err)
{
	(void)call;
	(void)record;
	(void)err;
	return 0;
}

const char *none_show(const struct record_resource *record)
{
	(void)record;
	return NULL;
}

bool none_is_quick(const struct record_resource *record)
{
	(void)record;
	return true;
}

int none_before_box(const struct strategy_call *call, struct hb_error *err)
{
	(void)call;
	(void)err;
	return 0;
}

int none_begin_box(const struct strategy_call *call, struct hb_error *err)
{
	(void)call;
	(void)err;
	return 0;
}

int none_after_box(const struct strategy_call *call, struct hb_error *err)
{
	(void)call;
	(void)err;
	return 0;
}

int none_cleanup(int dir, struct hb_error *err)
{
	(void)dir;
	(void)err;
	return 0;
}
