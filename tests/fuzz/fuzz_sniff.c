/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzzes: net
 *
 * The input is the beginning of a connection, and the text of the host's files
 * about names.  A name that is found normalizes to itself.
 */
#include "fuzz.h"
#include "net/names/resolv.h"
#include "net/sniff.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char host[HOSTNAME_SIZE], again[HOSTNAME_SIZE], *text;
	struct dns_reply reply = { 0 };
	struct resolv resolv;
	enum sniff_kind kind;

	kind = sniff(data, size < SNIFF_MAX ? size : SNIFF_MAX, host);
	MUST(kind < SNIFF_END && sniff_name(kind));
	MUST(size < SNIFF_MAX || kind != SNIFF_MORE);
	MUST(!host[0] || (hostname_normalize(host, strlen(host), again) &&
			  strcmp(host, again) == 0));
	text = malloc(size + 1);
	if (!text)
		return 0;
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	resolv_read(text, &resolv);
	MUST(resolv.n_servers >= 1 && resolv.n_servers <= RESOLV_SERVERS);
	resolv_hosts(text, "a.example", &reply);
	MUST(reply.n <= DNS_ADDRESSES);
	free(text);
	return 0;
}
