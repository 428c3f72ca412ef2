/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_PLAN_NETWORK_VALUE_H
#define HB_PLAN_NETWORK_VALUE_H

#include "net/access.h"
#include "plan/settings.h"

#include <stdint.h>

struct hb_error;

/* What stands for a key of the network.  All fail with -HB_E_USAGE. */
#define NETWORK_NO_PROXY "none"

/* Whether `value` can stand for `key`; keys that are not ours always can. */
int network_check(enum setting_key key, const char *value,
		  struct hb_error *err);

/* "PORT", and "[OUTSIDE:]INSIDE" */
int network_port_parse(const char *text, uint16_t *ret, struct hb_error *err);
int network_ports_parse(const char *text, struct net_port *ret,
			struct hb_error *err);

/* "WORD:PORT"; the word is the bytes before the colon. */
int network_login_parse(const char *text, struct net_port *ret,
			struct hb_error *err);

#endif
