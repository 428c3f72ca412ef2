/* SPDX-License-Identifier: Apache-2.0 */
#include "changes/part.h"

#include "changes/changes.h"

const struct part part_layers = { .changes = changes_scan };

const struct part *part_of(const struct resource *resource)
{
	return resource->part ? resource->part : &part_layers;
}

bool part_is_layers(const struct resource *resource)
{
	return part_of(resource) == &part_layers;
}
