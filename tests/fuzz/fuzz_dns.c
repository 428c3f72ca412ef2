/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzzes: net
 *
 * The input is a question of the box, and an answer to a question of ours.
 */
#include "fuzz.h"
#include "net/names/dns.h"
#include "net/pool.h"
#include "net/rule.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct pool pool;
	static struct net_rule rule;
	struct dns_stub stub = { &pool, &rule, 1 };
	struct dns_reply reply = { .ttl = UINT32_MAX };
	unsigned char out[DNS_MESSAGE];
	size_t n;

	if (!rule.text[0])
		MUST(net_rule_parse("*.example.com", false, &rule, NULL) == 0);
	n = dns_answer(&stub, data, size, out);
	MUST(n == 0 || (n >= 12 && n <= sizeof(out) && out[2] & 0x80));
	if (size < 2)
		return 0;
	(void)dns_take(data, size, (uint16_t)(data[0] << 8 | data[1]),
		       "www.example.com", DNS_A, &reply);
	(void)dns_take(data, size, (uint16_t)(data[0] << 8 | data[1]),
		       "www.example.com", DNS_AAAA, &reply);
	MUST(reply.n <= DNS_ADDRESSES);
	return 0;
}
