/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_SHOW_DELIVERY_TEXT_H
#define HB_CLI_SHOW_DELIVERY_TEXT_H

#include "cli/show/doc.h"
#include "holdback/session.h"

/* A line for each repository about which there is something to say. */
void deliveries_show(const struct hb_delivery *list, size_t n, struct buf *out);

/* The array "deliveries" of a document. */
void deliveries_json(const struct hb_delivery *list, size_t n, struct doc *doc);

#endif
