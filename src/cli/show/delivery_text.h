/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_SHOW_DELIVERY_TEXT_H
#define HB_CLI_SHOW_DELIVERY_TEXT_H

#include "cli/show/doc.h"
#include "holdback/session.h"

#include <stdbool.h>

/* Without an end of line; false: there is nothing to say about it. */
bool delivery_text_line(const struct hb_delivery *delivery, struct buf *out);

/* A line for each repository about which there is something to say. */
void deliveries_show(const struct hb_delivery *list, size_t n,
		     const char *indent, struct buf *out);

/* The array "deliveries" of a document. */
void deliveries_json(const struct hb_delivery *list, size_t n, struct doc *doc);

#endif
