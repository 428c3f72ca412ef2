/* SPDX-License-Identifier: Apache-2.0 */
#include "strategy/copy.h"
#include "strategy/strategy.h"

/*
 * A copy of base and layers is shown; what changed in it is carried to the
 * upper afterwards.  refresh.c does the one, distill.c the
 * other.
 */

/* Any directory that can be read can be copied. */
int copy_possible(const struct strategy_call *call, struct hb_error *err)
{
	(void)call;
	(void)err;
	return 0;
}

/* On a copy groups are no matter: nothing is copied up. */
int copy_adopt(const struct strategy_call *call, struct record_resource *record,
	       struct hb_error *err)
{
	(void)call;
	(void)record;
	(void)err;
	return 0;
}

const char *copy_show(const struct record_resource *record)
{
	(void)record;
	return COPY_DIR;
}

bool copy_is_quick(const struct record_resource *record)
{
	(void)record;
	return false;
}

int copy_begin_box(const struct strategy_call *call, struct hb_error *err)
{
	(void)call;
	(void)err;
	return 0;
}
