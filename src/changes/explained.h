/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CHANGES_EXPLAINED_H
#define HB_CHANGES_EXPLAINED_H

#include "changes/changes.h"
#include "changes/walk.h"

/*
 * Whether the base has at a path the same as some layer, be it nothing.  Then a
 * session that shares the layer has committed it, or the user made the same
 * change.  To replace it loses nothing, for the layer has it.  1 or 0.
 */
int explained_by_layers(const struct resource *resource,
			const struct sighting *s, struct hb_error *err);

#endif
