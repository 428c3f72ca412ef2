/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_STORE_LAYOUT_H
#define HB_STORE_LAYOUT_H

#include "store/record.h"

#include <stddef.h>

/* "r0": the directory of a resource below its session's. */
#define LAYOUT_RESOURCE_SIZE 16
void layout_resource_dir(size_t number, char ret[LAYOUT_RESOURCE_SIZE]);

/* The store in the base as the version before made it: ".holdback-" and the
 * session's id. */
#define LAYOUT_IN_BASE	    ".holdback-"
#define LAYOUT_IN_BASE_SIZE (sizeof(LAYOUT_IN_BASE) + RECORD_ID_SIZE)

/* A new id for a session or a layer. */
int layout_new_id(char ret[RECORD_ID_SIZE], struct hb_error *err);

#endif
