/* SPDX-License-Identifier: Apache-2.0 */
#include "strategy/strategy.h"

/*
 * The picture of a database of a server (store/pictures.h) is a directory, and
 * an overlay holds it back.  run/database has the private server whose changes
 * the picture shows: they are taken as one transaction, or not at all.
 */

int private_possible(const struct strategy_call *call, struct hb_error *err)
{
	return overlay_possible(call, err);
}

/* All of it is ours. */
int private_adopt(const struct strategy_call *call,
		  struct record_resource *record, struct hb_error *err)
{
	(void)call;
	(void)record;
	(void)err;
	return 0;
}

const char *private_show(const struct record_resource *record)
{
	return overlay_show(record);
}

bool private_is_quick(const struct record_resource *record)
{
	(void)record;
	return true;
}

int private_before_box(const struct strategy_call *call, struct hb_error *err)
{
	return overlay_before_box(call, err);
}

int private_begin_box(const struct strategy_call *call, struct hb_error *err)
{
	(void)call;
	(void)err;
	return 0;
}

int private_after_box(const struct strategy_call *call, struct hb_error *err)
{
	(void)call;
	(void)err;
	return 0;
}

int private_cleanup(int dir, struct hb_error *err)
{
	return overlay_cleanup(dir, err);
}
