/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_SOURCE_H
#define HB_BOX_SOURCE_H

struct box;
struct hb_error;

/*
 * The host paths that a plan names.  source_resolve_all() is called before
 * clone(); afterwards source_path() gives, for the very pointer that stands in
 * the plan, the path to use for it.
 */
int source_resolve_all(struct box *box, struct hb_error *err);
const char *source_path(const struct box *box, const char *given);
void source_free_all(struct box *box);

#endif
