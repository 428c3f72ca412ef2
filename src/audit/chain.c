/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/chain.h"

#include "base/buf.h"

#include <errno.h>
#include <string.h>

/* A record begins with its number, so that none looks like this. */
#define SEAL_BEGIN "{\"kind\":\"sealed\",\"sha256\":\""
#define SEAL_END   "\"}\n"
#define BEGIN_SIZE (sizeof(SEAL_BEGIN) - 1)
#define END_SIZE   (sizeof(SEAL_END) - 1)
#define HEX_SIZE   (SHA256_HEX_SIZE - 1)
#define SEAL_SIZE  (BEGIN_SIZE + HEX_SIZE + END_SIZE)

void chain_begin(struct chain *c, const uint8_t head[SHA256_SIZE])
{
	if (c->head != head)
		memcpy(c->head, head, SHA256_SIZE);
	sha256_init(&c->open);
	sha256_add(&c->open, c->head, SHA256_SIZE);
}

void chain_add(struct chain *c, const void *bytes, size_t n)
{
	sha256_add(&c->open, bytes, n);
}

int chain_seal(struct chain *c, struct buf *out)
{
	uint8_t digest[SHA256_SIZE];
	char hex[SHA256_HEX_SIZE];

	sha256_end(&c->open, digest);
	sha256_hex(digest, hex);
	chain_begin(c, digest);
	return buf_add_fmt(out, SEAL_BEGIN "%s" SEAL_END, hex);
}

int chain_take(struct chain *c, const char *line, size_t n)
{
	uint8_t digest[SHA256_SIZE], said[SHA256_SIZE];
	char hex[SHA256_HEX_SIZE];

	if (n != SEAL_SIZE || memcmp(line, SEAL_BEGIN, BEGIN_SIZE) != 0 ||
	    memcmp(line + n - END_SIZE, SEAL_END, END_SIZE) != 0) {
		chain_add(c, line, n);
		return 0;
	}
	memcpy(hex, line + BEGIN_SIZE, HEX_SIZE);
	hex[HEX_SIZE] = '\0';
	sha256_end(&c->open, digest);
	if (sha256_from_hex(hex, said) < 0) {
		chain_begin(c, digest);
		return -EBADMSG;
	}
	chain_begin(c, said);
	return memcmp(said, digest, SHA256_SIZE) == 0 ? 1 : -EBADMSG;
}
