/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_COMMANDS_WHY_HOST_H
#define HB_CLI_COMMANDS_WHY_HOST_H

struct doc;
struct hb_config_value;
struct hb_net_why;

/* `holdback why` of a host; both add to a document that has begun. */
void why_add_host(void *context, const struct hb_net_why *why);

/* The setting that decided, of a document of JSON. */
void why_add_origin(struct doc *doc, const struct hb_config_value *by);

#endif
